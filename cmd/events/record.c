// Events for gpq trace --live; record.h.
#include "cmd/events/record.h"

#include "cmd/events/events.h"

struct events_recording {
	struct events ev;
	struct events_opts opts;
	struct out_opts format;
	struct out *out;
	size_t shown;
	bool failed;
};

struct events_recording *events_recording_new(const struct pick_opts *pick,
					      const struct words *gpus, int fd, const char *path)
{
	struct events_recording *r = xcalloc(1, sizeof(*r));
	r->opts = (struct events_opts){.pick = *pick,
				       .gpus = *gpus,
				       .count = UINT64_MAX,
				       .interval_ns = EVENTS_INTERVAL_NS};
	r->ev = (struct events){.opts = &r->opts, .log_fd = -1, .loop.fd = -1};
	r->format = (struct out_opts){.mode = OUT_NDJSON, .rows = &r->shown};
	if (events_open(&r->ev) || events_begin(&r->ev)) {
		events_recording_free(r);
		return NULL;
	}
	r->out = out_open_fd(&r->format, fd, path);
	r->failed = out_begin(r->out, &events_table, true) != GPQ_OK;
	return r;
}

int events_recording_fd(const struct events_recording *r)
{
	return r->ev.loop.fd;
}

bool events_recording_turn(struct events_recording *r, bool end)
{
	events_read(&r->ev, end);
	r->failed = r->failed || events_write(&r->ev, r->out, &r->shown) != GPQ_OK;
	return !r->failed;
}

void events_recording_free(struct events_recording *r)
{
	if (r->out) {
		out_end(r->out);
		out_close(r->out);
		events_say_unknown(&r->ev);
	}
	events_close(&r->ev);
	free(r);
}
