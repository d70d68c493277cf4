// Fields of messages (see detail.h). Facts: amd-log-facts.md sections 5, 6, 8, 9, 12, 13.
#include "common/amdlog/detail.h"
#include "common/amdlog/scan_priv.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// glibc 2.37 and later writes an unbuffered stream in pieces of this size (section 4.1).
#define PIECE 128
// The runtime's message buffer; longer messages are cut without a sign.
#define MESSAGE_MAX 4095

#define NO16 -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
#define A_F  -1, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1

const int8_t hex_values[256] = {
	NO16, NO16, NO16, 0,   1,    2,   3,    4,    5,    6,    7,    8,    9,    -1,   -1,   -1,
	-1,   -1,   -1,   A_F, NO16, A_F, NO16, NO16, NO16, NO16, NO16, NO16, NO16, NO16, NO16,
};

// What ends at `at` is whole: a separator follows, or the line ends here.
static bool is_end(const struct amdlog_record *r, const char *at)
{
	const char *end = r->msg + r->msg_len;

	if (at < end)
		return *at == ',' || *at == ' ' || *at == ']' || *at == ')' || *at == '(';
	return r->ended || end < r->text + r->len;
}

// A number, hexadecimal behind 0x; behind its last digit in *end. AMDLOG_UNKNOWN when there is none
// or it is cut.
static uint64_t read_number(const struct amdlog_record *r, const char *p, const char **end)
{
	const char *stop = r->msg + r->msg_len, *from;
	uint64_t v = 0;
	int digit;

	if (stop - p > 2 && p[0] == '0' && p[1] == 'x') {
		p += 2;
		for (from = p; p < stop && (digit = hex_digit(*p)) >= 0; p++)
			v = v << 4 | (uint64_t)digit;
		if (p - from > 16)
			from = p;
	} else {
		for (from = p; p < stop && is_digit(*p); p++)
			v = v * 10 + (uint64_t)(*p - '0');
		if (p - from > 19)
			from = p;
	}
	*end = p;
	return p > from && is_end(r, p) ? v : AMDLOG_UNKNOWN;
}

// "[1024, 1, 1]"
static void read_triple(const struct amdlog_record *r, const char *p, uint64_t out[3])
{
	uint64_t v[3];

	if (p >= r->msg + r->msg_len || *p++ != '[')
		return;
	for (int i = 0; i < 3; i++) {
		v[i] = read_number(r, p, &p);
		if (v[i] == AMDLOG_UNKNOWN || p >= r->msg + r->msg_len || *p != ",,]"[i])
			return;
		p += i < 2 ? 2 : 1;
	}
	memcpy(out, v, sizeof(v));
}

// The field's name ends right before the '=' at `equals`. Does it end with `name`, and begin with
// it?
static bool is_field(const char *equals, const char *from, const char *name, size_t len)
{
	const char *at = equals - len;

	return equals - from >= (ptrdiff_t)len && !memcmp(at, name, len) &&
	       (at == from || at[-1] == ' ' || at[-1] == ',');
}
#define IS(name) is_field(equals, from, name, sizeof(name) - 1)

// One field: `from` is where the one before it ended. Names that are wanted differ in their last
// letter or two, so that most of the others cost one look.
static void packet_field(const struct amdlog_record *r, const char *from, const char *equals,
			 struct amdlog_packet *p, bool *completion)
{
	const char *value = equals + 1, *end;

	switch (equals[-1]) {
	case 'q':
		if (IS("HWq"))
			p->hwq = read_number(r, value, &end);
		else if (IS("SWq"))
			p->swq = read_number(r, value, &end);
		break;
	case 'd':
		if (IS("id"))
			p->id = (int64_t)read_number(r, value, &end);
		else if (IS("grid"))
			read_triple(r, value, p->grid);
		break;
	case 'p':
		if (IS("workgroup"))
			read_triple(r, value, p->workgroup);
		break;
	case 'j':
		if (IS("kernel_obj"))
			p->kernel_obj = read_number(r, value, &end);
		break;
	case 'l':
		if (IS("completion_signal"))
			*completion = read_number(r, value, &end) != AMDLOG_UNKNOWN;
		break;
	case 'r':
		if (IS("wptr"))
			p->wptr = read_number(r, value, &end);
		if (!IS("rptr"))
			break;
		p->rptr = read_number(r, value, &end);
		if (end >= r->msg + r->msg_len || *end != ',') // always followed by wptr
			p->rptr = AMDLOG_UNKNOWN;
		break;
	}
}

// Barriers of 6.2 and 6.3 print no pointers, so only a pointer without its partner tells of a loss.
static bool is_whole(const struct amdlog_record *r, const struct amdlog_packet *p, bool completion)
{
	bool both = p->rptr != AMDLOG_UNKNOWN && p->wptr != AMDLOG_UNKNOWN;
	bool none = p->rptr == AMDLOG_UNKNOWN && p->wptr == AMDLOG_UNKNOWN;

	if (!completion || p->hwq == AMDLOG_UNKNOWN || r->kind == AMDLOG_PACKET)
		return false;
	if (r->kind != AMDLOG_DISPATCH)
		return both || none;
	if (p->workgroup[0] == AMDLOG_UNKNOWN)
		return false;
	if (p->grid[0] == AMDLOG_UNKNOWN && !memmem(r->msg, r->msg_len, "cluster_count", 13))
		return false;
	return both || p->swq == AMDLOG_UNKNOWN;
}

// A bit for each '=' of 64 bytes.
static inline uint64_t equals_signs(const char *p)
{
	uint64_t bits = 0;

#if defined(__SSE2__)
	for (unsigned i = 0; i < 64; i += 16) {
		__m128i x = _mm_loadu_si128((const __m128i_u *)(p + i));
		__m128i hit = _mm_cmpeq_epi8(x, _mm_set1_epi8('='));

		bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << i;
	}
#else
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(p[i] == '=') << i;
#endif
	return bits;
}

void amdlog_packet_parse(const struct amdlog_record *r, struct amdlog_packet *p)
{
	const char *from = r->msg;
	bool completion = false;

	*p = (struct amdlog_packet){
		.hwq = AMDLOG_UNKNOWN,
		.swq = AMDLOG_UNKNOWN,
		.kernel_obj = AMDLOG_UNKNOWN,
		.rptr = AMDLOG_UNKNOWN,
		.wptr = AMDLOG_UNKNOWN,
		.id = -1,
		.grid = {AMDLOG_UNKNOWN},
		.workgroup = {AMDLOG_UNKNOWN},
	};
	for (size_t at = 0; at < r->msg_len; at += 64) {
		uint64_t bits = equals_signs(r->msg + at);

		if (r->msg_len - at < 64)
			bits &= (UINT64_C(1) << (r->msg_len - at)) - 1;
		for (; bits; bits &= bits - 1) {
			const char *equals = r->msg + at + __builtin_ctzll(bits);

			if (equals > from && equals + 1 < r->msg + r->msg_len)
				packet_field(r, from, equals, p, &completion);
			from = equals + 1;
		}
	}
	p->whole = is_whole(r, p, completion);
}

int64_t amdlog_backlog(uint64_t rptr, uint64_t wptr)
{
	if (rptr <= UINT32_MAX && wptr <= UINT32_MAX)
		return (int32_t)(uint32_t)(wptr - rptr);
	return (int64_t)(wptr - rptr);
}

// The number behind the first `word`; AMDLOG_UNKNOWN.
static uint64_t number_behind(const struct amdlog_record *r, const char *word)
{
	const char *p = memmem(r->msg, r->msg_len, word, strlen(word)), *end;

	return p ? read_number(r, p + strlen(word), &end) : AMDLOG_UNKNOWN;
}

void amdlog_queue_line_parse(const struct amdlog_record *r, struct amdlog_queue_line *q)
{
	uint64_t priority = number_behind(r, "with priority ");
	const char *hex = memmem(r->msg, r->msg_len, "0x", 2), *end;

	q->swq = number_behind(r, "SWq=");
	q->hwq = number_behind(r, "HWq=");
	q->size = number_behind(r, "with size ");
	q->priority = priority <= 2 ? (int)priority : -1;
	q->address = AMDLOG_UNKNOWN;
	if (q->hwq == AMDLOG_UNKNOWN && q->swq == AMDLOG_UNKNOWN && hex)
		q->address = read_number(r, hex, &end);
}

// A pointer as C++ streams print it: a global locale puts thousands separators into it
// (section 4.10).
static uint64_t read_pointer(const struct amdlog_record *r, const char *p)
{
	const char *end = r->msg + r->msg_len;
	uint64_t v = 0;
	int digit;

	if (end - p < 3 || p[0] != '0' || p[1] != 'x')
		return AMDLOG_UNKNOWN;
	for (p += 2; p < end; p++) {
		if (*p == ',' && p + 1 < end && hex_digit(p[1]) >= 0)
			continue;
		digit = hex_digit(*p);
		if (digit < 0)
			break;
		v = v << 4 | (uint64_t)digit;
	}
	return (p < end && *p == ':') || is_end(r, p) ? v : AMDLOG_UNKNOWN;
}

uint64_t amdlog_api_stream(const struct amdlog_record *r)
{
	const char *p = r->msg, *end = p + r->msg_len;

	// Streams stand far back in long lines: looking for the colon is faster than for the word.
	while ((p = memchr(p, ':', (size_t)(end - p))) &&
	       (p - r->msg < 6 || memcmp(p - 6, "stream", 6) != 0))
		p++;
	if (!p)
		return AMDLOG_UNKNOWN;
	p++;
	if (r->msg + r->msg_len - p >= 6 && !memcmp(p, "<null>", 6))
		return 0;
	return read_pointer(r, p);
}

static bool begins(const struct amdlog_record *r, const char *word)
{
	size_t n = strlen(word);

	return r->name_len >= n && !memcmp(r->msg, word, n);
}

static bool is_launch(const struct amdlog_record *r)
{
	return begins(r, "hipLaunch") || begins(r, "hipModuleLaunch") || begins(r, "hipExt") ||
	       begins(r, "ihip");
}

uint64_t amdlog_entry_stream(const struct amdlog_record *r)
{
	uint64_t stream;

	if (is_launch(r))
		return amdlog_api_stream(r);
	if (!begins(r, "hipMem"))
		return AMDLOG_UNKNOWN;
	stream = amdlog_api_stream(r);
	// Copies and fills without a stream go to the null stream.
	return memmem(r->msg, r->msg_len, "stream:", 7) ? stream : 0;
}

uint64_t amdlog_command_stream(const struct amdlog_record *r)
{
	static const char words[] = " to queue: ";
	const size_t n = sizeof(words) - 1;
	const char *last = memrchr(r->msg, ' ', r->msg_len), *p;

	// It is the line's last word as a rule.
	if (last && (size_t)(last - r->msg) >= n && !memcmp(last + 1 - n, words, n))
		return read_pointer(r, last + 1);
	p = memmem(r->msg, r->msg_len, words, n);
	return p ? read_pointer(r, p + n) : AMDLOG_UNKNOWN;
}

uint64_t amdlog_command_address(const struct amdlog_record *r)
{
	return number_behind(r, r->kind == AMDLOG_COMMAND_COMPLETE ? "Command " : "enqueued: ");
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

uint64_t amdlog_signal_handle(const struct amdlog_record *r)
{
	return number_behind(r, "handle(");
}

uint64_t amdlog_completion_signal(const struct amdlog_record *r)
{
	return number_behind(r, "completion_signal=");
}

uint64_t amdlog_api_duration(const struct amdlog_record *r)
{
	static const char tail[] = " us";
	const char *end = r->msg + r->msg_len, *p;
	uint64_t v = 0, unit = 1;

	if (r->msg_len < 16 || memcmp(end - 3, tail, 3) != 0)
		return AMDLOG_UNKNOWN;
	p = end - 4;
	if (*p == 'd') // the stray letter of 6.3
		p--;
	for (; p > r->msg && is_digit(*p) && unit < UINT64_C(1000000000000000000); p--, unit *= 10)
		v += (uint64_t)(*p - '0') * unit;
	return unit > 1 && p - r->msg > 11 && !memcmp(p - 11, ": duration: ", 12) ? v
										  : AMDLOG_UNKNOWN;
}

bool amdlog_api_failed(const struct amdlog_record *r)
{
	static const char success[] = ": Returned hipSuccess";
	size_t n = sizeof(success) - 1;

	return r->msg_len < r->name_len + n || memcmp(r->msg + r->name_len, success, n) != 0;
}

const char *amdlog_kernel_name(const struct amdlog_record *r, size_t *len)
{
	static const char launch[] = "ShaderName : ";
	const char *end = r->msg + r->msg_len, *name, *device;

	if (r->kind == AMDLOG_KERNEL) {
		name = r->msg + sizeof(launch) - 1;
		name = name < end ? name : end;
	} else {
		name = memmem(r->msg, r->msg_len, " : ", 3);
		name = name ? name + 3 : end;
	}
	if (r->kind == AMDLOG_GRAPH_KERNEL) {
		device = memmem(name, (size_t)(end - name), ", device id : ", 14);
		end = device ? device : end;
	}
	*len = strnlen(name, (size_t)(end - name));
	return name;
}

// "hipSetDevice ( 0 )", a colour's end behind it.
static bool is_closed_entry(const struct amdlog_record *r)
{
	static const char close[] = " ) \x1b[0m";
	const char *end = r->msg + r->msg_len;

	if (r->msg_len > 8 && !memcmp(end - 7, close, 7))
		return true;
	if (r->msg_len >= MESSAGE_MAX - 64)
		return true; // cut by the runtime, not by another writer
	if (end[-1] == 'm') {
		end = memrchr(r->msg, ')', r->msg_len); // another colour
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
	// Source code handed to the run-time compiler spans lines.
	if (r->kind == AMDLOG_API_ENTRY && !is_closed_entry(r))
		return memcmp(r->msg, "hiprtc", 6) != 0;
	return false;
}
