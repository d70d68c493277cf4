// Selection of processes; see pick.h.
#include "common/pick/pick.h"
#include "common/reader/reader.h"

#include "common/cli/err.h"
#include "common/host/root.h"
#include "common/host/number.h"

#include <pwd.h>

// Adds the host's PIDs that `find` finds for a PID: its descendants, or the processes that have it
// inside a container.
static int add_found_pids(struct pick *p, ssize_t (*find)(pid_t pid, pid_t **pids), pid_t pid)
{
	pid_t *found = NULL;
	ssize_t n = find(pid, &found);
	if (n < 0)
		return err_sys(errno, NULL, "/proc");
	for (ssize_t i = 0; i < n; i++)
		pids_push(&p->pids, found[i]);
	free(found);
	return n || find != proc_find_ns_pid
		       ? GPQ_OK
		       : err_fail(GPQ_NOTFOUND, "without --ns-pid, PIDs are those of the host",
				  "pid %d: no container has a process with that PID", (int)pid);
}

COMPARE_VALUES(by_pid_number, pid_t)

static int collect_pids(struct pick *p)
{
	const struct pick_opts *o = p->opts;
	int status = GPQ_OK;
	for (size_t i = 0; i < o->pids.n && !status; i++)
		if (o->ns_pid)
			status = add_found_pids(p, proc_find_ns_pid, o->pids.v[i]);
		else
			pids_push(&p->pids, o->pids.v[i]);
	for (size_t i = 0, roots = o->tree ? p->pids.n : 0; i < roots && !status; i++)
		status = add_found_pids(p, proc_tree, p->pids.v[i]);
	ARRAY_SORT(p->pids.v, p->pids.n, by_pid_number);
	return status;
}

// Collects the PIDs of gpq and of its ancestors.
static void find_own_pids(struct pick *p)
{
	struct proc one;
	for (pid_t pid = pid_of_self(); pid > 0 && p->own.n < 1000; pid = one.ppid) {
		pids_push(&p->own, pid);
		if (proc_read(&one, pid))
			break;
	}
}

// Bytes of names of pods and namespaces (RFC 1123), of UIDs, and of both together.
#define POD_BYTES "abcdefghijklmnopqrstuvwxyz0123456789-._/"

static int check_pods(const struct words *pods)
{
	for (size_t i = 0; i < pods->n; i++)
		if (!*pods->v[i] || pods->v[i][strspn(pods->v[i], POD_BYTES)])
			return err_fail(GPQ_USAGE, "gpq ps -o PID,POD shows names",
					"--pod %s: give a pod's NAME, NAMESPACE/NAME, or its UID "
					"(8 digits or more)",
					pods->v[i]);
	return GPQ_OK;
}

// The number of a job, or its SLUID, and a step: 123, 123.0, 123.batch, s5K1KKYAYG5D00.
static int check_jobs(const struct words *jobs)
{
	static const char bytes[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (size_t i = 0; i < jobs->n; i++) {
		const char *s = jobs->v[i];
		const size_t n = *s == 's' ? 1 + strspn(s + 1, bytes) : strspn(s, "0123456789");
		if (!n || (s[n] && (s[n] != '.' || !s[n + 1])))
			return err_fail(GPQ_USAGE,
					"squeue -o %A shows numbers of jobs, of arrays, too",
					"--job %s: give the number of a job, or JOB.STEP", s);
	}
	return GPQ_OK;
}

static int compile_patterns(struct regex **r, const char *option, const struct words *patterns)
{
	if (!patterns->n)
		return GPQ_OK;
	*r = xcalloc(1, sizeof(**r));
	return regex_init(*r, option, patterns);
}

static int compile_words(struct pick *p)
{
	const struct pick_opts *opts = p->opts;
	if ((opts->ns_pid || opts->tree) && !opts->pids.given)
		return err_fail(GPQ_USAGE, "add -p PID", "--%s says how to read -p",
				opts->ns_pid ? "ns-pid" : "tree");
	int status = check_pods(&opts->pods);
	status = status ? status : check_jobs(&opts->jobs);
	status = status ? status : compile_patterns(&p->comm, "--comm", &opts->comms);
	return status ? status : compile_patterns(&p->cmdline, "--cmdline", &opts->cmdlines);
}

static int check_users(const struct words *users)
{
	uint64_t uid;
	for (size_t i = 0; i < users->n && host_is_live(); i++)
		if (!parse_u64(users->v[i], &uid) && !getpwnam(users->v[i]))
			return err_fail(GPQ_NOTFOUND, "give a login name, or a number",
					"--user %s: there is no such user", users->v[i]);
	return GPQ_OK;
}

int pick_check(const struct pick_opts *opts)
{
	struct pick p = {.opts = opts};
	const int status = compile_words(&p);
	pick_fini(&p);
	return status ? status : check_users(&opts->users);
}

int pick_init(struct pick *p, const struct pick_opts *opts, struct process_cache *processes)
{
	*p = (struct pick){.opts = opts, .processes = processes};
	int status = compile_words(p);
	if (!status && host_only_dumps() && pick_needs_host(opts))
		status = err_fail(GPQ_UNSUPPORTED, "choose by -p",
				  "the recorded host has only dumps: it tells nothing but PIDs");
	if (!status && opts->pids.given)
		status = collect_pids(p);
	find_own_pids(p);
	return status;
}

static void free_regex(struct regex *r)
{
	if (r)
		regex_fini(r);
	free(r);
}

void pick_fini(struct pick *p)
{
	free_regex(p->comm);
	free_regex(p->cmdline);
	free(p->pids.v);
	free(p->own.v);
	*p = (struct pick){0};
}

int pick_init_watch(struct pick *p, const struct pick_opts *o, struct process_cache *processes)
{
	const bool host = pids_are_host();
	size_t alive = o->ns_pid;
	struct proc one;
	*p = (struct pick){.opts = o, .processes = processes};
	if (!host && pick_needs_host(o))
		return err_fail(GPQ_UNSUPPORTED, "run gpq on the host",
				"in another PID namespace than the host's only -p and --gpu can "
				"choose");
	if (!host)
		err_hint("run gpq on the host",
			 "PIDs are the host's, and this is another PID namespace: names of "
			 "processes are not known");
	for (size_t i = 0; i < o->pids.n; i++)
		alive += !host || proc_read(&one, o->pids.v[i]) == 0;
	if (o->pids.given && !alive)
		return err_fail(GPQ_NOTFOUND, "without -p those of all are shown",
				o->pids.n ? "pid %d: no such process" : "-p: no PID was given",
				o->pids.n ? (int)o->pids.v[0] : 0);
	return pick_init(p, o, processes);
}

void pick_renew(struct pick *p)
{
	SCOPED(buf_fini) struct buf ignored = {0};
	struct pick now;
	if (!p->opts->tree && !p->opts->ns_pid)
		return;
	err_gather(&ignored);
	if (pick_init(&now, p->opts, p->processes) == GPQ_OK) {
		pick_fini(p);
		*p = now;
	} else {
		pick_fini(&now);
	}
	err_gather(NULL);
}

static bool comm_matches(const struct pick *p, pid_t pid)
{
	const struct process_info *who = process_cache_get(p->processes, pid, PROCESS_STATUS);
	return !who->error && regex_matches(p->comm, who->proc.comm, strlen(who->proc.comm));
}

// Matches up to 64 KiB of the command line, of which the cache keeps only what columns show.
static bool cmdline_matches(const struct pick *p, pid_t pid)
{
	enum { MOST = 1 << 16 };
	SCOPED(free_at) char *text = xmalloc(MOST);
	const ssize_t n = proc_cmdline(pid, text, MOST);
	return n > 0 && regex_matches(p->cmdline, text, (size_t)n);
}

static bool container_matches(const struct pick *p, pid_t pid)
{
	const struct process_info *who = process_cache_get(p->processes, pid, PROCESS_CONTAINER);
	for (size_t i = 0; i < p->opts->containers.n; i++)
		if (container_is(&who->container, p->opts->containers.v[i]))
			return true;
	return false;
}

static bool any_cgroup(const struct words *w, bool (*is)(const char *cgroup, const char *word),
		       pid_t pid)
{
	SCOPED(buf_fini) struct buf text = {0};
	bool found = false;
	if (host_read(&text, PATH("/proc/%d/cgroup", (int)pid)) > 0)
		for (size_t i = 0; i < w->n && !found; i++)
			found = is(text.data, w->v[i]);
	return found;
}

// A shorter word is no beginning of a UID that anybody gives.
static bool is_of_uid(const char *cgroup, const char *word)
{
	return strlen(word) >= 8 && cgroup_of_pod(cgroup, word);
}

// --pod names a pod by NAMESPACE/NAME, by NAME, or by the beginning of its UID.
static bool pod_matches(const struct pick *p, pid_t pid)
{
	const char *pod = process_cache_get(p->processes, pid, PROCESS_CONTAINER)->container.pod;
	const struct words *w = &p->opts->pods;
	const char *name = strchr(pod, '/');
	for (size_t i = 0; i < w->n && name; i++)
		if (strcmp(w->v[i], pod) == 0 || strcmp(w->v[i], name + 1) == 0)
			return true;
	return any_cgroup(w, is_of_uid, pid);
}

// Is the effective user one of --user, by login name or number?
static bool user_matches(const struct pick *p, pid_t pid)
{
	const struct process_info *who = process_cache_get(p->processes, pid, PROCESS_STATUS);
	const struct words *users = &p->opts->users;
	for (size_t i = 0; i < users->n && !who->error; i++) {
		uint64_t uid;
		if (parse_u64(users->v[i], &uid)
			    ? uid == who->proc.uid
			    : strcmp(proc_user(who->proc.uid), users->v[i]) == 0)
			return true;
	}
	return false;
}

bool pick_keeps(const void *arg, pid_t pid)
{
	const struct pick *p = arg;
	const struct pick_opts *o = p->opts;
	if (o->pids.given &&
	    !(p->pids.n && bsearch(&pid, p->pids.v, p->pids.n, sizeof(pid), by_pid_number)))
		return false;
	for (size_t i = 0; i < p->own.n && !o->pids.given && (i == 0 || pick_asks(o)); i++)
		if (pid == p->own.v[i])
			return false;
	return (!p->comm || comm_matches(p, pid)) && (!p->cmdline || cmdline_matches(p, pid)) &&
	       (!o->containers.n || container_matches(p, pid)) &&
	       (!o->cgroups.n || any_cgroup(&o->cgroups, cgroup_within, pid)) &&
	       (!o->pods.n || pod_matches(p, pid)) &&
	       (!o->jobs.n || any_cgroup(&o->jobs, cgroup_of_job, pid)) &&
	       (!o->users.n || user_matches(p, pid));
}

bool pick_is_ours(pid_t pid, struct process_cache *processes)
{
	if (strncmp(process_cache_get(processes, pid, PROCESS_STATUS)->proc.comm, "gpq-", 4) != 0)
		return false;
	SCOPED(closedir_at)
	DIR *d = host_opendir(PATH("/sys/class/kfd/kfd/proc/%d/queues", (int)pid));
	for (struct dirent *e; d && (e = host_readdir(d));)
		if (e->d_name[0] != '.')
			return false;
	return true;
}

bool pick_needs_host(const struct pick_opts *o)
{
	return o->ns_pid || o->tree || o->comms.n || o->cmdlines.n || o->containers.n ||
	       o->cgroups.n || o->pods.n || o->jobs.n || o->users.n;
}

bool pick_asks(const struct pick_opts *o)
{
	return o->pids.given || pick_needs_host(o);
}

// The options that take words, in the order of PICK_OPTS.
static const struct {
	const char *option;
	size_t offset;
} word_lists[] = {
	{"container", offsetof(struct pick_opts, containers)},
	{"cgroup", offsetof(struct pick_opts, cgroups)},
	{"pod", offsetof(struct pick_opts, pods)},
	{"job", offsetof(struct pick_opts, jobs)},
	{"user", offsetof(struct pick_opts, users)},
	{"comm", offsetof(struct pick_opts, comms)},
	{"cmdline", offsetof(struct pick_opts, cmdlines)},
};

static const struct words *word_list(const struct pick_opts *o, size_t i)
{
	return (const void *)((const char *)o + word_lists[i].offset);
}

void pick_text(struct buf *b, const struct pick_opts *o)
{
	for (size_t i = 0; i < o->pids.n; i++)
		buf_printf(b, "%s%d", i ? "," : " -p ", (int)o->pids.v[i]);
	buf_printf(b, "%s%s", o->ns_pid ? " --ns-pid" : "", o->tree ? " --tree" : "");
	for (size_t i = 0; i < COUNT(word_lists); i++)
		for (size_t k = 0; k < word_list(o, i)->n; k++)
			buf_printf(b, " --%s %s", word_lists[i].option, word_list(o, i)->v[k]);
}

static bool fits_any(const struct pick_opts *o, const struct pids *pids,
		     struct process_cache *processes)
{
	SCOPED(pick_fini) struct pick p;
	bool any = pick_init(&p, o, processes) != GPQ_OK;
	for (size_t i = 0; i < pids->n && !any; i++)
		any = pick_keeps(&p, pids->v[i]);
	return any;
}

void pick_name_unused(const struct pick_opts *o, const struct pids *chosen,
		      struct process_cache *processes)
{
	for (size_t i = 0; i < COUNT(word_lists) && chosen->n; i++) {
		const struct words *w = word_list(o, i);
		for (size_t k = 0; k < w->n && w->n > 1; k++) {
			const struct words word = {.v = &w->v[k], .n = 1};
			struct pick_opts one = {0};
			memcpy((char *)&one + word_lists[i].offset, &word, sizeof(word));
			if (!fits_any(&one, chosen, processes))
				err_hint("gpq ps -a lists what can be chosen",
					 "--%s %s: chooses nothing now", word_lists[i].option,
					 w->v[k]);
		}
	}
}

int pick_select_gpus(struct kfd_topology *t, const struct words *w)
{
	const char *bad = host_only_dumps() ? NULL : kfd_topology_select(t, w->v, w->n);
	return bad ? err_fail(GPQ_NOTFOUND, "gpq gpus lists them", "there is no GPU %s", bad)
		   : GPQ_OK;
}

bool pick_has_gpu(const struct kfd_topology *t, const struct words *w, uint64_t gpu_id)
{
	const bool bare = !t || host_only_dumps();
	const struct kfd_gpu *g = bare ? NULL : kfd_topology_find(t, gpu_id);
	for (size_t i = 0; bare && i < w->n; i++) {
		uint64_t v;
		if ((parse_u64(w->v[i], &v) && v == gpu_id) ||
		    (number_whole(w->v[i], 16, UINT64_MAX, &v) && v == gpu_id))
			return true;
	}
	return !w->n || (g && g->selected);
}
