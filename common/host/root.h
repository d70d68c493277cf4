// The one door to the host: every path under /sys, /proc, /dev and debugfs is opened here, relative
// to one directory (`/`, or what --sysroot names), so that any command that only reads also runs on
// a recorded host.
#ifndef GPQ_HOST_ROOT_H
#define GPQ_HOST_ROOT_H

#include "common/host/buf.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

// Chooses the root. NULL or "/" is the live host. 0, or -1 with errno.
int host_set_root(const char *dir);

// Calls `report` for each failure that hides something that exists (EIO, too many open files, no
// answer in time): a value is shown as unknown, or a row is missing.
void host_on_trouble(void (*report)(const char *path, int error));

// Reports `error` if it is such a failure. Leaves it in errno.
void host_trouble(const char *path, int error);

// The directory of a recorded host, or -1.
int host_root_fd(void);

// False on a recorded host: then the running kernel must not be used (ioctl, ptrace,
// getpwuid ...).
bool host_is_live(void);

// `path` is absolute as on the host ("/sys/class/kfd"). On a recorded host, links cannot lead out
// of it. File descriptor (close-on-exec), or -1 with errno.
int host_open(const char *path, int flags);

// A file below the folder `dir`, for reading; no link is followed. On a recorded host nothing but
// files and folders is opened, here and above: ENXIO.
int host_open_file(int dir, const char *name);
DIR *host_opendir(const char *path);

// readdir(3) that reports failures by host_trouble(): otherwise a folder that cannot be read to its
// end would look like a shorter folder.
struct dirent *host_readdir(DIR *d);
DIR *host_opendirf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Whole file into `b`, replacing its content. Bytes, or -1 with errno.
ssize_t host_read(struct buf *b, const char *path);
ssize_t host_readf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// The first line of a file, cut to `size`. False, and "", when it is empty or cannot be read.
bool host_read_line(char *to, size_t size, const char *path);

// access(2) and readlink(2) through the door; the link's target is NUL-terminated. -1 with errno on
// failure.
int host_access(const char *path, int mode);
ssize_t host_readlink(const char *path, char *target, size_t size);

// Reads a file that holds one unsigned decimal number. 0, or -1 with errno (EINVAL: no such number
// in it).
int host_read_u64(const char *path, uint64_t *value);

#endif
