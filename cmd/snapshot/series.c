// gpq snapshot --every T DIR: saves a numbered series of snapshots (common/snapshot/series.h). Also
// lists the snapshots that the operands of --diff and --compare name.
#include "cmd/snapshot/snapshot.h"

#include "common/cli/stop.h"
#include "common/host/clock.h"
#include "common/snapshot/series.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define GENERATION "/sys/class/kfd/kfd/topology/generation_id"

enum { NS_PER_S = 1000000000 };

// Identifies a topology: the driver counts its changes in generation_id, and makes that file anew
// when it is loaded again.
struct topology {
	char generation[32]; // "" unknown
	dev_t device;
	ino_t inode;
};

struct run {
	const struct snapshot_opts *opt;
	struct host_choice by;
	struct series series;
	struct redact *names;
	struct out *out;
	struct out_col *cols; // owned: as snapshot_saved_table's, the first as wide as the paths
	struct topology topology;
	uint64_t earlier; // number of the last snapshot; 0: none
	uint64_t taken, missed;
	bool partial; // the first snapshot lacks some PIDs of -p
};

// --- times of snapshots ---

static uint64_t product_or_most(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// --- one snapshot of the series ---

static struct topology read_topology(void)
{
	struct topology t = {0};
	struct stat st;
	SCOPED(close_at) const int fd = host_open(GENERATION, O_RDONLY | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		t.device = st.st_dev;
		t.inode = st.st_ino;
		host_read_line(t.generation, sizeof(t.generation), GENERATION);
	}
	return t;
}

// Opens the folder of the last snapshot if the topology has not changed since; else returns -1.
static int open_earlier(struct run *r)
{
	const struct topology now = read_topology(), then = r->topology;
	char name[32];
	r->topology = now;
	if (!r->earlier || !*now.generation || strcmp(now.generation, then.generation) != 0 ||
	    now.device != then.device || now.inode != then.inode)
		return -1;
	snprintf(name, sizeof(name), "%06llu", (unsigned long long)r->earlier);
	return openat(r->series.folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void read_host(struct redact *names, char *to, size_t size)
{
	SCOPED(buf_fini) struct buf b = {0};
	host_read_line(to, size, "/proc/sys/kernel/hostname");
	if (names && *to) {
		buf_puts(&b, to);
		redact_hostname(names, &b);
		snprintf(to, size, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	}
}

static int choose_processes(struct run *r, struct pids *chosen)
{
	if (!host_choice_asks(&r->by))
		return GPQ_OK;
	int status = snapshot_choose(r->opt, chosen);
	if (status || r->taken) // after the first snapshot, PIDs of -p may have ended
		return status;
	status = host_choice_found(&r->by, chosen, "this host");
	r->partial = status == GPQ_PARTIAL;
	return r->partial ? GPQ_OK : status;
}

static int print_series_row(struct run *r, const struct saved_row *row)
{
	if (!r->taken)
		snapshot_warn(row);
	out_row(r->out, row);
	return out_flush(r->out);
}

// Notes in the index that a tree could not be written. The returned status ends the series.
static int note_failed(struct run *r, const char *path, struct series_line *line, int error)
{
	if (stop_asked())
		return GPQ_OK;
	line->error = error;
	if (series_add(&r->series, line))
		err_note("%s: not noted in the index: %s", path, strerror(errno));
	return snapshot_refused(path, error);
}

static int take_snapshot(struct run *r, uint64_t missed)
{
	struct pids chosen = {0};
	SCOPED(snapshot_fini) struct snapshot s = {0};
	struct snapshot_how how = {.names = r->names, .stopped = stop_asked, .earlier = -1};
	char host[72], boot_id[40];
	struct timespec wall;
	int status = choose_processes(r, &chosen);
	if (host_choice_asks(&r->by))
		how.only = &chosen;
	read_host(r->names, host, sizeof(host));
	host_read_line(boot_id, sizeof(boot_id), "/proc/sys/kernel/random/boot_id");
	how.earlier = status ? -1 : open_earlier(r);
	SCOPED(free_at) char *path = series_path(r->series.dir, r->series.next);
	clock_gettime(CLOCK_REALTIME, &wall);
	struct series_line line = {.monotonic_ns = clock_ns(),
				   .wall_ns = (uint64_t)wall.tv_sec * NS_PER_S +
					      (uint64_t)wall.tv_nsec,
				   .host = host,
				   .boot_id = boot_id,
				   .snapshot = &s,
				   .missed = missed,
				   .redacted = r->names != NULL};
	if (!status && snapshot_make(&s, path, &how)) {
		status = note_failed(r, path, &line, errno);
	} else if (!status) {
		struct saved_row row = snapshot_row(&s, path);
		row.missed = missed;
		line.dumps = row.dumps;
		r->earlier = r->series.next;
		status = series_add(&r->series, &line)
				 ? err_sys(errno, NULL, "%s: the index", r->series.dir)
				 : print_series_row(r, &row);
		r->taken++;
	}
	close_quietly(how.earlier);
	free(chosen.v);
	return status;
}

// --- the whole series ---

static int take_all(struct run *r)
{
	const struct snapshot_opts *o = r->opt;
	const uint64_t start = clock_ns(), last = (o->duration - 1) / o->every;
	uint64_t missed = 0;
	int status = GPQ_OK;
	for (uint64_t tick = 0; !status && r->taken < o->count;) {
		const uint64_t at = product_or_most(tick, o->every);
		if (at >= o->duration ||
		    !stop_sleep(at < UINT64_MAX - start ? start + at : UINT64_MAX))
			break;
		status = take_snapshot(r, missed);
		const uint64_t due = (clock_ns() - start + o->every - 1) / o->every;
		const uint64_t next = due > tick + 1 ? due : tick + 1;
		const uint64_t end = next - 1 < last ? next - 1 : last;
		missed = end > tick ? end - tick : 0;
		r->missed += !status && !stop_asked() && r->taken < o->count ? missed : 0;
		tick = next;
	}
	return status;
}

// Ends the output (also the JSON document, after a signal), and returns the exit status.
static int end_series(struct run *r, int status)
{
	const unsigned long long taken = r->taken, missed = r->missed;
	if (missed)
		err_warn("a longer --every, or a selector that leaves more out",
			 "%llu moments were missed, since a snapshot took longer than --every",
			 missed);
	if (!status && stop_asked()) {
		err_warn(NULL, "stopped after %llu snapshots, all of them whole", taken);
		status = stop_status();
	}
	if (r->out && (!status || stop_asked()))
		out_end(r->out);
	const int written = r->out ? out_close(r->out) : GPQ_OK;
	return status ? status : written ? written : r->partial ? GPQ_PARTIAL : GPQ_OK;
}

// Returns snapshot_saved_table with a first column that is wide enough for each path.
static struct out_table wide_table(struct run *r, const char *dir)
{
	struct out_table t = snapshot_saved_table;
	r->cols = xcalloc(t.ncols, sizeof(*t.cols));
	memcpy(r->cols, t.cols, t.ncols * sizeof(*t.cols));
	r->cols[0].width = (unsigned)strlen(dir) + (unsigned)strlen("/000000");
	t.cols = r->cols;
	return t;
}

int snapshot_series(struct cmd *c)
{
	const struct snapshot_opts *o = c->opts;
	const char *dir = c->argv[0];
	if (snapshot_is_archive(dir))
		return err_fail(GPQ_USAGE, "name a folder", "%s: a series is no archive", dir);
	struct run r = {.opt = o, .by = snapshot_choice(o)};
	stop_watch_hangup();
	int status = series_open(&r.series, dir, o->redact);
	if (status)
		return status;
	r.names = o->redact ? redact_new() : NULL;
	const struct out_table table = wide_table(&r, dir);
	r.out = out_open(&c->out);
	status = out_begin(r.out, &table, true);
	if (!status)
		status = take_all(&r);
	status = end_series(&r, status);
	series_close(&r.series);
	redact_free(r.names);
	free(r.cols);
	return status;
}

// --- operands of --diff and --compare ---

int snapshot_expand(struct words *to, const struct cmd *c)
{
	int status = GPQ_OK;
	for (int i = 0; i < c->argc && !status; i++)
		if (series_is(c->argv[i]))
			status = series_list(to, c->argv[i]);
		else
			words_push(to, c->argv[i], strlen(c->argv[i]));
	return status;
}
