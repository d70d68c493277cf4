// The kernel's log; see klog.h.
#include "common/why/klog.h"

#include <ctype.h>
#include <fcntl.h>

#include "common/host/number.h"
#include "common/host/root.h"

#define DEAD "the reset failed: the GPU is of no use until the host is started anew"

enum { RECORD_MOST = 8192, BDF_BYTES = 12 }; // "0000:c1:00.0"

// In the order of the bits of enum klog_kind.
static const struct {
	const char *word, *remedy;
} of_kind[] = {
	{"fault", NULL},
	{"queues-lost",
	 "gpq hang keeps the evidence; then end the processes on this GPU: once the driver has "
	 "reset it, start them anew; if it does not within a minute, reboot"},
	{"reset", NULL},
	{"reset-failed", "gpq hang keeps the evidence; then reboot"},
	{"memory-freed",
	 "if the process was not about to end, its program, or the runtime, has a bug: end it, "
	 "and start it anew"},
	{"no-queue-left", "run fewer processes on this GPU, some of them with HSA_ENABLE_SDMA=0"},
};

const char *klog_word(enum klog_kind kind)
{
	return of_kind[__builtin_ctz(kind)].word;
}

const char *klog_remedy(enum klog_kind kind)
{
	return of_kind[__builtin_ctz(kind)].remedy;
}

// The first row fits that has both texts.
static const struct trouble {
	const char *text, *also;
	enum klog_kind kind;
	const char *meaning;
} troubles[] = {
	{"page fault", "", KLOG_FAULT, NULL}, // first: such lines have names of programs
	{"MES failed to respon", "", KLOG_LOST,
	 "the MES, which puts queues on the GPU, does not answer"},
	{"failed to remove hardware queue", "MES", KLOG_LOST, "the MES did not take a queue off"},
	{"failed to add hardware queue", "MES", KLOG_LOST, "the MES did not take a new queue"},
	{"unrecoverable state", "MES", KLOG_LOST, "the driver gave up the MES"},
	{"unrecoverable state", "", KLOG_LOST,
	 "the driver gave up the HWS, which puts queues on the GPU"},
	{"fence wait loop timeout", "", KLOG_LOST, "the HWS did not take queues off in time"},
	{"Failed to evict", "queue", KLOG_LOST, "queues could not be taken off the GPU"},
	{"queue_doorbell_id0 is not 0", "", KLOG_LOST, "a queue did not leave the GPU in time"},
	{"Queue preemption failed", "", KLOG_LOST, "a queue did not leave the GPU in time"},
	{"DQM create queue", "ret -62", KLOG_LOST, "the GPU did not take a new queue in time"},
	{"DQM create queue", "", KLOG_NONE, "a process did not get a queue"},
	{"No more SDMA queue", "", KLOG_NONE, "all SDMA queues of the GPU are in use"},
	{"No more XGMI SDMA queue", "", KLOG_NONE, "all its SDMA queues to other GPUs are in use"},
	{"Freeing queue vital buffer", "", KLOG_FREED,
	 "a process freed memory that its queues need, and they stay off"},
	{"IP block <psp> failed", "", KLOG_DEAD, DEAD},
	{"PSP resume failed", "", KLOG_DEAD, DEAD},
	{"GPU reset end with ret", "", KLOG_DEAD, DEAD},
	{"GPU reset(", "failed", KLOG_DEAD, DEAD},
	{"ASIC reset failed", "", KLOG_DEAD, DEAD},
	{"GPU Recovery Failed", "", KLOG_DEAD, DEAD},
	{"reset begin", "", KLOG_RESET, NULL},
	{"GPU reset", "", KLOG_RESET, NULL},
	{"no uncorrectable", "", 0, NULL}, // said of counters that are looked at
	{" 0 uncorrectable", "", 0, NULL},
	{"uncorrectable", "", KLOG_FAULT, NULL},
};

static const struct trouble *trouble_of(const char *text)
{
	for (const struct trouble *t = troubles; t < troubles + COUNT(troubles); t++)
		if (strstr(text, t->text) && strstr(text, t->also))
			return t;
	return NULL;
}

// --- a line ---

static bool skip(char **s, const char *word)
{
	const size_t len = strlen(word);
	const bool is = strncmp(*s, word, len) == 0;
	*s += is ? len : 0;
	return is;
}

// Returns what follows the driver's name, as in "amdgpu 0000:c1:00.0: amdgpu: TEXT", and in lines
// without the address "kfd kfd: amdgpu: TEXT" and "[drm:FUNCTION [amdgpu]] *ERROR* TEXT". NULL: the
// line is not the driver's.
static char *driver_text(char *s, char bdf[16])
{
	static const char module[] = "[amdgpu]] ";
	if (skip(&s, "amdgpu ")) {
		char *end = strstr(s, ": ");
		if (!end || end - s != BDF_BYTES)
			return NULL;
		memcpy(bdf, s, BDF_BYTES);
		s = end + 2;
		skip(&s, "amdgpu: ");
		return s;
	}
	if (strncmp(s, "[drm:", 5) == 0 && (s = strstr(s, module))) {
		s += sizeof(module) - 1;
		skip(&s, "*ERROR* ");
		return s;
	}
	if (!s)
		return NULL;
	skip(&s, "kfd kfd: ");
	return skip(&s, "amdgpu: ") ? s : NULL;
}

// The names of programs in lines about faults are theirs to choose, and stand behind the PASID.
static void read_process(struct klog_line *l)
{
	static const char by_pid[] = "process pid ";
	const char *pid = l->kind == KLOG_FAULT ? NULL : strstr(l->text, by_pid),
		   *pasid = strcasestr(l->text, "pasid");
	uint64_t n;
	if (pid && number_read(pid + sizeof(by_pid) - 1, NULL, 10, INT32_MAX, &n))
		l->pid = (int64_t)n;
	pasid = pasid ? pasid + strlen("pasid") : NULL;
	pasid = pasid && *pasid ? pasid + 1 : NULL;
	if (pasid && strncmp(pasid, "0x", 2) == 0)
		number_read(pasid + 2, NULL, 16, UINT32_MAX, &l->pasid);
	else if (pasid)
		number_read(pasid, NULL, 10, UINT32_MAX, &l->pasid);
}

// Takes the text of a line, which stays where it is; drivers write faults and resets always with
// the address, and some of them the rest without it. Returns whether it is the driver's.
static bool take_text(struct klog *k, size_t *cap, uint64_t us, char *text)
{
	struct klog_line l = {.us = us};
	l.text = driver_text(text, l.bdf);
	const struct trouble *t = l.text ? trouble_of(text) : NULL;
	if (!t || !t->kind || (!*l.bdf && t->kind & (KLOG_FAULT | KLOG_RESET)))
		return l.text != NULL;
	l.kind = t->kind;
	l.meaning = t->meaning;
	read_process(&l);
	*ARRAY_ADD(k->v, *cap, k->n) = l;
	return true;
}

// --- the forms of logs ---

// A record of /dev/kmsg is "PRIORITY,NUMBER,MICROSECONDS,FLAGS[,...];TEXT"; lines that begin with a
// blank belong to the record before. Returns its text, or NULL.
static char *text_of_record(char *line, uint64_t *us)
{
	char *text = strchr(line, ';'), *field = strchr(line, ',');
	field = field ? strchr(field + 1, ',') : NULL;
	return text && field && *line != ' ' && field < text &&
			       number_read(field + 1, text, 10, UINT64_MAX, us)
		       ? text + 1
		       : NULL;
}

// Reads "  950.818166", which `end` follows.
static uint64_t read_stamp(const char *s, const char *end)
{
	uint64_t seconds, us;
	s = number_read(s + strspn(s, " "), end, 10, UINT32_MAX, &seconds);
	const char *dot = s && *s == '.' ? s + 1 : NULL;
	return dot && end - dot == 6 && number_read(dot, end, 10, UINT32_MAX, &us) == end
		       ? seconds * 1000000 + us
		       : KLOG_NO_TIME;
}

// Is this, in brackets, a time, or the thread that logged: "  950.818166", "Jul30 20:12", " T1234"?
static bool is_stamp(const char *s, const char *end)
{
	const size_t len = (size_t)(end - s);
	const char *colon = memchr(s, ':', len);
	return len >= 4 && (strspn(s, " 0123456789.+TC") >= len ||
			    (colon && len >= 11 && isdigit((unsigned char)colon[-1])));
}

// Returns the text behind what dmesg and journalctl write before it: "<3>", "DATE HOST kernel: ",
// "[  950.818166] ", "[Wed Jul 30 20:12:38 2025] ", "2026-07-30T20:12:38,123456+02:00 ". It is
// `line` itself where there is nothing of the kind.
static char *text_of_line(char *line, uint64_t *us)
{
	static const char by[] = " kernel: ";
	char *s = line, *kernel = strstr(line, by), *end;
	*us = KLOG_NO_TIME;
	if (*s == '<' && (end = strchr(s, '>')))
		s = end + 1;
	else if (kernel)
		s = kernel + sizeof(by) - 1;
	else if (strspn(s, "0123456789-") == 10 && s[10] == 'T' && (end = strchr(s, ' ')))
		s = end + 1;
	while (*s == '[' && (end = strchr(s, ']')) && is_stamp(s + 1, end)) {
		*us = *us == KLOG_NO_TIME ? read_stamp(s + 1, end) : *us;
		s = end + 1;
		s += strspn(s, " ");
	}
	return s;
}

void klog_parse(struct klog *k, const char *text, size_t len)
{
	size_t cap = 0;
	*k = (struct klog){0};
	buf_append(&k->text, text, len);
	buf_append(&k->text, "", 1);
	for (size_t i = 0; i < len; i++)
		k->text.data[i] = text[i] ? text[i] : '\n';
	for (char *line = k->text.data, *next; line; line = next) {
		uint64_t us;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		char *begin = text_of_record(line, &us);
		const bool record = begin != NULL;
		begin = record ? begin : text_of_line(line, &us);
		k->lines += take_text(k, &cap, us, begin) || record || begin != line;
	}
}

// --- the host's ---

int klog_open(void)
{
	return host_open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
}

void klog_read_from(struct klog *k, int fd)
{
	SCOPED(buf_fini) struct buf all = {0};
	ssize_t n = 1;
	// The kernel gives one record at a time, and EPIPE for those that were overwritten
	// meanwhile.
	while (n > 0 && all.len < BUF_READ_MAX) {
		buf_reserve(&all, RECORD_MOST);
		do
			n = read(fd, all.data + all.len, RECORD_MOST);
		while (n < 0 && (errno == EINTR || errno == EPIPE));
		all.len += n > 0 ? (size_t)n : 0;
	}
	klog_parse(k, all.len ? all.data : "", all.len);
}

void klog_read(struct klog *k)
{
	SCOPED(close_at) const int fd = klog_open();
	klog_read_from(k, fd); // fd -1 reads as an empty log
}

// --- what is asked ---

static bool is_about(const struct klog_line *l, const struct klog_whose *w)
{
	const bool pasid = l->pasid && w->pasid && w->pasid != UINT64_MAX,
		   mine = (l->pid && l->pid == w->pid) || (pasid && l->pasid == w->pasid),
		   others = !mine && w->pid && (l->pid || pasid);
	if (others && l->kind & (KLOG_FAULT | KLOG_FREED | KLOG_NONE))
		return false;
	return *l->bdf ? w->bdf && strcmp(l->bdf, w->bdf) == 0 : mine || w->unnamed;
}

// Is it a line about lost queues that the reset before it has dealt with?
static bool is_mended(const struct klog *k, size_t line, const struct klog_whose *w)
{
	enum { SAME_US = 5000000 };
	const uint64_t us = k->v[line].us;
	for (size_t i = line; k->v[line].kind == KLOG_LOST && us != KLOG_NO_TIME && i-- > 0;)
		if (k->v[i].kind == KLOG_RESET && k->v[i].us <= us && us - k->v[i].us < SAME_US &&
		    is_about(&k->v[i], w))
			return true;
	return false;
}

const struct klog_line *klog_last(const struct klog *k, const struct klog_whose *whose,
				  unsigned kinds)
{
	for (size_t i = k->n; i-- > 0;)
		if (k->v[i].kind & kinds && k->v[i].us >= whose->since_us &&
		    is_about(&k->v[i], whose) && !is_mended(k, i, whose))
			return &k->v[i];
	return NULL;
}

void klog_fini(struct klog *k)
{
	free(k->v);
	buf_fini(&k->text);
	*k = (struct klog){0};
}
