// Latencies of commands; see latency.h.
#include "common/amdlog/analysis/latency.h"

// The entry of an address, which `make` adds if new. NULL: there is none, or a limit is reached.
static struct latency_open *open_of(struct latency_set *s, uint32_t process, uint64_t address,
				    bool make)
{
	s->keys.max_entries = LATENCY_OPEN_MAX;
	uint32_t n = (make ? pair_put(&s->keys, process, address)
			   : pair_find(&s->keys, process, address));
	if (n == INTERN_NONE)
		return NULL;
	ARRAY_REACH(s->v, s->cap, n, 0);
	return &s->v[n];
}

static uint32_t command_kind_number(struct amdlog_latency *l, const struct amdlog_record *r)
{
	size_t len;
	const char *name = amdlog_command_kind(r, &len);
	l->kind_names.max_entries = LATENCY_KINDS_MAX;
	uint32_t n = intern_put(&l->kind_names, name, len);
	if (n == INTERN_NONE)
		return AMDLOG_NONE;
	ARRAY_REACH(l->kinds, l->kinds_cap, n, 0);
	l->kinds[n].name = l->kind_names.entries[n].bytes;
	return n;
}

static void command_enqueued(struct amdlog_latency *l, uint32_t process,
			     const struct amdlog_record *r)
{
	uint64_t address = amdlog_number_behind(r, "enqueued: ");
	ARRAY_REACH(l->current, l->ncurrent, r->thread, 0);
	l->current[r->thread] = 0;
	if (address == AMDLOG_UNKNOWN)
		return;
	uint32_t kind = command_kind_number(l, r);
	struct latency_open *o = open_of(&l->commands, process, address, true);
	if (o)
		*o = (struct latency_open){kind == AMDLOG_NONE ? AMDLOG_UNKNOWN : r->time_us, kind,
					   AMDLOG_NONE, AMDLOG_NONE};
	if (!o || kind == AMDLOG_NONE) {
		l->incomplete = true;
		return;
	}
	l->current[r->thread] = (uint32_t)(o - l->commands.v) + 1;
	l->kinds[kind].enqueued++;
}

// Microseconds from o->us to `us`; 0 if another thread's record was earlier ([amdlog.time]).
static uint64_t since(const struct latency_open *o, uint64_t us)
{
	return us > o->us ? us - o->us : 0;
}

static void command_completed(struct amdlog_latency *l, uint32_t process,
			      const struct amdlog_record *r)
{
	uint64_t address = amdlog_number_behind(r, "Command "), us;
	if (address == AMDLOG_UNKNOWN || r->time_us == AMDLOG_UNKNOWN)
		return;
	struct latency_open *o = open_of(&l->commands, process, address, false);
	if (!o || o->us == AMDLOG_UNKNOWN) {
		l->unknown++;
		return;
	}
	us = since(o, r->time_us);
	l->kinds[o->kind].completed++;
	keyed_histogram_add(&l->by_kind, o->kind, us);
	if (o->queue != AMDLOG_NONE)
		keyed_histogram_add(&l->by_queue, o->queue, us);
	if (o->kernel != AMDLOG_NONE)
		keyed_histogram_add(&l->by_kernel, o->kernel, us);
	o->us = AMDLOG_UNKNOWN;
}

static void signal_line(struct amdlog_latency *l, uint32_t process, const struct amdlog_record *r)
{
	bool set = r->msg[0] == 'S';
	uint64_t handle = amdlog_number_behind(r, "handle("), us;
	if (handle == AMDLOG_UNKNOWN || r->time_us == AMDLOG_UNKNOWN)
		return;
	struct latency_open *o = open_of(&l->signals, process, handle, set);
	if (set && o) {
		*o = (struct latency_open){r->time_us, 0, AMDLOG_NONE, AMDLOG_NONE};
		l->handlers_set++;
	} else if (set) {
		l->incomplete = true;
	} else if (o && o->us != AMDLOG_UNKNOWN) {
		us = since(o, r->time_us);
		l->handlers_called++;
		keyed_histogram_add(&l->handlers, 0, us);
		if (o->queue != AMDLOG_NONE)
			keyed_histogram_add(&l->handlers_by_queue, o->queue, us);
		o->us = AMDLOG_UNKNOWN;
	}
}

// Kernel names and packets belong to the thread's last command. A signal gets its queue here, as
// its handler is set before the packet that completes the signal is logged.
static void packet_or_name(struct amdlog_latency *l, uint32_t process, const struct amdlog_event *e)
{
	uint32_t thread = e->record->thread, n = thread < l->ncurrent ? l->current[thread] : 0;
	struct latency_open *o = n ? &l->commands.v[n - 1] : NULL;
	if (o && o->kernel == AMDLOG_NONE && e->kernel != AMDLOG_NONE)
		o->kernel = e->kernel;
	if (!e->packet || e->queue == AMDLOG_NONE)
		return;
	if (o && o->queue == AMDLOG_NONE)
		o->queue = e->queue;
	if (!l->signals.keys.n)
		return;
	uint64_t signal = amdlog_number_behind(e->record, "completion_signal=");
	if (signal == AMDLOG_UNKNOWN || !signal)
		return;
	o = open_of(&l->signals, process, signal, false);
	if (o && o->us != AMDLOG_UNKNOWN)
		o->queue = e->queue;
}

void amdlog_latency_add(struct amdlog_latency *l, const struct amdlog_summary *sum,
			const struct amdlog_event *e)
{
	const struct amdlog_record *r = e->record;
	uint32_t process = sum->threads[r->thread].process;
	switch (r->kind) {
	case AMDLOG_COMMAND_ENQUEUED: command_enqueued(l, process, r); break;
	case AMDLOG_COMMAND_COMPLETE: command_completed(l, process, r); break;
	case AMDLOG_SIGNAL: signal_line(l, process, r); break;
	default: packet_or_name(l, process, e);
	}
}

static void latency_set_fini(struct latency_set *s)
{
	intern_fini(&s->keys);
	free(s->v);
}

void amdlog_latency_fini(struct amdlog_latency *l)
{
	struct keyed_histogram *all[] = {&l->by_kind, &l->by_queue, &l->by_kernel, &l->handlers,
					 &l->handlers_by_queue};
	for (size_t i = 0; i < COUNT(all); i++)
		keyed_histogram_fini(all[i]);
	latency_set_fini(&l->commands);
	latency_set_fini(&l->signals);
	intern_fini(&l->kind_names);
	free(l->current);
	free(l->kinds);
	*l = (struct amdlog_latency){0};
}
