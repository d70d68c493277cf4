// Reading raw samples; load.h.
#include "common/bench/load.h"

#include "common/bench/raw.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { SEEN_MAX = 1 << 26 }; // greater numbers than any run has are not watched

// 1: number `n` is new, and now met; 0: it was met before; -1 with errno.
static int meet(struct load_seen *s, uint64_t n)
{
	if (n >= SEEN_MAX)
		return 1;
	if (n / 8 >= s->size) {
		size_t size = (size_t)n / 4 + 64;
		uint8_t *bits = realloc(s->bits, size);
		if (!bits)
			return -1;
		memset(bits + s->size, 0, size - s->size);
		s->bits = bits;
		s->size = size;
	}
	bool met = s->bits[n / 8] >> (n % 8) & 1;
	s->bits[n / 8] |= (uint8_t)(1u << (n % 8));
	return !met;
}

static struct load_run *find_run(struct load *l, const struct bench_context *c)
{
	for (size_t i = l->n; i--;) // samples of a run stand together
		if (strcmp(l->run[i]->result.context.text[CONTEXT_run], c->text[CONTEXT_run]) == 0)
			return l->run[i];
	struct load_run **v = reallocarray(l->run, l->n + 1, sizeof(struct load_run *));
	if (!v)
		return NULL;
	l->run = v;
	struct load_run *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	result_init(&r->result);
	r->result.context = *c;
	r->timeline = calloc(LOAD_TIMELINE, sizeof(*r->timeline));
	l->run[l->n++] = r;
	return r->timeline ? r : NULL;
}

// Index of the experiment in l->ab, or -1 with errno.
static ssize_t find_ab(struct load *l, const struct bench_context *c)
{
	for (size_t i = l->nab; i--;)
		if (strcmp(l->ab[i]->context.text[CONTEXT_run], c->text[CONTEXT_run]) == 0)
			return (ssize_t)i;
	struct ab_result **v = reallocarray(l->ab, l->nab + 1, sizeof(struct ab_result *));
	l->ab = v ? v : l->ab;
	struct load_seen *seen = reallocarray(l->ab_seen, l->nab + 1, sizeof(*seen));
	l->ab_seen = seen ? seen : l->ab_seen;
	struct ab_result *a = v && seen ? calloc(1, sizeof(*a)) : NULL;
	if (!a)
		return -1;
	a->context = *c;
	l->ab_seen[l->nab] = (struct load_seen){0};
	l->ab[l->nab++] = a;
	return (ssize_t)l->nab - 1;
}

static int add_ab_run(struct load *l, const struct bench_context *context, struct ab_run *run)
{
	ssize_t i = find_ab(l, context);
	if (i < 0)
		return -1;
	int is_new = run->number < SEEN_MAX
			     ? meet(&l->ab_seen[i], run->number * AB_MODES + run->mode)
			     : 1;
	l->repeated += is_new == 0;
	return is_new > 0 ? ab_result_add(l->ab[i], run) : is_new;
}

// 1: it was a run of the experiment and is added; 0: it was none; -1 with errno.
static int add_ab(struct load *l, const char *line, size_t len)
{
	struct bench_context context;
	struct ab_run run;
	int r = 0;
	if (ab_read(line, len, &context, &run))
		r = add_ab_run(l, &context, &run) ? -1 : 1;
	ab_run_fini(&run);
	return r;
}

static int add_line(struct load *l, const char *path, uint64_t number, const char *line, size_t len)
{
	struct bench_context context;
	struct cycle c;
	const char *why;
	if (len && line[len - 1] == '\n')
		len--;
	if (!len)
		return 0;
	l->lines++;
	if (!raw_read(line, len, &context, &c, &why)) {
		int ab = add_ab(l, line, len);
		if (ab)
			return ab < 0 ? -1 : 0;
		if (!l->bad_lines++)
			snprintf(l->first_bad, sizeof(l->first_bad), "%.100s line %llu: %s", path,
				 (unsigned long long)number, why);
		return 0;
	}
	struct load_run *r = find_run(l, &context);
	int is_new = r ? meet(&r->seen, c.number) : -1;
	l->repeated += is_new == 0;
	if (is_new <= 0)
		return is_new;
	if (r->ntimeline < LOAD_TIMELINE)
		r->timeline[r->ntimeline++] = c;
	return result_add(&r->result, &c);
}

static int add_stream(struct load *l, const char *path, FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	uint64_t number = 0;
	ssize_t n;
	int r = 0;
	errno = 0;
	while (!r && (n = getline(&line, &cap, f)) >= 0)
		r = add_line(l, path, ++number, line, (size_t)n);
	if (!r && ferror(f))
		r = -1;
	free(line);
	return r;
}

static int add_file(struct load *l, const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	if (!f)
		return -1;
	int r = add_stream(l, path, f), error = errno;
	if (f != stdin)
		fclose(f);
	errno = error;
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
		r = r ? r : add_file(l, file);
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
	return add_file(l, path);
}

void load_fini(struct load *l)
{
	for (size_t i = 0; i < l->n; i++) {
		result_fini(&l->run[i]->result);
		free(l->run[i]->timeline);
		free(l->run[i]->seen.bits);
		free(l->run[i]);
	}
	for (size_t i = 0; i < l->nab; i++) {
		ab_result_fini(l->ab[i]);
		free(l->ab[i]);
		free(l->ab_seen[i].bits);
	}
	free(l->run);
	free(l->ab);
	free(l->ab_seen);
	memset(l, 0, sizeof(*l));
}
