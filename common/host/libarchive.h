// libarchive, loaded when it is first needed (dlopen.h).
#pragma once

#include "common/host/dlopen.h"

#include <archive.h>
#include <archive_entry.h>

// To use one more function of libarchive, add its name.
#define ARC_FUNCTIONS(X)                         \
	X(archive_entry_filetype)                \
	X(archive_entry_free)                    \
	X(archive_entry_hardlink)                \
	X(archive_entry_new)                     \
	X(archive_entry_set_filetype)            \
	X(archive_entry_set_mtime)               \
	X(archive_entry_set_pathname)            \
	X(archive_entry_set_perm)                \
	X(archive_entry_set_size)                \
	X(archive_entry_set_symlink)             \
	X(archive_entry_size)                    \
	X(archive_errno)                         \
	X(archive_error_string)                  \
	X(archive_filter_bytes)                  \
	X(archive_filter_code)                   \
	X(archive_read_data)                     \
	X(archive_read_extract)                  \
	X(archive_read_free)                     \
	X(archive_read_new)                      \
	X(archive_read_next_header)              \
	X(archive_read_open)                     \
	X(archive_read_open_fd)                  \
	X(archive_read_support_filter_bzip2)     \
	X(archive_read_support_filter_gzip)      \
	X(archive_read_support_filter_lz4)       \
	X(archive_read_support_filter_xz)        \
	X(archive_read_support_filter_zstd)      \
	X(archive_read_support_format_empty)     \
	X(archive_read_support_format_raw)       \
	X(archive_read_support_format_tar)       \
	X(archive_write_add_filter_gzip)         \
	X(archive_write_add_filter_zstd)         \
	X(archive_write_close)                   \
	X(archive_write_data)                    \
	X(archive_write_free)                    \
	X(archive_write_header)                  \
	X(archive_write_new)                     \
	X(archive_write_open)                    \
	X(archive_write_set_bytes_in_last_block) \
	X(archive_write_set_format_raw)          \
	X(archive_write_set_format_pax_restricted)

struct arc {
	LIB_STRUCT(ARC_FUNCTIONS)
};

const struct arc *arc_get(void);

// Where an archive is written to: archive_write_open(a, sink, NULL, arc_sink_write, NULL).
struct arc_sink {
	int fd;
	int error; // errno of the first failure; what comes behind it is dropped
};

// Never reports a failure: libarchive 3.6 leaks memory then, and 3.4 takes a part of the last block
// for all of it.
la_ssize_t arc_sink_write(struct archive *a, void *sink, const void *data, size_t len);
