// Containers from cgroup paths; see container.h.
#include "common/host/container.h"

#include "common/host/root.h"

enum { ID_DIGITS = 64 };

// Text in a cgroup path by which the runtime is known: just before the container's id, or anywhere.
static const struct {
	const char *prefix, *runtime;
} id_prefixes[] = {
	{"docker-", "docker"}, {"libpod-payload-", "podman"},
	{"libpod-", "podman"}, {"cri-containerd-", "containerd"},
	{"crio-", "cri-o"},    {"nerdctl-", "containerd"},
};
static const struct {
	const char *part, *runtime;
} path_parts[] = {{"kubepods", "kubernetes"},
		  {"/docker/", "docker"},
		  {"/libpod", "podman"},
		  {"/containerd/", "containerd"}};

// Runtimes that write a name in place of an id.
static const struct {
	const char *prefix, *runtime;
} name_prefixes[] = {{"lxc.payload.", "lxc"},
		     {"lxc.payload/", "lxc"},
		     {"lxc/", "lxc"},
		     {"machine-", "nspawn"},
		     {"systemd-nspawn@", "nspawn"}};

static void container_set(struct container *c, const char *id, size_t len, const char *runtime)
{
	snprintf(c->id, sizeof(c->id), "%.*s", (int)len, id);
	snprintf(c->runtime, sizeof(c->runtime), "%s", runtime);
}

// Finds a component anywhere in the path that ends in 64 hex digits, before ".scope" and the like.
static bool find_id(struct container *c, const char *path)
{
	for (const char *s = path; *s;) {
		size_t hex = strspn(s, "0123456789abcdef");
		if (hex != ID_DIGITS) {
			s += hex ? hex : 1;
			continue;
		}
		const char *runtime = "";
		for (size_t i = 0; i < COUNT(path_parts) && !*runtime; i++)
			if (strstr(path, path_parts[i].part))
				runtime = path_parts[i].runtime;
		for (size_t i = 0; i < COUNT(id_prefixes) && !*runtime; i++) {
			size_t n = strlen(id_prefixes[i].prefix);
			if ((size_t)(s - path) >= n &&
			    strncmp(s - n, id_prefixes[i].prefix, n) == 0)
				runtime = id_prefixes[i].runtime;
		}
		container_set(c, s, ID_DIGITS, runtime);
		return true;
	}
	return false;
}

static bool find_name(struct container *c, const char *path)
{
	for (size_t i = 0; i < COUNT(name_prefixes); i++) {
		const char *s = strstr(path, name_prefixes[i].prefix);
		if (!s || (s > path && s[-1] != '/'))
			continue;
		s += strlen(name_prefixes[i].prefix);
		size_t n = strcspn(s, "/");
		const char *dot = memchr(s, '.', n);
		bool unit =
			dot && (strncmp(dot, ".scope", 6) == 0 || strncmp(dot, ".service", 8) == 0);
		n = unit ? (size_t)(dot - s) : n;
		if (n) {
			container_set(c, s, n, name_prefixes[i].runtime);
			return true;
		}
	}
	return false;
}

// Copies the next line, "hierarchy:controllers:path", to `line` and moves *cgroup behind it.
// Returns the path in `line`; NULL: no line is left.
static const char *next_path(const char **cgroup, char line[4096])
{
	while (**cgroup) {
		size_t n = strcspn(*cgroup, "\n");
		snprintf(line, 4096, "%.*s", (int)n, *cgroup);
		*cgroup += n + ((*cgroup)[n] == '\n');
		const char *path = strchr(line, ':');
		path = path ? strchr(path + 1, ':') : NULL;
		if (path)
			return path + 1;
	}
	return NULL;
}

struct job {
	char id[24], step[24]; // "": none
};

// Is this name, of `n` bytes, one of the control group below which Slurm's jobs are?
static bool is_slurm(const char *name, size_t n)
{
	static const char v1[] = "slurm", v2[] = "slurmstepd.scope";
	const size_t len1 = strlen(v1), len2 = strlen(v2);
	return (strncmp(name, v1, len1) == 0 && (n == len1 || name[len1] == '_')) ||
	       (n >= len2 && strncmp(name + n - len2, v2, len2) == 0);
}

// Finds a job of Slurm in the path of a control group: with cgroup v1 .../slurm[_NODE]/uid_UID/
// job_JOB/step_STEP, with v2 .../[NODE_]slurmstepd.scope/job_JOB/step_STEP; from Slurm 26.05 on
// with the SLUID, as s5K1KKYAYG5D00, for job_JOB [Slurm, cgroup_v2.html, xcgroup.c].
static bool find_job(struct job *job, const char *path)
{
	// Elsewhere users and containers name control groups. A control group namespace shows those
	// above it as "..".
	while (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || !path[3]))
		path += 3;
	path += strncmp(path, "/system.slice/", 14) == 0 ? 13 : 0;
	bool slurm = false;
	for (size_t n; *(path += strspn(path, "/")); path += n) {
		int end = 0;
		n = strcspn(path, "/");
		if (slurm &&
		    (sscanf(path, "job_%20[0-9]%n", job->id, &end) == 1 ||
		     sscanf(path, "%20[s0-9A-Z]%n", job->id, &end) == 1) &&
		    (size_t)end == n && (*path == 'j' || (*path == 's' && n > 8))) {
			if (sscanf(path + n, "/step_%23[^/]", job->step) != 1)
				job->step[0] = '\0';
			return true;
		}
		if (slurm ? strncmp(path, "uid_", 4) != 0 : !is_slurm(path, n))
			return false;
		slurm = true;
	}
	return false;
}

static bool parse_job(struct job *job, const char *cgroup)
{
	char line[4096];
	for (const char *path; (path = next_path(&cgroup, line));)
		if (find_job(job, path))
			return true;
	*job = (struct job){0};
	return false;
}

bool cgroup_of_job(const char *cgroup, const char *job)
{
	struct job of;
	const size_t n = strcspn(job, ".");
	return parse_job(&of, cgroup) && strncmp(of.id, job, n) == 0 && !of.id[n] &&
	       (!job[n] || strcmp(of.step, job + n + 1) == 0);
}

bool container_parse(struct container *c, const char *cgroup)
{
	char line[4096];
	struct job job;
	*c = (struct container){0};
	parse_job(&job, cgroup);
	memcpy(c->job, job.id, sizeof(c->job));
	for (const char *path; (path = next_path(&cgroup, line));)
		if (find_id(c, path) || find_name(c, path))
			return true;
	return false;
}

bool cgroup_within(const char *cgroup, const char *path)
{
	static const char mount[] = "/sys/fs/cgroup";
	char line[4096];
	if (strncmp(path, mount, sizeof(mount) - 1) == 0)
		path += sizeof(mount) - 1;
	path += strspn(path, "/");
	size_t n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	for (const char *of; (of = next_path(&cgroup, line));) {
		of += *of == '/';
		if (strncmp(of, path, n) == 0 && (!n || !of[n] || of[n] == '/'))
			return true;
	}
	return false;
}

static char hyphen(char c)
{
	return c == '_' ? '-' : c;
}

// Does the text behind "pod" begin with the UID?
static bool is_uid(const char *text, const char *uid)
{
	while (*uid && hyphen(*text) == hyphen(*uid))
		text++, uid++;
	return !*uid;
}

bool cgroup_of_pod(const char *cgroup, const char *uid)
{
	char line[4096];
	for (const char *path; (path = next_path(&cgroup, line));)
		for (const char *s = path; (s = strstr(s, "pod")); s += 3)
			if (s > path && (s[-1] == '/' || s[-1] == '-') && is_uid(s + 3, uid))
				return true;
	return false;
}

// A control group below a frozen one is frozen, too, and its own file says so.
bool cgroup_is_frozen(const char *cgroup)
{
	char line[4096], name[sizeof(line) + 64];
	for (const char *path; (path = next_path(&cgroup, line));) {
		SCOPED(buf_fini) struct buf b = {0};
		const bool v2 = strncmp(line, "0::", 3) == 0;
		if (v2)
			snprintf(name, sizeof(name), "/sys/fs/cgroup%s/cgroup.events", path);
		else
			snprintf(name, sizeof(name), "/sys/fs/cgroup/freezer%s/freezer.state",
				 path);
		if ((v2 || strncmp(strchr(line, ':'), ":freezer:", 9) == 0) &&
		    !strstr(path, "/..") && host_read(&b, name) >= 0 &&
		    strstr(b.data, v2 ? "frozen 1" : "FROZEN"))
			return true;
	}
	return false;
}

// Finds the kubelet's link to the log of a container by the container's id. The link is named
// POD_NAMESPACE_CONTAINER-ID.log, and no part has a '_' [kubelet, kuberuntime/legacy.go,
// legacyLogSymlink()]. Sets `log` to the name before "-ID.log".
static bool find_log(const char *id, char log[NAME_MAX + 1])
{
	SCOPED(closedir_at) DIR *d = host_opendir("/var/log/containers");
	for (struct dirent *e; d && (e = host_readdir(d));) {
		const char *at = strstr(e->d_name, id);
		if (!at || at == e->d_name || at[-1] != '-')
			continue;
		snprintf(log, NAME_MAX + 1, "%.*s", (int)(at - 1 - e->d_name), e->d_name);
		return true;
	}
	return false;
}

static void set_pod(struct container *c)
{
	char log[NAME_MAX + 1];
	if (strcmp(c->runtime, "kubernetes") != 0 || !find_log(c->id, log))
		return;
	const char *space = strchr(log, '_');
	if (space)
		snprintf(c->pod, sizeof(c->pod), "%.*s/%.*s", (int)strcspn(space + 1, "_"),
			 space + 1, (int)(space - log), log);
}

void container_of(struct container *c, pid_t pid)
{
	SCOPED(buf_fini) struct buf b = {0};
	*c = (struct container){0};
	if (host_read(&b, PATH("/proc/%d/cgroup", (int)pid)) >= 0)
		container_parse(c, b.data);
	set_pod(c);
}

// Returns the place behind the string that begins at `s`, or the end of the text.
static const char *skip_string(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		s += *s == '\\' && s[1];
	return s + (*s == '"');
}

// Returns the value of `key`, a member of the outermost object of a JSON text, or NULL. Nested
// objects may have members of that name, too, since whoever builds an image chooses its labels.
static const char *outer_member(const char *text, const char *key)
{
	int depth = 0;
	for (const char *s = text; *s;) {
		if (depth == 1 && strncmp(s, key, strlen(key)) == 0)
			return s + strlen(key);
		depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
		s = *s == '"' ? skip_string(s) : s + 1;
	}
	return NULL;
}

// Copies the JSON string at `s`, or the first string of the list there. Escapes are not undone:
// names of containers have none.
static bool json_value(const char *s, char *value, size_t size)
{
	s = s ? s + strspn(s, " \t\r\n[") : "";
	if (*s != '"')
		return false;
	s += 1;
	s += *s == '/'; // docker writes its names with a slash
	snprintf(value, size, "%.*s", (int)strcspn(s, "\""), s);
	return *value != '\0';
}

bool container_parse_docker(const char *config, char *name, size_t size)
{
	return json_value(outer_member(config, "\"Name\":"), name, size);
}

// Finds the name in one of podman's lists of containers, some of which have none.
static bool podman_name(const char *list, const char *id, char *name, size_t size)
{
	static const char key[] = "\"names\":";
	const char *entry = strstr(list, id);
	const char *names = entry ? strstr(entry, key) : NULL;
	const char *next = entry ? strstr(entry, "\"id\":") : NULL;
	return names && (!next || names < next) && json_value(names + strlen(key), name, size);
}

// Each of podman's storage drivers has a list of its own; the second is that of `podman run --rm`
// [containers/storage, containers.go, containerLocationFromIndex()].
static bool podman_names(const char *id, char *name, size_t size)
{
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs"};
	SCOPED(buf_fini) struct buf b = {0};
	bool found = false;
	for (size_t i = 0; !found && i < COUNT(drivers) * 2; i++)
		found = host_read(
				&b,
				PATH("/var/lib/containers/storage/%s-containers/%scontainers.json",
				     drivers[i / 2], i % 2 ? "volatile-" : "")) >= 0 &&
			podman_name(b.data, id, name, size);
	return found;
}

bool container_name(const struct container *c, char *name, size_t size)
{
	SCOPED(buf_fini) struct buf b = {0};
	char log[NAME_MAX + 1];
	bool found = false;
	if (strlen(c->id) != ID_DIGITS) {
		snprintf(name, size, "%s", c->id);
		return *c->id != '\0';
	}
	if (host_read(&b, PATH("/var/lib/docker/containers/%s/config.v2.json", c->id)) >= 0) {
		found = container_parse_docker(b.data, name, size);
	} else if (podman_names(c->id, name, size)) {
		found = true;
	} else if (find_log(c->id, log) && strrchr(log, '_')) {
		snprintf(name, size, "%s", strrchr(log, '_') + 1);
		found = true;
	}
	return found;
}

bool container_is(const struct container *c, const char *want)
{
	char name[128];
	size_t n = strlen(want);
	if (!*c->id || n == 0)
		return false;
	if (strcmp(c->id, want) == 0 ||
	    (n >= 6 && strlen(c->id) == ID_DIGITS && strncmp(c->id, want, n) == 0))
		return true;
	return container_name(c, name, sizeof(name)) && strcmp(name, want) == 0;
}
