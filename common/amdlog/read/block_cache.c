// Fills the caches of the block reader (see block_priv.h) from lines that slow_line parsed: an
// entry has only what holds for every line that it fits.
//
// Facts: [amdlog.prefix], [amdlog.colour], [amdlog.api].
#include "common/amdlog/read/block_priv.h"

// Entries that fit nothing but newlines: such a line ends before its message.
void clear_prefixes(struct block_reader *g)
{
	g->no_thread.used = true;
	g->no_prefix = (struct prefix){.msg = FILE_END, .thread = &g->no_thread};
	memset(g->no_prefix.text, '\n', sizeof(g->no_prefix.text));
	for (unsigned i = 0; i < PREFIX_SETS; i++)
		g->prefixes[i][0] = g->prefixes[i][1] = g->no_prefix;
}

// A prefix is cached when its bytes alone say all that record_parse takes from it: a process part,
// or two blanks where one would be.
void cache_prefix(struct parse *w, struct block_thread *t, const struct amdlog_record *r,
		  const struct prefix_columns *c)
{
	const char *p = r->text;
	unsigned five = p[FILE_END + 5] != ':', time = FILE_END + 7 + five,
		 digits = c->time_end - time;
	struct block_reader *g = w->g;
	if (!c->msg || c->seen > FILE_END + 64 || r->style != t->sum.style ||
	    r->len <= FILE_END + 64)
		return;
	if (p[FILE_END] != ':' || !is_digit(p[FILE_END + 1]) || p[time - 2] != ':' ||
	    p[time - 1] != ' ' || c->time_end < time + 8 || c->time_end > time + 16)
		return;
	g->bare = t->sum.writer.tid == AMDLOG_UNKNOWN;
	struct prefix *x = prefix_set(g, p);
	if (differ_within(p + FILE_END, x[0].text, x[0].limit) ||
	    differ_within(p + FILE_END, x[1].text, x[1].limit))
		return;
	w->prefix = &g->no_prefix; // the entry may be another's now
	x[1] = x[0];
	memset(x, 0, sizeof(*x));
	memcpy(x->text, p + FILE_END, sizeof(x->text));
	memset(x->limit + (c->seen - FILE_END), 0xff, FILE_END + 64 - c->seen);
	// The number of the source's line: a digit, then digits and blanks (and some of what lies
	// between them, but no colon and no end of the line).
	x->text[1] = '0';
	x->limit[1] = 9;
	memset(x->text + 2, ' ', 3 + five);
	memset(x->limit + 2, ' ' ^ '9', 3 + five);
	memset(x->text + (time - FILE_END), '0', digits);
	memset(x->limit + (time - FILE_END), 9, digits);
	memset(x->digits + 16 - digits, 0x0f, digits);
	x->time_end = (uint8_t)c->time_end;
	x->msg = (uint8_t)c->msg;
	x->thread = t;
}

bool is_plain_call(const struct amdlog_record *r)
{
	static const char makes[] = "hipStreamC";
	if (r->msg_len >= sizeof(makes) && !memcmp(r->msg, makes, sizeof(makes) - 1))
		return false;
	return r->kind == AMDLOG_API_ENTRY ? !amdlog_is_torn(r) : !amdlog_api_failed(r);
}

// The last bytes of the line by which an entry is closed, as a mask of the last eight; 0: other
// ones.
static uint64_t entry_tail(const struct amdlog_record *r, size_t lead)
{
	const char *end = r->text + r->len;
	if (lead && !memcmp(end - 7, " ) \x1b[0m", 7))
		return ~UINT64_C(0) << 8;
	return !lead && !memcmp(end - 3, " ) ", 3) ? ~UINT64_C(0) << 40 : 0;
}

// How many bytes of the text at the message's column say what record_parse takes from it; 0: not
// so.
static size_t telling_bytes(const struct amdlog_record *r, const char *msg, size_t lead)
{
	bool entry = r->kind == AMDLOG_API_ENTRY;
	if (entry || r->kind == AMDLOG_API_RETURN) {
		if (!is_plain_call(r) || (lead && memcmp(msg, COLOUR, sizeof(COLOUR) - 1) != 0))
			return 0;
		if (entry && !entry_tail(r, lead))
			return 0;
		return lead + r->name_len + strlen(entry ? " (" : ": Returned hipSuccess");
	}
	if (lead || kind_uses[r->kind] == PLACED) {
		if (!lead && r->kind == AMDLOG_KERNEL)
			return strlen("ShaderName : ");
		return !lead && is_packet(r->kind) ? strlen("HWq=") : 0;
	}
	return (unsigned char)*msg < 128 && !strchr("\x1b^<E", *msg) ? message_telling(r) : 0;
}

void cache_statement(struct block_reader *g, const struct amdlog_record *r, const char *msg)
{
	const char *p = r->text;
	size_t lead = (size_t)(r->msg - msg), len;
	bool entry = r->kind == AMDLOG_API_ENTRY;
	struct statement *y, seen = {.kind = is_packet(r->kind) ? AMDLOG_PACKET : r->kind};
	if (r->msg < msg || !r->msg_len || (lead && lead != sizeof(COLOUR) - 1))
		return;
	len = telling_bytes(r, msg, lead);
	if (!len || len > sizeof(seen.text))
		return;
	memcpy(seen.text, msg, len);
	memset(seen.mask, 0xff, len);
	memcpy(seen.head, p, sizeof(seen.head));
	seen.tail_mask = entry ? entry_tail(r, lead) : 0;
	seen.tail = load64(p + r->len - sizeof(seen.tail)) & seen.tail_mask;
	seen.counts = 1 | (uint64_t)entry << 32;
	seen.counter = block_counter(seen.kind, r->level);
	seen.name_len = r->name_len;
	seen.lead = (uint8_t)lead;
	seen.use = kind_uses[r->kind] == PLACED         ? USE_ITEM
		   : r->kind == AMDLOG_COMMAND_ENQUEUED ? USE_COMMAND
							: USE_COUNT;
	seen.call = entry ? CALL_ENTRY : r->kind == AMDLOG_API_RETURN ? CALL_RETURN : 0;
	y = statement_set(g, p, msg);
	if (!memcmp(&y[0], &seen, sizeof(seen)) || !memcmp(&y[1], &seen, sizeof(seen)))
		return;
	y[1] = y[0];
	y[0] = seen;
}
