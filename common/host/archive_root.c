// Recorded hosts in archives; see archive_root.h.
#include "common/host/archive_root.h"

#include "common/host/libarchive.h"
#include "common/host/root.h"
#include "common/host/secure.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define BYTES_MAX ((int64_t)1 << 30)
enum { ENTRIES_MAX = 1 << 20 };

static struct {
	pid_t pid; // process that removes the folder when `open` is closed; 0: none
	int open;
} cleaner;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

// Starts the process that removes `dir` when this one has ended. Ctrl-C does not reach it. Returns
// 0, or -1 with errno; `dir` is gone then.
static int start_cleaner(const char *dir)
{
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC) || (cleaner.pid = fork()) < 0) {
		const int error = errno;
		cleaner.pid = 0;
		rmdir(dir);
		errno = error;
		return -1;
	}
	if (cleaner.pid == 0) {
		setsid();
		dup2(ends[0], 0);
		close_range(1, ~0U, 0); // the folder can be removed however few files may be open
		while (read(0, &byte, 1) < 0 && errno == EINTR)
			;
		nftw(dir, remove_one, 1, FTW_DEPTH | FTW_PHYS);
		_exit(0);
	}
	close_quietly(ends[0]);
	cleaner.open = ends[1];
	return 0;
}

void archive_root_close(void)
{
	const int error = errno;
	if (cleaner.pid) {
		close(cleaner.open);
		while (waitpid(cleaner.pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	cleaner.pid = 0;
	errno = error;
}

// Why a file has no entry: it is no archive, or its compression is a known one and cannot be
// undone.
static int no_entry(const struct arc *arc, struct archive *a)
{
	return arc->archive_filter_code(a, 0) == ARCHIVE_FILTER_NONE ? ENOTDIR : EBADMSG;
}

// Unpacks to the working directory. Returns 0, or an errno value.
static int unpack_entries(const struct arc *arc, struct archive *a)
{
	const int safe = ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
			 ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;
	struct archive_entry *e;
	int64_t bytes = 0;
	unsigned n = 0;
	int r;
	for (; (r = arc->archive_read_next_header(a, &e)) >= ARCHIVE_WARN; n++) {
		const mode_t type = arc->archive_entry_filetype(e);
		if (r == ARCHIVE_EOF)
			return n ? 0 : no_entry(arc, a);
		bytes += arc->archive_entry_size(e);
		if (n >= ENTRIES_MAX || bytes > BYTES_MAX)
			return EFBIG;
		if (arc->archive_entry_hardlink(e) ||
		    (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK))
			continue;
		arc->archive_entry_set_perm(e, type == AE_IFDIR ? 0700 : 0600);
		// libarchive returns a warning, no error, for an entry that it did not write
		// (archive_read_extract2.c). A full or broken disk is told by an errno value;
		// EILSEQ and EINVAL say that the archive is damaged.
		if (arc->archive_read_extract(a, e, safe) != ARCHIVE_OK) {
			const int error = arc->archive_errno(a);
			return error > 0 && error != EILSEQ && error != EINVAL ? error : EBADMSG;
		}
	}
	return n ? EBADMSG : no_entry(arc, a);
}

// Does a tar that is not compressed end in zeros, as it must? libarchive takes one that was cut
// between two entries for a shorter one.
static bool is_whole(const struct arc *arc, struct archive *a, int from)
{
	char end[512] = "?";
	return arc->archive_filter_code(a, 0) != ARCHIVE_FILTER_NONE ||
	       (pread(from, end, sizeof(end), lseek(from, 0, SEEK_END) - (off_t)sizeof(end)) > 0 &&
		!*end && memcmp(end, end + 1, sizeof(end) - 1) == 0);
}

// Unpacks the archive `from` below the folder `to`; the working directory, if there is one, is
// kept. Returns 0, or an errno value.
static int unpack_archive(const struct arc *arc, int from, int to)
{
	SCOPED(close_at) const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct archive *a = xcheck(arc->archive_read_new());
	int error = fchdir(to) ? errno : 0;
	arc->archive_read_support_filter_gzip(a);
	arc->archive_read_support_filter_zstd(a);
	arc->archive_read_support_filter_xz(a);
	arc->archive_read_support_filter_lz4(a);
	arc->archive_read_support_filter_bzip2(a);
	arc->archive_read_support_format_tar(a);
	if (!error) {
		arc->archive_read_open_fd(a, from, 65536); // if it fails, there is no entry
		error = unpack_entries(arc, a);
	}
	if (!error && !is_whole(arc, a, from))
		error = EBADMSG;
	arc->archive_read_free(a);
	return here >= 0 && fchdir(here) ? errno : error;
}

// Opens the folder of the host: the only one there is, or else `in`, where its files lie.
static int open_host(int in)
{
	SCOPED(closedir_at) DIR *d = fdopendir(openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	char only[NAME_MAX + 1] = ".";
	unsigned n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.' && n++ == 0)
			snprintf(only, sizeof(only), "%s", e->d_name);
	return openat(in, n == 1 && strcmp(only, "sys") != 0 ? only : ".",
		      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static const char *full; // folder in which the last archive could not be unpacked; NULL: none

const char *archive_root_full(void)
{
	return full;
}

int archive_root_open(const char *file)
{
	const char *temporary = host_getenv("TMPDIR");
	const char *in = temporary && *temporary ? temporary : "/tmp";
	const struct arc *arc = arc_get();
	const int why = errno, lacks = arc ? 0 : why ? why : ENOPKG;
	struct stat st;
	char dir[PATH_MAX];
	int root = -1, to = -1;
	const int from = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (from < 0)
		return -1;
	snprintf(dir, sizeof(dir), "%s/gpq-XXXXXX", in);
	int error = lacks ? lacks : fstat(from, &st) ? errno : S_ISREG(st.st_mode) ? 0 : ENOTDIR;
	if (!error && !mkdtemp(dir)) {
		full = in;
		error = errno;
	}
	if (!error && start_cleaner(dir))
		error = errno;
	if (!error) {
		to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		error = to < 0 ? errno : unpack_archive(arc, from, to);
		if (!error && (root = open_host(to)) < 0)
			error = errno;
	}
	if (error == ENOSPC)
		full = in;
	if (error)
		archive_root_close();
	close_quietly(to);
	close_quietly(from);
	errno = error;
	return root;
}
