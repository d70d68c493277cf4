// Processes and queues in sysfs, common/kfd/procs.c: values of a tree made here, whose inode
// numbers count as those of sysfs; what comes and goes between two looks. Facts: [kfd.proc-files],
// [kfd.queue-order], [kfd.contexts].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kfd/procs.h"

#include "common/host/number.h"
#include "common/host/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static bool is_sysfs;

static int fake_fstatfs(int fd, struct statfs *fs)
{
	fs->f_type = is_sysfs ? SYSFS_MAGIC : TMPFS_MAGIC;
	return fd < 0 ? -1 : 0;
}

static struct {
	const char *name; // of the file or folder that fails
	bool when_read;   // not when it is opened
	int error;
} broken;

static bool breaks(const char *name, bool when_read)
{
	errno = broken.error;
	return broken.name && broken.when_read == when_read && strcmp(name, broken.name) == 0;
}

static bool reading_fails;

static int fake_open_file(int dir, const char *name)
{
	reading_fails = breaks(name, true);
	return breaks(name, false) ? -1 : host_open_file(dir, name);
}

static ssize_t fake_read(int fd, void *to, size_t size)
{
	errno = broken.error;
	return reading_fails ? -1 : read(fd, to, size);
}

static int fake_openat(int dir, const char *name, int flags)
{
	return breaks(name, false) ? -1 : openat(dir, name, flags);
}

static ssize_t fake_read_at(struct buf *b, int dir, const char *name)
{
	return breaks(name, true) ? -1 : buf_read_at(b, dir, name);
}

#define fstatfs        fake_fstatfs
#define host_open_file fake_open_file
#define read           fake_read
#define openat         fake_openat
#define buf_read_at    fake_read_at
#include "common/kfd/procs.c" // NOLINT(bugprone-suspicious-include)

static char top[] = "/tmp/gpq-procs-XXXXXX";

// Runs a command of the shell in the folder of processes.
static void __attribute__((format(printf, 1, 2))) in_proc(const char *fmt, ...)
{
	SCOPED(buf_fini) struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_printf(&b, "cd %s" PROC_DIR " && ", top);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	assert_int_equal(system(b.data), 0); // NOLINT(cert-env33-c)
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? host_set_root(top) : -1;
}

static int teardown(void **state)
{
	(void)state;
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", top);
	return system(command); // NOLINT(cert-env33-c)
}

// Makes processes: 100 has two queues, 200 one, 300 one in each of two contexts, 400 none.
static void make(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s/sys && mkdir -p %s" PROC_DIR, top, top);
	assert_int_equal(system(command), 0); // NOLINT(cert-env33-c)
	in_proc("mkdir -p 100/queues/0 100/queues/3 200/queues/7 300/queues/1 "
		"300/context_5/queues/2 400/queues");
}

static void read_all(struct kfd_procs *p, unsigned want)
{
	const struct kfd_procs_how how = {.want = want};
	assert_int_equal(kfd_procs_read(p, &how), 0);
}

static uint64_t inode(const char *path)
{
	struct stat st;
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s" PROC_DIR "/%s", top, path);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

static void test_order(void **state)
{
	struct kfd_procs p = {0};
	(void)state;
	make();
	is_sysfs = true;
	in_proc("echo '3 0' >100/queues/.order; echo 5 >300/.contexts");
	read_all(&p, 0);
	assert_true(p.sysfs);
	assert_int_equal(p.nprocs, 4);
	assert_int_equal(p.ncontexts, 5);
	assert_int_equal(p.nqueues, 5);
	const struct kfd_proc *x = kfd_procs_find(&p, 100), *y = kfd_procs_find(&p, 300);
	assert_null(kfd_procs_find(&p, 101));
	assert_int_equal(x->queues, 2);
	assert_int_equal(x->contexts, 1);
	assert_int_equal(p.queues[x->queue].qid, 0);
	assert_int_equal(p.queues[x->queue].created, inode("100/queues/0"));
	assert_int_equal(p.queues[x->queue + 1].created, inode("100/queues/3"));
	assert_int_equal(y->contexts, 2);
	assert_int_equal(p.contexts[y->context].created, 0);
	assert_int_equal(p.contexts[y->context + 1].created, inode("300/context_5"));
	assert_int_equal(p.contexts[y->context + 1].id, 5);
	for (size_t i = 0; i < p.nqueues; i++) {
		const struct kfd_queue *q = &p.queues[i];
		const pid_t pid = p.procs[q->proc].pid;
		assert_int_equal(pid, q->qid == 7 ? 200 : q->qid == 1 || q->qid == 2 ? 300 : 100);
		assert_int_equal(q->context, q->qid == 2 ? 5 : -1);
		assert_int_equal(p.contexts[q->owner].proc, q->proc);
		assert_int_equal(p.contexts[q->owner].id, q->context);
	}
	is_sysfs = false; // recorded: ranks of the files, where there are any
	read_all(&p, 0);
	x = kfd_procs_find(&p, 100);
	y = kfd_procs_find(&p, 300);
	assert_false(p.sysfs);
	assert_int_equal(p.queues[x->queue].created, 2);
	assert_int_equal(p.queues[x->queue + 1].created, 1);
	assert_int_equal(p.contexts[y->context + 1].created, 1);
	assert_int_equal(p.queues[kfd_procs_find(&p, 200)->queue].created, KFD_UNKNOWN);
	kfd_procs_fini(&p);
}

// What happens between two looks, and which processes have then changed: bit N is (N + 1) * 100.
static void test_confirm(void **state)
{
	static const struct {
		const char *command;
		unsigned changed;
	} cases[] = {
		{"true", 0},
		{"rmdir 100/queues/3", 1},
		{"mkdir 100/queues/4", 1},
		{"mkdir 100/queues/x", 0},
		{"mkdir new && rmdir 100/queues/0 && mv new 100/queues/0", 1},
		{"mkdir -p 100/context_9/queues", 1},
		{"rm -r 100", 1},
		{"mkdir new && rmdir 200/queues/7 && mv new 200/queues/7", 0},
		{"rm -r 200", 0},
		{"mkdir 400/queues/0", 0},
		{"rm -r 300/context_5", 4},
		{"mkdir -p new/queues/2 && rm -r 300/context_5 && mv new 300/context_5", 4},
		{"mv 300/context_5 300/context_6", 4},
		{"mkdir new && rmdir 300/context_5/queues/2 && mv new 300/context_5/queues/2", 4},
		{"mv 300/context_5/queues/2 300/queues/2", 4},
		{"mv 100/queues/3 100/queues/4", 1},
		{"rmdir 100/queues/0 300/queues/1", 5},
		{"mv ../proc ../gone", 5},
	};
	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		struct kfd_procs p = {0};
		unsigned changed = 0;
		make();
		is_sysfs = i % 2 == 0;
		read_all(&p, 0);
		in_proc("%s", cases[i / 2].command);
		kfd_procs_confirm(&p);
		assert_int_equal(p.nprocs, 4);
		for (unsigned k = 0; k < 4; k++)
			changed |= (unsigned)p.procs[k].changed << k;
		assert_int_equal(changed, is_sysfs ? cases[i / 2].changed : 0);
		for (size_t k = 0; k < p.nqueues; k++)
			assert_int_equal(p.queues[k].created == KFD_UNKNOWN,
					 !is_sysfs || p.procs[p.queues[k].proc].changed);
		for (size_t k = 0; k < p.ncontexts; k++)
			assert_int_equal(
				p.contexts[k].created == KFD_UNKNOWN,
				p.contexts[k].id == 5 &&
					(!is_sysfs || p.procs[p.contexts[k].proc].changed));
		kfd_procs_fini(&p);
	}
}

// A process may have more contexts than queues.
static void test_confirm_contexts(void **state)
{
	struct kfd_procs p = {0};
	(void)state;
	make();
	is_sysfs = true;
	in_proc("mkdir -p 200/context_8/queues 200/context_9/queues");
	read_all(&p, 0);
	in_proc("mkdir 200/queues/8");
	kfd_procs_confirm(&p);
	const struct kfd_proc *x = kfd_procs_find(&p, 200);
	assert_true(x->changed && x->contexts == 3 && x->queues == 1);
	assert_int_equal(p.contexts[x->context].created, 0);
	assert_int_equal(p.contexts[x->context + 1].created, KFD_UNKNOWN);
	assert_int_equal(p.contexts[x->context + 2].created, KFD_UNKNOWN);
	kfd_procs_fini(&p);
}

// Two readings that differ in one number.
static void test_same(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct kfd_context c[2][2] = {
			{{.id = -1, .queues = 1}, {.id = 5, .created = 8, .queues = 1}}};
		struct kfd_queue q[2][2] = {{{.qid = 1, .created = 9}, {.qid = 2, .created = 10}}};
		struct kfd_proc x = {.contexts = 2, .queues = 2}, y = x;
		memcpy(c[1], c[0], sizeof(c[0]));
		memcpy(q[1], q[0], sizeof(q[0]));
		switch (i) {
		case 1: y.contexts = 1; break;
		case 2: y.queues = 1; break;
		case 3: c[1][1].id = 6; break;
		case 4: c[1][1].created = 9; break;
		case 5: c[1][1].queues = 2; break;
		case 6: q[1][1].qid = 3; break;
		case 7: q[1][1].created = 11; break;
		}
		const struct kfd_procs a = {.contexts = c[0], .queues = q[0]},
				       b = {.contexts = c[1], .queues = q[1]};
		assert_int_equal(kfd_procs_same_queues(&a, &x, &b, &y), i == 0);
		assert_int_equal(kfd_procs_same_queues(&b, &y, &a, &x), i == 0);
	}
}

static void test_queue_values(void **state)
{
	static const struct {
		const char *file, *text;
		unsigned want;
		uint32_t gpu;
		int32_t type;
		uint64_t bytes;
	} cases[] = {
		{"gpuid", "4711", KFD_WANT_GPU, 4711, -1, KFD_UNKNOWN},
		{"gpuid", "4294967295", KFD_WANT_GPU, UINT32_MAX, -1, KFD_UNKNOWN},
		{"gpuid", "4294967296", KFD_WANT_GPU, 0, -1, KFD_UNKNOWN},
		{"gpuid", "x", KFD_WANT_GPU, 0, -1, KFD_UNKNOWN},
		{"gpuid", "4711", KFD_WANT_TYPE | KFD_WANT_SIZE, 0, -1, KFD_UNKNOWN},
		{"type", "0", KFD_WANT_TYPE, 0, KFD_QUEUE_COMPUTE, KFD_UNKNOWN},
		{"type", "1", KFD_WANT_TYPE, 0, KFD_QUEUE_SDMA, KFD_UNKNOWN},
		{"type", "2", KFD_WANT_TYPE, 0, -1, KFD_UNKNOWN},
		{"type", "3", KFD_WANT_TYPE, 0, KFD_QUEUE_SDMA_XGMI, KFD_UNKNOWN},
		{"type", "4", KFD_WANT_TYPE, 0, KFD_QUEUE_SDMA_XGMI, KFD_UNKNOWN},
		{"type", "5", KFD_WANT_TYPE, 0, -1, KFD_UNKNOWN},
		{"type", "0", KFD_WANT_GPU | KFD_WANT_SIZE, 0, -1, KFD_UNKNOWN},
		{"size", "65536", KFD_WANT_SIZE, 0, -1, 65536},
		{"size", "65536", KFD_WANT_GPU | KFD_WANT_TYPE, 0, -1, KFD_UNKNOWN},
		{"size", "", KFD_WANT_SIZE, 0, -1, KFD_UNKNOWN},
		// As long as what is read at once: 63 and 64 bytes.
		{"size", "000000000000000000000000000000000000000000000000000000000000007",
		 KFD_WANT_SIZE, 0, -1, 7},
		{"size", "0000000000000000000000000000000000000000000000000000000000000007",
		 KFD_WANT_SIZE, 0, -1, KFD_UNKNOWN},
	};
	struct kfd_procs p = {0};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make();
		in_proc("printf %%s '%s' >200/queues/7/%s", cases[i].text, cases[i].file);
		read_all(&p, cases[i].want);
		const struct kfd_queue *q = &p.queues[kfd_procs_find(&p, 200)->queue];
		assert_int_equal(q->gpu_id, cases[i].gpu);
		assert_int_equal(q->type, cases[i].type);
		assert_int_equal(q->bytes, cases[i].bytes);
	}
	kfd_procs_fini(&p);
}

#define COUNTERS                                                                          \
	"echo 8 >200/queues/7/gpuid; mkdir 200/stats_8 200/stats_9; echo 1 >200/vram_8; " \
	"echo 2 >200/sdma_8; echo 3 >200/stats_8/evicted_ms; "                            \
	"echo 4 >200/stats_8/cu_occupancy; echo 5 >200/vram_9; echo 0 >200/pasid; "       \
	"d=%s/sys/kernel/debug/kfd/proc/200 && mkdir -p $d && printf 6 >$d/pasid_8"

static void test_counters(void **state)
{
	static const unsigned each[] = {KFD_WANT_VRAM, KFD_WANT_SDMA, KFD_WANT_EVICTED, KFD_WANT_CU,
					KFD_WANT_PASID};
	static const uint64_t values[] = {1, 2000, 3000000, 4, 6};
	struct kfd_procs p = {0};
	(void)state;
	make();
	in_proc(COUNTERS, top);
	for (unsigned i = 0; i < COUNT(each); i++) {
		read_all(&p, KFD_WANT_GPU | each[i]);
		const struct kfd_proc *x = kfd_procs_find(&p, 200);
		assert_int_equal(x->usages, 1);
		const struct kfd_usage *u = kfd_procs_usage(&p, &p.contexts[x->context], 8);
		assert_null(kfd_procs_usage(&p, &p.contexts[x->context], 9));
		const uint64_t have[] = {u->vram_bytes, u->sdma_ns, u->evicted_ns, u->cu_occupancy,
					 u->pasid};
		for (unsigned k = 0; k < COUNT(each); k++)
			assert_int_equal(have[k], k == i ? values[k] : KFD_UNKNOWN);
		assert_int_equal(u->context, x->context);
	}
	read_all(&p, KFD_WANT_IDLE_GPUS | KFD_WANT_VRAM);
	const struct kfd_proc *x = kfd_procs_find(&p, 200);
	assert_int_equal(x->usages, 2);
	assert_int_equal(kfd_procs_usage(&p, &p.contexts[x->context], 9)->vram_bytes, 5);
	assert_int_equal(kfd_procs_usage(&p, &p.contexts[x->context], 8)->vram_bytes, 1);
	in_proc("echo 18446744073709 >200/stats_8/evicted_ms");
	read_all(&p, KFD_WANT_GPU | KFD_WANT_EVICTED);
	assert_int_equal(p.usages[0].evicted_ns, 18446744073709000000u);
	in_proc("echo 18446744073710 >200/stats_8/evicted_ms"); // more than 64 bits of ns
	read_all(&p, KFD_WANT_GPU | KFD_WANT_EVICTED);
	assert_int_equal(p.usages[0].evicted_ns, KFD_UNKNOWN);
	kfd_procs_fini(&p);
}

// One PASID for all GPUs, before it one for each: of a context, too, and if there are several
// without being asked for.
static void test_pasids(void **state)
{
	struct kfd_procs p = {0};
	(void)state;
	make();
	in_proc("echo 77 >300/pasid; echo 8 | tee 300/queues/1/gpuid "
		">300/context_5/queues/2/gpuid; "
		"echo 77 >100/pasid; d=%s/sys/kernel/debug/kfd/proc/300 && mkdir -p $d/context_5 "
		"&& "
		"echo 21 >$d/pasid_8 && echo 22 >$d/context_5/pasid_8",
		top);
	for (unsigned i = 0; i < 4; i++) {
		if (i == 1)
			in_proc("echo 0 >300/pasid");
		if (i == 2)
			in_proc("rm 300/pasid");
		read_all(&p, KFD_WANT_GPU | (i < 3 ? KFD_WANT_JOIN : KFD_WANT_PASID));
		const struct kfd_proc *x = kfd_procs_find(&p, 300);
		assert_int_equal(x->pasid, i ? KFD_UNKNOWN : 77);
		assert_int_equal(p.usages[x->usage].pasid, i ? 21 : 77);
		assert_int_equal(p.usages[x->usage + 1].pasid, i ? 22 : 77);
		assert_int_equal(kfd_procs_find(&p, 100)->pasid, i < 3 ? KFD_UNKNOWN : 77);
	}
	kfd_procs_fini(&p);
}

static bool keeps(const void *arg, pid_t pid)
{
	return pid == *(const pid_t *)arg;
}

static void test_keep_and_errors(void **state)
{
	const pid_t one = 300;
	const struct kfd_procs_how how = {.keep = keeps, .arg = &one};
	struct kfd_procs p = {0};
	(void)state;
	make();
	// A pipe, whose open would wait, and a link, which may lead anywhere, are no folders.
	in_proc("rmdir 400/queues && mkfifo 400/queues && touch 500 && mkdir 600 && "
		"ln -s ../100/queues 600/queues");
	assert_int_equal(kfd_procs_read(&p, &how), 0);
	assert_int_equal(p.nprocs, 1);
	assert_non_null(kfd_procs_find(&p, 300));
	assert_int_equal(p.nqueues, 2);
	read_all(&p, 0);
	assert_int_equal(p.nprocs, 5);
	assert_int_equal(kfd_procs_find(&p, 400)->error, ENOTDIR);
	assert_int_equal(kfd_procs_find(&p, 600)->error, ENOTDIR);
	assert_int_equal(kfd_procs_find(&p, 600)->queues, 0);
	assert_int_equal(kfd_procs_find(&p, 300)->error, 0);
	in_proc("rm 400/queues");
	read_all(&p, 0);
	assert_int_equal(kfd_procs_find(&p, 400)->error, 0);
	in_proc("rm -r ../proc");
	assert_int_equal(kfd_procs_read(&p, &how), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(p.nprocs, 0);
	kfd_procs_fini(&p);
}

// Lists of ids end at what is no number; of one that is named twice the last rank counts.
static void test_order_files(void **state)
{
	static const struct {
		const char *text;
		uint64_t first, second; // of queues 0 and 3; 0: unknown
	} cases[] = {{"0 3", 1, 2},  {"3\\n0\\n", 2, 1}, {"  3  0", 2, 1},
		     {"3", 0, 1},    {"9 3 0", 3, 2},    {"3 x 0", 0, 1},
		     {"3x 0", 0, 0}, {"", 0, 0},         {"3 0 3", 2, 3}};
	struct kfd_procs p = {0};
	(void)state;
	is_sysfs = false;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make();
		in_proc("printf '%s' >100/queues/.order", cases[i].text);
		read_all(&p, 0);
		const struct kfd_queue *q = &p.queues[kfd_procs_find(&p, 100)->queue];
		assert_int_equal(q[0].created, cases[i].first ? cases[i].first : KFD_UNKNOWN);
		assert_int_equal(q[1].created, cases[i].second ? cases[i].second : KFD_UNKNOWN);
	}
	kfd_procs_fini(&p);
}

static struct buf told;

static void tell(const char *path, int error)
{
	buf_printf(&told, "%s %d ", path, error);
}

// What exists and cannot be read is told, and the rest is read: bit N of `procs` is (N + 1) * 100.
static void test_troubles(void **state)
{
	static const struct {
		const char *name, *told;
		bool when_read;
		int error, status;
		unsigned procs;
		size_t queues;
	} cases[] = {
		{"7/gpuid", "7/gpuid 5 ", false, EIO, 0, 15, 5},
		{"7/gpuid", "", false, ENOENT, 0, 15, 5},
		{"7/gpuid", "", true, ENODEV, 0, 15, 5},
		{"7/size", "7/size 5 ", true, EIO, 0, 15, 5},
		{"7/type", "7/type 12 ", true, ENOMEM, 0, 15, 5},
		{"100", "100 5 ", false, EIO, 0, 14, 3},
		{"100", "", false, ENOENT, 0, 14, 3},
		{"400", "400 24 ", false, EMFILE, -1, 0, 0},
		{"400", "400 12 ", false, ENOMEM, -1, 0, 0},
		{"context_5", "context_5 5 ", false, EIO, 0, 15, 4},
		{"context_5", "", false, ENOENT, 0, 15, 4},
		{"context_5", "context_5 24 ", false, EMFILE, 0, 15, 4},
		{".order", ".order 5 ", true, EIO, 0, 15, 5},
		{".contexts", ".contexts 5 ", true, EIO, 0, 15, 5},
		{".contexts", "", true, EACCES, 0, 15, 5},
	};
	const struct kfd_procs_how how = {.want = KFD_WANT_GPU | KFD_WANT_TYPE | KFD_WANT_SIZE};
	struct kfd_procs p = {0};
	(void)state;
	make();
	in_proc("echo 3 >100/queues/.order; echo 5 >300/.contexts; echo 8 >200/queues/7/gpuid; "
		"echo 1 >200/queues/7/type; echo 4096 >200/queues/7/size");
	host_on_trouble(tell);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *name = cases[i].name;
		broken.name = name;
		broken.when_read = cases[i].when_read;
		broken.error = cases[i].error;
		told.len = 0;
		buf_puts(&told, "");
		const int status = kfd_procs_read(&p, &how), error = errno;
		broken.name = NULL;
		assert_string_equal(told.data, cases[i].told);
		assert_int_equal(status, cases[i].status);
		if (status) {
			assert_int_equal(error, cases[i].error);
			continue;
		}
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(!!kfd_procs_find(&p, 100 * (pid_t)(k + 1)),
					 cases[i].procs >> k & 1);
		assert_int_equal(p.nqueues, cases[i].queues);
		const struct kfd_queue *q = &p.queues[kfd_procs_find(&p, 200)->queue];
		assert_int_equal(q->gpu_id, strcmp(name, "7/gpuid") == 0 ? 0 : 8);
		assert_int_equal(q->type, strcmp(name, "7/type") == 0 ? -1 : KFD_QUEUE_SDMA);
		assert_int_equal(q->bytes, strcmp(name, "7/size") == 0 ? KFD_UNKNOWN : 4096);
	}
	host_on_trouble(NULL);
	kfd_procs_fini(&p);
}

static void test_type_names(void **state)
{
	(void)state;
	assert_string_equal(kfd_queue_type_name(0), "compute");
	assert_string_equal(kfd_queue_type_name(2), "sdma-xgmi");
	for (int beyond = 1; beyond < 100; beyond++)
		assert_false(kfd_queue_type_name(-beyond) || kfd_queue_type_name(2 + beyond));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_names),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_confirm),
		cmocka_unit_test(test_confirm_contexts),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_queue_values),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_pasids),
		cmocka_unit_test(test_keep_and_errors),
		cmocka_unit_test(test_order_files),
		cmocka_unit_test(test_troubles),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
