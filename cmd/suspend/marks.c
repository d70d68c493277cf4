// gpq suspend --marks FILE ... -- COMMAND: appends the times of suspend and resume to FILE, in the
// format of gpq suspend --ndjson and gpq resume --ndjson (standard output belongs to COMMAND).
// gpq trace --gaps --mark reads them (common/amdlog/analysis/windows.h).
#include "cmd/suspend/suspend.h"

#include "common/host/xalloc.h"
#include "common/out/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct marks {
	struct out *out;
	int fd;
};

struct marks *marks_open(const char *file)
{
	const struct out_opts lines = {.mode = OUT_NDJSON};
	struct marks *m = xcalloc(1, sizeof(*m));
	m->fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (m->fd < 0) {
		err_sys(errno, NULL, "--marks %s", file);
		free(m);
		return NULL;
	}
	m->out = out_open_fd(&lines, m->fd, file);
	out_begin(m->out, &held_table, true);
	return m;
}

static bool write_marks(struct marks *marks, const struct group_member *m)
{
	for (size_t i = 0; i < m->link.answer.num; i++) {
		const struct held_row row = held_row_of(m, &m->link.answer.queues[i]);
		out_row(marks->out, &row);
	}
	return out_flush(marks->out) == 0;
}

int marks_suspended(struct marks *marks, const struct group *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!write_marks(marks, all->v[i]))
			return GPQ_FAILED; // out_close() prints the reason
	return 0;
}

void marks_resumed(struct marks *marks, const struct group_member *m, bool answered)
{
	struct held_row row = held_row_of(m, NULL); // one for all queues
	row.result = kfd_result_name(KFD_RESULT_RESUMED);
	if (!marks)
		return;
	if (answered) {
		write_marks(marks, m);
		return;
	}
	out_row(marks->out, &row);
	out_flush(marks->out);
}

void marks_close(struct marks *marks)
{
	if (!marks)
		return;
	out_close(marks->out);
	close(marks->fd);
	free(marks);
}
