// libarchive.h.
#include "common/host/libarchive.h"

// The library has had this soname since libarchive 3.0.
LIB_GETTER(arc, "libarchive.so.13", ARC_FUNCTIONS, RECOMMENDED, "archive",
	   "Compressed logs, and snapshots as archives")

la_ssize_t arc_sink_write(struct archive *a, void *sink, const void *data, size_t len)
{
	struct arc_sink *s = sink;
	(void)a;
	if (!s->error && write_fully(s->fd, data, len))
		s->error = errno;
	return (la_ssize_t)len;
}
