// The kind of a record, from the first bytes of its message: table AMDLOG_KINDS in record.h.
//
// Facts: [amdlog.kinds]; the texts: [amdlog.queue-lines] to [amdlog.api].
#include "common/amdlog/read/packet_parse.h"

#define NAME_MAX_LEN 128
#define BEGINNINGS   10 // most beginnings of one kind; one more would overwrite the NULL

static const struct row {
	const char *word;
	const char *begin[BEGINNINGS + 1]; // NULL behind the last one
} rows[AMDLOG_NKINDS] = {
#define X(name, word, use, ...) {word, {__VA_ARGS__}},
	AMDLOG_KINDS(X)
#undef X
};

const uint8_t kind_uses[AMDLOG_NKINDS] = {
#define X(name, word, use, ...) use,
	AMDLOG_KINDS(X)
#undef X
};

static const char *const style_names[AMDLOG_NSTYLES] = {
	"cut", "3.5", "3.7-4.5", "5.0-5.6", "5.7-6.2", "6.3", "6.4+", "6.4+",
};

const char *amdlog_kind_name(enum amdlog_kind kind)
{
	return rows[kind].word;
}

const char *amdlog_style_name(enum amdlog_style style)
{
	return style_names[style];
}

// Length of the function's name, which ends at a blank or colon; 0: there is none.
static size_t name_len(const char *p, size_t len)
{
	size_t n = 0;
	len = len < NAME_MAX_LEN ? len : NAME_MAX_LEN;
	while (n < len && p[n] != ' ' && p[n] != ':')
		n++;
	return n < len ? n : 0;
}

// Parses "hipMalloc ( 0x.., 4 ) " or "hipMalloc: Returned hipSuccess : 0x..". What begins with a
// letter and has no name is neither.
static bool api_parse(struct amdlog_record *r)
{
	const char *p = r->msg;
	size_t n = name_len(p, r->msg_len), left = r->msg_len - n;
	if (left >= 2 && !memcmp(p + n, " (", 2))
		r->kind = AMDLOG_API_ENTRY;
	else if (left >= 11 && !memcmp(p + n, ": Returned ", 11))
		r->kind = AMDLOG_API_RETURN;
	else
		return false;
	r->name_len = (uint16_t)n;
	return true;
}

static bool may_be_api(char first)
{
	return first == 'h' || first == '_' || first == 'i' || first == 'c';
}

// The beginning in `rows` that the message has, and its kind; NULL: none.
static const char *beginning(const struct amdlog_record *r, enum amdlog_kind *kind)
{
	for (unsigned k = 0; k < AMDLOG_NKINDS; k++) {
		for (const char *const *b = rows[k].begin; *b; b++) {
			if (**b != *r->msg || strlen(*b) > r->msg_len ||
			    memcmp(*b, r->msg, strlen(*b)) != 0)
				continue;
			*kind = (enum amdlog_kind)k;
			return *b;
		}
	}
	return NULL;
}

static enum amdlog_kind packet_kind(const char *msg, size_t len)
{
	enum amdlog_kind kind = AMDLOG_PACKET;
	const char *end = msg + len;
	for (const char *p = msg;
	     kind == AMDLOG_PACKET && (p = memmem(p, (size_t)(end - p), " Header = ", 10)); p++)
		kind = packet_kind_before(msg, p);
	return kind;
}

void message_parse(struct amdlog_record *r)
{
	enum amdlog_kind kind = AMDLOG_OTHER;
	r->kind = AMDLOG_OTHER;
	r->name_len = 0;
	if (!r->msg_len || (may_be_api(*r->msg) && api_parse(r)) || !beginning(r, &kind))
		return;
	r->kind = kind == AMDLOG_PACKET ? packet_kind(r->msg, r->msg_len) : kind;
}

size_t message_telling(const struct amdlog_record *r)
{
	size_t most = 0;
	bool known = false;
	// Within `most` bytes the message differs from every beginning, or has it whole.
	for (unsigned k = 0; k < AMDLOG_NKINDS; k++) {
		for (const char *const *b = rows[k].begin; *b; b++) {
			size_t n = 0;
			while ((*b)[n] && n < r->msg_len && (*b)[n] == r->msg[n])
				n++;
			known |= !(*b)[n];
			n += (*b)[n] != 0;
			most = n > most ? n : most;
		}
	}
	if (!known && (!r->msg_len || may_be_api(*r->msg)))
		return 0; // only the text behind the name shows whether it is an API line
	// The deciding bytes must not end with a blank, as blanks at a message's end are cut off.
	while (most <= r->msg_len && (unsigned char)r->msg[most - 1] <= ' ')
		most++;
	return most <= r->msg_len ? most : 0;
}
