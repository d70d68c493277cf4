// Which processes the selector means, common/pick/pick.c: with a /proc of the test's own, whose
// processes, descendants and namespaces are a table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/pick/pick.h"

#include "common/cli/err.h"
#include "common/host/number.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/reader/reader.h"

#include <sys/mman.h>

// gpq is 42, its parents 41 and 40; 70 and 71 are 7 in their containers, 700 is a child of 70.
static struct {
	bool not_host, gone; // gone: nothing is 7 any more
	bool young;          // 701 is a child of 70, too
} fake;

static ssize_t give(pid_t **to, size_t n, const pid_t *v)
{
	*to = xcalloc(n + 1, sizeof(**to));
	for (size_t i = 0; i < n; i++)
		(*to)[i] = v[i];
	return (ssize_t)n;
}

static ssize_t fake_find_ns_pid(pid_t pid, pid_t **to)
{
	errno = EACCES;
	return pid == 9 ? -1 : give(to, pid == 7 && !fake.gone ? 2 : 0, (const pid_t[]){71, 70});
}

static ssize_t fake_tree(pid_t pid, pid_t **to)
{
	errno = EIO;
	return pid == 90   ? -1
	       : pid == 70 ? give(to, 2 + fake.young, (const pid_t[]){70, 700, 701})
			   : give(to, 1, &pid);
}

static int fake_read(struct proc *p, pid_t pid)
{
	const bool lives = (pid >= 40 && pid <= 42) || pid == 70;
	*p = (struct proc){.pid = pid, .ppid = pid > 40 && pid <= 42 ? pid - 1 : 0};
	errno = ENOENT;
	return lives ? 0 : -1;
}

static bool fake_pids_are_host(void)
{
	return !fake.not_host;
}

#define proc_find_ns_pid fake_find_ns_pid
#define proc_tree        fake_tree
#define proc_read        fake_read
#define pid_of_self()    42
#define pids_are_host    fake_pids_are_host
#include "common/pick/pick.c" // NOLINT(bugprone-suspicious-include)

static struct buf said; // messages

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	said.len = 0;
	buf_puts(&said, "");
	err_gather(&said);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	err_gather(NULL);
	return 0;
}

#define PIDS(...)                                                                                 \
	{                                                                                         \
		.v = (pid_t[]){__VA_ARGS__}, .n = sizeof((pid_t[]){__VA_ARGS__}) / sizeof(pid_t), \
		.given = true                                                                     \
	}

#define W(text) ((char[]){text})
#define WORDS(...)                                                    \
	{                                                             \
		.v = (char *[]){__VA_ARGS__},                         \
		.n = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *) \
	}

static const char *text_of(const struct pids *p)
{
	static char text[256];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < p->n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d ", (int)p->v[i]);
	return text;
}

static void test_pids(void **state)
{
	const struct {
		struct pick_opts o;
		int status;
		const char *pids, *message;
	} cases[] = {
		{{.pids = PIDS(300, 7, 100)}, GPQ_OK, "7 100 300 ", NULL},
		{{.pids = PIDS(7), .ns_pid = true}, GPQ_OK, "70 71 ", NULL},
		{{.pids = PIDS(70), .tree = true}, GPQ_OK, "70 700 ", NULL},
		{{.pids = PIDS(70, 5), .tree = true}, GPQ_OK, "5 70 700 ", NULL},
		{{.pids = PIDS(7), .ns_pid = true, .tree = true}, GPQ_OK, "70 71 700 ", NULL},
		{{.pids = PIDS(8), .ns_pid = true},
		 GPQ_NOTFOUND,
		 "",
		 "pid 8: no container has a process with that PID; without --ns-pid, PIDs are "
		 "those "
		 "of the host"},
		{{.pids = PIDS(7, 8, 7), .ns_pid = true}, GPQ_NOTFOUND, "70 71 ", "pid 8: no con"},
		{{.pids = PIDS(9), .ns_pid = true}, GPQ_DENIED, "", "/proc: Permission denied"},
		{{.pids = PIDS(90), .tree = true}, GPQ_FAILED, "90 ", "/proc: Input/output error"},
		{{.ns_pid = true}, GPQ_USAGE, "", "--ns-pid says how to read -p; add -p PID"},
		{{.tree = true}, GPQ_USAGE, "", "--tree says how to read -p; add -p PID"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct process_cache cache = {0};
		struct pick p;
		setup(NULL);
		assert_int_equal(pick_init(&p, &cases[i].o, &cache), cases[i].status);
		assert_string_equal(text_of(&p.pids), cases[i].pids);
		if (cases[i].message)
			assert_non_null(strstr(said.data, cases[i].message));
		else
			assert_string_equal(said.data, "");
		pick_fini(&p);
		process_cache_fini(&cache);
	}
}

// gpq is never meant without -p, nor are its ancestors by any other option; by -p each is.
static void test_own(void **state)
{
	const struct {
		struct pick_opts o;
		const char *kept; // of 40 to 43
	} cases[] = {
		{{.tree = false}, "40 41 43 "},
		{{.pids = PIDS(42, 40)}, "40 42 "},
		{{.pids = {.given = true}}, ""},
		{{.comms = WORDS(W("train"))}, "43 "},
		{{.comms = WORDS(W("x"), W("ai"))}, "43 "},
		{{.comms = WORDS(W("rain$"), W("x")), .users = WORDS(W("4712"))}, ""},
		{{.users = WORDS(W("4712"), W("4711"))}, "43 "},
		{{.users = WORDS(W("471"))}, ""},
		{{.pids = PIDS(41, 43), .users = WORDS(W("4711"))}, "41 43 "},
		{{.pids = PIDS(41), .comms = WORDS(W("vllm"))}, ""},
	};
	char top[] = "/tmp/gpq-pick-XXXXXX", command[256];
	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(command, sizeof(command),
		 "for i in 40 41 42 43; do mkdir -p %s/proc/$i; "
		 "printf 'Name:\\ttrain\\nUid:\\t1\\t4711\\t2\\t3\\n' >%s/proc/$i/status; done",
		 top, top);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
	assert_int_equal(host_set_root(top), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct process_cache cache = {0};
		struct pids kept = {0};
		struct pick p;
		assert_int_equal(pick_init(&p, &cases[i].o, &cache), 0);
		assert_string_equal(text_of(&p.own), "42 41 40 ");
		for (pid_t pid = 40; pid <= 43; pid++)
			if (pick_keeps(&p, pid))
				pids_push(&kept, pid);
		assert_string_equal(text_of(&kept), cases[i].kept);
		free(kept.v);
		pick_fini(&p);
		process_cache_fini(&cache);
	}
	host_set_root(NULL);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
}

static void test_watch(void **state)
{
	const struct {
		struct pick_opts o;
		bool not_host;
		int status;
		const char *message;
	} cases[] = {
		{{.tree = false}, false, GPQ_OK, ""},
		{{.pids = PIDS(70)}, false, GPQ_OK, ""},
		{{.pids = PIDS(5, 70)}, false, GPQ_OK, ""},
		{{.pids = PIDS(5, 6)}, false, GPQ_NOTFOUND, "pid 5: no such process; without -p"},
		{{.pids = {.given = true}}, false, GPQ_NOTFOUND, "-p: no PID was given"},
		{{.pids = PIDS(7), .ns_pid = true}, false, GPQ_OK, ""},
		{{.pids = PIDS(5)}, true, GPQ_OK, "this is another PID namespace"},
		{{.pids = PIDS(5), .tree = true}, true, GPQ_UNSUPPORTED, "only -p and --gpu can"},
		{{.comms = WORDS(W("x"))}, true, GPQ_UNSUPPORTED, "run gpq on the"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct process_cache cache = {0};
		struct pick p;
		setup(NULL);
		fake.not_host = cases[i].not_host;
		assert_int_equal(pick_init_watch(&p, &cases[i].o, &cache), cases[i].status);
		assert_non_null(strstr(said.data, cases[i].message));
		if (!*cases[i].message)
			assert_string_equal(said.data, "");
		pick_fini(&p);
		process_cache_fini(&cache);
	}
}

// Descendants that come are found; where nothing is found any more the old ones stay, and no
// message is shown, but later ones are.
static void test_renew(void **state)
{
	const struct pick_opts tree = {.pids = PIDS(7), .ns_pid = true, .tree = true},
			       plain = {.pids = PIDS(70)};
	struct process_cache cache = {0};
	struct pick p;
	(void)state;
	assert_int_equal(pick_init(&p, &tree, &cache), 0);
	fake.young = true;
	int fd = memfd_create("stderr", MFD_CLOEXEC), saved = dup(STDERR_FILENO);
	char text[256] = "";
	dup2(fd, STDERR_FILENO);
	pick_renew(&p);
	assert_string_equal(text_of(&p.pids), "70 71 700 701 ");
	fake.gone = true;
	pick_renew(&p);
	assert_string_equal(text_of(&p.pids), "70 71 700 701 ");
	err_fail(GPQ_FAILED, NULL, "later");
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
	assert_non_null(strstr(text, "later"));
	assert_null(strstr(text, "pid 7"));
	pick_fini(&p);
	assert_int_equal(pick_init(&p, &plain, &cache), 0);
	err_gather(&said);
	said.len = 0;
	pick_renew(&p); // has nothing to look up, and shows messages as before
	err_fail(GPQ_FAILED, NULL, "gathered");
	assert_non_null(strstr(said.data, "gathered"));
	assert_string_equal(text_of(&p.pids), "70 ");
	pick_fini(&p);
	process_cache_fini(&cache);
}

static void test_pods(void **state)
{
	const struct {
		const char *pod;
		int status;
	} cases[] = {{"", GPQ_USAGE},           {"0", GPQ_OK},
		     {"0123-_ef-4567", GPQ_OK}, {"kube-system/a.b-9z", GPQ_OK},
		     {"G1234567", GPQ_USAGE},   {"a b", GPQ_USAGE},
		     {"a:b", GPQ_USAGE}};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char first[] = "89abcdef", second[32];
		const struct pick_opts o = {.pods = {.v = (char *[]){first, second}, .n = 2}};
		strcpy(second, cases[i].pod);
		struct process_cache cache = {0};
		struct pick p;
		assert_int_equal(pick_init(&p, &o, &cache), cases[i].status);
		pick_fini(&p);
		process_cache_fini(&cache);
	}
}

static void test_text(void **state)
{
	const struct pick_opts o = {.pids = PIDS(9, 7),
				    .ns_pid = true,
				    .tree = true,
				    .containers = WORDS(W("a"), W("b")),
				    .cgroups = WORDS(W("c")),
				    .pods = WORDS(W("d")),
				    .users = WORDS(W("e")),
				    .comms = WORDS(W("f"), W("g")),
				    .cmdlines = WORDS(W("h"))};
	SCOPED(buf_fini) struct buf b = {0};
	(void)state;
	pick_text(&b, &o);
	assert_string_equal(b.data,
			    " -p 9,7 --ns-pid --tree --container a --container b --cgroup c "
			    "--pod d --user e --comm f --comm g --cmdline h");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids),  cmocka_unit_test(test_own),
		cmocka_unit_test(test_watch), cmocka_unit_test(test_renew),
		cmocka_unit_test(test_pods),  cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
