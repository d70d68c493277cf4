// gpq why --waves: where in their kernels jobs stand. common/why/wave_look.h takes the looks, and
// common/waves/groups.h counts equal waves.
#include "cmd/why_waves.h"

#include "cmd/suspend/suspend.h"
#include "common/cli/stop.h"
#include "common/cli/text.h"
#include "common/host/root.h"
#include "common/why/klog.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

// The time between two looks is at least so many times that for which queues were off.
#define HELD_PART    50
#define LONG_REST_NS 5000000000 // that is told

// --- words ---

// What waves of a rank do, and what to do about it.
static const struct {
	const char *what, *remedy;
} ranks[] = {
	[RANK_STOPPED] = {"were stopped",
			  "it failed at this place; rocgdb -p PID shows the variables there"},
	[RANK_BARRIER] = {"wait at a barrier that others of their workgroup do not reach,",
			  "look at the branches before this barrier: waves of one workgroup took "
			  "different ones"},
	[RANK_HALTED] = {"are halted", "end the debugger that halted them, if there is one"},
	[RANK_STANDS] = {"stand still",
			 "gpq why -p PID --waves --every 2s: if they still stand, the kernel hangs "
			 "at this place"},
	[RANK_LOOPS] = {"loop",
			"gpq why -p PID --waves --every 2s: if they stay there, the kernel waits "
			"for what does not come, or computes for long"},
	[RANK_GOES_ON] = {"go on",
			  "start the program with HSA_ENABLE_DEBUG=1 to tell a loop from progress"},
	[RANK_ONCE] = {"are", "take more samples: --sample 3"},
	[RANK_MOVES] = {"move on", NULL},
};

enum wave_rank wave_rank_of(const struct wave_group *g)
{
	static const enum wave_rank ranks_of[] = {
		[WAVES_SEEN_ONCE] = RANK_ONCE, [WAVES_MOVE] = RANK_MOVES,
		[WAVES_LOOP] = RANK_LOOPS,     [WAVES_STAND] = RANK_STANDS,
		[WAVES_GO_ON] = RANK_GOES_ON,
	};
	if (g->one.w.stopped)
		return RANK_STOPPED;
	if (g->missing && g->progress == WAVES_STAND)
		return RANK_BARRIER;
	return g->one.w.halted ? RANK_HALTED : ranks_of[g->progress];
}

size_t wave_process_of(const struct wave_view *v, const struct wave_group *g)
{
	return v->looks.queues[g->one.queue].process;
}

void wave_put_state(struct buf *to, const struct wave_group *g)
{
	static const char *const at[] = {
		[WAVE_AT_OTHER] = "runs",  [WAVE_AT_BARRIER] = "at-barrier",
		[WAVE_AT_WAIT] = "waits",  [WAVE_AT_SLEEP] = "sleeps",
		[WAVE_AT_HALT] = "halted", [WAVE_AT_TRAP] = "traps",
		[WAVE_AT_END] = "ends",
	};
	static const char *const why[] = {"memory-violation",
					  "address-error",
					  "illegal-instruction",
					  "math-error",
					  "watchpoint",
					  "single-step",
					  "trap",
					  "assert",
					  "debug-trap",
					  "breakpoint"};
	const struct wave *w = &g->one.w;
	for (unsigned i = 0; i < COUNT(why); i++)
		if (w->why >> i & 1)
			buf_printf(to, "%s%s", to->len ? "," : "", why[i]);
	if (!to->len)
		buf_puts(to, w->stopped      ? "stopped"
			     : w->halted     ? "halted"
			     : w->in_barrier ? at[WAVE_AT_BARRIER]
					     : at[g->one.at]);
}

// --- the verdict of each process ---

// Returns the group of a process that says most: the worst, and of these the greatest. *all: waves
// of its queue.
static const struct wave_group *worst_of(const struct wave_view *v, size_t process, uint64_t *all)
{
	const struct wave_group *worst = NULL;
	for (size_t i = 0; i < v->groups.n; i++) {
		const struct wave_group *g = &v->groups.v[i];
		if (g->waves && wave_process_of(v, g) == process &&
		    (!worst || wave_rank_of(g) < wave_rank_of(worst) ||
		     (wave_rank_of(g) == wave_rank_of(worst) && g->waves > worst->waves)))
			worst = g;
	}
	*all = 0;
	for (size_t i = 0; i < v->groups.n; i++)
		*all += worst && v->groups.v[i].one.queue == worst->one.queue ? v->groups.v[i].waves
									      : 0;
	return worst;
}

// "64 of 128 waves stand still at vector_add+0x1a4 (vector_add.cpp:12): waits"
static void put_verdict(struct buf *to, struct wave_view *v, const struct wave_group *g,
			uint64_t all)
{
	const struct code_place *place = wave_place_at(v, g, g->one.w.pc);
	const enum wave_rank rank = wave_rank_of(g);
	SCOPED(buf_fini) struct buf source = {0}, last = {0}, state = {0};
	buf_printf(to, "queue %" PRIu64 ": %" PRIu64 " of %" PRIu64 " waves %s ",
		   v->looks.queues[g->one.queue].row.qid, g->waves, all, ranks[rank].what);
	if (rank == RANK_LOOPS) {
		place = wave_place_at(v, g, g->pc_low);
		buf_puts(to, "between ");
		wave_put_place(to, v, place);
		buf_puts(to, " and ");
		wave_put_place(to, v, wave_place_at(v, g, g->pc_high));
		wave_put_source(&last, wave_place_at(v, g, g->pc_high));
	} else {
		buf_puts(to, "at ");
		wave_put_place(to, v, place);
	}
	wave_put_source(&source, place);
	if (source.len && last.len && strcmp(source.data, last.data) != 0)
		buf_printf(&source, " to %s", last.data);
	if (source.len)
		buf_printf(to, " (%s)", source.data);
	if (g->missing && rank == RANK_BARRIER) {
		buf_printf(to, "; %" PRIu64 " missing, at ", g->missing);
		wave_put_place(to, v, wave_place_at(v, g, g->missing_pc));
	}
	wave_put_state(&state, g);
	buf_printf(to, ": %s", state.data);
}

static void say_process(struct buf *to, struct wave_view *v, size_t process)
{
	const struct wave_process *p = &v->looks.processes[process];
	SCOPED(buf_fini) struct buf text = {0}, who = {0};
	const struct queue_row *row = NULL;
	uint64_t all;
	const struct wave_group *g = worst_of(v, process, &all);
	for (size_t i = 0; i < v->looks.nqueues && !row; i++)
		if (v->looks.queues[i].process == process && !v->looks.queues[i].wrong)
			row = &v->looks.queues[i].row;
	if (!row)
		return;
	if (p->pid)
		buf_printf(&who, "pid %d %s: ", (int)p->pid,
			   row->process.comm ? row->process.comm : "?");
	else
		buf_printf(&who, "%s: ", v->opts->core);
	if (g)
		put_verdict(&text, v, g, all);
	why_say_line(to, 0, who.data, g ? text.data : "no waves: nothing of it runs on a GPU");
	if (p->member && g && ranks[wave_rank_of(g)].remedy) {
		text.len = 0;
		why_put_remedy(&text, ranks[wave_rank_of(g)].remedy, p->pid);
		why_say_line(to, 2, "do: ", text.data);
	}
}

static void say_waves(struct out *o, struct wave_view *v, const struct out_opts *form)
{
	SCOPED(buf_fini) struct buf lines = {0};
	if (!why_says_verdicts(form) || form->filter || form->all || form->noheadings)
		return;
	for (size_t i = 0; i < v->looks.nprocesses; i++)
		say_process(&lines, v, i);
	if (lines.len)
		out_title(o, "%.*s", (int)lines.len - 1, lines.data);
}

// --- the run ---

static bool is_member(const void *group, pid_t pid)
{
	return group_has(group, pid);
}

// Returns a process of the group with a queue on the GPU, or 0. One that KFD does not list here, as
// it is of another PID namespace, may have some on any.
static pid_t user_of(const struct group *g, const struct kfd_procs *procs, uint32_t gpu_id)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct kfd_proc *p = kfd_procs_find(procs, g->v[i]->target.pid);
		bool uses = !p && g->v[i]->state != MEMBER_FAILED;
		for (size_t k = 0; p && procs->queues && k < p->queues; k++)
			uses |= procs->queues[p->queue + k].gpu_id == gpu_id;
		if (uses)
			return g->v[i]->target.pid;
	}
	return 0;
}

// Returns what the kernel's log has of a GPU that does not let go of queues and was not reset
// since, or NULL.
static const struct klog_line *lost_line(const struct klog *log, const char *bdf)
{
	const struct klog_whose whose = {.bdf = bdf};
	const struct klog_line *l = klog_last(log, &whose, KLOG_LOST | KLOG_RESET | KLOG_DEAD);
	return l && l->kind != KLOG_RESET ? l : NULL;
}

int why_refuse_lost(const struct group *g)
{
	const struct kfd_procs_how how = {.want = KFD_WANT_GPU, .keep = is_member, .arg = g};
	struct kfd_topology gpus = {0};
	struct kfd_procs procs = {0};
	SCOPED(klog_fini) struct klog log = {0};
	int status = GPQ_OK;
	klog_read(&log);
	if (log.n && !kfd_topology_load(&gpus, KFD_TOPOLOGY_BDF))
		kfd_procs_read(&procs, &how);
	for (size_t i = 0; i < gpus.n && !status; i++) {
		const struct klog_line *line = lost_line(&log, gpus.gpus[i].bdf);
		const pid_t pid = line ? user_of(g, &procs, gpus.gpus[i].gpu_id) : 0;
		if (pid)
			status = err_fail(GPQ_FAILED,
					  "--force tries it; if the GPU does not answer, the "
					  "driver resets it, and every job on it is lost",
					  "pid %d: its GPU does not take queues off: %s", (int)pid,
					  line->text);
	}
	kfd_procs_fini(&procs);
	kfd_topology_fini(&gpus);
	return status;
}

static void take_looks(struct wave_view *v)
{
	const struct why_opts *o = v->opts;
	stop_watch();
	const uint64_t wanted = v->recorded ? 1 : o->sample;
	for (uint64_t i = 0; i < wanted && !stop_asked(); i++) {
		const uint64_t begin = clock_ns(), rest = HELD_PART * v->looks.taken_ns;
		char taken[24], next[24];
		if (i && rest > o->every && rest > LONG_REST_NS)
			err_warn("--sample 1 takes one alone",
				 "the GPU took %s to let go of queues: the next sample is in %s",
				 text_ns(taken, v->looks.taken_ns), text_ns(next, rest));
		if (i && !stop_sleep(begin + (rest > o->every ? rest : o->every)))
			break;
		const bool any = wave_looks_take(&v->looks);
		v->taken++;
		wave_groups_add(&v->groups, v->looks.v, v->looks.n);
		v->held_ns = v->looks.held_ns > v->held_ns ? v->looks.held_ns : v->held_ns;
		if (!any)
			break;
	}
}

static void warn_not_judged(const struct wave_view *v)
{
	for (size_t i = 0; i < v->looks.nqueues; i++) {
		const struct waves_gpu *g = v->looks.queues[i].area.gpu;
		if (g && !g->judged) {
			err_warn(NULL,
				 "how gfx_target_version %" PRIu32 " saves waves is read by the "
				 "driver's sources alone: no other reader has confirmed it",
				 g->version);
			return;
		}
	}
}

// Reports queues and processes that the last look did not see. Returns the exit status.
static int report_unseen(const struct wave_view *v)
{
	int status = targets_report(&v->group);
	warn_not_judged(v);
	for (size_t i = 0; i < v->looks.nqueues; i++) {
		const struct wave_queue *q = &v->looks.queues[i];
		const struct wave_process *p = &v->looks.processes[q->process];
		if (!q->wrong || (p->member && p->member->state == MEMBER_FAILED))
			continue;
		char who[24];
		snprintf(who, sizeof(who), "pid %d", (int)p->pid);
		err_warn(NULL, "%s: queue %" PRIu64 ": no waves, as %s",
			 p->pid ? who : v->opts->core, q->row.qid, q->wrong);
		status = status ? status : GPQ_PARTIAL;
	}
	if (!v->looks.nqueues && !status)
		status = err_fail(GPQ_NOTFOUND, "gpq queues lists those that have",
				  "none of the chosen processes has a compute queue");
	return status;
}

static bool any_is_stuck(const struct wave_view *v)
{
	for (size_t i = 0; i < v->groups.n; i++)
		if (v->groups.v[i].waves && wave_rank_of(&v->groups.v[i]) < RANK_LOOPS)
			return true;
	return false;
}

// For -v: the command that shows the code around a place. Code in memory has no file.
static void note_code(const struct code_place *p)
{
	enum { AROUND = 64 }; // bytes
	SCOPED(buf_fini) struct buf text = {0};
	const char *file = p->path;
	if (!file)
		return;
	if (p->size) {
		buf_printf(&text, "tail -c +%" PRIu64 " %s | head -c %" PRIu64 " >code.o; ",
			   p->at + 1, file, p->size);
		file = "code.o";
	}
	buf_printf(&text, "llvm-objdump -d --start-address=0x%" PRIx64 " --stop-address=0x%" PRIx64,
		   p->address > AROUND ? p->address - AROUND : 0, p->address + AROUND);
	err_note("the code there: %s %s", text.data, file);
}

static int show_table(struct wave_view *v, struct cmd *c, struct out *o)
{
	say_waves(o, v, &c->out);
	const struct wave_group *worst = wave_print_groups(o, v);
	out_end(o);
	if (worst)
		note_code(wave_place_at(v, worst, worst->one.w.pc));
	if (!v->opts->registers || !worst)
		return GPQ_OK;
	const int status = out_begin(o, &why_register_table, false);
	if (status)
		return status;
	wave_print_registers(o, v, worst);
	out_end(o);
	return GPQ_OK;
}

static int show_waves(struct wave_view *v, struct cmd *c)
{
	char text[24];
	struct out *o = v->opts->folded ? NULL : out_open(&c->out);
	if (!v->recorded)
		err_note("queues were off for %s at most, at each of %u samples",
			 text_ns(text, v->held_ns), v->taken);
	int status = o ? out_begin(o, &why_wave_table, false) : GPQ_OK;
	kernels_begin(&v->kernels, &v->none, o);
	v->readable = o ? c->out.demangle : v->opts->kernels.demangle;
	v->kernels.demangles |= v->readable;
	const int drawn = v->opts->flame && !status ? wave_write_flame(v) : GPQ_OK;
	if (!status)
		status = o ? show_table(v, c, o) : wave_print_folded(v);
	const int written = o ? out_close(o) : GPQ_OK;
	status = status ? status : written;
	return status ? status : drawn;
}

// --- where the waves come from ---

// For core_image(), a file in memory whose offsets are as great as addresses. Under a limit that
// cannot be lifted, functions have no names.
static void lift_file_limit(void)
{
	struct rlimit r;
	if (!getrlimit(RLIMIT_FSIZE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_FSIZE, &r);
	}
	signal(SIGXFSZ, SIG_IGN);
}

static int add_core(struct wave_view *v, int fd, const char *path, const struct queue_row *row)
{
	lift_file_limit();
	if (fd < 0)
		return err_sys(errno,
			       row && errno == ENOENT ? "gpq hang --waves records them" : NULL,
			       "%s", path);
	const char *wrong = wave_looks_add_core(&v->looks, fd, row ? &v->picked.rows : NULL,
						row ? (pid_t)row->pid : 0);
	return wrong ? err_fail(GPQ_FAILED, NULL, "%s: %s", path, wrong) : GPQ_OK;
}

// Opens the cores of the chosen processes of a recorded host.
static int open_recorded(struct wave_view *v)
{
	static const struct queue_rows_how how = {.want = READ_GPU | READ_BDF | READ_TYPE |
							  READ_STATUS | READ_CONTAINER};
	int status =
		picked_init(&v->picked, (struct host_choice){&v->opts->pick, &v->opts->queues});
	status = status ? status : picked_load(&v->picked, &how);
	status = status ? status : picked_hide(&v->picked);
	const struct queue_rows *rows = &v->picked.rows;
	int64_t last = 0;
	for (size_t i = 0; i < rows->n && !status; i++) {
		const struct queue_row *r = &rows->rows[i];
		char path[48];
		if (r->hidden || r->pid == last || r->pid <= 0)
			continue;
		last = r->pid;
		snprintf(path, sizeof(path), "/proc/%d/gpucore", (int)last);
		status = add_core(v, host_open(path, O_RDONLY), path, r);
	}
	return status;
}

static int open_looks(struct wave_view *v)
{
	const struct why_opts *o = v->opts;
	if (o->core)
		return add_core(v, open(o->core, O_RDONLY | O_NONBLOCK | O_CLOEXEC), o->core, NULL);
	if (!host_is_live())
		return open_recorded(v);
	int status = targets_find(&v->group, &o->pick, &o->queues, AMONG_OPEN);
	status = status || o->force ? status : why_refuse_lost(&v->group);
	return status ? status : wave_looks_open(&v->looks, &v->group);
}

int why_waves(struct cmd *c)
{
	const struct why_opts *o = c->opts;
	const struct buf nothing = {0};
	struct wave_view v = {.opts = o,
			      .recorded = o->core || !host_is_live(),
			      .looks = {.max_hold_ns = o->max_hold, .registers = o->registers},
			      .groups.profile = o->folded || o->flame};
	int status = o->flame ? out_file("--flame ", o->flame, &nothing) : GPQ_OK;
	status = status ? status : open_looks(&v);
	if (!status) {
		v.groups.looks = v.looks.looks;
		take_looks(&v);
		group_release(&v.group);
		v.places = xcalloc(v.looks.nprocesses + 1, sizeof(*v.places));
		for (size_t i = 0; i < v.looks.nprocesses; i++)
			wave_places_name(&v, i);
		const int shown = show_waves(&v, c);
		const int unseen = report_unseen(&v);
		status = shown              ? shown
			 : stop_asked()     ? stop_status()
			 : any_is_stuck(&v) ? GPQ_STUCK
					    : unseen;
	}
	wave_places_free(&v);
	kernels_end(&v.kernels);
	wave_groups_fini(&v.groups);
	wave_looks_fini(&v.looks);
	group_fini(&v.group);
	picked_fini(&v.picked);
	return status;
}
