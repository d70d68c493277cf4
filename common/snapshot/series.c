// A series of snapshots and its index; see series.h.
#include "common/snapshot/series.h"

#include "common/cli/text.h"
#include "common/cli/err.h"
#include "common/cli/json.h"
#include "common/out/jsonin.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define INDEX "index.ndjson"

char *series_path(const char *dir, uint64_t number)
{
	const size_t len = strlen(dir);
	return xasprintf("%s%s%06" PRIu64, dir, len && dir[len - 1] == '/' ? "" : "/", number);
}

// --- reading the index ---

struct entry {
	uint64_t number;
	bool saved, redacted;
};

static bool parse_index_line(struct entry *e, const char *line, size_t len)
{
	struct jsonin j;
	struct jsonin_value key, value;
	char result[16];
	*e = (struct entry){0};
	jsonin_open(&j, line, len, '{');
	while (jsonin_next(&j, &key, &value)) {
		if (jsonin_is(&key, "snapshot") && !jsonin_u64(&value, &e->number))
			return false;
		if (jsonin_is(&key, "result"))
			e->saved = jsonin_str(&value, result, sizeof(result)) &&
				   strcmp(result, "saved") == 0;
		if (jsonin_is(&key, "redacted"))
			e->redacted = value.kind == 't';
	}
	return !j.failed && e->number && e->number < UINT64_MAX;
}

// Calls `each` for every complete line, or counts a line that cannot be parsed in *bad. Returns the
// number of bytes up to the end of the last complete line.
static size_t read_index_lines(const struct buf *text, size_t *bad,
			       void (*each)(void *arg, const struct entry *e), void *arg)
{
	size_t at = 0;
	const char *end;
	while (at < text->len && (end = memchr(text->data + at, '\n', text->len - at))) {
		const char *line = text->data + at;
		struct entry e;
		if (parse_index_line(&e, line, (size_t)(end - line)))
			each(arg, &e);
		else
			++*bad;
		at = (size_t)(end - text->data) + 1;
	}
	return at;
}

static void warn_bad(const char *dir, size_t bad)
{
	if (bad)
		err_warn(NULL, "%s/" INDEX ": %zu line%s %s damaged and left out", dir, bad,
			 text_s(bad), text_are(bad));
}

// --- writing a series ---

static int no_folder(const char *dir, int error)
{
	if (error == EEXIST || error == ENOTDIR)
		return err_fail(GPQ_FAILED, "choose another name, or an empty folder",
				"%s is there already and is no series of snapshots", dir);
	return err_sys(error, error == ENOENT ? "make the folder it shall lie in first" : NULL,
		       "%s", dir);
}

static bool is_empty_folder(int folder)
{
	const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool empty = d;
	for (const struct dirent *e; empty && (e = readdir(d));)
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	if (d)
		closedir(d);
	return empty;
}

static int open_index(struct series *s)
{
	const bool made = mkdir(s->dir, 0777) == 0;
	if (!made && errno != EEXIST)
		return no_folder(s->dir, errno);
	s->folder = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->folder < 0)
		return no_folder(s->dir, errno);
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	s->index = openat(s->folder, INDEX, flags);
	if (s->index < 0 && errno == ENOENT && !is_empty_folder(s->folder))
		return no_folder(s->dir, EEXIST);
	if (s->index < 0 && errno == ENOENT)
		s->index = openat(s->folder, INDEX, flags | O_CREAT, 0666);
	if (s->index < 0)
		return err_sys(errno, NULL, "%s/" INDEX, s->dir);
	if (flock(s->index, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? err_fail(GPQ_FAILED, "name another folder",
					  "%s: another gpq snapshot writes this series", s->dir)
			       : err_sys(errno, NULL, "%s/" INDEX ": lock", s->dir);
	return GPQ_OK;
}

struct so_far {
	uint64_t last;
	bool any, redacted;
};

static void add_entry(void *arg, const struct entry *e)
{
	struct so_far *f = arg;
	f->any |= e->saved;
	f->redacted |= e->redacted;
	if (e->number > f->last)
		f->last = e->number;
}

// Finds the number for the next snapshot of the series. A power cut can leave part of an index
// line, which is removed, and a snapshot without a line, whose number is skipped.
static int read_index(struct series *s, struct so_far *f)
{
	SCOPED(buf_fini) struct buf text = {0};
	size_t bad = 0;
	if (buf_read_fd(&text, s->index) < 0)
		return err_sys(errno, NULL, "%s/" INDEX, s->dir);
	s->end = (off_t)read_index_lines(&text, &bad, add_entry, f);
	warn_bad(s->dir, bad);
	if ((size_t)s->end < text.len && ftruncate(s->index, s->end))
		return err_sys(errno, NULL, "%s/" INDEX, s->dir);
	char name[32];
	struct stat st;
	do
		snprintf(name, sizeof(name), "%06" PRIu64, ++f->last);
	while (fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	s->next = f->last;
	return GPQ_OK;
}

int series_open(struct series *s, const char *dir, bool redacted)
{
	struct so_far f = {0};
	*s = (struct series){.dir = dir, .folder = -1, .index = -1};
	int status = open_index(s);
	if (!status)
		status = read_index(s, &f);
	// Each call of gpq makes other pseudonyms, and real names must not stand beside pseudonyms.
	if (!status && f.any && (redacted || f.redacted))
		status = err_fail(GPQ_USAGE, "name another folder",
				  redacted ? "%s: a series that is there cannot be continued with "
					     "--redact: its pseudonyms would be others"
					   : "%s was made with --redact, and would get names",
				  dir);
	if (status)
		series_close(s);
	return status;
}

void series_close(struct series *s)
{
	close_quietly(s->index);
	close_quietly(s->folder);
	s->index = s->folder = -1;
}

// Writes CLOCK_REALTIME as "2026-11-23T02:40:00.123456789Z".
static void wall_text(char *to, size_t size, uint64_t ns)
{
	const time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	char date[32];
	strftime(date, sizeof(date), "%FT%T", gmtime_r(&s, &tm));
	snprintf(to, size, "%s.%09uZ", date, (unsigned)(ns % 1000000000));
}

static void put_index_line(struct buf *to, uint64_t number, const struct series_line *l)
{
	const struct snapshot *saved = l->error ? NULL : l->snapshot;
	struct json j;
	char wall[64];
	wall_text(wall, sizeof(wall), l->wall_ns);
	json_init(&j, to, false);
	json_begin(&j, NULL, '{');
	json_u64(&j, "snapshot", number);
	json_u64(&j, "monotonic_ns", l->monotonic_ns);
	json_str(&j, "time", wall);
	json_str(&j, "host", *l->host ? l->host : NULL);
	json_str(&j, "boot_id", *l->boot_id ? l->boot_id : NULL);
	json_str(&j, "result", saved ? "saved" : "failed");
	json_str(&j, "error", l->error ? strerrorname_np(l->error) : NULL);
	json_u64(&j, "missed", l->missed);
	json_u64(&j, "processes", saved ? saved->procs : UINT64_MAX);
	json_u64(&j, "queues", saved ? saved->queues : UINT64_MAX);
	json_bool(&j, "dumps", saved ? l->dumps : -1);
	json_bool(&j, "consistent", saved ? saved->settled : -1);
	json_bool(&j, "redacted", l->redacted);
	json_end(&j, '}');
	buf_puts(to, "\n");
}

int series_add(struct series *s, const struct series_line *line)
{
	SCOPED(buf_fini) struct buf text = {0};
	put_index_line(&text, s->next, line);
	int r = write_fully(s->index, text.data, text.len);
	const int error = errno;
	if (r == 0) {
		s->end += (off_t)text.len;
		s->next += !line->error;
	} else if (ftruncate(s->index, s->end)) {
		err_note("%s/" INDEX ": %s", s->dir, strerror(errno));
	}
	errno = error;
	return r;
}

// --- the snapshots of a series ---

static int open_to_read(const char *dir)
{
	SCOPED(free_at) char *path = xasprintf("%s/" INDEX, dir);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

bool series_is(const char *path)
{
	struct stat st;
	SCOPED(close_at) const int fd = open_to_read(path);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

struct listing {
	struct words *to;
	const char *dir;
	uint64_t last;
	size_t gone;
};

static void list_snapshot(void *arg, const struct entry *e)
{
	struct listing *l = arg;
	struct stat st;
	if (!e->saved || e->number <= l->last) // not saved, or a second line about the snapshot
		return;
	l->last = e->number;
	SCOPED(free_at) char *path = series_path(l->dir, e->number);
	if (lstat(path, &st))
		l->gone++;
	else
		words_push(l->to, path, strlen(path));
}

int series_list(struct words *to, const char *dir)
{
	struct listing l = {.to = to, .dir = dir};
	struct buf text = {0};
	size_t bad = 0;
	const int fd = open_to_read(dir);
	const bool read = fd >= 0 && buf_read_fd(&text, fd) >= 0;
	const int error = errno;
	close_quietly(fd);
	if (read)
		read_index_lines(&text, &bad, list_snapshot, &l);
	buf_fini(&text);
	if (!read)
		return err_sys(error, NULL, "%s/" INDEX, dir);
	warn_bad(dir, bad);
	if (l.gone)
		err_note("%s: %zu snapshots of its index are no longer there", dir, l.gone);
	return GPQ_OK;
}
