// gpq why --waves: where instructions are, for tables and as stacks; see why_waves.h.
#include "cmd/why_waves.h"

#include "common/cli/text.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void wave_put_place(struct buf *to, struct wave_view *v, const struct code_place *p)
{
	const char *readable = v->readable ? kernels_readable(&v->kernels, p->function) : NULL,
		   *name = readable      ? readable
			   : p->function ? p->function
					 : p->object;
	if (name)
		buf_printf(to, "%s+0x%" PRIx64, name, p->offset);
	else
		buf_printf(to, "0x%" PRIx64, p->pc);
}

void wave_put_source(struct buf *to, const struct code_place *p)
{
	for (unsigned i = 0; i < p->nframes; i++)
		if (*p->frames[i].file && p->frames[i].line)
			buf_printf(to, "%s%s:%u", to->len ? " < " : "",
				   base_name(p->frames[i].file), p->frames[i].line);
}

// --- names ---

COMPARE_BY(by_pc, struct code_place, pc)

const struct code_place *wave_place_at(const struct wave_view *v, const struct wave_group *g,
				       uint64_t pc)
{
	const struct places *p = &v->places[wave_process_of(v, g)];
	const struct code_place key = {.pc = pc};
	return &p->v[ARRAY_BELOW(p->v, p->n, &key, by_pc)];
}

void wave_places_name(struct wave_view *v, size_t process)
{
	struct places *p = &v->places[process];
	size_t n = 0;
	p->v = xcalloc(v->groups.n * 4 + 1, sizeof(*p->v));
	for (size_t i = 0; i < v->groups.n; i++) {
		const struct wave_group *g = &v->groups.v[i];
		const uint64_t pcs[] = {g->one.w.pc, g->pc_low, g->pc_high, g->missing_pc};
		for (size_t k = 0; wave_process_of(v, g) == process && k < COUNT(pcs); k++)
			p->v[n++].pc = pcs[k];
	}
	ARRAY_SORT(p->v, n, by_pc);
	for (size_t i = 0; i < n; i++)
		if (!i || p->v[i].pc != p->v[p->n - 1].pc)
			p->v[p->n++].pc = p->v[i].pc;
	if (!n)
		return;
	const struct wave_process *of = &v->looks.processes[process];
	p->names = of->core ? code_names_of(core_image(of->core), of->core->state.runtime.r_debug)
			    : code_names_new(of->pid);
	code_places(p->names, p->v, p->n);
}

void wave_places_free(struct wave_view *v)
{
	for (size_t i = 0; v->places && i < v->looks.nprocesses; i++) {
		code_names_free(v->places[i].names);
		free(v->places[i].v);
	}
	free(v->places);
}

// --- --folded, --flame ---

// Waves of all looks at one place.
struct folded {
	struct buf text; // frames, separated by semicolons
	uint64_t seen;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct folded *)a)->text.data, ((const struct folded *)b)->text.data);
}

static void fold(struct wave_view *v, const struct wave_group *g, struct folded *to)
{
	const struct queue_row *row = &v->looks.queues[g->one.queue].row;
	const struct code_place *p = wave_place_at(v, g, g->one.w.pc);
	SCOPED(buf_fini) struct buf place = {0}, source = {0};
	wave_put_place(&place, v, p);
	wave_put_source(&source, p);
	why_put_frame(&to->text, row->process.comm ? row->process.comm : "?");
	if (row->pid > 0)
		buf_printf(&to->text, " %" PRId64, row->pid);
	buf_printf(&to->text, ";compute %" PRIu64 ";", row->qid);
	if (p->function) {
		const char *readable = kernels_readable(&v->kernels, p->function);
		why_put_frame(&to->text, readable ? readable : p->function);
		buf_puts(&to->text, ";");
	}
	why_put_frame(&to->text, source.len ? source.data : place.data);
	to->seen = g->seen;
}

static struct folded *fold_all(struct wave_view *v)
{
	struct folded *all = xcalloc(v->groups.n + 1, sizeof(*all));
	for (size_t i = 0; i < v->groups.n; i++)
		fold(v, &v->groups.v[i], &all[i]);
	ARRAY_SORT(all, v->groups.n, by_text);
	return all;
}

static void free_folded(struct folded *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_fini(&all[i].text);
	free(all);
}

int wave_print_folded(struct wave_view *v)
{
	struct buf text = {0};
	struct folded *all = fold_all(v);
	for (size_t i = 0; i < v->groups.n; i++)
		buf_printf(&text, "%s %" PRIu64 "\n", all[i].text.data, all[i].seen);
	free_folded(all, v->groups.n);
	return out_text(&text);
}

// Draws the frames that begin at one of the texts: those that the text before does not have.
static void draw_stack(struct plot *plot, const struct folded *all, size_t n, size_t i, uint64_t at,
		       uint64_t total)
{
	const char *text = all[i].text.data, *was = i ? all[i - 1].text.data : "";
	unsigned level = 0;
	bool same = true;
	for (size_t from = 0, to; text[from]; from = to + (text[to] == ';'), level++) {
		to = from + strcspn(text + from, ";");
		same = same && strncmp(text, was, to) == 0 && (!was[to] || was[to] == ';');
		if (same)
			continue;
		SCOPED(free_at) char *name = xasprintf("%.*s", (int)(to - from), text + from);
		uint64_t seen = all[i].seen;
		for (size_t k = i + 1; k < n && strncmp(text, all[k].text.data, to) == 0 &&
				       (!all[k].text.data[to] || all[k].text.data[to] == ';');
		     k++)
			seen += all[k].seen;
		why_flame_frame(plot, level, (struct why_share){at + seen, seen, total, "waves"},
				text[to] ? "frame" : "c1", name);
	}
}

int wave_write_flame(struct wave_view *v)
{
	static const char *const levels[] = {"process", "queue", "function", "place"};
	SCOPED(buf_fini) struct buf svg = {0};
	struct folded *all = fold_all(v);
	struct plot plot;
	char note[96], held[24];
	uint64_t total = 0, at = 0;
	for (size_t i = 0; i < v->groups.n; i++)
		total += all[i].seen;
	snprintf(note, sizeof(note), "samples: %u, queues off for %s at most", v->taken,
		 text_ns(held, v->held_ns));
	plot_open(&plot, "Where waves were seen", note,
		  (struct plot_axis){"share of the waves in all samples", PLOT_SHARE, 0, 1, false});
	plot_levels(&plot, levels, COUNT(levels));
	for (size_t i = 0; i < v->groups.n; at += all[i++].seen)
		draw_stack(&plot, all, v->groups.n, i, at, total);
	plot_close(&plot, &svg);
	free_folded(all, v->groups.n);
	return out_file("--flame ", v->opts->flame, &svg);
}
