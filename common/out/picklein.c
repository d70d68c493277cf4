// Pickles as JSON; see picklein.h. A pickle is a program for a machine with a stack, which holds
// texts here: a list or dictionary grows there until it is put into another one.
#include "common/out/picklein.h"

#include "common/cli/json.h"

// A value on the stack: its JSON text, without the brackets of lists and dictionaries.
struct item {
	struct buf text;
	char kind;      // as of jsonin_value; '(' a mark
	unsigned depth; // levels of lists and dictionaries
};

struct machine {
	const char *at, *end;
	struct item *v; // the stack
	size_t n, cap;
	struct item *memo; // values that are used again; without text: none, or not yet complete
	size_t nmemo, memo_cap;
	uint64_t bytes; // copied so far, for PICKLE_MOST
};

// Takes an unsigned number of `size` bytes, the lowest first.
static bool take_number(struct machine *m, size_t size, uint64_t *n)
{
	*n = 0;
	if ((size_t)(m->end - m->at) < size)
		return false;
	for (size_t i = 0; i < size; i++)
		*n |= (uint64_t)(uint8_t)m->at[i] << 8 * i;
	m->at += size;
	return true;
}

static struct item *push(struct machine *m, char kind)
{
	struct item *i = ARRAY_ADD(m->v, m->cap, m->n);
	*i = (struct item){.kind = kind, .depth = kind == '[' || kind == '{'};
	return i;
}

static bool push_word(struct machine *m, char kind, const char *word)
{
	buf_puts(&push(m, kind)->text, word);
	return true;
}

// Pushes an integer of `size` bytes; `sign`: the highest bit of the last byte is one.
static bool push_number(struct machine *m, size_t size, bool sign)
{
	uint64_t n;
	if (size > 8 || !take_number(m, size, &n))
		return false;
	const unsigned unused = (unsigned)(64 - 8 * size);
	const int64_t value = !size || !sign ? (int64_t)n : (int64_t)(n << unused) >> unused;
	buf_printf(&push(m, '0')->text, "%" PRId64, value);
	return true;
}

static bool push_double(struct machine *m)
{
	uint64_t n;
	double value;
	struct json j;
	if (!take_number(m, 8, &n))
		return false;
	n = __builtin_bswap64(n); // the highest byte is first
	memcpy(&value, &n, sizeof(value));
	struct item *i = push(m, '0');
	json_init(&j, &i->text, false);
	json_f64(&j, NULL, value);
	i->kind = *i->text.data == 'n' ? 'n' : '0';
	return true;
}

// Pushes a string whose length has `size` bytes.
static bool push_text(struct machine *m, size_t size)
{
	uint64_t n;
	struct json j;
	if (!take_number(m, size, &n) || n > (uint64_t)(m->end - m->at))
		return false;
	json_init(&j, &push(m, '"')->text, false);
	json_strn(&j, NULL, m->at, (size_t)n);
	m->at += n;
	return true;
}

// Places are numbered as they come.
static bool keep(struct machine *m, uint64_t place)
{
	if (!m->n || place > m->nmemo)
		return false;
	if (place == m->nmemo)
		*ARRAY_ADD(m->memo, m->memo_cap, m->nmemo) = (struct item){0};
	const struct item *from = &m->v[m->n - 1];
	struct item *to = &m->memo[place];
	to->kind = from->kind;
	to->depth = from->depth;
	to->text.len = 0;
	if (from->text.len)
		buf_append(&to->text, from->text.data, from->text.len);
	return true;
}

// A list that is kept before it is filled is refused: its text is not that of the one to come.
static bool push_kept(struct machine *m, size_t size)
{
	uint64_t place;
	if (!take_number(m, size, &place) || !m->memo || place >= m->nmemo ||
	    !m->memo[place].text.len)
		return false;
	const struct item *from = &m->memo[place];
	struct item *to = push(m, from->kind);
	to->depth = from->depth;
	m->bytes += from->text.len;
	buf_append(&to->text, from->text.data, from->text.len);
	return true;
}

static bool keep_at(struct machine *m, size_t size)
{
	uint64_t place;
	return take_number(m, size, &place) && keep(m, place);
}

static bool put_item(struct machine *m, struct buf *to, const struct item *i)
{
	const char *close = i->kind == '[' ? "]" : i->kind == '{' ? "}" : "";
	if (*close)
		buf_append(to, &i->kind, 1);
	if (i->text.len)
		buf_append(to, i->text.data, i->text.len);
	buf_puts(to, close);
	m->bytes += i->text.len;
	return i->kind != '(';
}

// Puts the items from `first` on into the list or dictionary before them.
static bool gather(struct machine *m, size_t first, char kind)
{
	struct item *to = first ? &m->v[first - 1] : NULL;
	bool good = to && to->kind == kind && (kind == '[' || (m->n - first) % 2 == 0);
	for (size_t i = first; good && i < m->n; i++) {
		const struct item *x = &m->v[i];
		const bool is_key = kind == '{' && (i - first) % 2 == 0;
		const char *between = is_key || kind == '[' ? (to->text.len ? "," : "") : ":";
		buf_puts(&to->text, between);
		to->depth = to->depth > x->depth ? to->depth : x->depth + 1;
		good = (!is_key || x->kind == '"') && to->depth <= PICKLE_DEPTH &&
		       put_item(m, &to->text, x);
	}
	while (m->n > first)
		buf_fini(&m->v[--m->n].text);
	return good;
}

// Where the items behind the last mark begin, without the mark.
static bool take_mark(struct machine *m, size_t *first)
{
	size_t i = m->n;
	while (i && m->v[i - 1].kind != '(')
		i--;
	if (!i)
		return false;
	*first = i - 1;
	memmove(&m->v[i - 1], &m->v[i], (m->n - i) * sizeof(*m->v)); // a mark owns no text
	m->n--;
	return true;
}

static bool gather_marked(struct machine *m, char kind)
{
	size_t first;
	return take_mark(m, &first) && gather(m, first, kind);
}

// Makes a list of the last `n` items.
static bool make_tuple(struct machine *m, size_t n)
{
	if (m->n < n)
		return false;
	push(m, '[');
	const struct item list = m->v[m->n - 1];
	const size_t first = m->n - 1 - n;
	memmove(&m->v[first + 1], &m->v[first], n * sizeof(*m->v));
	m->v[first] = list;
	return gather(m, first + 1, '[');
}

static bool make_marked_tuple(struct machine *m)
{
	size_t first;
	return take_mark(m, &first) && make_tuple(m, m->n - first);
}

static bool skip(struct machine *m, size_t n)
{
	uint64_t ignored;
	return take_number(m, n, &ignored);
}

static bool push_long(struct machine *m)
{
	uint64_t size;
	return take_number(m, 1, &size) && push_number(m, (size_t)size, true);
}

// Does what an opcode says, but the last one.
static bool step(struct machine *m, uint8_t opcode)
{
	switch (opcode) {
	case 0x80: return skip(m, 1); // PROTO
	case 0x95: return skip(m, 8); // FRAME
	case '}': return push(m, '{');
	case ']':
	case ')': return push(m, '[');
	case '(': return push(m, '(');
	case 'N': return push_word(m, 'n', "null");
	case 0x88: return push_word(m, 't', "true");
	case 0x89: return push_word(m, 'f', "false");
	case 'X': return push_text(m, 4);
	case 0x8c: return push_text(m, 1);
	case 'J': return push_number(m, 4, true);
	case 'K': return push_number(m, 1, false);
	case 'M': return push_number(m, 2, false);
	case 0x8a: return push_long(m);
	case 'G': return push_double(m);
	case 'q': return keep_at(m, 1);
	case 'r': return keep_at(m, 4);
	case 0x94: return keep(m, m->nmemo);
	case 'h': return push_kept(m, 1);
	case 'j': return push_kept(m, 4);
	case 'a': return m->n && gather(m, m->n - 1, '[');
	case 'e': return gather_marked(m, '[');
	case 's': return m->n > 1 && gather(m, m->n - 2, '{');
	case 'u': return gather_marked(m, '{');
	case 't': return make_marked_tuple(m);
	case 0x85:
	case 0x86:
	case 0x87: return make_tuple(m, opcode - 0x84u);
	default: return false;
	}
}

bool pickle_to_json(struct buf *json, const char *data, size_t len)
{
	struct machine m = {.at = data, .end = data + len};
	bool good = true, ended = false;
	while (good && !ended && m.at < m.end) {
		const uint8_t opcode = (uint8_t)*m.at++;
		ended = opcode == '.';
		good = ended || (step(&m, opcode) && m.bytes <= PICKLE_MOST);
	}
	good = good && ended && m.n == 1 && put_item(&m, json, &m.v[0]);
	for (size_t i = 0; i < m.n; i++)
		buf_fini(&m.v[i].text);
	for (size_t i = 0; i < m.nmemo; i++)
		buf_fini(&m.memo[i].text);
	free(m.v);
	free(m.memo);
	return good;
}
