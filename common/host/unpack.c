// Compressed streams (see unpack.h).
//
// Magic numbers: RFC 1952 (gzip), RFC 8878 (zstd), the xz and LZ4 frame format descriptions, bzip2.
#include "common/host/unpack.h"
#include "common/host/libarchive.h"

#define PACKED_SIZE 65536

struct unpack {
	const struct arc *arc;
	struct archive *a;
	ssize_t (*read)(void *ctx, char *to, size_t n);
	void *ctx;
	int error;             // errno of `read`
	la_int64_t given, len; // compressed bytes that `read` gave: in all, by its last call
	bool opened, ended, garbage;
	char packed[PACKED_SIZE];
};

static const struct {
	const char *name, *magic;
	size_t len;
} formats[] = {
	{"gzip", "\x1f\x8b\x08", 3}, {"zstd", "\x28\xb5\x2f\xfd", 4},
	{"xz", "\xfd\x37zXZ\0", 6},  {"lz4", "\x04\x22\x4d\x18", 4},
	{"bzip2", "BZh", 3},
};

const char *unpack_format(const char *head, size_t len)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		if (len >= UNPACK_HEAD && !memcmp(head, formats[i].magic, formats[i].len))
			return formats[i].name;
	}
	return NULL;
}

static la_ssize_t unpack_give(struct archive *a, void *ctx, const void **data)
{
	struct unpack *u = ctx;
	ssize_t n = u->read(u->ctx, u->packed, sizeof(u->packed));
	(void)a;
	// libarchive takes a read error between two compressed members for the end of the data:
	// unpack_has_rest() reports it.
	if (n < 0)
		u->error = errno;
	u->len = n > 0 ? n : 0;
	u->given += u->len;
	*data = u->packed;
	return n;
}

struct unpack *unpack_new(ssize_t (*read)(void *ctx, char *to, size_t n), void *ctx)
{
	const struct arc *arc = arc_get();
	struct unpack *u;
	if (!arc)
		return NULL;
	u = xmalloc(sizeof(*u));
	memset(u, 0, offsetof(struct unpack, packed));
	u->arc = arc;
	u->read = read;
	u->ctx = ctx;
	u->a = xcheck(arc->archive_read_new());
	arc->archive_read_support_filter_gzip(u->a);
	arc->archive_read_support_filter_zstd(u->a);
	arc->archive_read_support_filter_xz(u->a);
	arc->archive_read_support_filter_lz4(u->a);
	arc->archive_read_support_filter_bzip2(u->a);
	arc->archive_read_support_format_raw(u->a);
	arc->archive_read_support_format_empty(u->a);
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	u->arc->archive_read_free(u->a);
	free(u);
}

static ssize_t unpack_failure(struct unpack *u)
{
	errno = u->error ? u->error : EBADMSG;
	return -1;
}

// Do other bytes than zeros follow the compressed data? libarchive ignores what follows; zeros are
// padding, as in gzip(1).
static bool unpack_has_rest(struct unpack *u)
{
	la_int64_t left = u->given - u->arc->archive_filter_bytes(u->a, -1);
	const void *data;
	do {
		u->garbage = left > u->len;
		for (const char *p = u->packed + u->len - left; left > 0 && !u->garbage; left--)
			u->garbage = *p++;
		left = u->garbage ? 0 : unpack_give(u->a, u, &data);
	} while (left > 0);
	return u->garbage || u->error;
}

ssize_t unpack_read(struct unpack *u, char *to, size_t n)
{
	struct archive_entry *entry;
	la_ssize_t got = 0;
	int r = ARCHIVE_OK;
	if (u->ended)
		return 0;
	if (!u->opened) {
		r = u->arc->archive_read_open(u->a, u, NULL, unpack_give, NULL);
		if (r == ARCHIVE_OK)
			r = u->arc->archive_read_next_header(u->a, &entry);
		if (r < ARCHIVE_WARN)
			return unpack_failure(u);
		u->opened = true;
	}
	if (r != ARCHIVE_EOF)
		got = u->arc->archive_read_data(u->a, to, n);
	u->ended = got <= 0;
	return got < 0 || (!got && unpack_has_rest(u)) ? unpack_failure(u) : (ssize_t)got;
}

const char *unpack_error(const struct unpack *u)
{
	const char *text = u->arc->archive_error_string(u->a);
	return u->garbage ? "other bytes behind the compressed data" : text ? text : "damaged";
}
