// gpq events: options, columns, and the loop that waits for events. Facts: [kfd.smi].
#include "cmd/events/events.h"

#include "common/cli/stop.h"

#define NOT_GIVEN  UINT64_MAX
#define LEAST_NS   10000000u
#define SORT_TEXT  "--sort: rows are in order when all are there"
#define STDOUT_KEY UINT64_MAX // key in events.loop; a stream's key is its index

static const struct events_opts defaults = {
	.for_ns = NOT_GIVEN, .count = NOT_GIVEN, .interval_ns = EVENTS_INTERVAL_NS};

static const struct opt opts[] = {
	PICK_OPTS(events_opts),
	OPT(events_opts, gpus, "gpu", 0, OPT_WORDS, "GPU[,GPU...]",
	    "only these GPUs:\nindex, gpu_id (decimal or hex) or PCI address"),
	OPT(events_opts, for_ns, "for", 0, OPT_SEC, "SEC", "end after this time"),
	OPT(events_opts, count, "count", 0, OPT_U64, "N", "end after this many events"),
	OPT(events_opts, interval_ns, "interval", 0, OPT_NS, "TIME",
	    "look for queues this often (100ms)"),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_RANGE("interval", LEAST_NS, UINT64_MAX, "for example --interval 100ms",
		   "--interval: the least is 10ms"),
	RULE_RANGE("count", 1, UINT64_MAX, "give at least 1", "--count 0: nothing to wait for"),
	RULE_NEEDS("sort", "for", "add --for, leave out --count", SORT_TEXT),
	RULE_EXCLUDES("sort", "count", "add --for, leave out --count", SORT_TEXT),
	RULE_EXCLUDES("openmetrics", "", "use --ndjson", "--openmetrics: events are no metrics"),
	{0},
};

// Rows are written before the next is known: each column has a fixed width, its last argument.
#define ROW event_row
static const struct out_col cols[] = {
	COL(time_us, "TIME_US", "time_us", U64, D, "CLOCK_MONOTONIC", 12),
	COL(event, "EVENT", "event", STR, D | A, "what happened", 16),
	COL(pid, "PID", "pid", I64, D, "process, as the host numbers it", 7),
	COL(comm, "COMMAND", "command", STR, D | A, "command name, up to 15 bytes", 15),
	COL(container, "CONTAINER", "container", STR, D | A,
	    "container: first 12 digits of its id; of LXC and nspawn its name", 12),
	COL(user, "USER", "user", STR, M, "effective user of the process", 8),
	COL(pod, "POD", "pod", STR, M | A, "kubernetes pod, NAMESPACE/NAME", 12),
	COL(job, "JOB", "job", STR, M | A, "job of Slurm", 10),
	COL(gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)", 6),
	COL(qid, "QID", "qid", U64, D, "queue id, within the process", 3),
	COL(type, "TYPE", "type", STR, M, "compute, sdma or sdma-xgmi", 7),
	COL(clock, "CLOCK", "clock", STR, D,
	    "whose time it is: driver, read (of reading it), polled (before it)", 6),
	COL(detail, "DETAIL", "detail", STR, D | A, "trigger, cause, or the rest of the message",
	    6),
	COL(source, "SOURCE", "source", STR, M,
	    "driver, log (of the kernel), polled (from sysfs), gpq", 6),
	COL(time_ns, "TIME_NS", "time_ns", U64, M, "CLOCK_MONOTONIC", 15),
	COL(interval_ns, "INTERVAL", "interval_ns", NS, M,
	    "polled: it happened within this time before", 8),
	COL(ns_pid, "NSPID", "ns_pid", I64, M, "PID inside its container", 7),
	COL(given_pid, "GIVEN", "given_pid", I64, M, "PID or thread id in the message", 7),
	COL(container_id, "CONTAINER_ID", "container_id", STR, M | A, "container in full", 12),
	COL(bdf, "BDF", "bdf", STR, M, "PCI address of the GPU", 12),
	COL(context, "CONTEXT_ID", "context_id", U64, M, "secondary KFD context of the queue", 10),
	COL(ring_bytes, "RING", "ring_bytes", SIZE, M, "size of the ring", 5),
	COL(e.number, "NUMBER", "number", U64, M, "the driver's number of the event", 6),
	COL(trigger, "TRIGGER", "trigger", STR, M, "why it was evicted, migrated, unmapped", 10),
	COL(e.trigger, "TRIGGER_NUMBER", "trigger_number", U64, M, "the same as a number", 14),
	COL(e.page, "PAGE", "page", HEX, M, "address divided by the size of a page", 12),
	COL(e.pages, "PAGES", "pages", U64, M, "number of pages from there", 8),
	COL(e.from, "FROM_GPU", "from_gpu", U64, M, "migrated from; 0: system memory"),
	COL(e.to, "TO_GPU", "to_gpu", U64, M, "migrated to; 0: system memory"),
	COL(e.prefetch, "PREFETCH", "prefetch_gpu", U64, M, "prefetch location", 8),
	COL(e.preferred, "PREFERRED", "preferred_gpu", U64, M, "preferred location", 9),
	COL(e.error, "ERRNO", "errno", I64, M, "of a migration: 0, or negative errno", 5),
	COL(e.sequence, "RESET", "reset", U64, M, "resets of the GPU so far", 5),
	COL(e.bits, "THROTTLE_BITS", "throttle_bits", HEX, M, "reasons of throttling", 8),
	COL(e.count, "COUNT", "throttle_count", U64, M, "times it was throttled", 5),
	COL(meaning, "MEANING", "meaning", STR, M, "what a line of the kernel's log means", 7),
	COL(remedy, "DO", "do", STR, M, "what to do about it", 2),
	COL(text, "TEXT", "text", STR, A, "the driver's message, as it came", 4),
};

const struct out_table events_table = {"events", "event", OUT_COLS(cols)};
static const struct schema schema = {"gpq.events", 1, SCHEMA_TABLES(&events_table), NULL};

// --- rows of events ---

struct event_row *events_row(struct events *ev, const char *event, const char *source,
			     uint64_t time_ns)
{
	struct event_row *r = ARRAY_ADD(ev->rows, ev->cap_rows, ev->nrows);
	*r = (struct event_row){.source = source, .clock = source};
	snprintf(r->event, sizeof(r->event), "%s", event);
	memset(&r->e, 0xff, sizeof(r->e));
	r->e.error = I64_NULL;
	r->interval_ns = r->gpu_id = r->qid = r->context = r->ring_bytes = U64_NULL;
	r->pid = r->ns_pid = r->given_pid = I64_NULL;
	r->time_ns = time_ns;
	if (strcmp(source, "polled") == 0)
		r->interval_ns = time_ns - ev->looked_ns;
	r->order = ev->nrows;
	return r;
}

void events_set_process(struct event_row *r, const struct known *k, uint64_t given)
{
	if (given && given <= INT32_MAX)
		r->given_pid = (int64_t)given;
	if (!k)
		return;
	r->pid = k->pid;
	r->ns_pid = k->ns_pid > 0 ? k->ns_pid : I64_NULL;
	r->fits = k->fits;
	memcpy(r->comm, k->comm, sizeof(r->comm));
	memcpy(r->container, k->container, sizeof(r->container));
	memcpy(r->container_id, k->container_id, sizeof(r->container_id));
	memcpy(r->pod, k->pod, sizeof(r->pod));
	memcpy(r->job, k->job, sizeof(r->job));
	r->user = k->uid == UINT64_MAX ? NULL : proc_user(k->uid);
}

void events_set_gpu(const struct events *ev, struct event_row *r, uint64_t gpu_id)
{
	const struct kfd_gpu *g = kfd_topology_find(&ev->gpus, gpu_id);
	r->gpu_id = gpu_id;
	r->bdf = g && *g->bdf ? g->bdf : NULL;
}

COMPARE_BY_BOTH(events_by_time, struct event_row, time_ns, order)

// Do the options choose the event's process and GPU? Events without a process are always shown.
static bool event_is_chosen(struct events *ev, const struct event_row *r)
{
	if (r->gpu_id != U64_NULL && !pick_has_gpu(&ev->gpus, &ev->opts->gpus, r->gpu_id))
		return false;
	if (!pick_asks(&ev->opts->pick) || (r->pid == I64_NULL && r->given_pid == I64_NULL))
		return true;
	ev->unknown += r->pid == I64_NULL;
	return r->pid != I64_NULL && r->fits;
}

int events_write(struct events *ev, struct out *o, const size_t *shown)
{
	ARRAY_SORT(ev->rows, ev->nrows, events_by_time);
	for (size_t i = 0; i < ev->nrows && *shown < ev->opts->count; i++) {
		struct event_row *r = &ev->rows[i];
		r->time_us = r->time_ns / 1000;
		if (event_is_chosen(ev, r))
			out_row(o, r);
	}
	ev->nrows = 0;
	ev->looked_again = false;
	return out_flush(o);
}

// --- the loop that waits for events ---

// Waits for events, until `until` (CLOCK_MONOTONIC, ns) at most. Returns false if nobody reads the
// output any more.
static bool wait_for_events(struct events *ev, uint64_t until)
{
	const uint64_t now = clock_ns();
	const uint64_t ms = until > now ? (until - now + 999999) / 1000000 : 0;
	struct epoll_event found[8];
	int n = stop_wait(ev->loop.fd, ms > INT32_MAX ? INT32_MAX : (int)ms);
	n = n > 0 ? loop_wait(&ev->loop, found, COUNT(found), LOOP_NOW) : 0;
	for (int i = 0; i < n; i++)
		if (found[i].data.u64 == STDOUT_KEY)
			return false;
	return true;
}

void events_read(struct events *ev, bool look)
{
	if (look || clock_ns() >= ev->look_ns) {
		events_poll(ev);
		ev->look_ns = clock_ns() + ev->opts->interval_ns;
	}
	// After the look at sysfs: rows are sorted within a turn, so that events which happened
	// before that look must be in the same turn.
	streams_read(ev);
	log_read(ev);
}

void events_say_unknown(const struct events *ev)
{
	if (ev->unknown)
		err_warn("without -p and the like they are shown",
			 "left out: %zu event%s of processes that are not known", ev->unknown,
			 text_s(ev->unknown));
}

static int watch_events(struct events *ev, struct out *o, const size_t *shown)
{
	const struct events_opts *opt = ev->opts;
	const uint64_t begin = clock_ns();
	const uint64_t end = opt->for_ns > UINT64_MAX - begin ? UINT64_MAX : begin + opt->for_ns;
	bool over = false;
	int status = GPQ_OK;
	while (!status && !over && *shown < opt->count) {
		if (!wait_for_events(ev, ev->look_ns < end ? ev->look_ns : end))
			return GPQ_PIPE;
		over = stop_asked() || clock_ns() >= end;
		events_read(ev, over);
		status = events_write(ev, o, shown);
	}
	events_say_unknown(ev);
	if (status || *shown >= opt->count)
		return status;
	if (stop_asked())
		return stop_status();
	return opt->count == NOT_GIVEN
		       ? GPQ_OK
		       : err_fail(GPQ_DEADLINE, NULL, "%zu event%s in this time, of %llu asked for",
				  *shown, text_s(*shown), (unsigned long long)opt->count);
}

// --- beginning and end of gpq events ---

int events_open(struct events *ev)
{
	int r, status;
	kfd_driver_read(&ev->driver, 0);
	r = kfd_topology_load(&ev->gpus, KFD_TOPOLOGY_BDF);
	if (r < 0)
		return err_sys(-r, NULL, "/sys/class/kfd/kfd/topology/nodes");
	status = pick_select_gpus(&ev->gpus, &ev->opts->gpus);
	if (!status)
		status = processes_init(ev);
	return status;
}

int events_begin(struct events *ev)
{
	if (!loop_open(&ev->loop))
		return err_sys(errno, NULL, "epoll");
	streams_open(ev);
	log_open(ev);
	events_read(ev, true);
	return GPQ_OK;
}

void events_close(struct events *ev)
{
	streams_close(ev);
	close_quietly(ev->log_fd);
	processes_fini(ev);
	kfd_procs_fini(&ev->procs);
	kfd_topology_fini(&ev->gpus);
	free(ev->queues);
	free(ev->rows);
	loop_close(&ev->loop);
}

static int show_events(struct events *ev)
{
	struct cmd *c = ev->cmd;
	size_t shown = 0, gpus = 0;
	struct out *o;
	int status;
	stop_watch();
	status = events_begin(ev);
	if (status)
		return status;
	// Polling standard output tells when its reader goes away. Files cannot be polled, and need
	// not be.
	loop_add(&ev->loop, STDOUT_FILENO, STDOUT_KEY, LOOP_NOTHING);
	c->out.rows = &shown;
	o = out_open(&c->out);
	status = out_begin(o, &events_table, true);
	if (!status)
		status = out_flush(o);
	for (size_t i = 0; i < ev->gpus.n; i++)
		gpus += ev->gpus.gpus[i].selected;
	err_note("%zu GPU%s, %zu process%s, %zu queue%s at the beginning", gpus, text_s(gpus),
		 ev->nknown, ev->nknown == 1 ? "" : "es", ev->nqueues, text_s(ev->nqueues));
	if (!status) {
		status = watch_events(ev, o, &shown);
		out_end(o);
	}
	const int written = out_close(o);
	return written ? written : status;
}

static int run_events(struct cmd *c)
{
	struct events ev = {.cmd = c, .opts = c->opts, .log_fd = -1, .loop.fd = -1};
	int status = events_open(&ev);
	if (!status)
		status = show_events(&ev);
	events_close(&ev);
	return status;
}

const struct cmd_spec events_spec = {
	.synopsis = "[-p PID[,PID...]] [--tree] [--container ID|NAME] [--gpu GPU] [--for SEC] "
		    "[--count N] [--interval TIME]",
	.description = "Shows what happens to queues as it happens, a line for each event: what "
		       "the driver tells (evictions, faults, migrations, resets, throttling, "
		       "processes) and logs, and queues that come and go, as polled. Until Ctrl-C.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct events_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&events_table),
	.schemas = SCHEMAS(&schema),
	.run = run_events,
};
