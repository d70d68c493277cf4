// Processes that open KFD, common/pick/newcomers.c, and which SPEC they fit, spec_set.c: on a tree
// made here, by a clock of the test's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/pick/newcomers.h"
#include "common/pick/spec_set.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/clock.h"
#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/kfd/smi.h"
#include "common/kfd/topology.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SECOND UINT64_C(1000000000)

static struct {
	uint64_t ns;    // what the clock says
	int streams[2]; // descriptors of the streams of events; 0: none
	pid_t asked[512], owner,
		owners; // PIDs asked for queues; PIDs with queues: the first, and how many
	size_t n;
} fake;

static size_t fake_smi_open_all(uint64_t events, int **fds)
{
	assert_int_equal(events, KFD_SMI_BIT(KFD_SMI_PROCESS_START));
	*fds = xmemdup(fake.streams, sizeof(fake.streams));
	return fake.streams[0] ? 2 : 0;
}

// A folder with as many links as one of sysfs: two, and its subfolders.
static int fake_stat(const char *path, struct stat *st)
{
	static const char begin[] = "/sys/class/kfd/kfd/proc/";
	char *end;
	assert_memory_equal(path, begin, strlen(begin));
	const pid_t pid = (pid_t)strtol(path + strlen(begin), &end, 10);
	assert_string_equal(end, "/queues");
	fake.asked[fake.n++ % COUNT(fake.asked)] = pid;
	st->st_nlink = pid >= fake.owner && pid < fake.owner + fake.owners ? 3 : 2;
	return 0;
}

static uint64_t fake_clock_ns(void)
{
	return fake.ns;
}

#define kfd_smi_open_all fake_smi_open_all
#define stat(path, st)   fake_stat(path, st)
#define clock_ns         fake_clock_ns
#include "common/pick/newcomers.c" // NOLINT(bugprone-suspicious-include)
#include "common/pick/spec_set.c"  // NOLINT(bugprone-suspicious-include)
#undef stat

static char top[] = "/tmp/gpq-newcomers-XXXXXX";
static struct buf said; // the messages of gpq

static void __attribute__((format(printf, 1, 2))) run(const char *fmt, ...)
{
	SCOPED(buf_fini) struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_printf(&b, "cd %s%s && ", top, PROCS);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	assert_int_equal(system(b.data), 0); // NOLINT(cert-env33-c)
}

// Processes 100 to 100 + n - 1, called train; each even one has user 1000, each odd one 1001.
static void make(unsigned n)
{
	char command[256];
	memset(&fake, 0, sizeof(fake));
	fake.ns = 5 * SECOND;
	said.len = 0;
	buf_puts(&said, "");
	err_gather(&said); // a look ends it
	snprintf(command, sizeof(command), "rm -rf %s && mkdir -p %s%s %s/proc", top, top, PROCS,
		 top);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
	run("for i in $(seq 100 %u); do mkdir -p $i/queues ../../../../../proc/$i; "
	    "printf 'Name:\\ttrain\\nUid:\\t0\\t%%d\\t0\\t0\\n' $((1000 + i %% 2)) "
	    ">../../../../../proc/$i/status; done",
	    99 + n);
	assert_int_equal(host_set_root(top), 0);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", top);
	return system(command); // NOLINT(cert-env33-c)
}

// PIDs that may be looked at now, ascending.
static const char *taken(struct newcomers *n, uint64_t now)
{
	static char text[128];
	char have[1024] = {0};
	size_t len = 0;
	for (size_t i = 0; i < n->n; i++)
		have[n->v[i].pid] = newcomer_take(&n->v[i], now);
	text[0] = '\0';
	for (unsigned i = 0; i < sizeof(have); i++)
		if (have[i])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%u ", i);
	return text;
}

static struct newcomer *find(struct newcomers *n, pid_t pid)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->v[i].pid == pid)
			return &n->v[i];
	fail();
	return NULL;
}

// Each is looked at at once, and again after a second, unless it is done; another process of the
// same PID at once.
static void test_again(void **state)
{
	struct newcomers n = {.events.fd = -1};
	const uint64_t t = 5 * SECOND;
	(void)state;
	make(3);
	run("mkdir self 0200");
	assert_true(newcomers_scan(&n, t));
	assert_int_equal(n.n, 3);
	assert_int_equal(fake.n, 0); // no process was asked for its queues
	assert_string_equal(taken(&n, t), "100 101 102 ");
	assert_string_equal(taken(&n, t), "");
	assert_false(newcomers_scan(&n, t + 1));
	find(&n, 101)->done = true;
	assert_false(newcomers_scan(&n, t + SECOND - 1));
	assert_string_equal(taken(&n, t + SECOND - 1), "");
	assert_true(newcomers_scan(&n, t + SECOND));
	assert_string_equal(taken(&n, t + SECOND), "100 102 ");
	assert_string_equal(taken(&n, t + 2 * SECOND - 1), "");
	run("mkdir -p new/queues && rm -r 101 && mv new 101 && rm -r 102 && mkdir -p 103/queues");
	assert_true(newcomers_scan(&n, t + SECOND + 1));
	assert_int_equal(n.n, 3);
	assert_string_equal(taken(&n, t + SECOND + 1), "101 103 ");
	run("rm -r *");
	assert_false(newcomers_scan(&n, t + 9 * SECOND));
	assert_int_equal(n.n, 0);
	run("rmdir ../proc");
	assert_false(newcomers_scan(&n, t + 9 * SECOND));
	newcomers_fini(&n);
	assert_null(n.v);
	assert_int_equal(n.events.fd, -1);
}

// Those without queues: all at first, then 64 at a time in turn, each 10 ms.
static void test_wait(void **state)
{
	struct newcomers n = {.events.fd = -1, .wait = true};
	uint64_t t = 5 * SECOND;
	(void)state;
	make(150);
	fake.owner = 107;
	fake.owners = 1;
	assert_true(newcomers_scan(&n, t));
	assert_int_equal(fake.n, 150);
	assert_int_equal(n.next_ns, t + 10000000);
	assert_string_equal(taken(&n, t), "107 ");
	fake.n = 0;
	fake.owners = 0;
	for (unsigned i = 1; i <= 7; i++) { // 7 * 64 = 3 * 149 + 1
		assert_false(newcomers_poll(&n, t + i));
		assert_int_equal(fake.n, 64 * i);
		assert_int_equal(n.next_ns, t + i + 10000000);
	}
	unsigned times[151] = {0};
	for (size_t i = 0; i < fake.n; i++)
		times[fake.asked[i] - 100]++;
	unsigned four = 0;
	for (unsigned i = 0; i < 150; i++) {
		four += times[i] == 4;
		assert_true(times[i] == (i == 7 ? 0 : 3) || times[i] == 4);
	}
	assert_int_equal(four, 1);
	fake.owner = 100;
	fake.owners = 150;
	for (unsigned i = 0; i < 3; i++)
		assert_true(newcomers_poll(&n, t + 20 + i));
	assert_int_equal(n.next_ns, UINT64_MAX); // all have queues
	newcomers_fini(&n);
}

static void test_events(void **state)
{
	struct newcomers n = {.wait = true};
	int a[2], b[2];
	char text[8];
	(void)state;
	memset(&fake, 0, sizeof(fake));
	newcomers_init(&n);
	assert_int_equal(n.events.fd, -1);
	newcomers_drain(&n);
	assert_int_equal(pipe2(a, O_NONBLOCK) | pipe2(b, O_NONBLOCK), 0);
	fake.streams[0] = a[0];
	fake.streams[1] = b[0];
	newcomers_init(&n);
	assert_true(n.events.fd >= 0);
	newcomers_drain(&n);
	assert_int_equal(write(a[1], "one", 3), 3);
	assert_int_equal(write(b[1], "two", 3), 3);
	newcomers_drain(&n);
	assert_int_equal(read(a[0], text, sizeof(text)), -1); // both are empty
	assert_int_equal(read(b[0], text, sizeof(text)), -1);
	assert_int_equal(errno, EAGAIN);
	newcomers_fini(&n);
	close(a[1]);
	close(b[1]);
}

// ---- SPECs

static char found[256]; // "NUMBER:PID IDS," of each process that was taken

static bool take(void *arg, size_t number, pid_t pid, struct kfd_selection *sel, bool again)
{
	const pid_t *refused = arg;
	(void)again;
	const size_t len = strlen(found);
	int more = snprintf(found + len, sizeof(found) - len, "%zu:%d", number, (int)pid);
	for (unsigned i = 0; i < sel->num_ids; i++)
		more += snprintf(found + len + more, sizeof(found) - len - (size_t)more, " %u",
				 (unsigned)sel->ids[i]);
	snprintf(found + len + more, sizeof(found) - len - (size_t)more, ",");
	free(sel);
	return pid != *refused;
}

static int by_pid(const void *a, const void *b)
{
	return strcmp(strchr(*(char *const *)a, ':'), strchr(*(char *const *)b, ':'));
}

// Who was taken, sorted by PID.
static const char *look(const struct spec_set *s, struct newcomers *n, pid_t refused, int status)
{
	static char sorted[256];
	char *parts[32];
	size_t num = 0;
	found[0] = sorted[0] = '\0';
	assert_int_equal(spec_set_look(s, n, take, &refused), status);
	for (char *p = strtok(found, ","); p; p = strtok(NULL, ","))
		parts[num++] = p;
	qsort(parts, num, sizeof(*parts), by_pid);
	for (size_t i = 0; i < num; i++)
		strcat(strcat(sorted, parts[i]), ",");
	return sorted;
}

// The lowest number that fits; a queue of a process is no SPEC of another; who is refused is left
// out, and looked at again.
static void test_look(void **state)
{
	struct newcomers n = {.events.fd = -1};
	struct spec_set s = {0};
	(void)state;
	make(5);
	run("sed -i s/train/gpq-x/ ../../../../../proc/104/status");
	run("mkdir -p 106/queues/0 ../../../../../proc/106; "
	    "sed s/train/other/ ../../../../../proc/100/status >../../../../../proc/106/status");
	assert_int_equal(spec_set_add(&s, 3, "--x", "comm=train"), 0);
	assert_int_equal(spec_set_add(&s, 1, "--x", "user=1001"), 0);
	assert_int_equal(spec_set_add(&s, 2, "--x", "comm=train,queue=102:7,102:9"), 0);
	assert_int_equal(spec_set_add(&s, 3, "--x", "pid=102"), 0);
	assert_int_equal(s.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s.v[i]->number, i < 3 ? i + 1 : 3);
	assert_string_equal(s.v[2]->spec.pick.comms.v[0], "train"); // the first of two equal ones
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(spec_set_has(&s, i), i > 0 && i < 4);
	assert_string_equal(look(&s, &n, 101, 0), "3:100,1:101,2:102 7 9,1:103,");
	assert_true(find(&n, 100)->done);
	assert_false(find(&n, 101)->done);
	assert_true(find(&n, 101)->left_out);
	assert_false(find(&n, 100)->left_out);
	assert_false(find(&n, 104)->done); // a part of gpq, without queues
	assert_false(find(&n, 104)->left_out);
	assert_false(find(&n, 106)->done || find(&n, 106)->left_out); // which no SPEC fits
	assert_string_equal(look(&s, &n, 0, 0), "");                  // later
	fake.ns += SECOND;
	run("mkdir 104/queues/1");
	assert_string_equal(look(&s, &n, 0, 0), "1:101,");
	run("sed -i s/gpq-x/train/ ../../../../../proc/104/status");
	fake.ns += SECOND;
	assert_string_equal(look(&s, &n, 0, 0), "3:104,");
	assert_string_equal(said.data, "");
	spec_set_fini(&s);
	assert_int_equal(s.n, 0);
	assert_string_equal(look(&s, &n, 0, 0), ""); // no SPECs
	newcomers_fini(&n);
}

// A SPEC that fails: at the first look with a message and its status, later without both; the
// others choose as before.
static void test_fails(void **state)
{
	struct newcomers n = {.events.fd = -1};
	struct spec_set s = {0};
	(void)state;
	make(2);
	run("printf 'NSpid:\\t100\\t7\\n' >>../../../../../proc/100/status");
	assert_int_equal(spec_set_add(&s, 1, "--x", "pid=7,ns-pid"), 0);
	assert_int_equal(spec_set_add(&s, 2, "--x", "comm=train"), 0);
	run("sed -i /NSpid/d ../../../../../proc/100/status");
	assert_string_equal(look(&s, &n, 101, GPQ_NOTFOUND), "2:100,2:101,");
	assert_non_null(strstr(said.data, "pid 7: no container has a process with that PID"));
	err_gather(&said);
	said.len = 0;
	buf_puts(&said, "");
	fake.ns += SECOND;
	assert_string_equal(look(&s, &n, 0, 0), "2:101,");
	assert_string_equal(said.data, "");
	err_gather(&said);
	spec_set_fini(&s);
	newcomers_fini(&n);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int status;
		const char *message;
	} cases[] = {
		{"comm=x", 0, ""},
		{"comm=x,type=sdma", GPQ_USAGE,
		 "--x: type and prio do not choose queues that come later; choose by gpu= or "
		 "queue="},
		{"comm=x,prio=high", GPQ_USAGE, "--x: type and prio do not"},
		{"comm=x,queue=3", GPQ_USAGE,
		 "--x: queue 3: of which process?; write queue=PID:ID"},
		{"comm=x,queue=100:3,4", GPQ_USAGE, "queue 4: of which"},
		{"comm=x,queue=100:3", 0, ""},
		{"pid=100,queue=3", 0, ""},
		{"pid=100,tree,queue=3", GPQ_USAGE, "queue 3: of which"},
		{"pid=100,queue=101:3", GPQ_USAGE, "queue 101:3: process 101 is not chosen"},
		{"pid=100,101,queue=3", GPQ_USAGE, "queue 3: 2 processes are chosen"},
		{"pid=100,999", 0, ""},
		{"pid=999,998", GPQ_NOTFOUND,
		 "--x: pid=999,998: there is no such process; gpq queues lists those that own "
		 "queues"},
		{"queue=1024", GPQ_USAGE, "queue 1024: neither ID nor PID:ID"},
		{"comm=(", GPQ_USAGE, "--comm"},
		{"comm=x,gpu=5", GPQ_NOTFOUND, "there is no GPU 5"},
		{"com=x", GPQ_USAGE, "--x: com is no key, did you mean comm"},
		{"=x", GPQ_USAGE, "--x: (nothing) is no key"},
		{"comm", GPQ_USAGE, "--x: comm needs a value: comm=REGEX"},
		{"tree=1", GPQ_USAGE, "--x: tree takes no value"},
		{"tree", GPQ_USAGE, "--tree says how to read -p"},
	};
	(void)state;
	make(2);
	run("mkdir -p ../topology/nodes");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spec_set s = {0};
		said.len = 0;
		buf_puts(&said, "");
		assert_int_equal(spec_set_add(&s, 1, "--x", cases[i].text), cases[i].status);
		if (!strstr(said.data, cases[i].message) || (!*cases[i].message && said.len))
			fail_msg("%s: %s", cases[i].text, said.data);
		spec_set_fini(&s);
	}
}

static void test_add_pids(void **state)
{
	const struct pids none = {0}, empty = {.given = true},
			  two = {.v = (pid_t[]){100, 101}, .n = 2, .given = true},
			  dead = {.v = (pid_t[]){100, 999}, .n = 2, .given = true};
	struct newcomers n = {.events.fd = -1};
	struct spec_set s = {0};
	(void)state;
	make(3);
	assert_int_equal(spec_set_add_pids(&s, 4, "--x", &none), 0);
	assert_int_equal(spec_set_add_pids(&s, 4, "--x", &empty), GPQ_NOTFOUND);
	assert_non_null(strstr(said.data, "--x: no process is named"));
	assert_int_equal(spec_set_add_pids(&s, 4, "--x", &dead), GPQ_NOTFOUND);
	assert_non_null(strstr(said.data, "--x: pid 999: no such process"));
	assert_int_equal(s.n, 0);
	assert_int_equal(spec_set_add_pids(&s, 4, "--x", &two), 0);
	assert_string_equal(look(&s, &n, 0, 0), "4:100,4:101,");
	spec_set_fini(&s);
	newcomers_fini(&n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),    cmocka_unit_test(test_wait),
		cmocka_unit_test(test_events),   cmocka_unit_test(test_look),
		cmocka_unit_test(test_fails),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_add_pids),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
