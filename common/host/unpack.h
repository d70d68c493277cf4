// Compressed streams, unpacked while they are read: gzip, zstd, xz, lz4 and bzip2, by libarchive
// (libarchive.h). Concatenated streams count as one.
#pragma once

#include "common/host/std.h"

// Number of bytes at the beginning that show the format.
#define UNPACK_HEAD 6

// Returns the compression ("gzip") of data that begins with `head`; NULL: not compressed.
const char *unpack_format(const char *head, size_t len);

struct unpack;

// `read` is as read(2), and gives the compressed data. Returns NULL with errno ENOPKG if libarchive
// is missing.
struct unpack *unpack_new(ssize_t (*read)(void *ctx, char *to, size_t n), void *ctx);
void unpack_free(struct unpack *u);

// As read(2). -1 with the errno of `read`, or EBADMSG when the data is damaged: unpack_error says
// how.
ssize_t unpack_read(struct unpack *u, char *to, size_t n);
const char *unpack_error(const struct unpack *u);
