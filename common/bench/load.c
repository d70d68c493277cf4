// Reading raw samples; load.h.
#include "common/bench/load.h"

#include "common/bench/raw.h"
#include "common/cli/input.h"
#include "common/host/buf.h"
#include "common/host/xalloc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SEEN_MAX = 1 << 26 }; // beyond the number of samples of any run: not checked

// Is the number `n` new? It is known from now on; met again, it is counted as repeated.
static bool note_number(struct load *l, struct load_run *r, uint64_t n)
{
	if (n >= SEEN_MAX)
		return true;
	ARRAY_REACH(r->seen, r->seen_size, n / 8, 0);
	bool met = r->seen[n / 8] >> (n % 8) & 1;
	r->seen[n / 8] |= (uint8_t)(1u << (n % 8));
	l->repeated += met;
	return !met;
}

struct load_run *load_first(const struct load *l, bool is_ab)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->run[i]->is_ab == is_ab)
			return l->run[i];
	return NULL;
}

struct load_run *load_run_new(bool is_ab)
{
	struct load_run *r = xcalloc(1, sizeof(*r));
	r->is_ab = is_ab;
	return r->sum = r;
}

void load_run_free(struct load_run *r)
{
	result_fini(&r->result);
	ab_result_fini(&r->ab);
	free(r->seen);
	free(r);
}

static struct load_run *find_run(struct load *l, bool is_ab, const struct bench_context *c)
{
	for (size_t i = l->n; i--;) // samples of a run stand together
		if (l->run[i]->is_ab == is_ab &&
		    strcmp(l->run[i]->context.text[CONTEXT_run], c->text[CONTEXT_run]) == 0)
			return l->run[i];
	struct load_run *first = l->pool ? load_first(l, is_ab) : NULL;
	struct load_run *r = load_run_new(is_ab);
	r->context = *c;
	r->sum = first ? first : r;
	array_grow(&l->run, &l->cap, l->n, sizeof(struct load_run *));
	return l->run[l->n++] = r;
}

// Adds it unless it was met before. 0, or -1 with errno.
static int load_cycle(struct load *l, const struct bench_context *context, const struct cycle *c)
{
	struct load_run *r = find_run(l, false, context);
	if (!note_number(l, r, c->number))
		return 0;
	if (r->ntimeline < LOAD_TIMELINE)
		r->timeline[r->ntimeline++] = *c;
	return result_add(&r->sum->result, c);
}

// Likewise a run of the experiment.
static void load_ab_run(struct load *l, const struct bench_context *context, struct ab_run *run)
{
	struct load_run *r = find_run(l, true, context);
	uint64_t number = run->number < SEEN_MAX ? run->number * AB_MODES + run->mode : SEEN_MAX;
	if (note_number(l, r, number))
		ab_result_add(&r->sum->ab, run);
}

static int load_line(void *arg, const char *path, uint64_t number, char *line, size_t len)
{
	struct load *l = arg;
	struct bench_context context;
	struct ab_run run;
	struct cycle c;
	if (!len)
		return 0;
	if (raw_read(line, len, &context, &c))
		return load_cycle(l, &context, &c);
	if (ab_read(line, len, &context, &run))
		load_ab_run(l, &context, &run);
	else if (!l->bad_lines++)
		raw_why_not(l->first_bad, path, number, line, len);
	ab_run_fini(&run);
	return 0;
}

static int is_sample_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 7 && strcmp(e->d_name + n - 7, ".ndjson") == 0;
}

static int load_folder(struct load *l, const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, is_sample_file, alphasort), r = 0;
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		char *file = xasprintf("%s/%s", path, list[i]->d_name);
		r = r ? r : input_lines(file, load_line, l);
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
		return load_folder(l, path);
	return input_lines(path, load_line, l);
}

void load_fini(struct load *l)
{
	for (size_t i = 0; i < l->n; i++)
		load_run_free(l->run[i]);
	free(l->run);
	memset(l, 0, sizeof(*l));
}
