// Chrome trace events; traceevent.h. Written by the text of "Trace Event Format" (Google, public).
#include "common/out/traceevent.h"

#include "common/cli/err.h"

#define FLUSH_AT ((size_t)1 << 16)

static void traceevent_flush(struct traceevent *t)
{
	if (!t->error && write_fully(t->fd, t->buf.data, t->buf.len))
		t->error = errno;
	t->buf.len = 0;
}

void traceevent_open(struct traceevent *t, int fd, const char *clock)
{
	*t = (struct traceevent){.fd = fd, .clock = clock};
	json_init(&t->json, &t->buf, false);
	json_begin(&t->json, NULL, '{');
	json_begin(&t->json, "traceEvents", '[');
}

void traceevent_begin(struct traceevent *t, char phase, uint64_t pid, uint64_t tid, uint64_t ts_ns,
		      const char *category, const char *name, size_t name_len)
{
	struct json *j = &t->json;
	buf_puts(&t->buf, "\n"); // one event on each line, for grep
	json_begin(j, NULL, '{');
	json_strn(j, "ph", &phase, 1);
	json_u64(j, "pid", pid);
	json_u64(j, "tid", tid);
	if (ts_ns != UINT64_MAX)
		json_milli(j, "ts", ts_ns);
	if (category)
		json_str(j, "cat", category);
	json_strn(j, "name", name, name_len);
}

void traceevent_end(struct traceevent *t)
{
	json_end(&t->json, '}');
	if (t->buf.len >= FLUSH_AT)
		traceevent_flush(t);
}

void traceevent_name(struct traceevent *t, uint64_t pid, uint64_t tid, const char *name,
		     uint64_t order)
{
	const char *const what[] = {tid ? "thread_name" : "process_name",
				    tid ? "thread_sort_index" : "process_sort_index"};
	for (unsigned i = 0; i < 2; i++) {
		traceevent_begin(t, 'M', pid, tid, UINT64_MAX, NULL, what[i], strlen(what[i]));
		json_begin(&t->json, "args", '{');
		if (i == 0)
			json_str(&t->json, "name", name);
		else
			json_u64(&t->json, "sort_index", order);
		json_end(&t->json, '}');
		traceevent_end(t);
	}
}

int traceevent_close(struct traceevent *t)
{
	struct json *j = &t->json;
	json_end(j, ']');
	json_str(j, "displayTimeUnit", "ns");
	json_begin(j, "otherData", '{');
	json_str(j, "clock", t->clock);
	json_str(j, "producer", "gpq");
	json_end(j, '}');
	json_end(j, '}');
	buf_puts(&t->buf, "\n");
	traceevent_flush(t);
	buf_fini(&t->buf);
	return t->error;
}

int traceevent_leave(int fd, const char *name, int error)
{
	const char *hint = "what it holds is not complete";
	// A FIFO cannot be truncated.
	if (error && fd >= 0 && ftruncate(fd, 0) == 0)
		hint = "nothing is left in it";
	if (fd >= 0 && close(fd) && !error)
		error = errno;
	if (!error)
		return GPQ_OK;
	err_sys(error, hint, "--perfetto %s", name);
	return GPQ_FAILED;
}
