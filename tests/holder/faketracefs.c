// With fakekfd.c in one object: libtracefs, and a tracefs in the root of the test, if that has one.
//
// An instance is a folder with the files that gpq opens; the folder of its kprobe events goes when
// a command takes one of them away. trace_pipe is a file that the test writes to.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing"

char *tracefs_instance_file_read(void *instance, const char *file, int *size);
const char *tracefs_tracing_dir(void);
void rig_make_instance(const char *path);

const char *tracefs_tracing_dir(void)
{
	return TRACING;
}

// NULL: available_filter_functions cannot be read, and gpq tries each function.
char *tracefs_instance_file_read(void *instance, const char *file, int *size)
{
	(void)instance;
	(void)file;
	(void)size;
	return NULL;
}

void *dlopen(const char *name, int flags)
{
	void *(*const real)(const char *, int) =
		(void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	Dl_info self;
	if (name && strcmp(name, "libtracefs.so.1") == 0 &&
	    dladdr((void *)rig_make_instance, &self))
		name = self.dli_fname;
	return real(name, flags);
}

// Makes the files of a new instance. `path`: within the root of the test.
void rig_make_instance(const char *path)
{
	static const char *const files[] = {
		"tracing_on",     "trace_clock",    "options/record-tgid",
		"buffer_percent", "buffer_size_kb", "current_tracer",
		"trace_pipe",     "events/enable",  "events/GROUP/enable"};
	const char *name = strrchr(path, '/') + 1; // "gpq-0123456789abcdef"
	char file[PATH_MAX], *slash;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strstr(files[i], "GROUP"))
			snprintf(file, sizeof(file), "%s/events/gpq_%s/enable", path, name + 4);
		else
			snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		slash = file + strlen(path);
		while ((slash = strchr(slash + 1, '/'))) {
			*slash = '\0';
			syscall(SYS_mkdir, file, 0755);
			*slash = '/';
		}
		close((int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT, 0644));
	}
}

static void remove_all(const char *path)
{
	char command[PATH_MAX + 16];
	snprintf(command, sizeof(command), "rm -r %s", path);
	unsetenv("LD_PRELOAD");
	if (system(command))
		_exit(99);
}

ssize_t write(int fd, const void *data, size_t n)
{
	char link[32], path[PATH_MAX];
	const char *command = data;
	if (n > 6 && memcmp(command, "-:gpq_", 6) == 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		const ssize_t len = syscall(SYS_readlink, link, path, sizeof(path) - 1);
		char *end = len > 0 ? (path[len] = '\0', strstr(path, "/kprobe_events")) : NULL;
		const int group = (int)strcspn(command + 6, "/");
		if (end) {
			snprintf(end, (size_t)(path + sizeof(path) - end),
				 "/instances/gpq-%.*s/events/gpq_%.*s", group, command + 6, group,
				 command + 6);
			if (syscall(SYS_access, path, F_OK) == 0)
				remove_all(path);
		}
	}
	return syscall(SYS_write, fd, data, n);
}

int rmdir(const char *path)
{
	const char *rig = getenv("GPQ_RIG");
	char buf[PATH_MAX];
	if (strncmp(path, TRACING "/instances/", strlen(TRACING "/instances/")) != 0)
		return (int)syscall(SYS_rmdir, path);
	snprintf(buf, sizeof(buf), "%s/root%s", rig ? rig : "", path);
	if (syscall(SYS_access, buf, F_OK))
		return -1;
	remove_all(buf);
	return 0;
}
