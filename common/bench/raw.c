// Raw samples: written, read, loaded into runs, added up; raw.h.
#include "common/bench/raw.h"

#include "common/amdlog/merge/partial.h"
#include "common/bench/plan.h"
#include "common/cli/input.h"
#include "common/host/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <search.h>
#include <sys/stat.h>

// ---- one sample

static void write_saved_member(struct json *j, const struct member *m, const void *at)
{
	const struct cycle *c = at;
	if (!c->xccs) {
		json_str(j, m->key, NULL);
		return;
	}
	json_begin(j, m->key, '[');
	for (unsigned i = 0; i < c->xccs; i++)
		json_u64(j, NULL, c->saved_bytes[i]);
	json_end(j, ']');
}

// Reads the saved bytes: one number for each XCC, in order, or null.
static bool read_saved_member(const struct jsonin_value *v, const struct member *m, void *at)
{
	struct jsonin j;
	struct jsonin_value each;
	struct cycle *c = at;
	(void)m;
	c->xccs = 0;
	if (v->kind == 'n')
		return true;
	if (!jsonin_open(&j, v->text, v->len, '['))
		return false;
	for (; jsonin_next(&j, NULL, &each); c->xccs++)
		if (c->xccs == KFD_XCC_MAX || !jsonin_u64(&each, &c->saved_bytes[c->xccs]))
			return false;
	return !j.failed;
}

static const struct member_type saved = {write_saved_member, read_saved_member};

#define SAME(name) MEMBER(u64, cycle, name, #name),
static const struct member cycle_members[] = {
	MEMBER_WORD(cycle, result, "result", cycle_result_name),
	MEMBER(flag, cycle, warmup, "warmup"),
	MEMBER(u64, cycle, number, "cycle"),
	MEMBER(u64, cycle, block, "block"),
	MEMBER(u64, cycle, repeat, "repeat"),
	MEMBER(u64, cycle, set.grace, "grace"),
	MEMBER(u64, cycle, set.queues, "queues_wanted"),
	MEMBER(u64, cycle, set.level, "prio_level_wanted"),
	MEMBER(u64, cycle, set.hold_ns, "hold_wanted_ns"),
	MEMBER(u64, cycle, set.gap_ns, "gap_wanted_ns"),
	MEMBER(u64, cycle, set.process, "process"),
	MEMBER(u64, cycle, queues, "queues"),
	CYCLE_MEASURED(SAME)                     // the JSON key is the member's name
	{"saved_bytes_xcc", &saved, 0, 0, NULL}, // `saved` takes the whole struct cycle
	{0},
};

void raw_write(struct buf *out, const struct bench_context *context, const struct cycle *c)
{
	struct json j;
	record_begin(&j, out, "preempt_cycle");
	members_write(&j, cycle_members, c);
	members_write(&j, bench_context_members, context);
	record_end(&j);
}

#define OLD_BASELINE "\"untouched_ns\":"
#define MOMENT       "\"record\":\"" AB_MOMENT "\""

static bool is_level(uint64_t level)
{
	return level == CYCLE_NONE || level < COUNT(plan_levels) - 1;
}

bool raw_read(const char *line, size_t len, struct bench_context *context, struct cycle *c)
{
	const struct member_row rows[] = {
		{cycle_members, c}, {bench_context_members, context}, {0}};
	memset(context, 0, sizeof(*context));
	memset(c, 0, sizeof(*c));
	cycle_clear(c);
	c->set.queues = c->set.level = c->set.process = CYCLE_NONE;
	if (!record_read(line, len, "preempt_cycle", rows) || !is_level(c->set.level))
		return false;
	// In samples of an older gpq the baseline has another name, and would be lost unseen.
	return c->baseline_ns != CYCLE_NONE ||
	       !memmem(line, len, OLD_BASELINE, strlen(OLD_BASELINE));
}

// Says why a line is no sample: "FILE line 7: not JSON".
static void raw_why_not(char why[160], const char *path, uint64_t number, const char *line,
			size_t len)
{
	struct jsonin j;
	bool json = jsonin_open(&j, line, len, '{');
	snprintf(why, 160, "%.100s line %llu: %s", path, (unsigned long long)number,
		 !json ? "not JSON"
		 : memmem(line, len, OLD_BASELINE, strlen(OLD_BASELINE))
			 ? "of an older gpq: untouched_ is baseline_ now"
		 : memmem(line, len, MOMENT, strlen(MOMENT))
			 ? "of a run of ab that did not end"
			 : "not a sample that this version knows");
}

int raw_file_open(struct raw_file *f, const char *path)
{
	*f = (struct raw_file){.path = path, .fd = -1, .part = -1};
	if (path)
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return path && f->fd < 0 ? -1 : 0;
}

int raw_file_open_part(struct raw_file *f)
{
	struct stat st;
	if (f->fd < 0 || fstat(f->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	f->part_path = xasprintf("%s.part", f->path);
	if (unlink(f->part_path) && errno != ENOENT)
		return -1;
	// Whoever else may write to the folder cannot lead it elsewhere.
	f->part = open(f->part_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return f->part < 0 ? -1 : 0;
}

// Cuts a file behind its last whole line. Leaves errno as it is.
static void cut(int fd, off_t size)
{
	const int error = errno;
	if (!ftruncate(fd, size)) // else a pipe or /dev/full: nothing to cut off
		lseek(fd, size, SEEK_SET);
	errno = error;
}

void raw_file_put_part(struct raw_file *f)
{
	if (f->part >= 0 && !f->part_full && write_fully(f->part, f->line.data, f->line.len)) {
		f->part_full = true;
		cut(f->part, f->part_size);
	}
	f->part_size += f->part_full ? 0 : (off_t)f->line.len;
	f->line.len = 0;
}

int raw_file_put(struct raw_file *f)
{
	size_t len = f->line.len;
	if (f->fd >= 0 && write_fully(f->fd, f->line.data, f->line.len)) {
		cut(f->fd, f->size);
		return -1;
	}
	f->line.len = 0;
	f->size += (off_t)len;
	f->lines++;
	f->part_size = 0;
	f->part_full = false;
	if (f->part >= 0)
		cut(f->part, 0);
	return 0;
}

int raw_file_close(struct raw_file *f)
{
	int r = f->fd >= 0 ? close(f->fd) : 0;
	f->fd = -1;
	buf_fini(&f->line);
	if (f->part >= 0 && !f->part_size)
		unlink(f->part_path);
	close_quietly(f->part);
	f->part = -1;
	free(f->part_path);
	f->part_path = NULL;
	return r;
}

// ---- samples loaded into runs

enum { SEEN_MAX = 1 << 22 }; // greater sample numbers are not checked: no run has so many

// Marks sample number `n` of a run as seen. False if it was seen before, which is counted.
static bool seen_add(struct raw_seen *s, uint64_t n, uint64_t *repeated)
{
	if (n >= SEEN_MAX)
		return true;
	ARRAY_REACH(s->bits, s->size, n / 8, 0);
	const bool met = s->bits[n / 8] >> (n % 8) & 1;
	s->bits[n / 8] |= (uint8_t)(1u << (n % 8));
	*repeated += met;
	return !met;
}

struct load_run *load_first(const struct load *l, bool is_ab)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->run[i]->is_ab == is_ab)
			return l->run[i];
	return NULL;
}

struct load_run *load_new_run(struct load *l, bool is_ab, const struct bench_context *c)
{
	struct load_run *r = xcalloc(1, sizeof(*r));
	r->is_ab = is_ab;
	r->context = *c;
	array_grow(&l->run, &l->cap, l->n, sizeof(struct load_run *));
	return l->run[l->n++] = r;
}

static void load_run_free(struct load_run *r)
{
	result_fini(&r->result);
	ab_result_fini(&r->ab);
	free(r->seen.bits);
	free(r);
}

static struct load_run *find_run(struct load *l, bool is_ab, const struct bench_context *c)
{
	for (size_t i = l->n; i--;) // the last run first, as samples of a run stand together
		if (l->run[i]->is_ab == is_ab &&
		    strcmp(l->run[i]->context.text[CONTEXT_run], c->text[CONTEXT_run]) == 0)
			return l->run[i];
	return load_new_run(l, is_ab, c);
}

// Adds a cycle unless it was read before. Returns 0, or -1 with errno.
static int load_cycle(struct load *l, const struct bench_context *context, const struct cycle *c)
{
	struct load_run *r = find_run(l, false, context);
	if (!seen_add(&r->seen, c->number, &l->repeated))
		return 0;
	if (r->ntimeline < LOAD_TIMELINE)
		r->timeline[r->ntimeline++] = *c;
	return result_add(&r->result, c);
}

static uint64_t ab_number(const struct ab_run *run)
{
	return run->number < SEEN_MAX ? run->number * AB_MODES + run->mode : SEEN_MAX;
}

// Adds a run of the experiment unless it was read before.
static void load_ab_run(struct load *l, const struct bench_context *context, struct ab_run *run)
{
	struct load_run *r = find_run(l, true, context);
	if (seen_add(&r->seen, ab_number(run), &l->repeated))
		ab_result_add(&r->ab, run);
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

// ---- sums of samples

static void write_hist(struct json *j, const struct member *m, const void *at)
{
	hist_json(at, j, m->key);
}

static bool read_hist(const struct jsonin_value *v, const struct member *m, void *at)
{
	(void)m;
	return hist_read(at, v->text, v->len);
}

static const struct member_type member_hist = {write_hist, read_hist};

enum { KEYS_KEPT = 2 }; // sum_drop() refuses the first ones: metric and source
static const struct member key_members[] = {
	MEMBER(plain, sum_key, metric, "metric"),
	MEMBER(plain, sum_key, source, "source"),
	MEMBER(plain, sum_key, scheduler, "scheduler"),
	MEMBER(plain, sum_key, kernel, "kernel"),
	MEMBER(plain, sum_key, gpus, "gpus"),
	MEMBER(text, sum_key, setting, "setting"),
	MEMBER(u64, sum_key, set.grace, "grace"),
	MEMBER(u64, sum_key, set.queues, "queues_wanted"),
	MEMBER(u64, sum_key, set.level, "prio_level_wanted"),
	MEMBER(u64, sum_key, set.hold_ns, "hold_wanted_ns"),
	MEMBER(u64, sum_key, set.gap_ns, "gap_wanted_ns"),
	MEMBER(plain, sum_key, dropped, "dropped"),
	{0},
};
static const struct member hist_members[] = {MEMBER(count, sum_row, samples, "samples_hash"),
					     MEMBER(hist, sum_row, hist, "histogram_ns"),
					     {0}};
#define OFFLINE(name) MEMBER(count, sum_row, offline.name, #name),
static const struct member offline_members[] = {MEMBER(count, sum_row, samples, "samples_hash"),
						AB_OFFLINE(OFFLINE){0}};

bool sum_drop(struct sum *s, size_t offset)
{
	for (size_t i = KEYS_KEPT; key_members[i].key; i++)
		if (key_members[i].offset == offset)
			return s->drop |= UINT64_C(1) << i;
	return false;
}

// Makes members unknown, and names them in k->dropped: unknown for another reason is another key.
static void drop_members(struct sum_key *k, uint64_t which)
{
	char names[sizeof(k->dropped)] = "";
	for (const struct member *m = key_members; m->key && which; m++) {
		const bool drop = which >> (m - key_members) & 1;
		const size_t len = strlen(names);
		if (drop)
			memset((char *)k + m->offset, m->type == &member_u64 ? 0xff : 0, m->size);
		if (drop || strstr(k->dropped, m->key)) // no name is part of another
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "", m->key);
	}
	if (which)
		memcpy(k->dropped, names, sizeof(names));
}

static char *order_of(const struct sum_key *k)
{
	struct buf b = {0};
	struct json j;
	json_init(&j, &b, false);
	json_begin(&j, NULL, '{');
	members_write(&j, key_members, k);
	json_end(&j, '}');
	return b.data;
}

const char *sum_mode(const struct sum_row *r)
{
	const size_t len = strlen(SUM_OFFLINE);
	return strncmp(r->key.metric, SUM_OFFLINE, len) == 0 ? r->key.metric + len : NULL;
}

double sum_rate_alone(const struct sum *s, const struct sum_row *r)
{
	for (size_t i = 0; i < s->n; i++) // `order` begins with the metric
		if (strcmp(s->row[i]->key.metric, SUM_OFFLINE "alone") == 0 &&
		    strcmp(strchr(s->row[i]->order, ','), strchr(r->order, ',')) == 0)
			return ab_offline_rate(&s->row[i]->offline);
	return NAN;
}

// Returns the row with this key, which is made if it is missing, for the samples of s->hash.
static struct sum_row *sum_row_for(struct sum *s, const struct sum_key *of)
{
	struct sum_key key = *of;
	drop_members(&key, s->drop);
	char *order = order_of(&key);
	size_t at = 0;
	while (at < s->n && strcmp(s->row[at]->order, order) < 0)
		at++;
	if (at < s->n && strcmp(s->row[at]->order, order) == 0) {
		free(order);
	} else {
		struct sum_row *r = xcalloc(1, sizeof(*r));
		r->key = key;
		r->order = order;
		hist_init(&r->hist);
		array_grow(&s->row, &s->cap, s->n, sizeof(struct sum_row *));
		memmove(&s->row[at + 1], &s->row[at], (s->n++ - at) * sizeof(struct sum_row *));
		s->row[at] = r;
	}
	s->row[at]->samples = (s->row[at]->samples + s->hash) & AMDLOG_HASH_MAX;
	return s->row[at];
}

static void key_of(struct sum_key *k, const struct bench_context *c)
{
	memset(k, 0, sizeof(*k));
	snprintf(k->source, sizeof(k->source), "%.31s", c->text[CONTEXT_source]);
	snprintf(k->scheduler, sizeof(k->scheduler), "%.31s", c->text[CONTEXT_scheduler]);
	snprintf(k->kernel, sizeof(k->kernel), "%.95s", c->text[CONTEXT_kernel]);
	snprintf(k->gpus, sizeof(k->gpus), "%s", c->text[CONTEXT_gpus]);
	snprintf(k->setting, sizeof(k->setting), "%s", c->text[CONTEXT_setting]);
}

static void sum_add_cycle(struct sum *s, struct sum_key *k, const struct cycle *c)
{
	const char *of = c->set.process == CYCLE_NONE    ? ""
			 : c->set.process == CYCLE_GROUP ? "group_"
							 : "member_";
	k->set = c->set;
	for (unsigned m = 0; m < METRICS && !c->warmup; m++) {
		double v = result_metric(c, (enum result_metric)m);
		snprintf(k->metric, sizeof(k->metric), "%s%s", of, result_metric_name[m]);
		if (v >= 0)
			hist_add(&sum_row_for(s, k)->hist, (uint64_t)v);
	}
}

static void sum_add_times(struct sum *s, struct sum_key *k, const struct samples *times,
			  const char *of, const char *name)
{
	snprintf(k->metric, sizeof(k->metric), "%s%s", of, name);
	struct sum_row *r = times->n ? sum_row_for(s, k) : NULL;
	for (size_t i = 0; i < times->n; i++)
		hist_add(&r->hist, (uint64_t)times->v[i]);
}

static void sum_add_run(struct sum *s, struct sum_key *k, const struct ab_run *run)
{
	const struct ab_offline offline = ab_offline_of(run);
	memset(&k->set, 0xff, sizeof(k->set)); // all CYCLE_NONE
	sum_add_times(s, k, &run->times.suspend, "ab_", "suspend");
	sum_add_times(s, k, &run->times.resume, "ab_", "resume");
	sum_add_times(s, k, &run->times.latency, "online_", ab_mode_name[run->mode]);
	snprintf(k->metric, sizeof(k->metric), SUM_OFFLINE "%s", ab_mode_name[run->mode]);
	ab_offline_add(&sum_row_for(s, k)->offline, &offline);
}

// What was added to sums before: samples of a run, or a sum.
struct seen_run {
	struct raw_seen seen; // of gpq bench preempt 2 n, of ab 2 n + 1
	char name[];          // that of the run behind 'r', or the hash of a sum behind 's'
};

static int by_run_name(const void *a, const void *b)
{
	return strcmp(((const struct seen_run *)a)->name, ((const struct seen_run *)b)->name);
}

static void seen_run_free(void *run)
{
	free(((struct seen_run *)run)->seen.bits);
	free(run);
}

// Makes s->last the run or sum with this name, which is added if it is missing.
static void sum_find_run(struct sum *s, char kind, const char *name)
{
	const size_t len = strlen(name) + 2;
	if (s->last && s->last->name[0] == kind && strcmp(s->last->name + 1, name) == 0)
		return;
	struct seen_run *run = xcalloc(1, sizeof(*run) + len);
	snprintf(run->name, len, "%c%s", kind, name);
	s->last = *(struct seen_run **)xcheck(tsearch(run, &s->seen, by_run_name));
	if (s->last != run)
		free(run);
	else
		s->runs += kind == 'r';
}

// Adds a line that is a sum, unless it was added before. False if it is none.
static bool sum_add_sum(struct sum *s, const char *line, size_t len)
{
	static struct sum_row read; // static, as it has 16 KB; there is only one thread
	const struct member_row rows[] = {
		{key_members, &read.key}, {hist_members, &read}, {offline_members, &read}, {0}};
	char id[24];
	memset(&read, 0, sizeof(read));
	memset(&read.key.set, 0xff, sizeof(read.key.set)); // all CYCLE_NONE
	if (!record_read(line, len, "bench_sum", rows) || !*read.key.metric ||
	    !is_level(read.key.set.level))
		return false;
	// Without a histogram min is 0, as reading one sets it.
	if (sum_mode(&read) ? !read.offline.runs : !read.hist.count && !read.hist.min)
		return false;
	snprintf(id, sizeof(id), "%" PRIx64, amdlog_hash(0, line, len));
	sum_find_run(s, 's', id);
	if (!seen_add(&s->last->seen, 0, &s->repeated[1]))
		return true;
	s->hash = read.samples;
	struct sum_row *r = sum_row_for(s, &read.key);
	if (sum_mode(r))
		ab_offline_add(&r->offline, &read.offline);
	else
		hist_merge(&r->hist, &read.hist);
	return true;
}

static struct buf *names_to; // for twalk(), which hands no argument on

static void write_name(const void *node, VISIT visit, int depth)
{
	(void)depth;
	const struct seen_run *run = *(const struct seen_run *const *)node;
	struct json j;
	if (run->name[0] != 'r' || (visit != postorder && visit != leaf))
		return;
	record_begin(&j, names_to, "bench_run");
	json_str(&j, "run", run->name + 1);
	record_end(&j);
}

void sum_write(struct buf *out, const struct sum *s)
{
	struct json j;
	for (size_t i = 0; i < s->n; i++) {
		const struct sum_row *r = s->row[i];
		record_begin(&j, out, "bench_sum");
		members_write(&j, key_members, &r->key);
		members_write(&j, sum_mode(r) ? offline_members : hist_members, r);
		record_end(&j);
	}
	names_to = out;
	twalk(s->seen, write_name);
}

// Returns whether a sample is to be added: false if it was added before. A sample that does not
// name its run is always added, as it cannot be told from those of other runs.
static bool sum_is_new(struct sum *s, bool is_ab, const struct bench_context *c, uint64_t number)
{
	const char *name = c->text[CONTEXT_run];
	s->hash = amdlog_hash(amdlog_hash(0, name, strlen(name)), &number, sizeof(number));
	if (!*name)
		return true;
	sum_find_run(s, 'r', name); // samples of a run stand together
	return seen_add(&s->last->seen, 2 * number + is_ab, &s->repeated[0]);
}

// Adds a line that is a sample, a sum or the name of a run. False if it is none.
static bool sum_add_known(struct sum *s, const char *line, size_t len)
{
	static struct bench_context context;
	static struct sum_key key;
	const struct member_row name[] = {{bench_context_members, &context}, {0}};
	struct ab_run run;
	struct cycle c;
	if (raw_read(line, len, &context, &c)) {
		key_of(&key, &context);
		if (sum_is_new(s, false, &context, c.number))
			sum_add_cycle(s, &key, &c);
		return true;
	}
	bool is_run = ab_read(line, len, &context, &run);
	if (is_run && sum_is_new(s, true, &context, ab_number(&run))) {
		key_of(&key, &context);
		sum_add_run(s, &key, &run);
	}
	ab_run_fini(&run);
	if (is_run || sum_add_sum(s, line, len))
		return true;
	const bool named = record_read(line, len, "bench_run", name) && *context.text[CONTEXT_run];
	if (named)
		sum_find_run(s, 'r', context.text[CONTEXT_run]);
	return named;
}

void sum_add_line(struct sum *s, const char *path, uint64_t number, const char *line, size_t len)
{
	if (len && !sum_add_known(s, line, len) && !s->bad_lines++)
		raw_why_not(s->first_bad, path, number, line, len);
}

void sum_fini(struct sum *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->row[i]->order);
		free(s->row[i]);
	}
	free(s->row);
	tdestroy(s->seen, seen_run_free);
	*s = (struct sum){0};
}
