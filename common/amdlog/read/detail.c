// Fields of messages (see detail.h). Facts: [amdlog.queue-lines], [amdlog.packets],
// [amdlog.backlog], [amdlog.commands], [amdlog.signals], [amdlog.api], [amdlog.locale].
#include "common/amdlog/read/packet_parse.h"

// glibc 2.37 and later writes an unbuffered stream in pieces of this size ([amdlog.torn]).
#define PIECE 128
// The runtime cuts longer messages and does not mark the cut ([amdlog.cut]).
#define MESSAGE_MAX 4095

void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p)
{
	packet_parse(r->msg, r->msg + r->msg_len, number_may_end(r), r->ended, p);
}

int64_t amdlog_backlog(uint64_t rptr, uint64_t wptr)
{
	if (rptr <= UINT32_MAX && wptr <= UINT32_MAX)
		return (int32_t)(uint32_t)(wptr - rptr);
	return (int64_t)(wptr - rptr);
}

uint64_t amdlog_packet_backlog(const struct amdlog_packet *p)
{
	int64_t backlog = amdlog_backlog(p->rptr, p->wptr);
	if (p->rptr == AMDLOG_UNKNOWN || p->wptr == AMDLOG_UNKNOWN)
		return AMDLOG_UNKNOWN;
	return backlog < 0 ? 0 : (uint64_t)backlog;
}

uint64_t amdlog_next_number(const struct amdlog_record *r, const char *word, const char **at)
{
	const char *stop = r->msg + r->msg_len;
	const char *p = memmem(*at, (size_t)(stop - *at), word, strlen(word));
	return p ? read_number(p + strlen(word), stop, number_may_end(r), at) : AMDLOG_UNKNOWN;
}

uint64_t amdlog_number_behind(const struct amdlog_record *r, const char *word)
{
	return amdlog_next_number(r, word, &(const char *){r->msg});
}

void amdlog_queue_line_parse(const struct amdlog_record *r, struct amdlog_queue_line *q)
{
	uint64_t priority = amdlog_number_behind(r, "with priority ");
	const char *hex = memmem(r->msg, r->msg_len, "0x", 2), *end;
	q->swq = amdlog_number_behind(r, "SWq=");
	q->hwq = amdlog_number_behind(r, "HWq=");
	q->size = amdlog_number_behind(r, "with size ");
	q->priority = priority <= 2 ? (int)priority : -1;
	q->address = AMDLOG_UNKNOWN;
	if (q->hwq == AMDLOG_UNKNOWN && q->swq == AMDLOG_UNKNOWN && hex)
		q->address = read_number(hex, r->msg + r->msg_len, number_may_end(r), &end);
}

// Reads hexadecimal digits with commas among them. Returns the place behind the last one.
static const char *read_grouped(const char *p, const char *end, uint64_t *value)
{
	int digit;
	for (; p < end; p++) {
		if (*p == ',' && p + 1 < end && hex_digit(p[1]) >= 0)
			continue;
		digit = hex_digit(*p);
		if (digit < 0)
			break;
		*value = *value << 4 | (uint64_t)digit;
	}
	return p;
}

// Reads a pointer from a C++ stream: the locale may put separators into it ([amdlog.locale]).
static uint64_t read_pointer(const struct amdlog_record *r, const char *p)
{
	const char *end = r->msg + r->msg_len;
	uint64_t v = 0;
	if (end - p < 3 || p[0] != '0' || p[1] != 'x' || hex_digit(p[2]) < 0)
		return AMDLOG_UNKNOWN;
	p += 2;
	size_t n = read_hex(p, (size_t)(end - p), &v);
	if (n && n <= 16 && p[n] != ',') {
		p += n;
	} else {
		v = 0;
		p = read_grouped(p, end, &v);
	}
	return (p < end && *p == ':') || is_number_end(p, end, number_may_end(r)) ? v
										  : AMDLOG_UNKNOWN;
}

// The stream that an API line names; `none` if the line names no stream.
static uint64_t stream_named(const struct amdlog_record *r, uint64_t none)
{
	const char *p = r->msg, *end = p + r->msg_len;
	// "stream:" stands far back in long lines: looking for its colon is faster.
	while ((p = memchr(p, ':', (size_t)(end - p))) &&
	       (p - r->msg < 6 || memcmp(p - 6, "stream", 6) != 0))
		p++;
	if (!p)
		return none;
	p++;
	if (end - p >= 6 && !memcmp(p, "<null>", 6))
		return 0;
	return read_pointer(r, p);
}

uint64_t amdlog_api_stream(const struct amdlog_record *r)
{
	return stream_named(r, AMDLOG_UNKNOWN);
}

bool amdlog_api_begins(const struct amdlog_record *r, const char *word)
{
	size_t n = strlen(word);
	return r->name_len >= n && !memcmp(r->msg, word, n);
}

uint64_t amdlog_entry_stream(const struct amdlog_record *r)
{
	if (amdlog_api_begins(r, "hipLaunch") || amdlog_api_begins(r, "hipModuleLaunch") ||
	    amdlog_api_begins(r, "hipExt") || amdlog_api_begins(r, "ihip"))
		return amdlog_api_stream(r);
	// Copies and fills without a stream go to the null stream.
	return amdlog_api_begins(r, "hipMem") ? stream_named(r, 0) : AMDLOG_UNKNOWN;
}

uint64_t amdlog_command_stream(const struct amdlog_record *r)
{
	static const char words[] = " to queue: ";
	const size_t n = sizeof(words) - 1;
	const char *last = memrchr(r->msg, ' ', r->msg_len), *p;
	// The stream is nearly always the line's last word.
	if (last && (size_t)(last - r->msg) >= n && !memcmp(last + 1 - n, words, n))
		return read_pointer(r, last + 1);
	p = memmem(r->msg, r->msg_len, words, n);
	return p ? read_pointer(r, p + n) : AMDLOG_UNKNOWN;
}

const char *amdlog_command_kind(const struct amdlog_record *r, size_t *len)
{
	static const char begin[] = "Command (", unknown[] = "command";
	const char *name = r->msg + sizeof(begin) - 1, *end;
	*len = sizeof(unknown) - 1;
	if (r->msg_len < sizeof(begin) || memcmp(r->msg, begin, sizeof(begin) - 1) != 0)
		return unknown;
	end = memchr(name, ')', (size_t)(r->msg + r->msg_len - name));
	if (!end || end - name > 64)
		return unknown;
	*len = (size_t)(end - name);
	return name;
}

uint64_t amdlog_api_duration(const struct amdlog_record *r)
{
	static const char tail[] = " us";
	const char *end = r->msg + r->msg_len, *p;
	uint64_t v = 0, unit = 1;
	if (r->msg_len < 16 || memcmp(end - 3, tail, 3) != 0)
		return AMDLOG_UNKNOWN;
	p = end - 4;
	if (*p == 'd') // a stray d, which ROCm 6.3 prints
		p--;
	for (; p > r->msg && is_digit(*p) && unit < UINT64_C(1000000000000000000); p--, unit *= 10)
		v += (uint64_t)(*p - '0') * unit;
	return unit > 1 && p - r->msg > 11 && !memcmp(p - 11, ": duration: ", 12) ? v
										  : AMDLOG_UNKNOWN;
}

bool amdlog_api_failed(const struct amdlog_record *r)
{
	static const char success[] = ": Returned hipSuccess";
	size_t n = sizeof(success) - 1, left = r->msg_len - r->name_len;
	return memcmp(r->msg + r->name_len, success, left < n ? left : n) != 0;
}

const char *amdlog_kernel_name(const struct amdlog_record *r, size_t *len)
{
	const size_t begin = strlen("ShaderName : ");
	size_t at = r->msg_len < begin ? r->msg_len : begin;
	*len = strnlen(r->msg + at, r->msg_len - at);
	return r->msg + at;
}

// True if an API entry has its end: "hipSetDevice ( 0 ) ESC[0m".
static bool is_closed_entry(const struct amdlog_record *r)
{
	static const char close[] = " ) \x1b[0m";
	const char *end = r->msg + r->msg_len;
	if (r->msg_len > 8 && !memcmp(end - 7, close, 7))
		return true;
	if (r->msg_len >= MESSAGE_MAX - 64)
		return true; // the runtime cut the message, no other writer
	if (end[-1] == 'm') {
		end = memrchr(r->msg, ')', r->msg_len); // the m ends part of a colour
		end = end ? end + 1 : r->msg;
	}
	return end - r->msg > 1 && end[-1] == ')' && end[-2] == ' ';
}

bool amdlog_is_torn(const struct amdlog_record *r)
{
	if (r->style == AMDLOG_STYLE_NONE)
		return true;
	if (!r->ended &&
	    (r->len == AMDLOG_TEXT_MAX || (r->len % PIECE == 0 && r->text[r->len - 1] != ' ')))
		return true;
	// An entry of hiprtc has the source code that is to be compiled, which spans lines.
	if (r->kind == AMDLOG_API_ENTRY && !is_closed_entry(r))
		return memcmp(r->msg, "hiprtc", 6) != 0;
	return false;
}
