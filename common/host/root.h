// The one door to the host: every path under /sys, /proc, /dev and debugfs is opened here, relative
// to one directory (`/`, or what --sysroot names), so that any command that only reads also runs on
// a recorded host.
#pragma once

#include "common/host/std.h"

#include <dirent.h>

// Chooses the root: a folder, or an archive of one (archive_root.h); NULL or "/" is the live host.
// Returns 0, or -1 with errno.
int host_set_root(const char *root);

// After an error of host_set_root(root), for messages: what it is about, `root` or the folder in
// which archives are unpacked; what to do next, or NULL.
const char *host_root_failed(const char *root);
const char *host_root_advice(int error);

// Calls `report` for each failure that hides something that exists (EIO, too many open files, no
// answer in time): a value is shown as unknown, or a row is missing.
void host_on_trouble(void (*report)(const char *path, int error));

// Reports `error` if it hides something that exists. Sets errno to `error`.
void host_trouble(const char *path, int error);

// Descriptor of the directory of a recorded host, or -1.
int host_root_fd(void);

// False on a recorded host: then the running kernel must not be used (ioctl, ptrace,
// getpwuid ...).
bool host_is_live(void);

// Name of the recorded host if it is a folder of dumps that were saved by hand: mqds, hqds, rls,
// each also with .txt, and no /sys. Else NULL. They are opened by their paths on a host; nothing
// else of the host is known.
const char *host_only_dumps(void);

// Opens `path`, which is absolute as on the host ("/sys/class/kfd"). On a recorded host, links
// cannot lead out of it, and anything but files and folders gives ENXIO. Returns a descriptor
// (close-on-exec), or -1 with errno.
int host_open(const char *path, int flags);

// Opens a file in the folder `dir` for reading, but follows no link. On a recorded host anything
// but a regular file gives ENXIO.
int host_open_file(int dir, const char *name);
DIR *host_opendir(const char *path);

// readdir(3) that reports failures by host_trouble(): otherwise a folder that cannot be read to its
// end would look like a shorter folder.
struct dirent *host_readdir(DIR *d);
void closedir_at(DIR *const *d); // for SCOPED(); also of NULL

// Reads a whole file into `b`, replacing its content. Returns the bytes read, or -1 with errno.
ssize_t host_read(struct buf *b, const char *path);

// Reads the first line of a file, cut to `size`. False, and "", if the file is empty or cannot be
// read.
bool host_read_line(char *to, size_t size, const char *path);

// access(2) and readlink(2) through the door; the link's target is NUL-terminated. -1 with errno on
// failure.
int host_access(const char *path, int mode);
ssize_t host_readlink(const char *path, char *target, size_t size);

// Reads a file that holds one unsigned decimal number. Returns 0, or -1 with errno (EINVAL: the
// file holds no such number).
int host_read_u64(const char *path, uint64_t *value);
