// Compiled into every file of a probe build: each block that runs marks its place in a map that all processes of a test share.
// The names of the C library stay free: a file may have functions of such names.
#include <stddef.h>

int probe_sys_open(const char *, int, ...) __asm__("open");
int probe_sys_close(int) __asm__("close");
long probe_sys_readlink(const char *, char *, size_t) __asm__("readlink");
void *probe_sys_mmap(void *, size_t, int, int, int, long) __asm__("mmap");
char *probe_sys_getenv(const char *) __asm__("getenv");
unsigned long probe_sys_auxv(unsigned long) __asm__("getauxval");

enum { PROBE_RDWR = 2, PROBE_CLOEXEC = 02000000, PROBE_READ_WRITE = 3, PROBE_SHARE = 1, PROBE_PHDR = 3, PROBE_EHDR_BYTES = 64 };

#define PROBE static __attribute__((no_sanitize_coverage, unused))
#define PROBE_SHARED __attribute__((weak, visibility("hidden"), no_sanitize_coverage))

extern const char __ehdr_start __attribute__((visibility("hidden")));
PROBE_SHARED unsigned char *probe_map;
enum { PROBE_BYTES = 1 << 23 }; // a byte for each 4 of 32 MiB of code

PROBE int probe_open_in(const char *dir, const char *name)
{
	char path[600];
	__builtin_snprintf(path, sizeof(path), "%s/%s", dir, name);
	return probe_sys_open(path, PROBE_RDWR | PROBE_CLOEXEC);
}

// The map of the program, of gpq where a test runs a copy of it by another name, or of the client library.
PROBE int probe_open(const char *dir)
{
	char exe[400];
	const char *name = exe;
	long n = probe_sys_readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int fd;
	exe[n > 0 ? n : 0] = '\0';
	for (const char *p = exe; *p; p++)
		name = *p == '/' ? p + 1 : name;
	if (probe_sys_auxv(PROBE_PHDR) != (unsigned long)&__ehdr_start + PROBE_EHDR_BYTES)
		name = "libgpqclient.so";
	fd = probe_open_in(dir, name);
	return fd < 0 && __builtin_strcmp(__BASE_FILE__, "common/client/client.c") ? probe_open_in(dir, "gpq") : fd;
}

PROBE __attribute__((constructor)) void probe_start(void)
{
	const char *dir = probe_sys_getenv("GPQ_PROBE");
	int fd = !dir || probe_map ? -1 : probe_open(dir);
	void *map;
	if (fd < 0)
		return;
	map = probe_sys_mmap(NULL, PROBE_BYTES, PROBE_READ_WRITE, PROBE_SHARE, fd, 0);
	probe_sys_close(fd);
	if (map != (void *)-1)
		probe_map = map;
}

PROBE_SHARED void __sanitizer_cov_trace_pc(void)
{
	size_t at = (size_t)((const char *)__builtin_return_address(0) - &__ehdr_start) / 4;
	if (probe_map && at < PROBE_BYTES)
		probe_map[at] = 1;
}
