// gpq why --waves: the tables of waves and of registers; see why_waves.h.
#include "cmd/why_waves.h"

// Equal waves of the last look, or a queue without any. Unknown numbers are UINT64_MAX.
struct wave_row {
	struct queue_row q;
	uint64_t waves, workgroups, looks, seen, pc, offset, line, address;
	uint64_t dispatch, in_group, xcc, engine, lanes, missing, off_ns;
	const char *state, *progress, *function, *demangled, *place, *source, *file, *object;
	const char *missing_place, *low_place, *high_place, *group, *exec;
};

#define ROW wave_row
static const struct out_col cols[] = {
	RING_OWNER_COLS(D),
	COL(waves, "WAVES", "waves", U64, D, "waves of the queue that stand here"),
	COL(workgroups, "GROUPS", "workgroups", U64, D | W, "workgroups that these belong to"),
	COL(progress, "PROGRESS", "progress", STR, D,
	    "over the samples: moves, loops, stands, goes-on (loops or moves); null: one sample"),
	COL(state, "STATE", "state", STR, D,
	    "runs, waits, at-barrier, sleeps, halted, traps, ends, no-waves; or what stopped the "
	    "waves: memory-violation, address-error, illegal-instruction, math-error, assert, "
	    "breakpoint, debug-trap, watchpoint, single-step, trap, stopped"),
	COL(place, "PLACE", "place", STR, D | T, "function and offset of the next instruction"),
	COL(source, "SOURCE", "source", STR, D | T,
	    "its source file and line, if the code object tells; of what is inlined, with the "
	    "line that calls it"),
	COL(file, "FILE", "file", STR, M | T, "source file, as the compiler named it"),
	COL(line, "LINE", "line", U64, M, "line in it"),
	COL(function, "FUNCTION", "function", STR, M | T | OUT_MANGLED,
	    "function that holds the instruction: the kernel, or one that it called"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(offset, "FUNCTION_OFFSET", "function_offset", HEX, M,
	    "its offset in that function, or in the code object"),
	COL(pc, "PC", "pc", HEX, M, "address of the next instruction"),
	COL(object, "OBJECT", "object", STR, M | T, "code object that holds it"),
	COL(address, "ELF_ADDRESS", "elf_address", HEX, M, "its address in that code object"),
	COL(low_place, "LOW", "low", STR, M,
	    "the place with the least PC of all waves of this dispatch, in all samples"),
	COL(high_place, "HIGH", "high", STR, M, "that with the greatest"),
	COL(missing, "MISSING", "missing", U64, M,
	    "at a barrier: waves of the same workgroups that have not come to it"),
	COL(missing_place, "MISSING_PLACE", "missing_place", STR, M, "where one of them is"),
	COL(dispatch, "DISPATCH", "dispatch", U64, M, "dispatch id: index of its packet"),
	COL(group, "WORKGROUP", "workgroup", STR, M, "workgroup of one of these waves, as x,y,z"),
	COL(in_group, "WAVE", "wave_in_group", U64, M, "number of that wave in its workgroup"),
	COL(xcc, "XCC", "xcc", U64, M, "XCC of that wave"),
	COL(engine, "SE", "shader_engine", U64, M, "shader engine of that XCC"),
	COL(lanes, "LANES", "lanes", U64, M, "lanes of a wave: 32 or 64"),
	// A text, since all lanes of 64 are what a number that is unknown is.
	COL(exec, "EXEC", "exec", STR, M,
	    "lanes that are active in any of these waves, a bit each, in hexadecimal"),
	COL(looks, "SAMPLES", "samples", U64, M, "samples that saw such waves since one did not"),
	COL(seen, "SEEN", "seen", U64, M, "such waves of these samples together"),
	COL(off_ns, "OFF_FOR", "off_ns", NS, M,
	    "the longest time that the queues were held for a sample"),
};
#undef ROW

const struct out_table why_wave_table = {"waves", "wave", OUT_COLS(cols)};

static const char *const progress_words[] = {
	[WAVES_MOVE] = "moves",
	[WAVES_LOOP] = "loops",
	[WAVES_STAND] = "stands",
	[WAVES_GO_ON] = "goes-on",
};

struct row_texts {
	struct buf state, place, source, missing, low, high;
	char group[48], exec[24];
};

static void row_texts_fini(struct row_texts *t)
{
	for (struct buf *b = &t->state; b <= &t->high; b++)
		buf_fini(b);
}

static const char *put_workgroup(char to[48], const struct wave *w)
{
	snprintf(to, 48, "%u,%u,%u", w->group[0], w->group[1], w->group[2]);
	return to;
}

static void fill_group(struct wave_row *r, struct wave_view *v, size_t i, struct row_texts *t)
{
	const struct wave_group *g = &v->groups.v[i];
	const struct wave *w = &g->one.w;
	const struct code_place *p = wave_place_at(v, g, w->pc);
	wave_put_state(&t->state, g);
	wave_put_place(&t->place, v, p);
	wave_put_source(&t->source, p);
	wave_put_place(&t->low, v, wave_place_at(v, g, g->pc_low));
	wave_put_place(&t->high, v, wave_place_at(v, g, g->pc_high));
	r->waves = g->waves;
	r->workgroups = g->workgroups;
	r->progress = progress_words[g->progress];
	r->state = t->state.data;
	r->place = t->place.data;
	r->source = t->source.data;
	r->low_place = t->low.data;
	r->high_place = t->high.data;
	r->function = p->function;
	r->offset = p->object ? p->offset : U64_NULL;
	r->pc = w->pc;
	r->object = p->object;
	r->address = p->object ? p->address : U64_NULL;
	if (p->nframes && *p->frames[0].file && p->frames[0].line) {
		r->file = p->frames[0].file;
		r->line = p->frames[0].line;
	}
	if (g->missing) {
		wave_put_place(&t->missing, v, wave_place_at(v, g, g->missing_pc));
		r->missing_place = t->missing.data;
	}
	r->demangled =
		kernels_readable(&v->kernels, p->function); // the last name that is asked for
	r->missing = g->missing;
	r->dispatch = g->one.dispatch;
	r->xcc = g->one.xcc;
	r->engine = w->engine == WAVE_NO_ENGINE ? U64_NULL : w->engine;
	r->lanes = w->lanes;
	snprintf(t->exec, sizeof(t->exec), "0x%" PRIx64, g->lanes);
	r->exec = t->exec;
	r->seen = g->seen;
	r->looks = g->looks;
	if (w->placed) {
		r->group = put_workgroup(t->group, w);
		r->in_group = w->in_group;
	}
}

static void print_group(struct out *o, struct wave_view *v, size_t i)
{
	SCOPED(row_texts_fini) struct row_texts t = {0};
	struct wave_row r;
	out_clear(&why_wave_table, &r);
	r.q = v->looks.queues[v->groups.v[i].one.queue].row;
	r.off_ns = v->recorded ? U64_NULL : v->held_ns;
	fill_group(&r, v, i, &t);
	out_row(o, &r);
}

static bool queue_has_waves(const struct wave_view *v, size_t queue)
{
	for (size_t i = 0; i < v->groups.n; i++)
		if (v->groups.v[i].one.queue == queue && v->groups.v[i].waves)
			return true;
	return false;
}

struct place_in_table {
	enum wave_rank rank;
	uint64_t waves;
	size_t group;
};

// The worst first, then what most waves are at.
static int by_rank(const void *a, const void *b)
{
	const struct place_in_table *x = a, *y = b;
	int r = ORDER(x->rank, y->rank);
	r = r ? r : ORDER(y->waves, x->waves);
	return r ? r : ORDER(x->group, y->group);
}

const struct wave_group *wave_print_groups(struct out *o, struct wave_view *v)
{
	const struct wave_groups *g = &v->groups;
	SCOPED(free_at) struct place_in_table *t = xcalloc(g->n + 1, sizeof(*t));
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].waves)
			t[n++] = (struct place_in_table){wave_rank_of(&g->v[i]), g->v[i].waves, i};
	ARRAY_SORT(t, n, by_rank);
	for (size_t i = 0; i < n; i++)
		print_group(o, v, t[i].group);
	for (size_t i = 0; i < v->looks.nqueues; i++) {
		const struct wave_queue *q = &v->looks.queues[i];
		struct wave_row r;
		if (q->wrong || queue_has_waves(v, i))
			continue;
		out_clear(&why_wave_table, &r);
		r.q = q->row;
		r.off_ns = v->recorded ? U64_NULL : v->held_ns;
		r.waves = r.workgroups = 0;
		r.state = "no-waves";
		out_row(o, &r);
	}
	return n ? &g->v[t[0].group] : NULL;
}

// --- registers ---

// A register of one wave.
struct register_row {
	struct queue_row q;
	uint64_t in_group;
	const char *place, *group, *name, *value;
};

#define ROW register_row
static const struct out_col register_cols[] = {
	RING_OWNER_COLS(D),
	COL(place, "PLACE", "place", STR, M | T, "where the wave is"),
	COL(group, "WORKGROUP", "workgroup", STR, D, "its workgroup, as x,y,z"),
	COL(in_group, "WAVE", "wave_in_group", U64, D, "its number in that workgroup"),
	COL(name, "REGISTER", "register", STR, D,
	    "pc, exec, status, mode, exceptions (trapsts), m0; s: scalar, v: vector, a: "
	    "accumulation registers"),
	COL(value, "WORDS", "words", STR, D | T,
	    "hexadecimal; of v and a a word for each lane, from lane 0 on"),
};
#undef ROW

const struct out_table why_register_table = {"registers", "register", OUT_COLS(register_cols)};

static void print_register(struct out *o, struct register_row *r, char file, unsigned number,
			   const char *value)
{
	char name[16];
	snprintf(name, sizeof(name), "%c%u", file, number);
	r->name = name;
	r->value = value;
	out_row(o, r);
}

struct register_file {
	char name;
	unsigned first, n, lanes;
	uint64_t at;
};

static void print_file(struct out *o, struct register_row *r, const struct wave_record *from,
		       const struct register_file *f)
{
	const uint64_t in = f->at - from->address, size = 4 * (uint64_t)f->lanes;
	for (unsigned i = 0; i < f->n && in + (i + 1) * size <= from->size; i++) {
		SCOPED(buf_fini) struct buf value = {0};
		for (unsigned lane = 0; lane < f->lanes; lane++) {
			uint32_t word;
			memcpy(&word, from->data + in + i * size + lane * sizeof(word),
			       sizeof(word));
			buf_printf(&value, "%s%08" PRIx32, lane ? " " : "", word);
		}
		print_register(o, r, f->name, f->first + i, value.data);
	}
}

void wave_print_registers(struct out *o, struct wave_view *v, const struct wave_group *g)
{
	const struct wave *w = &g->one.w;
	const struct register_file files[] = {{'s', 0, w->sgprs, 1, w->sgprs_at},
					      {'v', 0, w->vgprs, w->lanes, w->vgprs_at},
					      {'v', w->vgprs, w->shared, w->lanes,
					       w->vgprs_at + UINT64_C(4) * w->vgprs * w->lanes},
					      {'a', 0, w->acc, w->lanes, w->acc_at}};
	const struct {
		const char *name;
		uint64_t value;
	} words[] = {{"pc", w->pc},
		     {"exec", w->exec},
		     {"status", w->status},
		     {"mode", w->mode},
		     {"exceptions", w->exceptions},
		     {"m0", w->m0}};
	SCOPED(buf_fini) struct buf place = {0};
	char group[48], value[24];
	struct register_row r;
	out_clear(&why_register_table, &r);
	r.q = v->looks.queues[g->one.queue].row;
	wave_put_place(&place, v, wave_place_at(v, g, w->pc));
	r.place = place.data;
	if (w->placed) {
		r.group = put_workgroup(group, w);
		r.in_group = w->in_group;
	}
	for (size_t i = 0; i < COUNT(words); i++) {
		snprintf(value, sizeof(value), "%08" PRIx64, words[i].value);
		r.name = words[i].name;
		r.value = value;
		out_row(o, &r);
	}
	for (size_t i = 0; i < COUNT(files) && g->one.record; i++)
		print_file(o, &r, &v->looks.records[g->one.record - 1], &files[i]);
}
