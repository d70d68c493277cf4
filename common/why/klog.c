// The kernel's log; see klog.h.
#include "common/why/klog.h"

#include <fcntl.h>

#include "common/host/number.h"
#include "common/host/root.h"

enum { RECORD_MOST = 8192, BDF_BYTES = 12 }; // "0000:c1:00.0"

// The first row that fits counts.
static const struct {
	const char *text;
	enum klog_kind kind;
} texts[] = {
	{"unrecoverable state", KLOG_LOST},
	{"fence wait loop timeout", KLOG_LOST},
	{"Failed to evict process queues", KLOG_LOST},
	{"reset begin", KLOG_RESET},
	{"GPU reset", KLOG_RESET},
	{"page fault", KLOG_FAULT},
	{"no uncorrectable", 0}, // said of counters that are looked at
	{" 0 uncorrectable", 0},
	{"uncorrectable", KLOG_FAULT},
};

static enum klog_kind kind_of(const char *line)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		if (strstr(line, texts[i].text))
			return texts[i].kind;
	return 0;
}

// Takes "amdgpu 0000:c1:00.0: amdgpu: TEXT", which stays where it is, as one line. Other lines have
// no GPU.
static void take_text(struct klog *k, size_t *cap, uint64_t us, char *line)
{
	static const char driver[] = "amdgpu ", again[] = "amdgpu: ";
	char *bdf = strstr(line, driver), *text = bdf ? strstr(bdf, ": ") : NULL;
	const enum klog_kind kind = kind_of(line);
	if (!kind || bdf != line || !text ||
	    text - bdf != (ptrdiff_t)sizeof(driver) - 1 + BDF_BYTES)
		return;
	text += 2;
	if (strncmp(text, again, sizeof(again) - 1) == 0)
		text += sizeof(again) - 1;
	struct klog_line *l = ARRAY_ADD(k->v, *cap, k->n);
	*l = (struct klog_line){.us = us, .kind = kind, .text = text};
	memcpy(l->bdf, bdf + sizeof(driver) - 1, BDF_BYTES);
}

// A record is "PRIORITY,NUMBER,MICROSECONDS,FLAGS[,...];TEXT"; lines that begin with a blank belong
// to the record before.
static void take_record(struct klog *k, size_t *cap, char *line)
{
	char *text = strchr(line, ';'), *field = strchr(line, ',');
	uint64_t us;
	field = field ? strchr(field + 1, ',') : NULL;
	if (text && field && *line != ' ' && number_read(field + 1, text, 10, UINT64_MAX, &us))
		take_text(k, cap, us, text + 1);
}

void klog_parse(struct klog *k, const char *text, size_t len)
{
	size_t cap = 0;
	*k = (struct klog){0};
	buf_append(&k->text, text, len);
	buf_append(&k->text, "", 1);
	for (char *line = k->text.data, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take_record(k, &cap, line);
	}
}

void klog_read(struct klog *k)
{
	SCOPED(buf_fini) struct buf all = {0};
	const int fd = host_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : 1;
	// The kernel gives one record at a time, and EPIPE for those that were overwritten
	// meanwhile.
	while (n > 0 && all.len < BUF_READ_MAX) {
		buf_reserve(&all, RECORD_MOST);
		do
			n = read(fd, all.data + all.len, RECORD_MOST);
		while (n < 0 && (errno == EINTR || errno == EPIPE));
		all.len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	klog_parse(k, all.len ? all.data : "", all.len);
}

const struct klog_line *klog_last(const struct klog *k, const char *bdf, uint64_t since_us,
				  unsigned kinds)
{
	for (size_t i = k->n; i-- > 0;)
		if (k->v[i].kind & kinds && k->v[i].us >= since_us && bdf &&
		    strcmp(k->v[i].bdf, bdf) == 0)
			return &k->v[i];
	return NULL;
}

void klog_fini(struct klog *k)
{
	free(k->v);
	buf_fini(&k->text);
	*k = (struct klog){0};
}
