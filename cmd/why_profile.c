// gpq why --profile: columns, stacks (--folded, --flame) and timeline (--perfetto).
// common/why/profile.h looks at the queues and counts.
#include "cmd/why.h"

#include "common/cli/stop.h"
#include "common/out/plot.h"
#include "common/out/traceevent.h"
#include "common/why/profile.h"

#include <fcntl.h>

#define TRACKS 5000000 // track number of the first queue in the timeline, above all PIDs

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
	COL(share, "SHARE", "share", F64, D, "share of all samples: SAMPLES / OF"),
	COL(looks, "SAMPLES", "samples", U64, D, "samples that saw the queue so"),
	COL(of, "OF", "of", U64, M, "samples of the whole profile"),
	COL(over_ns, "OVER", "over_ns", NS, M, "time of the whole profile"),
	COL(cpu_ns, "CPU_TIME", "cpu_ns", NS, M, "processor time that it took"),
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

// Returns the index of the first queue that has the process of queue `i`.
static size_t first_of_process(const struct profile *p, size_t i)
{
	size_t first = 0;
	while (p->v[first].row.pid != p->v[i].row.pid)
		first++;
	return first;
}

// --- --folded ---

void why_put_frame(struct buf *to, const char *text)
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
	struct buf text = {0};
	char queue[48];
	for (size_t i = 0; i < v->profile.n; i++) {
		const struct profile_queue *q = &v->profile.v[i];
		name_queue(queue, q);
		for (size_t k = 0; k < q->n; k++) {
			why_put_frame(&text, q->comm);
			const struct profile_sight *s = &q->v[k].what;
			const char *name = s->kernel && s->state != PROFILE_WAITS
						   ? readable_kernel(v, s->kernel)
						   : s->packet;
			buf_printf(&text, " %" PRId64 ";%s;%s%s", q->row.pid, queue,
				   profile_state_word(s->state), name ? ";" : "");
			why_put_frame(&text, name ? name : "");
			buf_printf(&text, " %" PRIu64 "\n", q->v[k].looks);
		}
	}
	return out_text(&text);
}

// --- --flame ---

void why_flame_frame(struct plot *p, unsigned level, struct why_share share, const char *class,
		     const char *name)
{
	const double of = (double)share.total;
	char note[96];
	snprintf(note, sizeof(note), ": %" PRIu64 " of %" PRIu64 " %s, %.1f%%", share.n,
		 share.total, share.what, 100 * (double)share.n / of);
	plot_frame(p, level, (double)(share.end - share.n) / of, (double)share.end / of, class,
		   name, note);
}

static struct why_share looks_of(uint64_t end, uint64_t looks, uint64_t total)
{
	return (struct why_share){end, looks, total, "samples"};
}

// Draws the frames of a queue, which follow `at` looks; returns the looks at it.
static uint64_t flame_queue(struct plot *plot, struct view *v, const struct profile_queue *q,
			    uint64_t at, uint64_t total)
{
	static const char *const colors[PROFILE_STATES] = {
		[PROFILE_RUNNING] = "c1",     [PROFILE_NEXT] = "c0", [PROFILE_WAITS] = "c3",
		[PROFILE_UNPUBLISHED] = "c2", [PROFILE_IDLE] = "c4", [PROFILE_OFF] = "c5",
		[PROFILE_UNKNOWN] = "frame"};
	uint64_t end = at;
	char queue[48];
	for (size_t k = 0; k < q->n; k++) {
		SCOPED(buf_fini) struct buf name = {0};
		const enum profile_state state = q->v[k].what.state;
		name_sight(&name, v, &q->v[k].what);
		end += q->v[k].looks;
		why_flame_frame(plot, 2, looks_of(end, q->v[k].looks, total), colors[state],
				name.data);
		plot_legend(plot, colors[state], profile_state_word(state));
	}
	name_queue(queue, q);
	why_flame_frame(plot, 1, looks_of(end, end - at, total), "frame", queue);
	return end - at;
}

static int write_flame(struct view *v)
{
	static const char *const levels[] = {"process", "queue", "packet"};
	const struct profile *p = &v->profile;
	SCOPED(buf_fini) struct buf svg = {0};
	struct plot plot;
	uint64_t total = 0, at = 0;
	char name[96], note[96], over[24];
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->v[i].n; k++)
			total += p->v[i].v[k].looks;
	snprintf(note, sizeof(note), "samples: %" PRIu64 " in %s", p->looks,
		 text_ns(over, p->end_ns - p->begin_ns));
	plot_open(
		&plot, "What queues were seen to do", note,
		(struct plot_axis){"share of the samples of all queues", PLOT_SHARE, 0, 1, false});
	plot_levels(&plot, levels, COUNT(levels));
	for (size_t i = 0; i < p->n; i++) {
		const uint64_t begin = at;
		for (size_t k = i; k < p->n; k++)
			if (first_of_process(p, k) == i)
				at += flame_queue(&plot, v, &p->v[k], at, total);
		snprintf(name, sizeof(name), "%s %" PRId64, p->v[i].comm, p->v[i].row.pid);
		if (at > begin)
			why_flame_frame(&plot, 0, looks_of(at, at - begin, total), "frame", name);
	}
	plot_close(&plot, &svg);
	return out_file("--flame ", v->opts->flame, &svg);
}

// --- --perfetto ---

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
	traceevent_begin(&v->timeline, 'X', (uint64_t)q->row.pid, queue_number(&v->profile, q),
			 q->since_ns, profile_state_word(s->state), name.data, name.len);
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
		const uint64_t process = (uint64_t)p->v[i].row.pid;
		snprintf(name, sizeof(name), "%.16s %" PRId64, p->v[i].comm, p->v[i].row.pid);
		if (first_of_process(p, i) == i)
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
			err_note("pid %d: %s: in %" PRIu64 " samples signals or packets that it is "
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
	const struct buf nothing = {0};
	const int flame = v->opts->flame ? out_file("--flame ", v->opts->flame, &nothing) : GPQ_OK;
	const int opened = flame ? flame : open_profile_timeline(v);
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
	err_note("%" PRIu64 " samples in %.3f s, which took %.3f s of processor time", p->looks,
		 (double)(p->end_ns - p->begin_ns) / 1e9, (double)p->cpu_ns / 1e9);
	const int unread = check_unread(v);
	return status ? status : unread;
}

static int print_profile(struct view *v, struct out *o)
{
	const int status = v->opts->flame ? write_flame(v) : GPQ_OK;
	if (v->opts->folded) {
		const int printed = print_folded(v);
		return printed ? printed : status;
	}
	for (size_t i = 0; i < v->profile.n; i++)
		print_profile_of(o, v, &v->profile.v[i]);
	return status;
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
		err_warn(NULL, "stopped by %s after %" PRIu64 " samples", stop_name(stop_asked()),
			 v.profile.looks);
		status = stop_status();
	}
	kernels_end(&v.kernels);
	profile_fini(&v.profile);
	rings_fini(&v.rings[0]);
	rings_fini(&v.rings[1]);
	return written ? written : drawn ? drawn : status;
}
