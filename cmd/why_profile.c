// gpq why --profile: columns, stacks (--folded) and timeline (--perfetto). common/why/profile.h
// looks at the queues and counts.
#include "cmd/why.h"

#include "common/cli/stop.h"
#include "common/out/traceevent.h"
#include "common/why/profile.h"

#include <fcntl.h>

#define TRACKS        1000000 // track number of the first queue in the timeline
#define TRACK_PROCESS 1       // track number of the first process

// What looks saw of a queue, and how often. Unknown numbers are UINT64_MAX, unknown texts NULL.
struct profile_row {
	struct queue_row q;
	const char *state, *packet, *kernel, *demangled;
	double share;
	uint64_t looks, of, over_ns, cpu_ns;
};

#define ROW profile_row
static const struct out_col cols[] = {
	RING_OWNER_COLS(D),
	COL(q.type, "TYPE", "type", STR, D, "compute, sdma or sdma-xgmi"),
	COL(state, "STATE", "state", STR, D,
	    "running, next, waits, not-published, idle, off, unknown"),
	COL(packet, "PACKET", "packet", STR, D,
	    "type of the packet at the head, as of gpq packets; running: of the one taken last"),
	COL(kernel, "KERNEL", "kernel", STR, D | T | OUT_MANGLED, "its kernel"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(share, "SHARE", "share", F64, D, "share of all looks: LOOKS / OF"),
	COL(looks, "LOOKS", "looks", U64, D, "looks that saw the queue so"),
	COL(of, "OF", "of", U64, M, "looks of the whole profile"),
	COL(over_ns, "OVER", "over_ns", NS, M, "time of the whole profile"),
	COL(cpu_ns, "CPU", "cpu_ns", NS, M, "processor time that it took"),
};

const struct out_table why_profile_table = {"counts", "count", OUT_COLS(cols)};

struct view {
	const struct why_opts *opts;
	struct rings_how how;
	struct rings rings[2]; // rings[current] are in use, the others are for the next scan
	unsigned current;
	struct kernels kernels;
	struct profile profile;
	struct traceevent timeline;
	int fd; // file of the timeline; -1: none
};

// --- names of what looks saw ---

static const char *readable_kernel(struct view *v, const char *kernel)
{
	return v->opts->kernels.demangle ? kernels_readable(&v->kernels, kernel) : kernel;
}

// Names what a look saw: the kernel that runs or is next, else in brackets the state and the type
// of the packet.
static void name_sight(struct buf *to, struct view *v, const struct profile_sight *s)
{
	if (s->kernel && s->state != PROFILE_WAITS)
		buf_puts(to, readable_kernel(v, s->kernel));
	else
		buf_printf(to, "[%s%s%s]", profile_state_word(s->state), s->packet ? " " : "",
			   s->packet ? s->packet : "");
}

static void name_queue(char to[48], const struct profile_queue *q)
{
	const char *type = q->type ? q->type : "queue";
	if (q->row.qid == U64_NULL)
		snprintf(to, 48, "%s", type);
	else if (q->row.context == U64_NULL)
		snprintf(to, 48, "%s %u", type, (unsigned)q->row.qid);
	else
		snprintf(to, 48, "%s %u of context %u", type, (unsigned)q->row.qid,
			 (unsigned)q->row.context);
}

// --- --folded ---

// Escapes semicolons, as these separate the frames of a stack.
static void put_frame(struct buf *to, const char *text)
{
	for (const char *end;; text = end + 1) {
		end = strchrnul(text, ';');
		text_escape(to, text, (size_t)(end - text));
		if (!*end)
			return;
		buf_puts(to, "\\x3b");
	}
}

static int print_folded(struct view *v)
{
	struct buf text = {0}, name = {0};
	char queue[48];
	for (size_t i = 0; i < v->profile.n; i++) {
		const struct profile_queue *q = &v->profile.v[i];
		name_queue(queue, q);
		for (size_t k = 0; k < q->n; k++) {
			put_frame(&text, q->comm);
			buf_printf(&text, " %" PRId64 ";%s;", q->row.pid, queue);
			name.len = 0;
			name_sight(&name, v, &q->v[k].what);
			put_frame(&text, name.data);
			buf_printf(&text, " %" PRIu64 "\n", q->v[k].looks);
		}
	}
	buf_fini(&name);
	return out_text(&text);
}

// --- --perfetto ---

// Returns the track number of a process, which depends on the index of its first queue.
static uint64_t process_number(const struct profile *p, const struct profile_queue *q)
{
	size_t i = 0;
	while (p->v[i].row.pid != q->row.pid || strcmp(p->v[i].comm, q->comm) != 0)
		i++;
	return TRACK_PROCESS + i;
}

static uint64_t queue_number(const struct profile *p, const struct profile_queue *q)
{
	return TRACKS + (uint64_t)(q - p->v);
}

static void draw_sight(void *arg, const struct profile_queue *q, uint64_t now_ns)
{
	struct view *v = arg;
	const struct profile_sight *s = &q->v[q->at].what;
	SCOPED(buf_fini) struct buf name = {0};
	if (s->state == PROFILE_IDLE)
		return;
	name_sight(&name, v, s);
	traceevent_begin(&v->timeline, 'X', process_number(&v->profile, q),
			 queue_number(&v->profile, q), q->since_ns, profile_state_word(s->state),
			 name.data, name.len);
	json_milli(&v->timeline.json, "dur", now_ns - q->since_ns);
	traceevent_end(&v->timeline);
}

static int open_profile_timeline(struct view *v)
{
	const char *path = v->opts->perfetto;
	if (!path)
		return GPQ_OK;
	v->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (v->fd < 0)
		return err_sys(errno, "name a file in a folder you may write to", "--perfetto %s",
			       path);
	traceevent_open(&v->timeline, v->fd, "CLOCK_MONOTONIC");
	v->profile.changes = draw_sight;
	return GPQ_OK;
}

static int close_profile_timeline(struct view *v)
{
	const struct profile *p = &v->profile;
	char name[48];
	if (v->fd < 0)
		return GPQ_OK;
	for (size_t i = 0; i < p->n; i++) {
		const uint64_t process = process_number(p, &p->v[i]);
		snprintf(name, sizeof(name), "%.16s %" PRId64, p->v[i].comm, p->v[i].row.pid);
		if (process == TRACK_PROCESS + i)
			traceevent_name(&v->timeline, process, 0, name, i);
		name_queue(name, &p->v[i]);
		traceevent_name(&v->timeline, process, queue_number(p, &p->v[i]), name, i);
	}
	const int error = traceevent_close(&v->timeline);
	return traceevent_leave(v->fd, v->opts->perfetto, error);
}

// --- the table of a profile ---

static void print_profile_of(struct out *o, struct view *v, const struct profile_queue *q)
{
	const struct profile *p = &v->profile;
	struct profile_row r = {.q = q->row,
				.of = p->looks,
				.over_ns = p->end_ns - p->begin_ns,
				.cpu_ns = p->cpu_ns};
	for (size_t i = 0; i < q->n; i++) {
		const struct profile_sight *s = &q->v[i].what;
		r.state = profile_state_word(s->state);
		r.packet = s->packet;
		r.kernel = s->kernel;
		r.demangled = kernels_readable(&v->kernels, s->kernel);
		r.looks = q->v[i].looks;
		r.share = (double)r.looks / (double)r.of;
		out_row(o, &r);
	}
}

// --- the run of a profile ---

static const char *profile_kernel_name(void *arg, const struct ring_queue *q, uint64_t object)
{
	struct view *v = arg;
	return kernels_name(&v->kernels, q, object);
}

// Searches for queues that came or went. Messages about missing processes were printed at the
// beginning, and are dropped here. With --attach, the queues stay those of the beginning.
static void rescan_queues(void *arg)
{
	struct view *v = arg;
	struct rings *old = &v->rings[v->current], *fresh = &v->rings[!v->current];
	SCOPED(buf_fini) struct buf messages = {0};
	int status;
	v->profile.renamed++;
	if (old->from.rows.mqds_error) {
		kernels_move(&v->kernels, old);
		return;
	}
	err_gather(&messages);
	status = rings_load(fresh, &v->how);
	const bool known = !status || status == GPQ_PARTIAL || status == GPQ_NOTFOUND;
	kernels_move(&v->kernels, known ? fresh : old);
	err_gather(NULL);
	troubles_forget();
	if (known) {
		profile_take(&v->profile, fresh);
		v->current = !v->current;
	}
	rings_fini(known ? old : fresh);
}

// Warns of queues that the last look could not read. Returns the exit status.
static int check_unread(const struct view *v)
{
	const struct rings *r = &v->rings[v->current];
	bool unread = false;
	for (size_t i = 0; i < v->profile.n; i++) {
		const struct profile_queue *q = &v->profile.v[i];
		const struct why_queue *x = &q->x;
		char name[48];
		name_queue(name, q);
		if (q->unread)
			err_note("pid %d: %s: at %" PRIu64 " looks signals or packets that it is "
				 "judged by could not be read, or were none",
				 (int)q->row.pid, name, q->unread);
		if (!x->q || !x->problem)
			continue;
		rings_warn(r, x->q, x->problem);
		unread = true;
	}
	return unread ? rings_unread(r) : GPQ_OK;
}

static int profile_host(struct view *v, struct out *o)
{
	struct profile *p = &v->profile;
	int status = rings_load(&v->rings[0], &v->how);
	if (status && status != GPQ_PARTIAL)
		return status;
	const int opened = open_profile_timeline(v);
	if (opened)
		return opened;
	kernels_begin(&v->kernels, &v->rings[0], o);
	v->kernels.demangles |= v->opts->kernels.demangle;
	kernels_load(&v->kernels);
	p->name = profile_kernel_name;
	p->arg = v;
	profile_take(p, &v->rings[0]);
	stop_watch();
	profile_run(p, v->opts->profile, rescan_queues);
	profile_finish(p);
	err_note("%" PRIu64 " looks in %.3f s, which took %.3f s of processor time", p->looks,
		 (double)(p->end_ns - p->begin_ns) / 1e9, (double)p->cpu_ns / 1e9);
	const int unread = check_unread(v);
	return status ? status : unread;
}

static int print_profile(struct view *v, struct out *o)
{
	if (v->opts->folded)
		return print_folded(v);
	for (size_t i = 0; i < v->profile.n; i++)
		print_profile_of(o, v, &v->profile.v[i]);
	return GPQ_OK;
}

int why_profile(struct cmd *c)
{
	const struct why_opts *o = c->opts;
	struct view v = {.opts = o,
			 .fd = -1,
			 .how = {.pick = &o->pick,
				 .queues = &o->queues,
				 .attach = o->attach,
				 .want = READ_HOLDER}};
	struct out *out = o->folded ? NULL : out_open(&c->out);
	int status = out ? out_begin(out, &why_profile_table, false) : GPQ_OK;
	if (!status)
		status = profile_host(&v, out);
	const int drawn = close_profile_timeline(&v);
	int written = v.profile.looks ? print_profile(&v, out) : GPQ_OK;
	if (out) {
		out_end(out);
		const int closed = out_close(out);
		written = written ? written : closed;
	}
	if (stop_asked() && !written) {
		err_warn(NULL, "stopped by %s after %" PRIu64 " looks", stop_name(stop_asked()),
			 v.profile.looks);
		status = stop_status();
	}
	kernels_end(&v.kernels);
	profile_fini(&v.profile);
	rings_fini(&v.rings[0]);
	rings_fini(&v.rings[1]);
	return written ? written : drawn ? drawn : status;
}
