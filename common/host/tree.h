// Writes a tree of files that appears all at once or not at all: a new directory, a tar archive
// (plain, .gz or .zst), or a tar stream on standard output.
//
// Everything goes to a temporary name beside the wanted one, which gets its name by the last step,
// rename; whatever ends the program before leaves at most `.NAME.partial-XXXXXX`. Nothing that
// exists is ever replaced. Archives are POSIX pax by libarchive; their entries lie in a folder
// named after the archive, so that unpacking one makes one folder.
#pragma once

#include "common/host/std.h"

struct tree;

// Begins a tree. A `path` that ends in .tar, .tar.gz, .tgz, .tar.zst or .tzst is an archive, "-" a
// tar on standard output, any other a directory. Returns NULL with errno: EEXIST, ENOENT (no such
// parent folder), EACCES, ENOSPC ...
struct tree *tree_new(const char *path);

// Adds a folder, a file or a symbolic link. `path` is absolute within the tree ("/proc/1/stat");
// parent folders are made as needed, and each path counts once: adding it again does nothing.
// Returns 0, or -1 with errno (ENOSPC, EIO, EPIPE, ELOOP: below a link that was added ...); then
// the tree is spoiled.
int tree_dir(struct tree *t, const char *path);
int tree_file(struct tree *t, const char *path, const void *data, size_t len);
int tree_link(struct tree *t, const char *path, const char *target);

// Adds the file that has this path in another tree, the folder `from`: the same file, by a hard
// link. Returns its size in bytes, or -1 with errno and the tree unchanged: ENOENT or EINVAL (there
// is no such file), ENOTSUP (an archive), EPERM or EMLINK (the file system has no such links, or no
// more).
ssize_t tree_same(struct tree *t, const char *path, int from);

// Writes what is left and gives the tree its name. Returns 0, or -1 with errno (EEXIST: something
// of that name appeared meanwhile).
int tree_commit(struct tree *t);

// Frees the tree, and removes its files if it was not committed; errno is kept.
void tree_free(struct tree *t);
