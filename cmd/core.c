// gpq core: writes GPU cores of processes that live on.
//
// A process at a time: its file is made, its holder attached, its queues suspended by a hold with
// a deadline; what changes while they run is copied to memory; they are resumed; then the rest is
// read, and all is written. If gpq dies, the hold ends with its connection.
#include "cmd/core.h"

#include "cmd/suspend/suspend.h"
#include "cmd/why.h"
#include "common/cli/progress.h"
#include "common/cli/stop.h"
#include "common/host/libarchive.h"
#include "common/kfd/driver.h"
#include "common/waves/take.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define MAX_HOLD_MOST 60000000000u // ns

struct core_opts {
	struct pick_opts pick;
	bool light, full, force;
	uint64_t max_hold; // ns
};

static const struct core_opts defaults = {.max_hold = 200000000};

static const struct opt opts[] = {
	PICK_OPTS(core_opts),
	OPT(core_opts, light, "light", 0, OPT_FLAG, "",
	    "only what AMD's debugger library needs:\nneither code nor kernel arguments"),
	OPT(core_opts, full, "full", 0, OPT_FLAG, "", "all memory that the GPU driver has mapped"),
	OPT(core_opts, max_hold, "max-hold", 0, OPT_NS, "TIME",
	    "hold the queues of a process no longer (200ms)"),
	OPT(core_opts, force, "force", 0, OPT_FLAG, "",
	    "also where the GPU did not let go of queues\nbefore; the driver may reset it"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_CHOOSE("light full"),
	RULE_RANGE("max-hold", 1000000, MAX_HOLD_MOST, "for example --max-hold 1s",
		   "--max-hold: from 1ms to 1m"),
	{0},
};

struct core_row {
	uint64_t pid, bytes, queues, left_out, waves, off_ns;
	const char *path;
};

#define ROW core_row
static const struct out_col cols[] = {
	COL(pid, "PID", "pid", U64, D, "process"),
	COL(path, "PATH", "path", STR, D, "file that was made"),
	COL(bytes, "SIZE", "bytes", SIZE, D, "its size"),
	COL(queues, "QUEUES", "queues", U64, D, "queues in it"),
	COL(left_out, "LEFT_OUT", "left_out", U64, D, "queues of the process that are not"),
	COL(waves, "WAVES", "waves", U64, D, "saved waves in it, where their layout is known"),
	COL(off_ns, "OFF_FOR", "off_ns", NS, D, "for how long the queues were off, as gpq saw it"),
};
#undef ROW

static const struct out_table core_table = {"cores", "core", OUT_COLS(cols)};
static const struct schema schema = {"gpq.core", 1, SCHEMA_TABLES(&core_table), NULL};

// A core that is being made.
struct making {
	const struct core_opts *o;
	struct group one; // the process alone; its member is of another group
	struct group_member *m;
	struct memory memory;
	struct take take;
	struct core_state state;
	const char **why; // of each queue of the answer: why it is left out; NULL: it is not
	struct buf maps;
	struct archive *zst; // compresses the file; NULL: it is not compressed
	struct arc_sink out; // of zst
	struct progress bar;
	bool shows_progress; // --progress
	uint64_t done;       // bytes of the file, for the bar
	size_t unread;       // pages of --full that cannot be read
	struct core_row row;
};

static const char too_late[] = "--max-hold was over";

static pid_t pid_of_core(const struct making *k)
{
	return k->m->target.pid;
}

// ---- holding

// Asks the holder, and takes its answer.
static bool ask_holder(struct making *k, const char *request)
{
	const struct group_talk t = {.request = request, .start = true};
	group_request(&k->one, &t);
	group_answers(&k->one, &t);
	return k->m->state == MEMBER_READY;
}

static bool is_off(const struct kfd_outcome *q)
{
	return q->result == KFD_RESULT_SUSPENDED || q->result == KFD_RESULT_ALREADY;
}

// While the queues are off: what belongs together first, and what changes least last.
static void take_held(struct making *k)
{
	const struct kfd_answer *a = &k->m->link.answer;
	k->state.runtime = a->runtime;
	k->state.gpus = xcalloc(a->num_gpus + 1, sizeof(*k->state.gpus));
	for (size_t i = 0; i < a->num_gpus; i++)
		k->state.gpus[k->state.num_gpus++] = a->gpus[i];
	k->state.queues = xcalloc(a->num + 1, sizeof(*k->state.queues));
	k->why = xcalloc(a->num + 1, sizeof(*k->why));
	for (size_t i = 0; i < a->num; i++) {
		const struct kfd_queue_entry *q = &k->state.queues[k->state.num_queues++];
		k->state.queues[i] = a->queues[i].queue;
		k->why[i] = !is_off(&a->queues[i])
				    ? "the driver did not suspend it"
				    : take_queue(&k->take, q, core_xccs(&k->state, q));
		if (k->take.late)
			k->why[i] = too_late;
	}
	for (uint32_t i = 0; i < k->state.num_queues; i++)
		if (!k->why[i])
			take_dispatches(&k->take, &k->state.queues[i], !k->o->light);
}

// Returns false with m->failure set if it cannot be.
static bool read_version_and_open(struct making *k)
{
	const int kfd = kfd_open(),
		  r = kfd < 0 ? kfd : kfd_ioctl(kfd, KFD_GET_VERSION, &k->state.kfd);
	close_quietly(kfd);
	if (r < 0)
		return kfd_fail_errno(&k->m->failure, KFD_STEP_OPEN, -r) == 0;
	if (memory_open(&k->memory, pid_of_core(k)))
		return kfd_fail(&k->m->failure, KFD_FAULT_SYSTEM, "open its memory",
				strerror(errno)) == 0;
	char byte;
	memory_read(&k->memory, 0, &byte, 1); // starts the child that reads, before the hold
	return true;
}

// Returns GPQ_OK, or the exit status with m->failure set. The holder stays until it is told to
// release (`keep`), so an answer to that shows that the session lasted while memory was taken.
static int hold_and_take(struct making *k)
{
	SCOPED(free_at)
	char *suspend =
		xasprintf("suspend tie for_ns=%" PRIu64 " addresses devices", k->o->max_hold);
	// Attaching may take long, and is not part of the hold.
	bool ok = ask_holder(k, "release keep") && ask_holder(k, "queues") &&
		  read_version_and_open(k);
	k->take.until_ns = clock_ns() + k->o->max_hold;
	ok = ok && ask_holder(k, suspend);
	if (ok) {
		const uint64_t begin = clock_ns();
		take_held(k);
		ok = ask_holder(k, "release");
		k->row.off_ns = clock_ns() - begin;
	}
	group_abandon_failed(&k->one);
	group_release(&k->one);
	return ok ? GPQ_OK : k->m->failure.status;
}

// ---- what is read once the queues run again

// Completes the lists that do not depend on queues, and sorts out queues at which AMD's library
// would end.
static void take_the_rest(struct making *k)
{
	k->take.until_ns = UINT64_MAX;
	k->take.late = false;
	if (!take_list(&k->take, k->state.runtime.r_debug))
		err_warn(NULL,
			 "pid %d: the runtime's list of code objects "
			 "cannot be read: AMD's debugger library will not open the core",
			 (int)pid_of_core(k));
	for (uint32_t i = 0; i < k->state.num_queues; i++) {
		size_t waves = 0;
		if (k->why[i])
			continue;
		take_dispatches(&k->take, &k->state.queues[i],
				false); // what the hold had no time for
		k->why[i] = take_check(&k->take, &k->state, &k->state.queues[i], &waves);
		k->row.waves += k->why[i] ? 0 : waves;
	}
	if (!k->o->light && reader_read(&k->maps, PATH("/proc/%d/maps", (int)pid_of_core(k))) > 0)
		take_code(&k->take, k->maps.data);
}

// Leaves queues out of the note, and says which. One line tells of all that were read too late.
static void leave_out(struct making *k)
{
	struct core_state *s = &k->state;
	const uint32_t all = s->num_queues;
	size_t late = 0;
	s->num_queues = 0;
	for (uint32_t i = 0; i < all; i++)
		if (!k->why[i])
			s->queues[s->num_queues++] = s->queues[i];
		else if (k->why[i] == too_late)
			late++;
		else
			err_warn(NULL, "pid %d: queue %u is left out: %s", (int)pid_of_core(k),
				 s->queues[i].queue_id, k->why[i]);
	if (late)
		err_warn("a longer --max-hold", "pid %d: %zu of %u queue%s not read in time",
			 (int)pid_of_core(k), late, all, all == 1 ? " was" : "s were");
	k->row.queues = s->num_queues;
	k->row.left_out = all - s->num_queues;
}

// ---- writing

static bool fill_core(void *making, uint64_t address, void *to, size_t size)
{
	struct making *k = making;
	struct memory_range v[MEMORY_BYTES_MOST / CORE_PAGE];
	const size_t n = size / CORE_PAGE;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct memory_range){.at = address + i * CORE_PAGE,
					     .to = (char *)to + i * CORE_PAGE,
					     .size = CORE_PAGE};
	memory_read_all(&k->memory, v, n);
	for (size_t i = 0; i < n; i++)
		k->unread += v[i].got != MEMORY_READ;
	k->done += size;
	progress_bytes(&k->bar, k->done, k->row.bytes);
	return !stop_asked();
}

static int put_core(void *fd, const void *data, size_t size)
{
	return write_fully(*(int *)fd, data, size);
}

// Returns 0, or -1 with errno. `done`: what libarchive said.
static int compressed(const struct making *k, const struct arc *arc, bool done)
{
	if (done && !k->out.error)
		return 0;
	errno = k->out.error ? k->out.error : arc->archive_errno(k->zst);
	return -1;
}

static int put_compressed(void *making, const void *data, size_t size)
{
	const struct making *k = making;
	const struct arc *arc = arc_get();
	return compressed(k, arc, arc->archive_write_data(k->zst, data, size) == (la_ssize_t)size);
}

// From here on what put_compressed() takes is written to `fd`.
static int begin_compressing(struct making *k, int fd)
{
	const struct arc *arc = arc_get();
	if (!arc)
		return err_fail(GPQ_UNSUPPORTED,
				LIB_MEND("libarchive", "libarchive13", ", or choose another name"),
				LIB_WHY("%s: ", "libarchive", "libarchive.so.13", ""), k->row.path);
	k->out.fd = fd;
	k->zst = xcheck(arc->archive_write_new());
	struct archive_entry *e = xcheck(arc->archive_entry_new());
	arc->archive_entry_set_filetype(e, AE_IFREG);
	arc->archive_write_set_bytes_in_last_block(k->zst, 1);
	const int r = arc->archive_write_set_format_raw(k->zst) ||
		      arc->archive_write_add_filter_zstd(k->zst) ||
		      arc->archive_write_open(k->zst, &k->out, NULL, arc_sink_write, NULL) ||
		      arc->archive_write_header(k->zst, e);
	arc->archive_entry_free(e);
	return r ? err_fail(GPQ_FAILED, NULL, "%s: %s", k->row.path,
			    arc->archive_error_string(k->zst))
		 : GPQ_OK;
}

// Writes what is still to be compressed, and frees the compressor. Returns 0, or -1 with errno.
static int end_compressing(struct making *k)
{
	const struct arc *arc = k->zst ? arc_get() : NULL;
	if (!arc)
		return 0;
	const int r = compressed(k, arc, arc->archive_write_close(k->zst) == ARCHIVE_OK);
	const int error = errno;
	arc->archive_write_free(k->zst);
	k->zst = NULL;
	errno = error;
	return r;
}

static bool has_suffix(const char *path, const char *suffix)
{
	const size_t len = strlen(path), n = strlen(suffix);
	return len >= n && strcmp(path + len - n, suffix) == 0;
}

static int write_core(struct making *k, int fd)
{
	const bool compressed = has_suffix(k->row.path, ".zst");
	const struct core_io io = {.put = compressed ? put_compressed : put_core,
				   .to = compressed ? (void *)k : (void *)&fd,
				   .fill = fill_core,
				   .from = k};
	size_t n;
	struct statvfs st;
	SCOPED(free_at)
	struct core_segment *v = take_segments(&k->take, k->o->full ? k->maps.data : NULL, &n);
	k->row.bytes = core_size(&k->state, v, n);
	if (!compressed && !fstatvfs(fd, &st) && st.f_blocks && // 0: a tmpfs without a limit
	    k->row.bytes > st.f_bavail * st.f_frsize)
		return err_fail(GPQ_FAILED, "choose another place",
				"%s: no room for %" PRIu64 " KiB", k->row.path, k->row.bytes >> 10);
	int status = compressed ? begin_compressing(k, fd) : GPQ_OK;
	if (status)
		return status;
	progress_init(&k->bar, k->shows_progress, false);
	status = core_write(&io, &k->state, v, n) ? -1 : 0;
	if (status) // the file is closed before what is left of the archive
		k->out.error = errno ? errno : EIO;
	status = status || end_compressing(k) ? -1 : 0;
	const int error = errno;
	progress_end(&k->bar);
	if (status && stop_asked())
		return err_fail(stop_status(), NULL, "stopped by %s", stop_name(stop_asked()));
	if (status)
		return err_sys(error, NULL, "write %s", k->row.path);
	if (k->unread)
		err_warn(NULL, "pid %d: %zu pages could not be read, and are zeros in the core",
			 (int)pid_of_core(k), k->unread);
	return GPQ_OK;
}

static int make_core(struct making *k, int fd)
{
	int status = k->o->force ? GPQ_OK : why_refuse_lost(&k->one);
	if (status)
		return status;
	status = hold_and_take(k);
	if (status)
		return err_fail((enum gpq_exit)status, NULL, "pid %d: %s", (int)pid_of_core(k),
				k->m->failure.text);
	take_the_rest(k);
	leave_out(k);
	if (!k->row.queues)
		return err_fail(k->row.left_out ? GPQ_FAILED : GPQ_NOTFOUND, NULL,
				"pid %d: it has no queue that can be written", (int)pid_of_core(k));
	status = write_core(k, fd);
	return status ? status : k->row.left_out ? GPQ_PARTIAL : GPQ_OK;
}

static void making_fini(struct making *k)
{
	end_compressing(k);
	take_fini(&k->take);
	memory_close(&k->memory);
	free(k->state.gpus);
	free(k->state.queues);
	free(k->why);
	buf_fini(&k->maps);
}

static void making_init(struct making *k, const struct core_opts *o, struct group_member **m)
{
	*k = (struct making){.o = o,
			     .m = *m,
			     .one = {.v = m, .n = 1, .cap = 1},
			     .memory.fd = -1,
			     .take.from = &k->memory};
}

static bool is_made(int status)
{
	return status == GPQ_OK || status == GPQ_PARTIAL;
}

// Makes the core of one member in the file `path`, of which nothing is left if that fails.
static int core_of(struct making *k, const char *path)
{
	SCOPED(close_at) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	k->row = (struct core_row){.pid = (uint64_t)pid_of_core(k), .path = path};
	if (fd < 0)
		return err_sys(errno, errno == EEXIST ? "remove it, or name another one" : NULL,
			       "make %s", path);
	struct stat st;
	int status = make_core(k, fd);
	if (is_made(status) && fsync(fd) && errno != EINVAL)
		status = err_sys(errno, NULL, "write %s", path);
	if (!fstat(fd, &st)) // it may be compressed
		k->row.bytes = (uint64_t)st.st_size;
	if (!is_made(status))
		unlink(path);
	return status;
}

int core_light(struct buf *to, pid_t pid)
{
	const struct core_opts o = {
		.pick.pids = {&pid, 1, true}, .light = true, .max_hold = defaults.max_hold};
	const struct pick_queues_opts whole = {0};
	SCOPED(group_fini) struct group all = {0};
	SCOPED(close_at) const int fd = memfd_create("gpq-core", MFD_CLOEXEC);
	struct making k;
	int status = targets_find(&all, &o.pick, &whole, AMONG_OPEN);
	if (status)
		return status;
	making_init(&k, &o, &all.v[0]);
	k.row.path = "the GPU core";
	status = make_core(&k, fd);
	making_fini(&k);
	if (is_made(status) && (lseek(fd, 0, SEEK_SET) || buf_read_fd(to, fd) < 0))
		status = err_sys(errno, NULL, "the GPU core");
	return status;
}

// ---- all processes

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int core_of_each(struct cmd *c, struct group *all, struct out *o)
{
	const char *to = c->argc ? c->argv[0] : ".";
	int status = GPQ_OK;
	bool any = false;
	size_t i = 0;
	for (; i < all->n && !stop_asked(); i++) {
		struct group_member *m = all->v[i];
		struct making k;
		SCOPED(free_at)
		char *path = is_folder(to) ? xasprintf("%s/gpucore.%d", to, (int)m->target.pid)
					   : xstrdup(to);
		making_init(&k, c->opts, &m);
		k.shows_progress = c->out.progress;
		const int r = core_of(&k, path);
		if (is_made(r))
			any |= out_row(o, &k.row);
		status = !status ? r : any ? GPQ_PARTIAL : status;
		making_fini(&k);
	}
	return i == all->n
		       ? status
		       : err_fail(stop_status(), NULL, "stopped by %s after %zu of %zu processes",
				  stop_name(stop_asked()), i, all->n);
}

static int run_core(struct cmd *c)
{
	const struct core_opts *o = c->opts;
	const struct pick_queues_opts whole = {0};
	SCOPED(group_fini) struct group all = {0};
	int status = targets_find(&all, &o->pick, &whole, AMONG_OPEN);
	if (!status && all.n > 1 && c->argc && !is_folder(c->argv[0]))
		status = err_fail(GPQ_USAGE, "name a folder",
				  "%s: one file cannot have the cores of %zu processes", c->argv[0],
				  all.n);
	if (status)
		return status;
	stop_watch();
	signal(SIGXFSZ, SIG_IGN); // a write beyond a limit fails, and the file is removed
	struct out *out = out_open(&c->out);
	status = out_begin(out, &core_table, false);
	if (!status)
		status = core_of_each(c, &all, out);
	return out_finish(out, status);
}

static int check_core(struct cmd *c)
{
	if (c->argc > 1)
		return err_fail(GPQ_USAGE, "one FILE or DIR", "%s: only one name is expected",
				c->argv[1]);
	return opts_refuse_secure("gpq core"); // it also writes where no name is given
}

const struct cmd_spec core_spec = {
	.synopsis = "-p PID[,PID...] [--light] [--full] [--max-hold TIME] [FILE|DIR]\n"
		    "--container ID ...",
	.description = "Writes a GPU core of each process to DIR/gpucore.PID, as ROCr does when a "
		       "program aborts; but the\nprocess goes on: its queues are off while their "
		       "waves are copied. AMD's debugger library opens it\nalone.",
	.operands = "[FILE|DIR]",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct core_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&core_table),
	.schemas = SCHEMAS(&schema),
	.check = check_core,
	.run = run_core,
};
