// A recorded host in an archive, as gpq snapshot writes it: unpacked to a private folder.
#pragma once

#include "common/host/std.h"

// Unpacks a tar archive, compressed or not, to a folder of this user in $TMPDIR or /tmp, which is
// removed when this process ends, however it ends. Of the entries it takes files, folders and
// symbolic links, none outside of the folder. Returns a descriptor (O_PATH) of the host's folder,
// or -1 with errno: ENOTDIR (`file` is no archive), EBADMSG (it is damaged), EFBIG (over 1 GiB, or
// 2^20 entries), ENOPKG (libarchive is missing), ENOSPC ...
int archive_root_open(const char *file);

// The folder for unpacking if the last archive_root_open() failed because of it, else NULL.
const char *archive_root_full(void);

// Removes the folder now. errno is kept.
void archive_root_close(void);
