// Files that gpq generates for a snapshot: users, names of containers, /MANIFEST; see snapshot.h.
#include "common/snapshot/snapshot.h"

#include "common/host/container.h"
#include "common/host/proc.h"
#include "common/rows/queue_rows.h"

#include <ctype.h>
#include <time.h>

#ifndef GPQ_VERSION // set by the Makefile from VERSION
#define GPQ_VERSION "unknown"
#endif

// Returns the pseudonym of a name with --redact, else the name.
static const char *name_to_show(struct saver *v, enum redact_kind kind, const char *name)
{
	return v->r ? redact_name(v->r, kind, name, strlen(name)) : name;
}

// Adds a line of passwd(5) for a user that has a name and is not in `b` yet.
static void add_user(struct saver *v, struct buf *b, uint64_t uid)
{
	char mark[48];
	const char *name = proc_user(uid);
	snprintf(mark, sizeof(mark), ":x:%" PRIu64 ":", uid);
	if (isdigit((unsigned char)*name) || (b->len && strstr(b->data, mark)))
		return;
	buf_printf(b, "%s%s%" PRIu64 "::/:\n", name_to_show(v, REDACT_USER, name), mark, uid);
}

static int add_users(struct saver *v, const pid_t *pids, size_t n)
{
	SCOPED(buf_fini) struct buf b = {0};
	int r = 0;
	for (size_t i = 0; i < n; i++) {
		struct proc p;
		if (proc_read(&p, pids[i]) == 0 && p.uid != UINT64_MAX)
			add_user(v, &b, p.uid);
	}
	if (b.len)
		r = snapshot_add(v, "/etc/passwd", &b);
	return r;
}

static bool is_noted(const struct snapshot *s, const char *path)
{
	for (size_t i = s->n; i > 0; i--)
		if (strcmp(s->entries[i - 1].path, path) == 0)
			return true;
	return false;
}

// Saves the pod of a container, "NAMESPACE/NAME", as the kubelet's link to its log, which is empty.
static int add_pod(struct saver *v, const char *pod, const char *container, const char *id)
{
	char space[320], path[1024];
	SCOPED(buf_fini) struct buf none = {0};
	const size_t n = strcspn(pod, "/");
	snprintf(space, sizeof(space), "%.*s", (int)n, pod);
	snprintf(path, sizeof(path), "/var/log/containers/%s_%s_%s-%s.log",
		 name_to_show(v, REDACT_POD, pod + n + 1), name_to_show(v, REDACT_POD, space),
		 container, id);
	return is_noted(v->s, path) ? 0 : snapshot_add(v, path, &none);
}

// Saves the name of a container in docker's form, also podman's: container_name() reads it first.
static int add_container(struct saver *v, pid_t pid)
{
	struct container c;
	char name[128], path[256];
	container_of(&c, pid);
	if (strlen(c.id) != 64 || !container_name(&c, name, sizeof(name)))
		return 0;
	const char *id = name_to_show(v, REDACT_CONTAINER_ID, c.id);
	const char *alias = name_to_show(v, REDACT_CONTAINER, name);
	const int r = *c.pod ? add_pod(v, c.pod, alias, id) : 0;
	if (r)
		return r;
	SCOPED(buf_fini) struct buf b = {0};
	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
	if (is_noted(v->s, path))
		return 0;
	buf_printf(&b, "{\"ID\":\"%s\",\"Name\":\"/%s\"}\n", id, alias);
	return snapshot_add(v, path, &b);
}

int snapshot_add_names(struct saver *v, const pid_t *pids, size_t n)
{
	int r = add_users(v, pids, n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_container(v, pids[i]);
	return r;
}

static void manifest_head(const struct saver *v, struct buf *b)
{
	const struct snapshot *s = v->s;
	char taken[32], kfd[24] = "-";
	time_t now = time(NULL);
	struct tm tm;
	strftime(taken, sizeof(taken), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (s->kfd_major)
		snprintf(kfd, sizeof(kfd), "%u.%u", s->kfd_major, s->kfd_minor);
	buf_printf(b,
		   "gpq-snapshot 1\n"
		   "gpq %s\n"
		   "taken %s\n"
		   "source %s\n"
		   "kfd %s\n"
		   "redacted %s\n"
		   "dumps_ns %" PRIu64 " %" PRIu64 "\n"
		   "dumps_read %u\n"
		   "consistent %s\n",
		   GPQ_VERSION, taken, s->live ? "live" : "recorded", kfd, v->r ? "yes" : "no",
		   s->begin_ns, s->end_ns, s->tries, s->settled ? "yes" : "no");
	for (size_t i = 0; v->only && i < v->only->n; i++)
		buf_printf(b, "%s%d", i ? "," : RECORDED_CHOSEN, (int)v->only->v[i]);
	buf_printf(b, "%s\nsize\tbegin_ns\tend_ns\terror\tpath\n",
		   !v->only     ? ""
		   : v->only->n ? "\n"
				: RECORDED_CHOSEN "-\n");
}

static void manifest_line(struct buf *b, const struct snapshot_entry *e)
{
	const char *error = strerrorname_np(e->error);
	if (e->error)
		buf_printf(b, "-\t-\t-\t%s\t%s\n", error ? error : "?", e->path);
	else if (!e->end_ns)
		buf_printf(b, "%" PRIu64 "\t-\t-\t-\t%s\n", e->size, e->path);
	else
		buf_printf(b, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t-\t%s\n", e->size,
			   e->begin_ns, e->end_ns, e->path);
}

int snapshot_add_manifest(struct saver *v)
{
	SCOPED(buf_fini) struct buf b = {0};
	manifest_head(v, &b);
	for (size_t i = 0; i < v->s->n; i++) {
		const struct snapshot_entry *e = &v->s->entries[i];
		if (e->target)
			continue;
		manifest_line(&b, e);
		v->s->files += !e->error;
		v->s->bytes += e->error ? 0 : e->size;
	}
	return tree_file(v->t, "/MANIFEST", b.data, b.len);
}
