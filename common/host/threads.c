// Threads of a process; see threads.h.
#include "common/host/threads.h"

#include "common/host/container.h"
#include "common/host/proc.h"
#include "common/host/root.h"

static void count(struct proc_threads *t, char state)
{
	t->n += state != 0;
	t->running += state == 'R';
	t->stopped += state == 'T' || state == 't';
	t->traced += state == 't';
}

// Returns the next thread in /proc/PID/task; 0: none is left.
static pid_t next_thread(DIR *dir)
{
	struct dirent *e;
	pid_t tid;
	while (dir && (e = host_readdir(dir)))
		if (proc_parse_pid(e->d_name, &tid))
			return tid;
	return 0;
}

// Returns the state of a thread, 0: unknown. Its name may hold blanks and parentheses: the last
// ')' ends that.
static char state_of(pid_t pid, pid_t tid)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (host_read(&b, PATH("/proc/%d/task/%d/stat", (int)pid, (int)tid)) < 0)
		return 0;
	const char *end = strrchr(b.data, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

void proc_threads_read(struct proc_threads *t, pid_t pid)
{
	SCOPED(closedir_at) DIR *dir = host_opendir(PATH("/proc/%d/task", (int)pid));
	SCOPED(buf_fini) struct buf cgroup = {0};
	struct proc p;
	pid_t tid;
	*t = (struct proc_threads){0};
	for (unsigned i = 0; i < PROC_THREADS_MOST && (tid = next_thread(dir)); i++)
		count(t, state_of(pid, tid));
	if (!t->n && proc_read(&p, pid) == 0)
		count(t, p.state);
	t->frozen = host_access(PATH("/proc/%d/frozen", (int)pid), F_OK) == 0 ||
		    (host_read(&cgroup, PATH("/proc/%d/cgroup", (int)pid)) >= 0 &&
		     cgroup_is_frozen(cgroup.data));
}

bool proc_threads_stand(const struct proc_threads *t)
{
	return t->frozen || (t->n && t->stopped == t->n);
}

// --- what they do ---

// Threads that stand in one place: the kernel function in which they sleep, or "run".
struct place {
	char name[96];
	unsigned n;
};

static int most_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	const int r = ORDER(y->n, x->n);
	return r ? r : strcmp(x->name, y->name);
}

// Adds the function of the driver from which a thread sleeps elsewhere in the kernel, the innermost
// one: "[<0>] pqm_destroy_queue+0x1a3/0x2c0 [amdgpu]".
static void add_driver(struct place *p, pid_t pid, pid_t tid)
{
	SCOPED(buf_fini) struct buf b = {0};
	if (strncmp(p->name, "futex", 5) == 0 || // most threads, none of them in the driver
	    host_read(&b, PATH("/proc/%d/task/%d/stack", (int)pid, (int)tid)) <= 0)
		return;
	char *s = strstr(b.data, " [amdgpu]");
	while (s && s > b.data && s[-1] != ' ' && s[-1] != '\n')
		s--;
	const size_t was = strlen(p->name), n = s ? strcspn(s, "+ \n") : 0;
	if (n && (n != was || strncmp(s, p->name, n) != 0))
		snprintf(p->name + was, sizeof(p->name) - was, " in %.*s", (int)n, s);
}

static void place_of(struct place *p, pid_t pid, pid_t tid)
{
	const char state = state_of(pid, tid);
	*p = (struct place){.n = 1};
	if (state == 'R')
		strcpy(p->name, "run");
	else if (state == 'T' || state == 't')
		strcpy(p->name, "stopped");
	else if (!host_read_line(p->name, sizeof(p->name),
				 PATH("/proc/%d/task/%d/wchan", (int)pid, (int)tid)) ||
		 strcmp(p->name, "0") == 0) // no right to know
		snprintf(p->name, sizeof(p->name), "%s", state == 'D' ? "in the kernel" : "sleep");
	else
		add_driver(p, pid, tid);
}

void proc_threads_tell(struct buf *to, pid_t pid)
{
	enum { PLACES = 5 };
	SCOPED(closedir_at) DIR *dir = host_opendir(PATH("/proc/%d/task", (int)pid));
	struct place *v = NULL, p, first = {.n = 0};
	size_t n = 0, cap = 0, k;
	pid_t tid;
	for (unsigned i = 0; i < PROC_THREADS_MOST && (tid = next_thread(dir)); i++) {
		place_of(&p, pid, tid);
		if (tid == pid) {
			first = p;
			continue;
		}
		for (k = 0; k < n && strcmp(v[k].name, p.name) != 0; k++)
			;
		if (k == n)
			*ARRAY_ADD(v, cap, n) = (struct place){0};
		p.n += v[k].n;
		v[k] = p;
	}
	ARRAY_SORT(v, n, most_first);
	if (first.n)
		buf_printf(to, "the first thread: %s", first.name);
	for (k = 0; k < n && k < PLACES; k++)
		buf_printf(to, "%s%u%s: %s", to->len ? ", " : "", v[k].n,
			   k || !first.n ? ""
			   : v[k].n == 1 ? " other"
					 : " others",
			   v[k].name);
	if (n > PLACES)
		buf_puts(to, ", ...");
	free(v);
}
