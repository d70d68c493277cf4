// Pseudonyms; see redact.h. Formats of the files: proc(5), cgroups(7).
#include "common/host/redact.h"

struct alias {
	struct alias *next; // owned
	char *name;         // owned
	char pseudonym[72];
};

struct redact {
	struct alias *aliases[REDACT_KINDS]; // the latest first
	size_t n[REDACT_KINDS];
};

enum { ID_DIGITS = 64 };

static const char *const words[REDACT_KINDS] = {"user", "host",      "program", "command", "group",
						"pod",  "container", "",        "kernel"};

struct redact *redact_new(void)
{
	return xcalloc(1, sizeof(struct redact));
}

void redact_free(struct redact *r)
{
	for (unsigned k = 0; r && k < REDACT_KINDS; k++)
		for (struct alias *a = r->aliases[k], *next; a; a = next) {
			next = a->next;
			free(a->name);
			free(a);
		}
	free(r);
}

static struct alias *alias_new(enum redact_kind kind, const char *name, size_t len, size_t number)
{
	struct alias *a = xcalloc(1, sizeof(*a));
	a->name = xstrndup(name, len);
	// People know a container by the first twelve digits of its id.
	if (kind == REDACT_CONTAINER_ID)
		snprintf(a->pseudonym, sizeof(a->pseudonym), "%012zx%052d", number, 0);
	else
		snprintf(a->pseudonym, sizeof(a->pseudonym), "%s%zu", words[kind], number);
	return a;
}

const char *redact_name(struct redact *r, enum redact_kind kind, const char *name, size_t len)
{
	len = strnlen(name, len);
	for (struct alias *a = r->aliases[kind]; a; a = a->next)
		if (strncmp(a->name, name, len) == 0 && !a->name[len])
			return a->pseudonym;
	struct alias *a = alias_new(kind, name, len, r->n[kind] + 1);
	a->next = r->aliases[kind];
	r->aliases[kind] = a;
	r->n[kind]++;
	return a->pseudonym;
}

// Replaces b[at .. at + len) by `text`.
static void splice(struct buf *b, size_t at, size_t len, const char *text)
{
	const size_t n = strlen(text);
	buf_reserve(b, n);
	memmove(b->data + at + n, b->data + at + len, b->len - at - len + 1);
	memcpy(b->data + at, text, n);
	b->len += n - len;
}

static void splice_name(struct redact *r, enum redact_kind kind, struct buf *b, size_t at,
			size_t len)
{
	splice(b, at, len, len ? redact_name(r, kind, b->data + at, len) : "");
}

// Redacts a file whose only line is a name.
static void line_is_name(struct redact *r, enum redact_kind kind, struct buf *b)
{
	if (b->len)
		splice_name(r, kind, b, 0, strcspn(b->data, "\n"));
}

void redact_hostname(struct redact *r, struct buf *b)
{
	line_is_name(r, REDACT_HOST, b);
}

void redact_comm(struct redact *r, struct buf *b)
{
	line_is_name(r, REDACT_PROGRAM, b);
}

// Redacts a command line: its arguments, each with a NUL behind it, count as one name.
void redact_cmdline(struct redact *r, struct buf *b)
{
	if (b->len == 0)
		return;
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == '\0')
			b->data[i] = '\n'; // redact_name() ends a name at a NUL
	const char *p = redact_name(r, REDACT_COMMAND, b->data, b->len);
	b->len = 0;
	buf_append(b, p, strlen(p) + 1);
}

// "PID (comm) state ..."; the name may hold parentheses and line ends.
void redact_stat(struct redact *r, struct buf *b)
{
	const char *open = b->len ? memchr(b->data, '(', b->len) : NULL;
	const char *close = b->len ? memrchr(b->data, ')', b->len) : NULL;
	if (open && close && close > open)
		splice_name(r, REDACT_PROGRAM, b, (size_t)(open - b->data) + 1,
			    (size_t)(close - open) - 1);
}

// Redacts "Name:\tcomm". In this file alone the Linux kernel escapes line ends and backslashes.
void redact_status(struct redact *r, struct buf *b)
{
	static const char key[] = "Name:\t";
	const size_t at = sizeof(key) - 1;
	if (b->len < at || memcmp(b->data, key, at) != 0)
		return;
	char name[256];
	size_t n = 0, len = strcspn(b->data + at, "\n");
	for (const char *s = b->data + at; s < b->data + at + len && n < sizeof(name) - 1; s++) {
		bool escaped = *s == '\\' && (s[1] == 'n' || s[1] == '\\');
		name[n++] = !escaped ? *s : *++s == 'n' ? '\n' : '\\';
	}
	splice(b, at, len, redact_name(r, REDACT_PROGRAM, name, n));
}

// Parts of cgroup paths ("hierarchy:controllers:/part/part") that every system has, so that they
// stay.
static const char common_parts[] =
	"..\0system.slice\0user.slice\0machine.slice\0init.scope\0kubepods\0docker\0"
	"kubepods.slice\0lxc\0libpod_parent\0podman\0containerd\0besteffort\0burstable\0"
	"guaranteed\0lxc.payload\0container\0kubepods-besteffort.slice\0"
	"kubepods-burstable.slice\0app.slice\0user-runtime-dir@.service\0";
// Text before or behind an id or name that must stay, so that gpq finds the container
// (container.c).
static const char prefixes[] = "docker-\0libpod-payload-\0libpod-\0cri-containerd-\0crio-\0"
			       "nerdctl-\0lxc.payload.\0machine-\0systemd-nspawn@\0";
static const char suffixes[] = ".scope\0.service\0.slice\0";

// Length of the first text of `list` that s[0 .. len) begins with (ends with, if `end`) and is
// longer than; 0: none.
static size_t affix_of(const char *list, const char *s, size_t len, bool end)
{
	for (size_t n; (n = strlen(list)); list += n + 1)
		if (len > n && memcmp(end ? s + len - n : s, list, n) == 0)
			return n;
	return 0;
}

static bool is_common(const char *s, size_t len)
{
	const char *part = common_parts;
	while (*part && (strlen(part) != len || memcmp(s, part, len) != 0))
		part = text_part(part, 1);
	return *part;
}

// Appends one part of a path to `to`, redacted.
static void append_part(struct redact *r, struct buf *to, const char *s, size_t len)
{
	if (len == 0 || is_common(s, len)) {
		buf_append(to, s, len);
		return;
	}
	const size_t before = affix_of(prefixes, s, len, false);
	const size_t after = affix_of(suffixes, s + before, len - before, true);
	const char *core = s + before;
	const size_t n = len - before - after;
	// An id of docker, or one of podman with ":ctr" and the like behind it, stays an id.
	const bool id = n == ID_DIGITS && strspn(core, "0123456789abcdef") >= n;
	buf_append(to, s, before);
	buf_puts(to, redact_name(r, id ? REDACT_CONTAINER_ID : REDACT_GROUP, core, n));
	buf_append(to, core + n, after);
}

static void append_path(struct redact *r, struct buf *to, const char *s, size_t len)
{
	for (const char *end = s + len; s <= end;) {
		const char *slash = memchr(s, '/', (size_t)(end - s));
		const char *stop = slash ? slash : end;
		append_part(r, to, s, (size_t)(stop - s));
		if (slash)
			buf_puts(to, "/");
		s = stop + 1;
	}
}

void redact_cgroup(struct redact *r, struct buf *b)
{
	struct buf to = {0};
	buf_puts(&to, "");
	for (const char *line = b->data; b->len && *line;) {
		const size_t len = strcspn(line, "\n");
		const char *path = memchr(line, ':', len);
		path = path ? memchr(path + 1, ':', len - (size_t)(path + 1 - line)) : NULL;
		// Hierarchy and controllers, also "name=systemd", are the system's names and stay.
		const size_t head = path ? (size_t)(path + 1 - line) : 0;
		buf_append(&to, line, head);
		append_path(r, &to, line + head, len - head);
		buf_puts(&to, "\n");
		line += len + (line[len] == '\n');
	}
	buf_fini(b);
	*b = to;
}

void redact_all(struct redact *r, struct buf *b)
{
	(void)r;
	b->len = 0;
}

void redact_kernels(struct redact *r, struct buf *b)
{
	for (size_t at = 0, end; at < b->len; at = end + 1) {
		const size_t blank = at + strcspn(b->data + at, " \n");
		end = blank + strcspn(b->data + blank, "\n");
		if (end > blank + 1)
			splice_name(r, REDACT_KERNEL, b, blank + 1, end - blank - 1);
		end = blank + strcspn(b->data + blank, "\n");
	}
}
