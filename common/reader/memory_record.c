// What was read of a process's memory; see memory_record.h.
#include "common/reader/memory_record.h"

#include "common/host/number.h"

struct memory_piece {
	uint64_t at;
	size_t size, look;
	uint8_t *bytes;
};

void memory_record_look(struct memory_record *r, uint64_t *ns)
{
	if (!r->replays)
		*ARRAY_ADD(r->looks, r->cap_looks, r->nlooks) = *ns;
	if (r->look < r->nlooks)
		r->look++;
	if (r->look)
		*ns = r->looks[r->look - 1];
}

void memory_record_rewind(struct memory_record *r)
{
	if (r->replays)
		r->look = 0;
}

bool memory_record_goes_on(const struct memory_record *r)
{
	return r->replays && r->look < r->nlooks;
}

static void add_piece(struct memory_record *r, uint64_t at, uint8_t *bytes, size_t size)
{
	*ARRAY_ADD(r->v, r->cap, r->n) = (struct memory_piece){at, size, r->look, bytes};
	r->bytes += size;
}

void memory_record_add(struct memory_record *r, uint64_t at, const void *bytes, size_t size)
{
	size_t i = r->n;
	while (i && (r->v[i - 1].at != at || r->v[i - 1].size != size))
		i--;
	if ((i && memcmp(r->v[i - 1].bytes, bytes, size) == 0) ||
	    size > MEMORY_RECORD_MOST - r->bytes || size > UINT64_MAX - at)
		return;
	uint8_t *copy = xmalloc(size + 1);
	memcpy(copy, bytes, size);
	add_piece(r, at, copy, size);
}

// Pieces lie in the order in which they were read. Returns the last one with the byte `at` of the
// looks until now, else the first one of later looks; or NULL. Lowers *end to where another piece
// may count.
static const struct memory_piece *piece_of(const struct memory_record *r, uint64_t at,
					   uint64_t *end)
{
	const struct memory_piece *found = NULL;
	for (size_t i = r->n; i-- > 0 && (!found || found->look > r->look);) {
		const struct memory_piece *p = &r->v[i];
		if (p->at > at)
			*end = lesser(*end, p->at);
		else if (at - p->at < p->size)
			found = p;
	}
	if (found)
		*end = lesser(*end, found->at + found->size);
	return found;
}

bool memory_record_read(const struct memory_record *r, uint64_t at, void *to, size_t size)
{
	char *next = to;
	if (size > UINT64_MAX - at)
		return false;
	for (const uint64_t all = at + size; at < all;) {
		uint64_t end = all;
		const struct memory_piece *p = piece_of(r, at, &end);
		if (!p)
			return false;
		memcpy(next, p->bytes + (at - p->at), end - at);
		next += end - at;
		at = end;
	}
	return true;
}

// --- as text ---

static void hex_text(struct buf *to, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	buf_reserve(to, 2 * size);
	for (size_t i = 0; i < size; i++) {
		to->data[to->len++] = digits[bytes[i] >> 4];
		to->data[to->len++] = digits[bytes[i] & 15];
	}
}

void memory_record_text(const struct memory_record *r, struct buf *to)
{
	size_t look = 0;
	for (size_t i = 0; i <= r->n; i++) {
		for (; look < r->nlooks && (i == r->n || look < r->v[i].look); look++)
			buf_printf(to, "look %" PRIu64 "\n", r->looks[look]);
		if (i == r->n)
			break;
		buf_printf(to, "%" PRIx64 " ", r->v[i].at);
		hex_text(to, r->v[i].bytes, r->v[i].size);
		buf_puts(to, "\n");
	}
}

static bool take_bytes(struct memory_record *r, uint64_t at, const char *s, size_t len)
{
	const size_t size = len / 2;
	if (!size || len % 2 || size > MEMORY_RECORD_MOST - r->bytes || size > UINT64_MAX - at)
		return false;
	uint8_t *bytes = xmalloc(size);
	bool good = true;
	for (size_t i = 0; i < size; i++) {
		const int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);
		good &= high >= 0 && low >= 0;
		bytes[i] = (uint8_t)((unsigned)high << 4 | (unsigned)low);
	}
	add_piece(r, at, bytes, size);
	return good;
}

static bool take_line(struct memory_record *r, const char *s, const char *end)
{
	uint64_t value;
	if (end - s > 5 && memcmp(s, "look ", 5) == 0) {
		const bool good = number_read(s + 5, end, 10, UINT64_MAX, &value) == end;
		*ARRAY_ADD(r->looks, r->cap_looks, r->nlooks) = value;
		r->look = r->nlooks;
		return good && (r->nlooks < 2 || value >= r->looks[r->nlooks - 2]);
	}
	s = number_read(s, end, 16, UINT64_MAX, &value);
	return s && s < end && *s == ' ' && take_bytes(r, value, s + 1, (size_t)(end - s - 1));
}

bool memory_record_parse(struct memory_record *r, const char *text, size_t len)
{
	*r = (struct memory_record){0};
	bool good = true;
	for (const char *s = text, *end = text + len, *line; s < end && good; s = line + 1) {
		line = memchr(s, '\n', (size_t)(end - s));
		good = line && take_line(r, s, line);
		if (!line)
			break;
	}
	if (!good)
		memory_record_fini(r);
	r->replays = good;
	return good;
}

void memory_record_fini(struct memory_record *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].bytes);
	free(r->v);
	free(r->looks);
	*r = (struct memory_record){0};
}
