// The states of queues, and what to do about each; see why.h.
#include "common/why/why.h"

#include "common/host/root.h"

static const struct {
	const char *word, *remedy;
	uint8_t rank;
} states[WHY_STATES] = {
	[WHY_UNKNOWN] = {"unknown", "look as root; DETAIL says what could not be read", 3},
	[WHY_RUNNING] = {"running", NULL, 4},
	[WHY_HUNG_OR_LONG] =
		{"hung-or-long",
		 "gpq why -p PID --over 10s: if it has not ended then, it hangs; dmesg "
		 "tells faults, gpq why -p PID --waves where its waves are",
		 1},
	[WHY_IDLE] = {"idle", NULL, WHY_RANKS - 1},
	[WHY_IDLE_OR_RUNNING] = {"idle-or-running", NULL, 4},
	[WHY_WAITS_BARRIER] = {"waits-barrier", NULL, 2},
	[WHY_WAITS_EXTERNAL] = {"waits-external",
				"look at its threads, as gpq why -p PID --stacks shows them: one, "
				"or another process, is to set the signal",
				2},
	[WHY_WAITS_SLOT] =
		{"waits-slot",
		 "run fewer processes or queues on this GPU; gpq hqd --summary shows who "
		 "shares it",
		 2},
	[WHY_BEHIND] = {"behind", "mend what it is behind", 2},
	[WHY_DEADLOCK] = {"deadlock",
			  "end process PID: it waits for itself, and nothing on the GPU ends that",
			  0},
	[WHY_UNPUBLISHED] = {"not-published",
			     "look at its threads, as gpq why -p PID --stacks shows them: if none "
			     "is about to write the packet, end the process",
			     0},
	[WHY_DOORBELL_LOST] = {"doorbell-lost",
			       "look at its threads, as gpq why -p PID --stacks shows them: if "
			       "none is about to ring the doorbell, end the process",
			       0},
	[WHY_STOPPED] =
		{"stopped",
		 "let the process go on: kill -CONT PID, docker unpause, or end its debugger", 2},
	[WHY_SUSPENDED] = {"suspended", "gpq resume, if gpq holds it; else end the debugger", 3},
	[WHY_EVICTED] = {"evicted",
			 "wait some seconds; if it lasts: gpq events -p PID names what evicts "
			 "it, most often memory, and gpq ps who has how much",
			 3},
	[WHY_SUSPENDED_OR_EVICTED] =
		{"suspended-or-evicted",
		 "gpq events and gpq why --watch 1 tell evictions; else end the "
		 "debugger",
		 3},
	[WHY_SUSPENDED_OR_RESET] = {"suspended-or-reset",
				    "dmesg has a reset; after one, start the program anew", 1},
	[WHY_RESET] =
		{"reset",
		 "end process PID and start it anew: what it had on the GPU is gone; dmesg tells "
		 "why the GPU was reset",
		 0},
	[WHY_LOST] = {"lost",
		      "dmesg tells more; once the driver has reset the GPU, start the program anew",
		      0},
	[WHY_ERROR] = {"error",
		       "start the program anew; rocgdb shows which kernel faults, and where", 0},
};

const char *why_state_word(enum why_state s)
{
	return states[s].word;
}

unsigned why_rank(enum why_state s)
{
	return states[s].rank;
}

const char *why_remedy(enum why_state s)
{
	return states[s].remedy;
}

// Returns another process whose queue is in a slot while this one, of higher priority, waits for
// one; 0: none is known.
static int64_t in_its_slot(const struct why_queue *x)
{
	const struct slot_inversion *v = &x->q->inversion;
	const bool is = x->state == WHY_WAITS_SLOT && *v->text && v->pid != x->q->row->pid;
	return is ? v->pid : 0;
}

static const char once[] =
	"one look does not tell whether it moves: record it again, and look at both: gpq why "
	"--sysroot BEFORE --sysroot AFTER";

// What is known of the process tells more than the state.
static const char *remedy_of(const struct why *w, const struct why_queue *x)
{
	const struct proc_threads *t = &w->processes[x->q->process].threads;
	if (x->log && !x->log_vague && klog_remedy(x->log->kind))
		return klog_remedy(x->log->kind);
	if (x->state == WHY_SUSPENDED && x->by_name[0])
		return strcmp(x->by_name, "gpq-holder") == 0
			       ? "gpq suspend --list tells who holds it; gpq resume -p PID puts "
				 "its queues back"
			       : "end the process that has it suspended, or let that resume it; "
				 "gpq resume puts back only what gpq suspended";
	if (x->state == WHY_UNKNOWN && why_is_by_slot(x))
		return once;
	if (in_its_slot(x))
		return "gpq suspend -p PID takes the queues of lower priority off; or run fewer "
		       "processes or queues on this GPU";
	if (x->state != WHY_STOPPED)
		return why_remedy(x->state);
	return t->frozen   ? "let its control group go on: docker unpause, or cgroup.freeze"
	       : t->traced ? "let it go on in its debugger, or end that"
			   : "kill -CONT PID lets it go on";
}

COMPARE_VALUES(by_number, pid_t)

static int64_t pid_at(const struct why *w, size_t queue)
{
	return w->v[queue].q->row->pid;
}

// "end processes 5 and 6: they wait for each other"; false: all that waits is of one process.
static bool tell_circle(struct buf *b, const struct why *w, const struct why_queue *x)
{
	struct pids pids = {0};
	size_t at = (size_t)(x - w->v);
	// The waits lead back to this queue: after as many steps as there are queues all were met.
	for (size_t i = 0; i < w->n && at < w->n; i++) {
		pids_push(&pids, (pid_t)pid_at(w, at));
		at = w->v[at].because ? w->v[at].because->by.queue : SIZE_MAX;
	}
	ARRAY_SORT(pids.v, pids.n, by_number);
	for (size_t i = 0; i < pids.n && pids.n > 1; i++)
		buf_printf(b, "%s%d",
			   !i               ? "end processes "
			   : i + 1 < pids.n ? ", "
					    : " and ",
			   (int)pids.v[i]);
	if (pids.n > 1)
		buf_puts(b, ": they wait for each other, and nothing on the GPU ends that");
	free(pids.v);
	return b->len > 0;
}

void why_put_remedy(struct buf *to, const char *text, int64_t pid)
{
	for (const char *word; (word = strstr(text, "PID")); text = word + 3)
		buf_printf(to, "%.*s%" PRId64, (int)(word - text), text, pid);
	buf_puts(to, text);
}

char *why_tell_remedy(const struct why *w, const struct why_queue *x)
{
	if (x->state == WHY_BEHIND && x->root != SIZE_MAX && !w->v[x->root].q->chosen)
		x = &w->v[x->root];
	const char *s = remedy_of(w, x);
	struct buf b = {0}, whole = {0};
	if ((x->state != WHY_DEADLOCK || !tell_circle(&b, w, x)) && s)
		why_put_remedy(&b, s, in_its_slot(x) ? in_its_slot(x) : x->q->row->pid);
	if (b.len)
		buf_printf(&whole, "%s%s",
			   host_is_live() || s == once ? "" : "on that host: ", b.data);
	buf_fini(&b);
	return whole.data;
}
