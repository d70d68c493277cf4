// Text that is no table; see out.h.
#include "common/out/out.h"

#include "common/cli/err.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int out_text(struct buf *text)
{
	int failed = write_fully(STDOUT_FILENO, text->data, text->len);
	buf_fini(text);
	if (!failed)
		return GPQ_OK;
	return errno == EPIPE ? GPQ_PIPE : err_sys(errno, NULL, "standard output");
}

int out_file(const char *option, const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	int status = GPQ_OK;
	if (fd < 0 || write_fully(fd, text->data, text->len))
		status = err_sys(errno, NULL, "%s%s", option, path);
	if (fd >= 0 && close(fd) && !status)
		status = err_sys(errno, NULL, "%s%s", option, path);
	return status;
}
