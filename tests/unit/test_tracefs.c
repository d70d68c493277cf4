// gpq trace --live without a kernel (common/ftrace/tracefs.c): a folder takes the place of tracefs.
// It does what the kernel does with what is written to kprobe_events, makes an instance's files,
// and notes each write in order. The living judge is the VM.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cli/err.h"
#include "common/host/dlopen.h"
#include "common/host/root.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tracefs.h>
#include <unistd.h>

static char root[] = "/tmp/gpq-test-XXXXXX";
static const char *functions; // available_filter_functions; NULL: cannot be read
static const char *refused;   // a write whose note has this fails
static int refused_error, exists_already, mkdir_error, rmdir_error;
static long processors;
static uid_t user;
static pid_t self; // not the guard

static struct path at(const char *file)
{
	return pathf("%s/sys/kernel/tracing/%s", root, file);
}

static void append(struct path to, const char *format, ...)
{
	FILE *f = fopen(to.text, "a");
	va_list args;
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	fclose(f);
}

static void text_of(struct path from, struct buf *b)
{
	FILE *f = fopen(from.text, "r");
	int c;
	b->len = 0;
	buf_puts(b, "");
	while (f && (c = getc(f)) != EOF)
		buf_append(b, &(char){(char)c}, 1);
	if (f)
		fclose(f);
}

static void run(const char *command)
{
	struct buf b = {0};
	buf_printf(&b, "cd %s/sys/kernel/tracing && %s", root, command);
	const int status = system(b.data);
	if (status && getpid() != self)
		_exit(9);
	if (status)
		fail_msg("%s", b.data);
	buf_fini(&b);
}

static int fake_mkdir(const char *path, mode_t mode)
{
	(void)mode;
	if (exists_already) {
		exists_already--;
		errno = EEXIST;
		return -1;
	}
	if (mkdir_error) {
		errno = mkdir_error;
		return -1;
	}
	struct buf b = {0};
	buf_printf(&b,
		   "mkdir -p %s%s/options %s%s/events && cp -r events/* %s%s/events && cd %s%s && "
		   "touch tracing_on "
		   "current_tracer trace_clock options/record-tgid buffer_percent buffer_size_kb "
		   "set_ftrace_filter "
		   "trace_pipe events/enable",
		   root, path, root, path, root, path, root, path);
	run(b.data);
	buf_fini(&b);
	return 0;
}

static int fake_rmdir(const char *path)
{
	struct buf b = {0};
	if (rmdir_error) {
		errno = rmdir_error;
		return -1;
	}
	buf_printf(&b, "rm -r %s%s", root, path);
	run(b.data);
	buf_fini(&b);
	errno = EINTR; // a call that succeeds may leave any
	return 0;
}

static void text_without(const char *event)
{
	struct buf b = {0};
	const size_t len = strlen(event);
	text_of(at("kprobe_events"), &b);
	FILE *f = fopen(at("kprobe_events").text, "w");
	for (char *line = strtok(b.data, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line + 2, event, len) != 0 || line[2 + len] != ' ')
			fprintf(f, "%s\n", line);
	fclose(f);
	buf_fini(&b);
}

// A command that was written to kprobe_events: "p:GROUP/EVENT FUNCTION ...", "-:GROUP/EVENT". The
// event is a folder in each instance, beside the group's switch; the last one takes the group with
// it.
static void change_probes(const char *command)
{
	const bool gone = *command == '-';
	struct dirent *e;
	DIR *d = opendir(at("instances").text);
	char event[128], group[64];
	snprintf(event, sizeof(event), "%.*s", (int)strcspn(command + 2, " "), command + 2);
	snprintf(group, sizeof(group), "%.*s", (int)strcspn(event, "/"), event);
	if (gone)
		text_without(event);
	else
		append(at("kprobe_events"), "%s\n", command);
	while (d && (e = readdir(d))) {
		struct path of = pathf("%s/%s/events/%s", at("instances").text, e->d_name, group);
		struct path switch_of = pathf("%s/enable", of.text);
		struct path own = pathf("%s/%s/events/%s", at("instances").text, e->d_name, event);
		if (gone) {
			rmdir(own.text);
			unlink(switch_of.text);
			if (rmdir(of.text) && errno == ENOTEMPTY)
				append(switch_of, "%s", "");
		} else if (e->d_name[0] != '.' && (mkdir(of.text, 0700) == 0 || errno == EEXIST)) {
			mkdir(own.text, 0700);
			append(switch_of, "%s", "");
		}
	}
	if (d)
		closedir(d);
}

static ssize_t fake_write(int fd, const void *data, size_t n)
{
	char link[64], path[256] = "", note[1024];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	assert_true(readlink(link, path, sizeof(path) - 1) > 0);
	const char *file = path + strlen(at("").text);
	snprintf(note, sizeof(note), "%s=%.*s", file, (int)n, (const char *)data);
	append(pathf("%s/notes", root), "%s\n", note);
	if (refused && strstr(note, refused)) {
		errno = refused_error;
		return -1;
	}
	if (strcmp(file, "kprobe_events") == 0) {
		assert_int_equal(fcntl(fd, F_GETFL) & O_APPEND, O_APPEND);
		change_probes(strchr(note, '=') + 1);
		return (ssize_t)n;
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	return write(fd, data, n);
}

static const char *fake_dir(void)
{
	return "/sys/kernel/tracing";
}

static char *fake_file_read(struct tracefs_instance *instance, const char *file, int *size)
{
	assert_null(instance);
	assert_null(size);
	assert_string_equal(file, "available_filter_functions");
	return functions ? strdup(functions) : NULL;
}

#undef LIB
#define LIB(type, ...)                                                                       \
	struct type {                                                                        \
		const char *(*tracefs_tracing_dir)(void);                                    \
		char *(*tracefs_instance_file_read)(struct tracefs_instance *, const char *, \
						    int *);                                  \
	};                                                                                   \
	static const struct type *type##_get(void)                                           \
	{                                                                                    \
		static const struct type lib = {fake_dir, fake_file_read};                   \
		return &lib;                                                                 \
	}
#define mkdir         fake_mkdir
#define rmdir         fake_rmdir
#define write         fake_write
#define geteuid()     user
#define usleep(us)    ((void)(us))
#define sysconf(what) ((void)(what), processors)
#include "common/ftrace/tracefs.c" // NOLINT(bugprone-suspicious-include)
#undef write

static struct buf said, text;

static void start(void)
{
	struct buf b = {0};
	buf_printf(&b,
		   "rm -rf %s/* && mkdir -p %s/sys/kernel/tracing/instances "
		   "%s/sys/kernel/tracing/events/amdkfd",
		   root, root, root);
	assert_int_equal(system(b.data), 0);
	buf_fini(&b);
	run("touch trace_clock events/amdkfd/enable && echo 'p:other/kfd_open kfd_open' "
	    ">kprobe_events");
	functions = "my_kfd_open [x]\nkfd_open_more [amdgpu]\nkfd_ioctl_set_debug_trap "
		    "[amdgpu]\nkfd_ioctl [amdgpu]\n"
		    "execute_queues_cpsch.constprop.0 [amdgpu]\nkfd_create_process [amdgpu]\n";
	refused = NULL;
	exists_already = mkdir_error = rmdir_error = 0;
	processors = 2;
	user = 0;
	said.len = 0;
	buf_puts(&said, "");
	err_gather(&said);
}

static void replace_all(struct buf *b, const char *old, const char *new)
{
	struct buf out = {0};
	const char *rest = b->data, *hit;
	for (; (hit = strstr(rest, old)); rest = hit + strlen(old)) {
		buf_append(&out, rest, (size_t)(hit - rest));
		buf_puts(&out, new);
	}
	buf_puts(&out, rest);
	buf_fini(b);
	*b = out;
}

// What was written since the last time, with N for the random number.
static void assert_writes(const struct live_trace *t, const char *wanted)
{
	text_of(pathf("%s/notes", root), &text);
	replace_all(&text, t->name + strlen(PREFIX), "N");
	assert_string_equal(text.data, wanted);
	remove(pathf("%s/notes", root).text);
}

static void assert_file(const char *file, const char *wanted)
{
	text_of(at(file), &text);
	assert_string_equal(text.data, wanted);
}

static void assert_said(const char *wanted)
{
	assert_string_equal(said.data, wanted);
	said.len = 0;
	buf_puts(&said, "");
}

static void assert_no_instance(void)
{
	run("! ls instances | grep .");
}

#define INSTANCE "instances/gpq-N/"
#define MADE(kb)                                                                  \
	INSTANCE "trace_clock=mono\n" INSTANCE "options/record-tgid=1\n" INSTANCE \
		 "buffer_percent=0\n" INSTANCE "buffer_size_kb=" kb "\n"
#define UNDONE                                                                \
	INSTANCE "tracing_on=0\n" INSTANCE "events/gpq_N/enable=0\n" INSTANCE \
		 "events/enable=0\n" INSTANCE "current_tracer=nop\n"

static void test_open_close(void **state)
{
	struct live_trace t;
	(void)state;
	start();
	exists_already = CLAIM_TRIES - 1;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(strlen(t.name), strlen(PREFIX) + 16);
	assert_string_equal(t.name + strlen(PREFIX), t.group + strlen(GROUP));
	assert_int_equal(t.functions, 4);
	assert_int_equal(t.probes, 4);
	assert_int_equal(t.events, 1);
	assert_true(t.pipe >= 0 && t.lock >= 0 && t.guard > 0);
	assert_writes(&t,
		      MADE("4096") "kprobe_events=p:gpq_N/kfd_ioctl_set_debug_trap "
				   "kfd_ioctl_set_debug_trap pid=+0($arg3):s32 op=+4($arg3):u32\n"
				   "kprobe_events=r:gpq_N/kfd_ioctl_set_debug_trap_ret "
				   "kfd_ioctl_set_debug_trap ret=$retval:s32\n"
				   "kprobe_events=p:gpq_N/kfd_ioctl kfd_ioctl cmd=$arg2:x32\n"
				   "kprobe_events=r:gpq_N/kfd_ioctl_ret kfd_ioctl ret=$retval:s32\n"
				   "kprobe_events=p:gpq_N/execute_queues_cpsch "
				   "execute_queues_cpsch.constprop.0 \n"
				   "kprobe_events=r:gpq_N/execute_queues_cpsch_ret "
				   "execute_queues_cpsch.constprop.0 ret=$retval:s32\n"
				   "kprobe_events=p:gpq_N/kfd_create_process kfd_create_process \n"
				   "instances/gpq-N/events/gpq_N/enable=1\n"
				   "instances/gpq-N/events/amdkfd/enable=1\n");
	live_trace_stop(&t);
	assert_writes(&t, INSTANCE "tracing_on=0\n");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_writes(&t, UNDONE "kprobe_events=-:gpq_N/kfd_ioctl_set_debug_trap\n"
				 "kprobe_events=-:gpq_N/kfd_ioctl_set_debug_trap_ret\n"
				 "kprobe_events=-:gpq_N/kfd_ioctl\n"
				 "kprobe_events=-:gpq_N/kfd_ioctl_ret\n"
				 "kprobe_events=-:gpq_N/execute_queues_cpsch\n"
				 "kprobe_events=-:gpq_N/execute_queues_cpsch_ret\n"
				 "kprobe_events=-:gpq_N/kfd_create_process\n");
	assert_file("kprobe_events", "p:other/kfd_open kfd_open\n");
	assert_no_instance();
	assert_said("");
}

// The guard ignores the signals that end gpq, as it is to remove the instance afterwards. It does
// so from setsid() on, for which the test waits.
static void test_guard_signals(void **state)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	struct live_trace t;
	(void)state;
	start();
	for (size_t i = 0; i < COUNT(ends); i++)
		signal(ends[i], SIG_DFL); // who started the test may have ignored some
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	while (getsid(t.guard) != t.guard)
		assert_int_equal(waitpid(t.guard, NULL, WNOHANG), 0);
	for (size_t i = 0; i < COUNT(ends); i++)
		kill(t.guard, ends[i]);
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_no_instance();
	assert_said("");
}

// A function of a module is named with it; what the kernel refuses is asked for with less.
static void test_refused_probes(void **state)
{
	struct live_trace t;
	(void)state;
	start();
	processors = 20;
	run("mkdir -p ../../module/amdgpu && touch ../../module/amdgpu/initstate && rm -r "
	    "events/amdkfd && mkdir -p events/amdgpu/amdgpu_bo_move "
	    "&& touch events/amdgpu/amdgpu_bo_move/enable");
	functions = "kfd_ioctl_create_queue [amdgpu]\nkfd_hws_hang\n";
	refused = "arg";
	refused_error = EINVAL;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(t.probes, 2);
	assert_writes(&t,
		      MADE("3276") "kprobe_events=p:gpq_N/kfd_ioctl_create_queue "
				   "amdgpu:kfd_ioctl_create_queue "
				   "ring=+0($arg3):x64 size=+32($arg3):u32 gpu=+36($arg3):u32 "
				   "type=+40($arg3):u32 prio=+48($arg3):u32\n"
				   "kprobe_events=p:gpq_N/kfd_ioctl_create_queue "
				   "amdgpu:kfd_ioctl_create_queue \n"
				   "kprobe_events=r:gpq_N/kfd_ioctl_create_queue_ret "
				   "amdgpu:kfd_ioctl_create_queue "
				   "ret=$retval:s32 ring=+0($arg3):x64 gpu=+36($arg3):u32 "
				   "queue=+52($arg3):u32\n"
				   "kprobe_events=r:gpq_N/kfd_ioctl_create_queue_ret "
				   "amdgpu:kfd_ioctl_create_queue ret=$retval:s32\n"
				   "kprobe_events=p:gpq_N/kfd_hws_hang amdgpu:kfd_hws_hang \n"
				   "kprobe_events=r:gpq_N/kfd_hws_hang_ret amdgpu:kfd_hws_hang \n"
				   "instances/gpq-N/events/gpq_N/enable=1\n"
				   "instances/gpq-N/events/amdgpu/amdgpu_bo_move/enable=1\n");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	remove(pathf("%s/notes", root).text);
	// One of the module is built in, another is no more.
	processors = 1000;
	refused = "amdgpu:";
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(t.functions, 2);
	assert_int_equal(t.probes, 2);
	run("grep -c '^[pr]:gpq_[0-9a-f]*/[a-z_]* kfd_' kprobe_events | grep -x 4 >/dev/null; grep "
	    "-x 256 instances/*/buffer_size_kb >/dev/null");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_said("");
}

static void test_function_tracer(void **state)
{
	struct live_trace t;
	(void)state;
	start();
	run("rm kprobe_events");
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(t.functions, 4);
	assert_int_equal(t.probes, 0);
	assert_writes(&t, MADE("4096") INSTANCE
		      "set_ftrace_filter=kfd_ioctl_set_debug_trap kfd_ioctl "
		      "execute_queues_cpsch.constprop.0 kfd_create_process \n" INSTANCE
		      "current_tracer=function\n" INSTANCE "events/amdkfd/enable=1\n");
	assert_said(
		"gpq: --live: this kernel has no kprobe events: calls are seen to begin only\n");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_no_instance();
}

// What fails, what is said, and that nothing is left.
static void test_failures(void **state)
{
	static const char none[] =
		"gpq: --live: this kernel has no function of amdkfd to trace; load amdgpu first\n";
	static const struct {
		const char *prepare, *refused;
		int error, status;
		const char *said;
	} rows[] = {
		{"rm trace_clock", NULL, 0, GPQ_UNSUPPORTED,
		 "gpq: --live: there is no tracefs; as root: mount -t tracefs none "
		 "/sys/kernel/tracing\n"},
		{"rmdir instances", NULL, 0, GPQ_UNSUPPORTED,
		 "gpq: --live: /sys/kernel/tracing has no instances; use a kernel with "
		 "CONFIG_TRACING\n"},
		{"", "trace_clock=mono", EINVAL, GPQ_FAILED,
		 "gpq: --live: trace_clock mono: Invalid argument\n"},
		{"", "trace_clock=mono", EPERM, GPQ_DENIED,
		 "gpq: --live: trace_clock mono: Operation not permitted; run as root\n"},
		{"mkdir -p ../security && echo 'none integrity [confidentiality]' "
		 ">../security/lockdown",
		 "kprobe_events=p", EPERM, GPQ_DENIED,
		 "gpq: --live: kprobe_events: the kernel is locked down (confidentiality); boot "
		 "without lockdown, or use logs alone\n"},
		{"mkdir -p ../security && echo '[none] integrity confidentiality' "
		 ">../security/lockdown",
		 "kprobe_events=p", EPERM, GPQ_DENIED,
		 "gpq: --live: kprobe_events: Operation not permitted; run as root\n"},
		{"mkdir -p ../security && echo 'none [integrity] confidentiality' "
		 ">../security/lockdown",
		 "kprobe_events=p", EBUSY, GPQ_FAILED,
		 "gpq: --live: kprobe_events: Device or resource busy\n"},
		{"", "events/gpq_", EBUSY, GPQ_FAILED,
		 "gpq: --live: kprobes: Device or resource busy\n"},
		{"rm kprobe_events", "current_tracer=function", EBUSY, GPQ_UNSUPPORTED,
		 "gpq: --live: neither kprobe events nor the function tracer can be used; use a "
		 "kernel with CONFIG_KPROBE_EVENTS\n"},
		{"rm kprobe_events", "set_ftrace_filter", EBUSY, GPQ_UNSUPPORTED,
		 "gpq: --live: neither kprobe events nor the function tracer can be used; use a "
		 "kernel with CONFIG_KPROBE_EVENTS\n"},
		{"", "amdkfd", EBUSY, GPQ_OK, "gpq: --live: amdkfd: Device or resource busy\n"},
		{"", "buffer_size_kb", ENOMEM, GPQ_OK,
		 "gpq: --live: buffer_size_kb 4096: Cannot allocate memory\n"},
		{"rm -r events/amdkfd; mkdir events/x", "nothing", 0, GPQ_OK, ""},
	};
	struct live_trace t;
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		start();
		if (*rows[i].prepare)
			run(rows[i].prepare);
		refused = rows[i].refused;
		refused_error = rows[i].error;
		assert_int_equal(live_trace_open(&t, false), rows[i].status);
		assert_said(rows[i].said);
		refused = NULL;
		if (rows[i].status == GPQ_OK)
			assert_int_equal(live_trace_close(&t), GPQ_OK);
		run("! ls instances 2>/dev/null | grep .");
		run("! [ -e kprobe_events ] || ! grep gpq kprobe_events");
	}
	start();
	functions = "other\n";
	assert_int_equal(live_trace_open(&t, false), GPQ_OK); // events alone
	assert_int_equal(t.events, 1);
	assert_said(none);
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	run("rm -r events/amdkfd && mkdir events/x");
	assert_int_equal(live_trace_open(&t, false), GPQ_FAILED);
	append(at("x"), "%s", none);
	assert_true(strncmp(said.data, none, strlen(none)) == 0);
	assert_string_equal(said.data + strlen(none), "gpq: --live: there is nothing to record\n");
	assert_no_instance();
	start();
	user = 1000;
	assert_int_equal(live_trace_open(&t, false), GPQ_DENIED);
	assert_said("gpq: --live: tracefs is root's; run as root\n");
	start();
	exists_already = CLAIM_TRIES;
	assert_int_equal(live_trace_open(&t, false), GPQ_FAILED);
	assert_said("gpq: --live: a tracefs instance: File exists\n");
	start();
	mkdir_error = EROFS;
	assert_int_equal(live_trace_open(&t, false), GPQ_FAILED);
	assert_said("gpq: --live: a tracefs instance: Read-only file system\n");
	// Without a list of functions each is tried.
	start();
	functions = NULL;
	refused = "kfd_ioctl_criu";
	refused_error = ENOENT;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(t.functions, live_nprobes);
	assert_int_equal(t.probes, live_nprobes - 1);
	refused = NULL;
	assert_int_equal(live_trace_close(&t), GPQ_OK);
}

static void test_taken_away(void **state)
{
	static const char partial[] =
		"gpq: --live: another took probes away: the record is not whole; record again\n";
	static const char *const ways[] = {"echo 0 >$(echo instances/*/events/gpq_*/enable)",
					   "rm -r instances/*/events/gpq_*/kfd_ioctl"};
	struct live_trace t;
	(void)state;
	for (size_t i = 0; i < COUNT(ways); i++) {
		start();
		assert_int_equal(live_trace_open(&t, false), GPQ_OK);
		run(ways[i]);
		assert_int_equal(live_trace_close(&t), GPQ_PARTIAL);
		assert_said(partial);
		assert_no_instance();
	}
	start();
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	run("printf '  a_ret  7  3\\n  a 9 8\\n  b_ret  1  20\\n  c_ret 4 0\\n' >kprobe_profile");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_said("gpq: --live: 23 returns were not seen: too many calls at once\n");
	start();
	rmdir_error = EBUSY;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(live_trace_close(&t), GPQ_FAILED);
	run("ls instances | grep -q gpq-");
	// Another removed the instance as well: nothing is left, however the call says it.
	start();
	rmdir_error = ENOENT;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	assert_said("");
}

// Arguments by the kernel's declarations (kfd_chardev.c, kfd_device_queue_manager.h,
// kfd_process_queue_manager.c, kfd_packet_manager.c); those of ioctls by offsets in kfd_ioctl.h.
static const struct {
	const char *function, *entry, *result;
} wanted_probes[] = {
	{"kfd_ioctl_create_queue",
	 "ring=+0($arg3):x64 size=+32($arg3):u32 gpu=+36($arg3):u32 type=+40($arg3):u32 "
	 "prio=+48($arg3):u32",
	 " ring=+0($arg3):x64 gpu=+36($arg3):u32 queue=+52($arg3):u32"},
	{"kfd_ioctl_destroy_queue", "queue=+0($arg3):u32", ""},
	{"kfd_ioctl_update_queue", "ring=+0($arg3):x64 queue=+8($arg3):u32 percent=+16($arg3):u32",
	 ""},
	{"kfd_ioctl_set_debug_trap", "pid=+0($arg3):s32 op=+4($arg3):u32", ""},
	{"kfd_ioctl_runtime_enable", "", ""},
	{"kfd_ioctl_criu", "", ""},
	{"kfd_ioctl", "cmd=$arg2:x32", ""},
	{"suspend_queues", "count=$arg2:u32 grace=$arg3:u32 queue=+u0($arg5):u32", ""},
	{"resume_queues", "count=$arg2:u32 queue=+u0($arg3):u32", ""},
	{"kfd_dbg_trap_enable", "", ""},
	{"kfd_dbg_trap_disable", "", ""},
	{"copy_context_work_handler", "", NULL},
	{"pqm_create_queue", "", ""},
	{"pqm_destroy_queue", "queue=$arg2:u32", ""},
	{"pqm_update_queue_properties", "queue=$arg2:u32", ""},
	{"create_queue_cpsch", "", ""},
	{"destroy_queue_cpsch", "", ""},
	{"kfd_process_evict_queues", "trigger=$arg2:u32", ""},
	{"kfd_process_restore_queues", "", ""},
	{"evict_process_queues_cpsch", "", ""},
	{"restore_process_queues_cpsch", "", ""},
	{"evict_process_worker", "", NULL},
	{"restore_process_worker", "", NULL},
	{"kgd2kfd_quiesce_mm", "trigger=$arg2:u32", ""},
	{"kgd2kfd_resume_mm", "", ""},
	{"execute_queues_cpsch", "", ""},
	{"map_queues_cpsch", "", ""},
	{"unmap_queues_cpsch", "filter=$arg2:u32", ""},
	{"pm_send_runlist", "", ""},
	{"pm_send_unmap_queue", "filter=$arg2:u32", ""},
	{"amdkfd_fence_wait_timeout", "", ""},
	{"reset_queues_cpsch", "", ""},
	{"kfd_hws_hang", "", NULL},
	{"add_queue_mes", "", ""},
	{"remove_queue_mes", "", ""},
	{"suspend_all_queues_mes", "", ""},
	{"resume_all_queues_mes", "", ""},
	{"kfd_open", "", ""},
	{"kfd_create_process", "", "none"},         // returns a pointer, of which nothing is said
	{"kfd_process_notifier_release", "", NULL}, // return nothing, but the event of their end
	{"kfd_process_wq_release", "", NULL},
};

// On a kernel that has all functions and events each has its own, with its arguments.
static void test_all_there(void **state)
{
	static const char *const events[] = {
		"amdkfd",
		"amdgpu/amdgpu_bo_move",
		"amdgpu/amdgpu_vm_grab_id",
		"amdgpu/amdgpu_vm_flush",
		"amdgpu/amdgpu_pasid_allocated",
		"amdgpu/amdgpu_pasid_freed",
		"amdgpu/amdgpu_reset_reg_dumps",
	};
	struct live_trace t;
	struct buf list = {0}, wanted = {0};
	(void)state;
	start();
	for (size_t i = 0; i < COUNT(events); i++) {
		struct buf b = {0};
		buf_printf(&b, "mkdir -p events/%s; touch events/%s/enable", events[i], events[i]);
		run(b.data);
		buf_fini(&b);
	}
	for (size_t i = 0; i < COUNT(wanted_probes); i++)
		buf_printf(&list, "%s [amdgpu]\n", wanted_probes[i].function);
	functions = list.data;
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	buf_puts(&wanted, "p:other/kfd_open kfd_open\n"); // of start()
	for (size_t i = 0; i < COUNT(wanted_probes); i++) {
		const char *f = wanted_probes[i].function, *r = wanted_probes[i].result;
		buf_printf(&wanted, "p:gpq_N/%s %s %s\n", f, f, wanted_probes[i].entry);
		if (!r)
			buf_printf(&wanted, "r:gpq_N/%s_ret %s \n", f, f);
		else if (strcmp(r, "none") != 0)
			buf_printf(&wanted, "r:gpq_N/%s_ret %s ret=$retval:s32%s\n", f, f, r);
	}
	text_of(at("kprobe_events"), &text);
	replace_all(&text, t.name + strlen(PREFIX), "N");
	assert_string_equal(text.data, wanted.data);
	assert_int_equal(t.functions, COUNT(wanted_probes));
	assert_int_equal(t.probes, COUNT(wanted_probes));
	assert_int_equal(t.events, COUNT(events));
	for (size_t i = 0; i < COUNT(events); i++) {
		struct path file = pathf("instances/%s/events/%s/enable", t.name, events[i]);
		assert_file(file.text, "1");
	}
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	buf_fini(&list);
	buf_fini(&wanted);
}

// gpq bench preempt --breakdown: the functions of a suspension alone, without events, and what is
// said where they cannot be traced.
static void test_steps(void **state)
{
	static const char all[] =
		"kfd_ioctl [a]\nkfd_ioctl_set_debug_trap [a]\nsuspend_queues [a]\n"
		"resume_queues [a]\nunmap_queues_cpsch [a]\nmap_queues_cpsch [a]\n"
		"amdkfd_fence_wait_timeout [a]\nremove_queue_mes [a]\n";
	static const struct {
		const char *prepare, *functions, *refused;
		int status;
		const char *said;
	} rows[] = {
		{"true", all, NULL, GPQ_OK, ""},
		{"true",
		 "kfd_ioctl_set_debug_trap\nsuspend_queues\nunmap_queues_cpsch\n"
		 "map_queues_cpsch\namdkfd_fence_wait_timeout\n",
		 NULL, GPQ_OK,
		 "gpq: --breakdown: remove_queue_mes cannot be traced: its time counts as rest\n"},
		{"true", all, "/map_queues_cpsch map", GPQ_OK,
		 "gpq: --breakdown: map_queues_cpsch cannot be traced: its time counts as rest\n"},
		{"true", "kfd_ioctl\n", NULL, GPQ_UNSUPPORTED,
		 "gpq: --breakdown: this kernel has no function of amdkfd to trace; load amdgpu "
		 "first\n"},
		{"rm kprobe_events", all, NULL, GPQ_UNSUPPORTED,
		 "gpq: --breakdown: this kernel has no kprobe events; use a kernel with "
		 "CONFIG_KPROBE_EVENTS\n"},
		{"rm trace_clock", all, NULL, GPQ_UNSUPPORTED,
		 "gpq: --breakdown: there is no tracefs; as root: mount -t tracefs none "
		 "/sys/kernel/tracing\n"},
		{"true", all, "kprobe_events=p", GPQ_FAILED,
		 "gpq: --breakdown: kprobe_events: Device or resource busy\n"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct live_trace t;
		start();
		run(rows[i].prepare);
		functions = rows[i].functions;
		refused = rows[i].refused;
		refused_error = EBUSY;
		assert_int_equal(live_trace_open(&t, true), rows[i].status);
		assert_said(rows[i].said);
		if (i == 0) {
			text_of(at("kprobe_events"), &text);
			replace_all(&text, t.name + strlen(PREFIX), "N");
			assert_string_equal(
				text.data,
				"p:other/kfd_open kfd_open\n"
				"p:gpq_N/kfd_ioctl_set_debug_trap kfd_ioctl_set_debug_trap "
				"pid=+0($arg3):s32 op=+4($arg3):u32\n"
				"r:gpq_N/kfd_ioctl_set_debug_trap_ret kfd_ioctl_set_debug_trap "
				"ret=$retval:s32\n"
				"p:gpq_N/suspend_queues suspend_queues count=$arg2:u32 "
				"grace=$arg3:u32 queue=+u0($arg5):u32\n"
				"r:gpq_N/suspend_queues_ret suspend_queues ret=$retval:s32\n"
				"p:gpq_N/map_queues_cpsch map_queues_cpsch \n"
				"r:gpq_N/map_queues_cpsch_ret map_queues_cpsch ret=$retval:s32\n"
				"p:gpq_N/unmap_queues_cpsch unmap_queues_cpsch filter=$arg2:u32\n"
				"r:gpq_N/unmap_queues_cpsch_ret unmap_queues_cpsch "
				"ret=$retval:s32\n"
				"p:gpq_N/amdkfd_fence_wait_timeout amdkfd_fence_wait_timeout \n"
				"r:gpq_N/amdkfd_fence_wait_timeout_ret amdkfd_fence_wait_timeout "
				"ret=$retval:s32\n"
				"p:gpq_N/remove_queue_mes remove_queue_mes \n"
				"r:gpq_N/remove_queue_mes_ret remove_queue_mes ret=$retval:s32\n");
			assert_int_equal(t.events, 0);
		}
		if (rows[i].status == GPQ_OK)
			assert_int_equal(live_trace_close(&t), GPQ_OK);
		refused = NULL;
		assert_no_instance();
	}
}

#define LEFT "gpq-00000000000000a1"

// What killed gpqs left, and what is not theirs.
static void test_sweep(void **state)
{
	struct live_trace t;
	(void)state;
	start();
	fake_mkdir("/sys/kernel/tracing/instances/" LEFT, 0700);
	fake_mkdir("/sys/kernel/tracing/instances/gpq-00000000000000b2", 0700);
	run("mkdir instances/gpq-00000000000000c instances/gpq-00000000000000cdE "
	    "instances/gpq-00000000000000cG instances/other");
	change_probes("p:gpq_00000000000000a1/one kfd_open");
	change_probes("r:gpq_00000000000000a1/one_ret kfd_open");
	change_probes("p:gpq_00000000000000b2/two kfd_open");
	change_probes("p:gpq_00000000000000e5/gone kfd_open");
	change_probes("p:gpq_00000000000000e5/gone2 kfd_open");
	change_probes("p:gpq_0000000000e6/theirs kfd_open");
	int busy = open(at("instances/gpq-00000000000000b2").text, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(busy, LOCK_EX), 0);
	struct swept s = sweep_instances("/sys/kernel/tracing");
	assert_int_equal(s.removed, 2); // an instance, a group
	assert_int_equal(s.busy, 1);
	assert_int_equal(s.failed, 0);
	assert_file("kprobe_events", "p:other/kfd_open kfd_open\np:gpq_00000000000000b2/two "
				     "kfd_open\np:gpq_0000000000e6/theirs kfd_open\n");
	run("[ \"$(ls instances | tr '\\n' ' ')\" = 'gpq-00000000000000b2 gpq-00000000000000c "
	    "gpq-00000000000000cG gpq-00000000000000cdE other ' ]");
	err_setup(NULL, false, 1);
	assert_int_equal(live_cleanup(), GPQ_OK);
	assert_said(
		"gpq: --cleanup: 1 at work were left alone\n"
		"gpq: --cleanup: 0 that were killed had left something in /sys/kernel/tracing\n");
	err_setup(NULL, false, 0);
	close(busy);
	assert_int_equal(live_trace_open(&t, false), GPQ_OK);
	assert_said("gpq: --live: removed what 1 killed gpq had left in /sys/kernel/tracing\n");
	assert_int_equal(live_trace_close(&t), GPQ_OK);
	fake_mkdir("/sys/kernel/tracing/instances/" LEFT, 0700);
	rmdir_error = EBUSY;
	assert_int_equal(live_cleanup(), GPQ_FAILED);
	assert_said("gpq: --cleanup: 1 could not be removed; see its users: fuser\n");
	rmdir_error = 0;
	assert_int_equal(live_cleanup(), GPQ_OK);
	run("! ls instances | grep " LEFT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_close),     cmocka_unit_test(test_guard_signals),
		cmocka_unit_test(test_refused_probes), cmocka_unit_test(test_function_tracer),
		cmocka_unit_test(test_failures),       cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_sweep),          cmocka_unit_test(test_all_there),
		cmocka_unit_test(test_steps),
	};
	self = getpid();
	if (!mkdtemp(root) || host_set_root(root))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	struct buf b = {0};
	buf_printf(&b, "rm -rf %s", root);
	failed += system(b.data) != 0;
	buf_fini(&b);
	buf_fini(&said);
	buf_fini(&text);
	return failed;
}
