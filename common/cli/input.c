// Files named by the user; see input.h.
#include "common/cli/input.h"

#include "common/cli/err.h"
#include "common/host/root.h"

#include <fcntl.h>

const char *input_name(const char *name)
{
	return strcmp(name, "-") == 0 ? "standard input" : name;
}

const char *input_next(int error)
{
	switch (error) {
	case EPERM:
	case EACCES: return "run as root, or as a user who may read it";
	case ENOENT: return "check the name";
	case EISDIR: return "name a file in it";
	default: return NULL;
	}
}

int input_stdin(void)
{
	if (isatty(STDIN_FILENO))
		err_hint("Ctrl-D ends it", "standard input is read: this terminal");
	return STDIN_FILENO;
}

int input_read(struct buf *b, const char *name)
{
	bool in = strcmp(name, "-") == 0;
	int fd = in ? input_stdin() : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : buf_read_fd(b, fd);
	if (fd >= 0 && !in)
		close_quietly(fd);
	return n < 0 ? err_sys(errno, input_next(errno), "%s", input_name(name)) : GPQ_OK;
}

int input_root(const char *root, const char *what)
{
	if (!host_set_root(root)) {
		// host_open() reopens files of a recorded host by the names that they have there.
		if (host_is_live() || access("/proc/self/fd", F_OK) == 0)
			return GPQ_OK;
		return err_fail(GPQ_UNSUPPORTED, "mount it: mount -t proc proc /proc",
				"%s%s: needs /proc to be read: %s", what, root, strerror(errno));
	}
	const char *failed = host_root_failed(root), *advice = host_root_advice(errno);
	return err_sys(errno, advice, "%s%s", failed == root ? what : "TMPDIR: ", failed);
}

int input_lines(const char *name, input_line_fn *take, void *arg)
{
	const bool in = strcmp(name, "-") == 0;
	FILE *f = in ? stdin : fopen(name, "re");
	char *line = NULL;
	size_t cap = 0;
	uint64_t number = 0;
	ssize_t n;
	int r = f ? 0 : -1;
	if (in)
		input_stdin();
	while (!r && (n = getline(&line, &cap, f)) >= 0) {
		n -= n && line[n - 1] == '\n';
		line[n] = '\0';
		r = take(arg, name, ++number, line, (size_t)n);
	}
	if (!r && !feof(f)) // out of memory in getline() does not set ferror()
		r = -1;
	int error = errno;
	free(line);
	if (f && f != stdin)
		fclose(f);
	errno = error;
	return r;
}
