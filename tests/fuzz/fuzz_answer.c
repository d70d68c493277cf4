// libFuzzer target: answers of a holder as a client reads them (common/holder/client.c,
// protocol.c). Root asks the holders of other users, so an answer may hold anything.
//
// The first byte chooses the size of the pieces in which they come. Beside not crashing: what
// comes over the socket is what the lines say one by one, a queue that was read is written and
// read again as the same, and sentences are one line.
#include "common/holder/protocol.h"
#include "tests/fuzz/require.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_failure(const struct kfd_failure *f)
{
	require(f->status > 0 && f->status <= 255);
	require(memchr(f->text, '\0', sizeof(f->text)) && !strchr(f->text, '\n'));
}

static void check_queue(const struct kfd_outcome *q)
{
	char line[HOLDER_LINE_MAX];
	struct kfd_outcome again;
	struct kfd_answer a = {0};
	struct kfd_failure f;
	size_t n = holder_format_queue(line, q, true);
	require(n < sizeof(line) && line[n - 1] == '\n');
	line[n - 1] = '\0';
	require(holder_answer_parse(line, &again, &a, &f) == HOLDER_LINE_QUEUE);
	require(memcmp(q, &again, sizeof(again)) == 0);
}

static void check_ok(const struct kfd_answer *a)
{
	char line[HOLDER_LINE_MAX];
	struct kfd_answer again = {0};
	struct kfd_outcome q;
	struct kfd_failure f;
	size_t n = holder_format_ok(line, a, true);
	require(n < sizeof(line) && line[n - 1] == '\n');
	line[n - 1] = '\0';
	require(holder_answer_parse(line, &q, &again, &f) == HOLDER_LINE_OK);
	require(a->holder == again.holder && a->target == again.target && a->held == again.held);
	require(a->since_ns == again.since_ns && a->until_ns == again.until_ns);
	require(a->follows == again.follows && a->kept == again.kept && a->ended == again.ended);
	require(memcmp(&a->runtime, &again.runtime, sizeof(a->runtime)) == 0);
}

// The last GPU, written and read again.
static void check_gpu(const struct kfd_answer *a)
{
	char line[HOLDER_LINE_MAX];
	struct kfd_answer again = {0};
	struct kfd_outcome q;
	struct kfd_failure f;
	const struct kfd_device_entry *g = &a->gpus[a->num_gpus - 1];
	size_t n = holder_format_gpu(line, g);
	require(n < sizeof(line) && line[n - 1] == '\n');
	line[n - 1] = '\0';
	require(holder_answer_parse(line, &q, &again, &f) == HOLDER_LINE_GPU);
	require(memcmp(g, again.gpus, sizeof(*g)) == 0);
	free(again.gpus);
}

struct expected {
	char *at, *end; // what is left of the text
	struct kfd_answer answer;
};

// The next answer, line by line. What kfd_link_receive() must say: 0, or -1.
static int next_answer(struct expected *x)
{
	struct kfd_outcome q;
	struct kfd_failure f;
	char *newline;
	x->answer.num = x->answer.num_gpus = 0;
	while ((newline = memchr(x->at, '\n', (size_t)(x->end - x->at)))) {
		char *line = x->at;
		*newline = '\0';
		x->at = newline + 1;
		switch (holder_answer_parse(line, &q, &x->answer, &f)) {
		case HOLDER_LINE_BAD: return -1;
		case HOLDER_LINE_ERROR: check_failure(&f); return -1;
		case HOLDER_LINE_OK: check_ok(&x->answer); return 0;
		case HOLDER_LINE_QUEUE:
			check_queue(&q);
			x->answer.num++;
			break;
		case HOLDER_LINE_GPU: check_gpu(&x->answer);
		}
	}
	return -1; // the holder hung up
}

static void send_pieces(int fd, const char *text, size_t size, size_t piece)
{
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		require(send(fd, text + at, n, MSG_NOSIGNAL) == (ssize_t)n);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size ? size - 1 : 0;
	char *text = malloc(len + 1);
	struct expected x = {.at = text, .end = text + len};
	struct kfd_link l = {0};
	struct kfd_failure f;
	int ends[2], want;
	require(text && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	if (len)
		memcpy(text, data + 1, len);
	// Few enough that all fit the socket's buffer.
	send_pieces(ends[1], text, len, size && data[0] ? 64 + (size_t)data[0] : len + !len);
	l.fd = ends[0];
	do {
		want = next_answer(&x);
		l.answer.num = l.answer.num_gpus = 0;
		require(kfd_link_receive(&l, 1000, &f) == want);
		if (want < 0)
			check_failure(&f);
		require(l.answer.num == x.answer.num && l.answer.held == x.answer.held);
		require(l.answer.until_ns == x.answer.until_ns);
		require(l.answer.num_gpus == x.answer.num_gpus);
		for (size_t i = 0; i < l.answer.num; i++)
			check_queue(&l.answer.queues[i]);
	} while (want == 0);
	kfd_link_close(&l);
	free(x.answer.gpus);
	free(text);
	return 0;
}
