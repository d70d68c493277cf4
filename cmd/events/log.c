// Trouble of the driver, as the kernel's log tells it from now on; see events.h.
#include "cmd/events/events.h"

#include "common/host/root.h"
#include "common/why/klog.h"

#define LOG_KEY (UINT64_MAX - 1) // key in events.loop

void log_open(struct events *ev)
{
	ev->log_fd = klog_open();
	if (ev->log_fd < 0)
		return;
	lseek(ev->log_fd, 0, SEEK_END);
	loop_add(&ev->loop, ev->log_fd, LOG_KEY, LOOP_READ);
}

static const struct known *process_of_line(struct events *ev, const struct klog_line *l)
{
	uint64_t pasid;
	if (l->pid)
		return processes_of_pid(ev, (pid_t)l->pid);
	for (size_t i = 0; i < ev->nknown && l->pasid; i++)
		if (!ev->known[i].ended_ns &&
		    host_read_u64(PATH("/sys/class/kfd/kfd/proc/%d/pasid", (int)ev->known[i].pid),
				  &pasid) == 0 &&
		    pasid == l->pasid)
			return &ev->known[i];
	return NULL;
}

// The log does not tell partitions of a GPU apart.
static void set_gpu_of_line(const struct events *ev, struct event_row *r, const char *bdf)
{
	for (size_t i = 0; i < ev->gpus.n && *bdf; i++) {
		if (strcmp(ev->gpus.gpus[i].bdf, bdf) != 0)
			continue;
		if (r->bdf)
			r->gpu_id = U64_NULL;
		else
			events_set_gpu(ev, r, ev->gpus.gpus[i].gpu_id);
	}
}

void log_read(struct events *ev)
{
	SCOPED(klog_fini) struct klog k = {0};
	if (ev->log_fd >= 0)
		klog_read_from(&k, ev->log_fd);
	for (size_t i = 0; i < k.n; i++) {
		const struct klog_line *l = &k.v[i];
		const struct known *process = process_of_line(ev, l);
		struct event_row *r = events_row(ev, klog_word(l->kind), "log", clock_ns());
		r->clock = "read";
		r->meaning = l->meaning;
		r->remedy = klog_remedy(l->kind);
		snprintf(r->text, sizeof(r->text), "%s%s%s", l->bdf, *l->bdf ? ": " : "", l->text);
		snprintf(r->detail, sizeof(r->detail), "%s", l->text);
		set_gpu_of_line(ev, r, l->bdf);
		events_set_process(r, process, (uint64_t)l->pid);
	}
}
