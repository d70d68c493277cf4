// Online requests and offline packets from AMD logs; see ablog.h.
#include "common/bench/ablog.h"

#include "common/amdlog/read/detail.h"
#include "common/amdlog/read/scan.h"

#include <fcntl.h>
#include <glob.h>

struct ring {
	int64_t pid;
	uint64_t hwq;
	uint64_t rptr;
};

// The state of reading one log file.
struct reader {
	struct ablog *log;
	struct amdlog_scan *scan;
	uint64_t *begin_us; // by thread: when its request began, or AMDLOG_UNKNOWN
	size_t thread_cap;
	struct ring *ring;
	size_t rings, ring_cap;
};

static bool name_has(const struct amdlog_record *r, const char *part)
{
	return memmem(r->msg, r->name_len, part, strlen(part)) != NULL;
}

// Does the record give the GPU something to do: a launch or copy call, or a dispatch?
static bool begins_request(const struct amdlog_record *r)
{
	if (r->kind != AMDLOG_API_ENTRY)
		return r->kind == AMDLOG_DISPATCH || r->kind == AMDLOG_KERNEL;
	return name_has(r, "Launch") || name_has(r, "hipMemcpy") ||
	       (r->name_len >= 5 && memcmp(r->msg + r->name_len - 5, "Async", 5) == 0);
}

// Is the record the return of a call that waits for the GPU?
static bool ends_request(const struct amdlog_record *r)
{
	return r->kind == AMDLOG_API_RETURN &&
	       (name_has(r, "Synchronize") || (name_has(r, "hipMemcpy") && !name_has(r, "Async")));
}

static void follow_request(struct reader *x, const struct amdlog_record *r)
{
	ARRAY_REACH(x->begin_us, x->thread_cap, r->thread, 0xff); // new ones are AMDLOG_UNKNOWN
	uint64_t *begin = &x->begin_us[r->thread], since = *begin;
	if (since == AMDLOG_UNKNOWN && begins_request(r))
		*begin = r->time_us;
	if (since == AMDLOG_UNKNOWN || !ends_request(r))
		return;
	*begin = AMDLOG_UNKNOWN;
	if (r->time_us < since)
		return;
	samples_add(&x->log->starts, (double)since * 1e3);
	samples_add(&x->log->latency, (double)(r->time_us - since) * 1e3);
}

static struct ring *ablog_ring(struct reader *x, int64_t pid, const struct amdlog_packet *p)
{
	for (size_t i = 0; i < x->rings; i++)
		if (x->ring[i].pid == pid && x->ring[i].hwq == p->hwq)
			return &x->ring[i];
	ARRAY_GROW(x->ring, x->ring_cap, x->rings);
	x->ring[x->rings] = (struct ring){pid, p->hwq, p->rptr};
	return &x->ring[x->rings++];
}

// Counts how far a read index advanced. Indices in the log have 32 bits, and lines of different
// threads may be out of order.
static void count_packet(struct reader *x, const struct amdlog_record *r, bool within)
{
	struct amdlog_packet p;
	const struct amdlog_threads *threads = &x->scan->threads;
	amdlog_packet_parse(r, &p);
	if (p.rptr == AMDLOG_UNKNOWN || p.hwq == AMDLOG_UNKNOWN)
		return;
	struct ring *ring =
		ablog_ring(x, r->thread < threads->n ? threads->v[r->thread].pid : -1, &p);
	uint32_t ahead = (uint32_t)(p.rptr - ring->rptr);
	if (ahead > UINT32_MAX / 2)
		return;
	x->log->packets += within ? ahead : 0;
	ring->rptr = p.rptr;
}

static void on_record(void *ctx, const struct amdlog_record *r)
{
	struct reader *x = ctx;
	bool within = r->time_us >= x->log->from_us && r->time_us <= x->log->until_us;
	if (r->time_us == AMDLOG_UNKNOWN)
		return;
	if (is_packet(r->kind))
		count_packet(x, r, within);
	x->log->records += within;
	if (within)
		follow_request(x, r);
}

static int ablog_add_file(struct ablog *l, const char *path)
{
	struct reader x = {.log = l};
	struct amdlog_sink sink = {.ctx = &x, .record = on_record};
	char data[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	x.scan = amdlog_scan_new(&sink);
	do {
		n = read(fd, data, sizeof(data));
		if (n > 0)
			amdlog_scan_feed(x.scan, data, (size_t)n);
	} while (n > 0 || (n < 0 && errno == EINTR));
	int error = errno;
	close(fd);
	amdlog_scan_end(x.scan);
	amdlog_scan_free(x.scan);
	free(x.begin_us);
	free(x.ring);
	l->files++;
	errno = error;
	return n < 0 ? -1 : 0;
}

// Finds the files PATH_PID. Characters of `path` that glob(3) would interpret are escaped.
static int find_files(const char *path, glob_t *g)
{
	SCOPED(buf_fini) struct buf pattern = {0};
	for (const char *p = path; *p; p++)
		buf_printf(&pattern, strchr("*?[\\", *p) ? "\\%c" : "%c", *p);
	buf_puts(&pattern, "_[0-9]*");
	return glob(pattern.data, 0, NULL, g);
}

int ablog_add(struct ablog *l, const char *path)
{
	unsigned before = l->files;
	glob_t g = {0};
	int r = ablog_add_file(l, path);
	if (!r && find_files(path, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && !r; i++)
			r = ablog_add_file(l, g.gl_pathv[i]);
	int error = errno;
	globfree(&g);
	errno = !r && l->files == before ? ENOENT : error;
	return r || l->files == before ? -1 : 0;
}
