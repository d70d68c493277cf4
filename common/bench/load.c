// Reading raw samples; load.h.
#include "common/bench/load.h"

#include "common/bench/raw.h"
#include "common/cli/input.h"
#include "common/host/array.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { SEEN_MAX = 1 << 26 }; // greater numbers than any run has are not watched

// 1: number `n` is new, and now met; 0: it was met before; -1 with errno.
static int meet(struct load_run *r, uint64_t n)
{
	if (n >= SEEN_MAX)
		return 1;
	if (n / 8 >= r->seen_size) {
		size_t size = (size_t)n / 4 + 64;
		uint8_t *bits = realloc(r->seen, size);
		if (!bits)
			return -1;
		memset(bits + r->seen_size, 0, size - r->seen_size);
		r->seen = bits;
		r->seen_size = size;
	}
	bool met = r->seen[n / 8] >> (n % 8) & 1;
	r->seen[n / 8] |= (uint8_t)(1u << (n % 8));
	return !met;
}

struct load_run *load_first(const struct load *l, bool is_ab)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->run[i]->is_ab == is_ab)
			return l->run[i];
	return NULL;
}

static struct load_run *find_run(struct load *l, bool is_ab, const struct bench_context *c)
{
	for (size_t i = l->n; i--;) // samples of a run stand together
		if (l->run[i]->is_ab == is_ab &&
		    strcmp(l->run[i]->context.text[CONTEXT_run], c->text[CONTEXT_run]) == 0)
			return l->run[i];
	if (ARRAY_GROW(l->run, l->cap, l->n))
		return NULL;
	struct load_run *first = l->pool ? load_first(l, is_ab) : NULL;
	struct load_run *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->is_ab = is_ab;
	r->context = *c;
	r->sum = first ? first : r;
	r->timeline = calloc(LOAD_TIMELINE, sizeof(*r->timeline));
	l->run[l->n++] = r;
	return r->timeline ? r : NULL;
}

// Adds it unless it was met before. 0, or -1 with errno.
static int add_cycle(struct load *l, const struct bench_context *context, const struct cycle *c)
{
	struct load_run *r = find_run(l, false, context);
	int is_new = r ? meet(r, c->number) : -1;
	l->repeated += is_new == 0;
	if (is_new <= 0)
		return is_new;
	if (r->ntimeline < LOAD_TIMELINE)
		r->timeline[r->ntimeline++] = *c;
	return result_add(&r->sum->result, c);
}

// Likewise a run of the experiment.
static int add_ab_run(struct load *l, const struct bench_context *context, struct ab_run *run)
{
	struct load_run *r = find_run(l, true, context);
	uint64_t number = run->number < SEEN_MAX ? run->number * AB_MODES + run->mode : SEEN_MAX;
	int is_new = r ? meet(r, number) : -1;
	l->repeated += is_new == 0;
	return is_new > 0 ? ab_result_add(&r->sum->ab, run) : is_new;
}

static int add_line(void *arg, const char *path, uint64_t number, char *line, size_t len)
{
	struct load *l = arg;
	struct bench_context context;
	struct ab_run run;
	struct cycle c;
	int r = 0;
	if (!len)
		return 0;
	if (raw_read(line, len, &context, &c))
		return add_cycle(l, &context, &c);
	if (ab_read(line, len, &context, &run))
		r = add_ab_run(l, &context, &run);
	else if (!l->bad_lines++)
		raw_why_not(l->first_bad, path, number, line, len);
	ab_run_fini(&run);
	return r;
}

static int is_sample_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 7 && strcmp(e->d_name + n - 7, ".ndjson") == 0;
}

static int add_folder(struct load *l, const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, is_sample_file, alphasort), r = 0;
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		char *file = NULL;
		if (!r && asprintf(&file, "%s/%s", path, list[i]->d_name) < 0)
			r = -1;
		r = r ? r : input_lines(file, add_line, l);
		free(file);
		free(list[i]);
	}
	free(list);
	return r;
}

int load_add(struct load *l, const char *path)
{
	struct stat st;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return add_folder(l, path);
	return input_lines(path, add_line, l);
}

void load_fini(struct load *l)
{
	for (size_t i = 0; i < l->n; i++) {
		result_fini(&l->run[i]->result);
		ab_result_fini(&l->run[i]->ab);
		free(l->run[i]->timeline);
		free(l->run[i]->seen);
		free(l->run[i]);
	}
	free(l->run);
	memset(l, 0, sizeof(*l));
}
