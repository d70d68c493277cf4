// Trees that appear all at once; see tree.h. Directories and archives share the list of paths.
#include "common/host/tree.h"

#include "common/host/libarchive.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <search.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct tree {
	char path[PATH_MAX]; // wanted name, without slashes at the end
	char temp[PATH_MAX]; // temporary name; "": none, or renamed already
	struct arc_sink out; // the temporary directory (fd) or file; fd -1: none
	struct archive *tar; // archive to write; NULL: the tree is a directory
	const struct arc *arc;
	char prefix[256]; // folder that the entries of an archive lie in
	time_t now;       // modification time of all entries of an archive
	char **paths;     // paths that were added, parents first; owned
	size_t n, cap;
	void *known; // tsearch() tree of `paths`
	void *links; // tsearch() tree of those in `paths` that are links
};

static const struct {
	const char *suffix;
	enum { PLAIN, GZIP, ZSTD } compression;
} formats[] = {
	{".tar", PLAIN}, {".tar.gz", GZIP}, {".tgz", GZIP}, {".tar.zst", ZSTD}, {".tzst", ZSTD},
};
enum { FORMATS = COUNT(formats) };

static int format_of(const char *path)
{
	const size_t len = strlen(path);
	for (int i = 0; i < FORMATS; i++) {
		const size_t n = strlen(formats[i].suffix);
		if (len > n && strcmp(path + len - n, formats[i].suffix) == 0)
			return i;
	}
	return -1;
}

static int tree_failure(int error)
{
	errno = error;
	return -1;
}

// Error numbers of libarchive are errno values, or negative numbers of its own.
static int archive_failed(const struct tree *t)
{
	int e = t->out.error ? t->out.error : t->arc->archive_errno(t->tar);
	return tree_failure(e > 0 ? e : EIO);
}

// Sets the temporary name: ".NAME.partial-XXXXXX" in the folder of the wanted path.
static int temp_name(struct tree *t)
{
	const char *base = basename(t->path);
	int n = snprintf(t->temp, sizeof(t->temp), "%.*s.%s.partial-XXXXXX", (int)(base - t->path),
			 t->path, base);
	if (n < (int)sizeof(t->temp))
		return 0;
	t->temp[0] = '\0';
	return tree_failure(ENAMETOOLONG);
}

static int open_directory(struct tree *t)
{
	if (temp_name(t))
		return -1;
	if (!mkdtemp(t->temp)) {
		t->temp[0] = '\0';
		return -1;
	}
	t->out.fd = open(t->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->out.fd < 0 ? -1 : 0;
}

// Name of the folder that the archive's entries lie in: "host" for host.tar.zst.
static void name_prefix(struct tree *t, int format)
{
	const char *base = basename(t->path);
	size_t len = format < 0 ? 0 : strlen(base) - strlen(formats[format].suffix);
	if (len == 0)
		base = "gpq-snapshot";
	snprintf(t->prefix, sizeof(t->prefix), "%.*s", (int)(len ? len : strlen(base)), base);
}

static int start_archive(struct tree *t, int format)
{
	const struct arc *arc = t->arc;
	int r = arc->archive_write_set_format_pax_restricted(t->tar);
	if (r >= ARCHIVE_WARN && format >= 0 && formats[format].compression == GZIP)
		r = arc->archive_write_add_filter_gzip(t->tar);
	if (r >= ARCHIVE_WARN && format >= 0 && formats[format].compression == ZSTD)
		r = arc->archive_write_add_filter_zstd(t->tar);
	arc->archive_write_set_bytes_in_last_block(t->tar, 1); // no zeros behind compressed data
	if (r >= ARCHIVE_WARN)
		r = arc->archive_write_open(t->tar, &t->out, NULL, arc_sink_write, NULL);
	return r >= ARCHIVE_WARN ? 0 : archive_failed(t);
}

// Opens an archive; `format` is an index in `formats`, or below 0: a tar on standard output.
static int open_archive(struct tree *t, int format)
{
	t->arc = arc_get();
	if (!t->arc)
		return -1;
	t->tar = xcheck(t->arc->archive_write_new());
	name_prefix(t, format);
	if (format >= 0 && temp_name(t))
		return -1;
	t->out.fd = format < 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			       : mkostemp(t->temp, O_CLOEXEC);
	if (t->out.fd >= 0)
		return start_archive(t, format);
	t->temp[0] = '\0';
	return -1;
}

static int open_tree(struct tree *t, const char *path)
{
	struct stat st;
	if (strcmp(path, "-") == 0)
		return open_archive(t, -1);
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (snprintf(t->path, sizeof(t->path), "%.*s", (int)len, path) >= (int)sizeof(t->path))
		return tree_failure(ENAMETOOLONG);
	if (lstat(t->path, &st) == 0)
		return tree_failure(EEXIST);
	int format = format_of(t->path);
	return format < 0 ? open_directory(t) : open_archive(t, format);
}

struct tree *tree_new(const char *path)
{
	struct tree *t = xcalloc(1, sizeof(*t));
	t->out.fd = -1;
	t->now = time(NULL);
	if (!*path)
		errno = ENOENT;
	if (*path && open_tree(t, path) == 0)
		return t;
	tree_free(t);
	return NULL;
}

static int compare_tree_paths(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int write_entry(struct tree *t, const char *path, mode_t type, const void *data, size_t len)
{
	struct archive_entry *e = xcheck(t->arc->archive_entry_new());
	char name[PATH_MAX + 256];
	snprintf(name, sizeof(name), "%s%s", t->prefix, path);
	t->arc->archive_entry_set_pathname(e, name);
	t->arc->archive_entry_set_filetype(e, type);
	t->arc->archive_entry_set_perm(e, type == AE_IFDIR ? 0755 : type == AE_IFLNK ? 0777 : 0644);
	t->arc->archive_entry_set_mtime(e, t->now, 0);
	if (type == AE_IFLNK)
		t->arc->archive_entry_set_symlink(e, data);
	t->arc->archive_entry_set_size(e, type == AE_IFREG ? (la_int64_t)len : 0);
	int r = t->arc->archive_write_header(t->tar, e);
	t->arc->archive_entry_free(e);
	if (r >= ARCHIVE_WARN && type == AE_IFREG && len > 0 &&
	    t->arc->archive_write_data(t->tar, data, len) != (la_ssize_t)len)
		r = ARCHIVE_FATAL;
	return r < ARCHIVE_WARN || t->out.error ? archive_failed(t) : 0;
}

static int write_file(int dir, const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -1;
	if (write_fully(fd, data, len)) {
		close_quietly(fd);
		return -1;
	}
	return close(fd);
}

// Adds the folders above `path`, outermost first. None of them may be a link that was added, since
// that might lead out of the tree.
static int add_parents(struct tree *t, const char *path)
{
	char dir[PATH_MAX];
	for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(s - path), path);
		if (tfind(dir, &t->links, compare_tree_paths))
			return tree_failure(ELOOP);
		if (tree_dir(t, dir))
			return -1;
	}
	return 0;
}

static char *tree_remember(struct tree *t, const char *path)
{
	char *copy = *ARRAY_ADD(t->paths, t->cap, t->n) = xstrdup(path);
	xcheck(tsearch(copy, &t->known, compare_tree_paths));
	return copy;
}

static int tree_add_entry(struct tree *t, const char *path, mode_t type, const void *data,
			  size_t len)
{
	if (path[0] != '/' || !path[1] || strlen(path) >= PATH_MAX)
		return tree_failure(EINVAL);
	if (tfind(path, &t->known, compare_tree_paths))
		return 0;
	if (add_parents(t, path))
		return -1;
	char *copy = tree_remember(t, path);
	if (type == AE_IFLNK)
		xcheck(tsearch(copy, &t->links, compare_tree_paths));
	if (t->tar)
		return write_entry(t, path, type, data, len);
	switch (type) {
	case AE_IFDIR: return mkdirat(t->out.fd, path + 1, 0755);
	case AE_IFLNK: return symlinkat(data, t->out.fd, path + 1);
	default: return write_file(t->out.fd, path + 1, data, len);
	}
}

int tree_dir(struct tree *t, const char *path)
{
	return tree_add_entry(t, path, AE_IFDIR, NULL, 0);
}

int tree_file(struct tree *t, const char *path, const void *data, size_t len)
{
	return tree_add_entry(t, path, AE_IFREG, data, len);
}

int tree_link(struct tree *t, const char *path, const char *target)
{
	return tree_add_entry(t, path, AE_IFLNK, target, 0);
}

ssize_t tree_same(struct tree *t, const char *path, int from)
{
	struct stat st;
	if (t->tar)
		return tree_failure(ENOTSUP);
	if (fstatat(from, path + 1, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!S_ISREG(st.st_mode))
		return tree_failure(EINVAL);
	if (tfind(path, &t->known, compare_tree_paths))
		return st.st_size;
	if (add_parents(t, path) || linkat(from, path + 1, t->out.fd, path + 1, 0))
		return -1;
	tree_remember(t, path);
	return st.st_size;
}

// Renames, but replaces nothing. File systems without RENAME_NOREPLACE (NFS, some FUSE) give
// EINVAL.
static int rename_new(const char *from, const char *to)
{
	struct stat st;
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (lstat(to, &st) == 0)
		return tree_failure(EEXIST);
	return rename(from, to);
}

int tree_commit(struct tree *t)
{
	if (t->tar && (t->arc->archive_write_close(t->tar) != ARCHIVE_OK || t->out.error))
		return archive_failed(t);
	if (!t->temp[0])
		return 0;
	// mkostemp() and mkdtemp() keep other users out until here; from now on the umask decides.
	mode_t mask = umask(0);
	umask(mask);
	if (fchmod(t->out.fd, (t->tar ? 0666 : 0777) & ~mask) || fsync(t->out.fd) ||
	    rename_new(t->temp, t->path))
		return -1;
	t->temp[0] = '\0';
	return 0;
}

static void tree_keep(void *path)
{
	(void)path;
}

static void tree_discard(struct tree *t)
{
	for (size_t i = t->n; !t->tar && i > 0; i--)
		if (unlinkat(t->out.fd, t->paths[i - 1] + 1, 0) && errno == EISDIR)
			unlinkat(t->out.fd, t->paths[i - 1] + 1, AT_REMOVEDIR);
	if (t->tar)
		unlink(t->temp);
	else
		rmdir(t->temp);
}

void tree_free(struct tree *t)
{
	const int saved = errno;
	if (!t)
		return;
	if (t->temp[0])
		tree_discard(t);
	if (t->tar) {
		t->out.error =
			t->out.error ? t->out.error : ECANCELED; // drops what is still written
		t->arc->archive_write_free(t->tar);
	}
	close_quietly(t->out.fd);
	tdestroy(t->links, tree_keep); // `paths` owns the texts of both trees
	tdestroy(t->known, tree_keep);
	for (size_t i = 0; i < t->n; i++)
		free(t->paths[i]);
	free(t->paths);
	free(t);
	errno = saved;
}
