// Paths under the sysroot; see root.h.
#include "common/host/root.h"

#include "common/host/archive_root.h"
#include "common/host/dlopen.h"
#include "common/host/secure.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int root_fd = -1;       // -1: the live host
static const char *only_dumps; // the recorded host, if it is a folder of dumps; else NULL

// Where a folder of dumps has what commands look for.
static const struct {
	const char *path, *name, *other_name;
} dumps[] = {
	{"/sys/kernel/debug/kfd/mqds", "mqds", "mqds.txt"},
	{"/sys/kernel/debug/kfd/hqds", "hqds", "hqds.txt"},
	{"/sys/kernel/debug/kfd/rls", "rls", "rls.txt"},
	{"/sys/kernel/debug/kfd", ".", "."},
};

static bool is_there(const char *name, bool folder)
{
	struct stat st;
	return fstatat(root_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (folder || !S_ISDIR(st.st_mode));
}

static const char *place_of(const char *path)
{
	for (size_t i = 0; only_dumps && i < COUNT(dumps); i++)
		if (strcmp(path, dumps[i].path) == 0)
			return is_there(dumps[i].name, true) ? dumps[i].name : dumps[i].other_name;
	return path;
}

const char *host_only_dumps(void)
{
	return only_dumps;
}

int host_set_root(const char *root)
{
	only_dumps = NULL;
	if (root_fd >= 0) {
		close(root_fd);
		root_fd = -1;
		archive_root_close();
	}
	if (!root || strcmp(root, "/") == 0)
		return 0;
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 && errno == ENOTDIR)
		root_fd = archive_root_open(root);
	for (size_t i = 0; root_fd >= 0 && !is_there("sys", true) && i < COUNT(dumps); i++)
		if (is_there(dumps[i].name, false) || is_there(dumps[i].other_name, false))
			only_dumps = root;
	return root_fd < 0 ? -1 : 0;
}

const char *host_root_failed(const char *root)
{
	return archive_root_full() ? archive_root_full() : root;
}

const char *host_root_advice(int error)
{
	if (archive_root_full())
		return "archives are unpacked there: set TMPDIR to a folder with room that you may "
		       "write to";
	switch (error) {
	case EMFILE: return NULL;
	case EBADMSG: return "the archive is damaged or cut short";
	case EFBIG: return "unpack it with tar -xf: it has over 1 GiB, or over a million entries";
	case ENOPKG:
		return LIB_MEND("libarchive", "libarchive (libarchive13)",
				", or unpack it with tar -xf");
	default: return "name a folder or an archive that gpq snapshot wrote";
	}
}

int host_root_fd(void)
{
	return root_fd;
}

bool host_is_live(void)
{
	return root_fd < 0;
}

static void (*on_trouble)(const char *path, int error);

void host_on_trouble(void (*report)(const char *path, int error))
{
	on_trouble = report;
}

// Errors that any file may give (no such file, no right, a process that is gone) are not reported.
void host_trouble(const char *path, int error)
{
	if (on_trouble && (error == EIO || error == EMFILE || error == ENFILE || error == ENOMEM ||
			   error == ETIMEDOUT))
		on_trouble(path, error);
	errno = error;
}

// Moves the next component of `rest`, which has one and may be a link, to `at`, a path without
// links. Returns 0, or -1 with errno.
static int resolve_next(char at[PATH_MAX], char rest[PATH_MAX], unsigned *links)
{
	char name[NAME_MAX + 1], target[PATH_MAX], joined[PATH_MAX];
	size_t start = strspn(rest, "/"), len = strcspn(rest + start, "/");
	snprintf(name, sizeof(name), "%.*s", (int)len, rest + start);
	memmove(rest, rest + start + len, strlen(rest + start + len) + 1);
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(at, '/');
		*(slash ? slash : at) = '\0';
		return 0;
	}
	errno = ENAMETOOLONG;
	if (len > NAME_MAX ||
	    snprintf(joined, PATH_MAX, "%s%s%s", at, *at ? "/" : "", name) >= PATH_MAX)
		return -1;
	const ssize_t n = readlinkat(root_fd, joined, target, sizeof(target) - 1);
	if (n < 0) { // `joined` is not a link
		memcpy(at, joined, PATH_MAX);
		return 0;
	}
	target[n] = '\0';
	if (*target == '/')
		*at = '\0';
	const bool fits = snprintf(joined, PATH_MAX, "%s%s", target, rest) < PATH_MAX;
	errno = ++*links > 40 ? ELOOP : fits ? 0 : ENAMETOOLONG;
	if (errno)
		return -1;
	memcpy(rest, joined, PATH_MAX);
	return 0;
}

// RESOLVE_IN_ROOT by hand, for kernels before 5.6 and container runtimes that refuse openat2():
// each link is followed here, from the sysroot on.
static int open_in_root(const char *path, int flags)
{
	char at[PATH_MAX] = "", rest[PATH_MAX];
	bool keep_link = flags & O_NOFOLLOW;
	unsigned links = 0;
	if (snprintf(rest, sizeof(rest), "%s", path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	while (rest[strspn(rest, "/")]) {
		const char *last = rest + strspn(rest, "/");
		if (keep_link && !last[strcspn(last, "/")] && strcmp(last, "..") != 0) {
			size_t n = strlen(at);
			snprintf(at + n, PATH_MAX - n, "%s%s", n ? "/" : "", last);
			break;
		}
		if (resolve_next(at, rest, &links))
			return -1;
	}
	return openat(root_fd, *at ? at : ".", flags | O_NOFOLLOW);
}

// Opens for reading what was opened with O_PATH, if it is a file or a folder: opening a device or a
// pipe may have effects.
static int open_harmless(int found, int flags)
{
	char self[64];
	struct stat st;
	int fd = -1, error = fstat(found, &st) ? errno : ENXIO;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
	if (error == ENXIO && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
		fd = open(self, flags & ~O_NOFOLLOW);
		error = errno;
	}
	close(found);
	errno = error;
	return fd;
}

int host_open_file(int dir, const char *name)
{
	struct stat st;
	if (root_fd >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (root_fd >= 0 && !S_ISREG(st.st_mode)) {
		errno = ENXIO;
		return -1;
	}
	return openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

int host_open(const char *path, int flags)
{
	// openat2() refuses flags that mean nothing together with O_PATH.
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NOCTTY;
	bool look = root_fd >= 0 && !(flags & (O_PATH | O_DIRECTORY));
	int found = look ? O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW) : flags;
	// A recorded host may hold absolute links, or come from a stranger: resolve as if chrooted.
	struct open_how how = {.flags = (unsigned)found, .resolve = RESOLVE_IN_ROOT};
	long fd;
	path = place_of(path);
	// EAGAIN: something was renamed or mounted anywhere while a ".." was resolved.
	int tries = 0;
	do
		fd = root_fd < 0 ? open(path, flags)
				 : syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	while (fd < 0 && root_fd >= 0 && errno == EAGAIN && ++tries < 1000);
	if (fd < 0 && root_fd >= 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_in_root(path, found);
	if (fd >= 0 && look)
		fd = open_harmless((int)fd, flags);
	if (fd < 0)
		host_trouble(path, errno);
	return (int)fd;
}

DIR *host_opendir(const char *path)
{
	int fd = host_open(path, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0) {
		host_trouble(path, errno);
		close_quietly(fd);
	}
	return d;
}

struct dirent *host_readdir(DIR *d)
{
	char path[PATH_MAX];
	errno = 0;
	struct dirent *e = readdir(d);
	if (e || !errno)
		return e;
	int error = errno;
	ssize_t n = readlink(PATH("/proc/self/fd/%d", dirfd(d)), path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	host_trouble(path, error);
	return NULL;
}

void closedir_at(DIR *const *d)
{
	const int saved = errno;
	if (*d)
		closedir(*d);
	errno = saved;
}

ssize_t host_read(struct buf *b, const char *path)
{
	b->len = 0;
	int fd = host_open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	ssize_t n = buf_read_fd(b, fd);
	close_quietly(fd);
	if (n < 0)
		host_trouble(path, errno);
	return n;
}

int host_access(const char *path, int mode)
{
	// access(2) asks for the real user, without capabilities.
	if (root_fd < 0 && host_secure())
		return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
	if (root_fd < 0)
		return access(path, mode);
	SCOPED(close_at) int fd = host_open(path, O_PATH);
	if (fd < 0)
		return -1;
	return access(PATH("/proc/self/fd/%d", fd), mode);
}

ssize_t host_readlink(const char *path, char *target, size_t size)
{
	ssize_t n = -1;
	if (root_fd < 0) {
		n = readlink(path, target, size - 1);
	} else {
		int fd = host_open(path, O_PATH | O_NOFOLLOW);
		if (fd < 0)
			return -1;
		n = readlinkat(fd, "", target, size - 1);
		// readlink(2) gives EINVAL for a path that is no link, but ENOENT for a descriptor
		// of something that is no link.
		int saved = n < 0 && errno == ENOENT ? EINVAL : errno;
		close(fd);
		errno = saved;
	}
	if (n >= 0)
		target[n] = '\0';
	return n;
}

bool host_read_line(char *to, size_t size, const char *path)
{
	SCOPED(buf_fini) struct buf b = {0};
	bool known = host_read(&b, path) > 0;
	snprintf(to, size, "%.*s", known ? (int)strcspn(b.data, "\n") : 0, known ? b.data : "");
	return known;
}

int host_read_u64(const char *path, uint64_t *value)
{
	SCOPED(buf_fini) struct buf b = {0};
	int r = -1;
	if (host_read(&b, path) >= 0) {
		char *end = b.data;
		errno = 0;
		unsigned long long v = strtoull(b.data, &end, 10);
		// strtoull() takes "-1", which is no unsigned number.
		if (*b.data != '-' && end != b.data && !errno && (*end == '\0' || *end == '\n')) {
			*value = v;
			r = 0;
		} else {
			errno = EINVAL;
		}
	}
	return r;
}
