// Questions to a render node; see render.h.
#include "common/kfd/render.h"

#include "common/host/root.h"
#include "common/reader/reader.h"

#include <fcntl.h>

#define MINORS (1u << 20) // of Linux

struct question {
	uint64_t minor;
	render_asks *ask;
	void *answer;
	size_t size;
};

// Asks at once: once the child has given up its rights, it may not call ioctl(2).
static int open_and_ask(const void *question, size_t len)
{
	const struct question *q = question;
	const int node = host_open(PATH("/dev/dri/renderD%u", (unsigned)q->minor), O_RDWR);
	// Not descriptor 2, to which libdrm writes its messages.
	const int fd = node < 0 ? -1 : fcntl(node, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	const int error = errno;
	(void)len;
	close_quietly(node);
	errno = error;
	errno = fd < 0 ? errno : q->ask(fd, q->answer, q->size);
	return errno ? -1 : fd;
}

static int give_answer(const void *question, size_t len, int fd)
{
	const struct question *q = question;
	(void)len, (void)fd;
	reader_give(q->answer, q->size);
	return 0;
}

static bool take_answer(void *question, const void *part, size_t len)
{
	const struct question *q = question;
	if (len == q->size)
		memcpy(q->answer, part, len);
	return len == q->size;
}

int render_ask(uint64_t minor, render_asks *ask, void *answer, size_t size)
{
	struct question q = {minor, ask, answer, size};
	const struct reader_question asked = {.whose = READER_DEVICE - (pid_t)(minor % MINORS),
					      .task = give_answer,
					      .open = open_and_ask,
					      .text = &q,
					      .len = sizeof(q),
					      .fd = -1};
	return host_is_live() && minor < MINORS ? reader_ask(&asked, take_answer, &q) : ENOENT;
}
