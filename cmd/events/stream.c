// What the driver tells: streams of SMI events, one for each GPU; see events.h.
#include "cmd/events/events.h"

#include "common/kfd/check.h"

#define READS_MAX 16 // reads of one stream in a turn, so that the others get theirs

// --- opening streams ---

static void open_stream(struct events *ev, int kfd, const struct kfd_gpu *g)
{
	struct stream *s = &ev->streams[ev->nstreams];
	s->gpu_id = (uint32_t)g->gpu_id;
	s->fd = kfd_smi_open(kfd, s->gpu_id, KFD_SMI_ALL);
	if (s->fd < 0)
		err_warn(NULL, "gpu %u: its events cannot be had: %s", s->gpu_id, strerror(-s->fd));
	else if (loop_add(&ev->loop, s->fd, ev->nstreams, LOOP_READ))
		ev->nstreams++;
}

void streams_open(struct events *ev)
{
	const int kfd = kfd_open();
	struct kfd_rights rights;
	ev->begin_boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	if (kfd < 0) {
		err_hint(kfd == -EACCES ? KFD_NEXT_GROUP : NULL,
			 KFD_DEVICE_PATH
			 ": %s: events of the driver are missing; queues and processes are polled",
			 strerror(-kfd));
		return;
	}
	ev->streams = xcalloc(ev->gpus.n + 1, sizeof(*ev->streams));
	for (size_t i = 0; i < ev->gpus.n; i++)
		if (ev->gpus.gpus[i].selected && ev->gpus.gpus[i].gpu_id <= UINT32_MAX)
			open_stream(ev, kfd, &ev->gpus.gpus[i]);
	close(kfd);
	// The driver's check is capable(CAP_SYS_ADMIN), in the initial user namespace.
	kfd_rights_read(&rights);
	if (ev->nstreams &&
	    (rights.user_ns || rights.caps == KFD_UNKNOWN || !(rights.caps >> KFD_CAP_ADMIN & 1)))
		err_hint("run as root to see those of all",
			 "without CAP_SYS_ADMIN the driver keeps events of other processes back; "
			 "their queues are polled");
}

void streams_close(struct events *ev)
{
	for (size_t i = 0; i < ev->nstreams; i++)
		close_quietly(ev->streams[i].fd);
	free(ev->streams);
}

// --- rows of messages ---

// One read of a stream, and when it was.
struct reading {
	struct events *ev;
	uint32_t gpu_id;
	// CLOCK_MONOTONIC, CLOCK_BOOTTIME, and how far BOOTTIME is ahead: time in suspend.
	uint64_t now_ns, now_boot_ns, ahead_ns;
};

// Sets the columns TRIGGER and DETAIL.
static void set_detail(struct event_row *r, const struct kfd_smi_event *e)
{
	const char *mark = e->mark == 'R' && e->number == 10 ? "rescheduled"
			   : e->number == 10                 ? NULL
			   : e->mark == 'W'                  ? "write"
			   : e->mark == 'R'                  ? "read"
			   : e->mark == 'M'                  ? "migrated"
			   : e->mark == 'U'                  ? "mapped"
							     : NULL;
	const size_t size = sizeof(r->detail);
	r->trigger = kfd_smi_trigger(e);
	if (!e->readable || e->sequence != KFD_UNKNOWN)
		snprintf(r->detail, size, "%.*s", (int)e->text_len, e->text);
	else if (e->bits != KFD_UNKNOWN)
		snprintf(r->detail, size, "bits 0x%" PRIx64 " count %" PRIu64, e->bits, e->count);
	else if (!r->trigger && e->trigger != KFD_UNKNOWN)
		snprintf(r->detail, size, "trigger %" PRIu64, e->trigger);
	else if (r->trigger || mark)
		snprintf(r->detail, size, "%s", r->trigger ? r->trigger : mark);
}

static void set_name(struct event_row *r, const struct kfd_smi_event *e, bool believed)
{
	if (!believed || e->number == KFD_UNKNOWN || e->name)
		snprintf(r->event, sizeof(r->event), "%s",
			 believed && e->name ? e->name : "unreadable");
	else
		snprintf(r->event, sizeof(r->event), "event-%" PRIu64, e->number);
}

// Returns false if the line may be the rest of a thread's name with a newline in it. The 15 bytes
// of a name have no room for a message with the present time.
static bool believe_message(const struct reading *in, const struct kfd_smi_event *e)
{
	const uint64_t slack = 1000000000;
	if (e->boot_ns != KFD_UNKNOWN)
		return e->boot_ns <= in->now_boot_ns && e->boot_ns + slack >= in->ev->begin_boot_ns;
	return e->name_of == KFD_UNKNOWN || !processes_name_has_newline(in->ev, e->name_of);
}

static void on_message(void *arg, const struct kfd_smi_event *e)
{
	const struct reading *in = arg;
	struct events *ev = in->ev;
	const bool believed = believe_message(in, e);
	const bool named = believed && e->readable;
	const struct known *k = named ? processes_of_message(ev, e) : NULL;
	const uint64_t given = e->tid != KFD_UNKNOWN ? e->tid : e->pid;
	struct event_row *r = events_row(ev, "", "driver", in->now_ns);
	set_name(r, e, believed);
	r->clock = "read";
	events_set_gpu(ev, r, in->gpu_id);
	snprintf(r->text, sizeof(r->text), "%.*s", (int)e->line_len, e->line);
	if (!believed) {
		snprintf(r->detail, sizeof(r->detail), "%.*s", (int)e->line_len, e->line);
		return;
	}
	r->e = *e;
	set_detail(r, e);
	if (e->boot_ns != KFD_UNKNOWN) {
		r->time_ns = e->boot_ns > in->ahead_ns ? e->boot_ns - in->ahead_ns : 0;
		r->clock = "driver";
	}
	events_set_process(r, k, named && given != KFD_UNKNOWN ? given : 0);
	if (!k && e->tid != KFD_UNKNOWN)
		snprintf(r->comm, sizeof(r->comm), "%.*s", (int)e->text_len, e->text);
}

static void add_lost_events(const struct reading *in)
{
	struct event_row *r = events_row(in->ev, "lost", "gpq", in->now_ns);
	r->clock = "read";
	snprintf(r->detail, sizeof(r->detail),
		 "the driver's buffer was full: events may be missing");
	events_set_gpu(in->ev, r, in->gpu_id);
}

// Sets the time of a reading. The clocks are read again where the processor was lost between them,
// or all messages would be as much too early.
static void read_clocks(struct reading *in)
{
	unsigned tries = 0;
	do {
		in->now_ns = clock_ns();
		in->now_boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	} while (clock_ns() - in->now_ns > 100000 && ++tries < 100);
	// Differences below 1 ms are of reading the clocks one after the other.
	in->ahead_ns = in->now_boot_ns - in->now_ns < 1000000 ? 0 : in->now_boot_ns - in->now_ns;
}

// Reads from a stream once. Returns false if no more can be read for now.
static bool read_stream(struct events *ev, struct stream *s)
{
	const ssize_t n = read(s->fd, s->text.data + s->text.len, KFD_SMI_FIFO);
	struct reading in = {.ev = ev, .gpu_id = s->gpu_id};
	if (n <= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
		err_warn(NULL, "gpu %u: its events ended: %s", s->gpu_id,
			 n ? strerror(errno) : "end of file");
		close(s->fd);
		s->fd = -1;
	}
	if (n <= 0)
		return false;
	read_clocks(&in);
	s->text.len += (size_t)n;
	kfd_smi_take(&s->text, on_message, &in);
	if (kfd_smi_was_full((size_t)n, kfd_driver_fact(&ev->driver, KFD_FACT_SMI_LARGE)))
		add_lost_events(&in);
	return true;
}

void streams_read(struct events *ev)
{
	for (size_t i = 0; i < ev->nstreams; i++)
		for (unsigned k = 0; k < READS_MAX && ev->streams[i].fd >= 0; k++)
			if (!read_stream(ev, &ev->streams[i]))
				break;
}
