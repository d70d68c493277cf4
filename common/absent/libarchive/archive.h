#pragma once

#include "common/absent/absent.h"

#include <time.h>

typedef int64_t la_int64_t;
typedef ssize_t la_ssize_t;
enum { ARCHIVE_FATAL = -30, ARCHIVE_WARN = -20, ARCHIVE_OK = 0, ARCHIVE_EOF = 1 };
enum { ARCHIVE_FILTER_NONE = 0 };
enum {
	ARCHIVE_EXTRACT_SECURE_SYMLINKS = 0x0100,
	ARCHIVE_EXTRACT_SECURE_NODOTDOT = 0x0200,
	ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS = 0x10000
};

struct archive *archive_read_new(), *archive_write_new();
const char *archive_error_string();
la_int64_t archive_filter_bytes();
la_ssize_t archive_read_data(), archive_write_data();
int archive_errno(), archive_filter_code(), archive_read_extract(), archive_read_free(),
	archive_read_next_header(), archive_read_open(), archive_read_open_fd(),
	archive_read_support_filter_bzip2(), archive_read_support_filter_gzip(),
	archive_read_support_filter_lz4(), archive_read_support_filter_xz(),
	archive_read_support_filter_zstd(), archive_read_support_format_empty(),
	archive_read_support_format_raw(), archive_read_support_format_tar(),
	archive_write_add_filter_gzip(), archive_write_add_filter_zstd(), archive_write_close(),
	archive_write_free(), archive_write_header(), archive_write_open(),
	archive_write_set_bytes_in_last_block(), archive_write_set_format_raw(),
	archive_write_set_format_pax_restricted();
