#pragma once

#include "common/absent/absent.h"

enum { AE_IFDIR = 0040000, AE_IFREG = 0100000, AE_IFLNK = 0120000 };

struct archive_entry *archive_entry_new();
const char *archive_entry_hardlink();
mode_t archive_entry_filetype();
int64_t archive_entry_size();
void archive_entry_free(), archive_entry_set_filetype(), archive_entry_set_mtime(),
	archive_entry_set_pathname(), archive_entry_set_perm(), archive_entry_set_size(),
	archive_entry_set_symlink();
