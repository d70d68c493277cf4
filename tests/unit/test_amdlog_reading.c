// Reading a log in blocks by several threads says the same as scanning it from front to end, for
// every size of block, number of threads and form of input; and so does a log cut at any byte.
#include "tests/unit/amdlog_ways.h"

static int is_file(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int check_folder(const char *folder, const char *suffix)
{
	struct buf path = {0}, text = {0};
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_file, alphasort), logs = 0;
	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(names[i]->d_name, '.');
		path.len = 0;
		buf_printf(&path, "%s/%s", folder, names[i]->d_name);
		if ((!suffix || (dot && strcmp(dot, suffix) == 0)) && logs++ % OF_FILES == 0 &&
		    buf_read_at(&text, AT_FDCWD, path.data) > 0)
			check_all_ways(names[i]->d_name, text.data, text.len);
		free(names[i]);
	}
	free(names);
	buf_fini(&path);
	buf_fini(&text);
	return logs;
}

static void test_all_ways(void **state)
{
	const char *samples = getenv("GPQ_SAMPLES");
	char folder[4096];
	(void)state;
	assert_true(check_folder("tests/data/amdlog", ".log") > 5);
	assert_true(check_folder("tests/data/amdlog/odd", ".log") > 5);
	assert_true(check_folder("tests/data/amdlog/shapes", ".log") > 5);
	assert_true(check_folder("tests/data/amdlog/truth", ".log") > 4);
	snprintf(folder, sizeof(folder), "%s/amdlog", samples ? samples : "../shared/samples");
	check_folder(folder, NULL);
}

// Many lines of many threads, with what is rare in between: so much of it that prefixes repeat.
static void test_mixed(void **state)
{
	struct buf part = {0}, text = {0};
	static const char *const files[] = {"rocm70.log",  "torn.log",          "rocm57.log",
					    "windows.log", "rocm63-level3.log", "rocm70.log",
					    "rocm43.log"};
	char path[128];

	(void)state;
	for (unsigned i = 0; i < 60 / OF_FILES; i++) {
		snprintf(path, sizeof(path), "tests/data/amdlog/%s", files[i % 9 < 7 ? i % 9 : 0]);
		assert_true(buf_read_at(&part, AT_FDCWD, path) > 0);
		// In most copies another process and threads of its own.
		for (char *p = part.data; i % 3 && (p = strstr(p, "[pid:4711")); p++)
			p[5] = (char)('5' + i % 5);
		buf_append(&text, part.data, part.len);
	}
	check_all_ways("mixed", text.data, text.len);
	buf_fini(&part);
	buf_fini(&text);
}

// The lines of a log that begin with a record, many times, every seventh line or so spoilt: behind
// a progress bar, in front of another record of its own or another process, torn at the end of a
// piece with the rest some lines later, wrapped by a terminal.
struct spoiler {
	struct buf *out;
	const char *end_of_line;
	unsigned random, every, wait; // lines until `rest` is written
	unsigned spoilt;
	struct buf rest;
};

static unsigned any(struct spoiler *s, unsigned below)
{
	return any_below(&s->random, below);
}

static void put(struct spoiler *s, const char *p, size_t len, bool ended)
{
	buf_append(s->out, p, len);
	if (ended)
		buf_append(s->out, s->end_of_line, strlen(s->end_of_line));
}

static void tear(struct spoiler *s, const char *p, size_t len, bool ended)
{
	size_t cut = 128 * (1 + any(s, (unsigned)(len / 128)));
	put(s, p, cut, ended);
	s->rest.len = 0;
	buf_append(&s->rest, p + cut, len - cut);
	s->wait = 1 + any(s, 3);
}

static void put_line(struct spoiler *s, const char *p, size_t len)
{
	unsigned what = any(s, s->every);
	char line[8192];
	assert_true(len < sizeof(line));
	memcpy(line, p, len + 1);
	if (!memcmp(line + 48, "[pid:4711", 9) && any(s, 9) == 0)
		line[53] = (char)('5' + any(s, 3));
	p = line;
	s->spoilt += what < 6;
	switch (what) {
	case 0: put(s, " 10%|#1:3: ", 11, false); break;
	case 1: put(s, p, len, false); break;
	case 2: put(s, p, len < 128 ? len : 128, false); return;
	case 3:
	case 4:
		if (len > 128 && !s->wait) {
			tear(s, p, len, what == 3);
			return;
		}
		break;
	case 5:
		put(s, p, len / 2, true);
		p += len / 2;
		len -= len / 2;
		break;
	default: break;
	}
	put(s, p, len, true);
	if (s->wait && !--s->wait)
		put(s, s->rest.data, s->rest.len, true);
}

static void spoil(struct buf *out, const char *file, size_t bytes, unsigned every,
		  const char *end_of_line)
{
	struct spoiler s = {
		.out = out, .end_of_line = end_of_line, .random = every, .every = every};
	struct buf log = {0};
	char path[128];
	out->len = 0;
	snprintf(path, sizeof(path), "tests/data/amdlog/%s", file);
	assert_true(buf_read_at(&log, AT_FDCWD, path) > 0);
	while (out->len < bytes) {
		for (const char *p = log.data, *end; (end = strchr(p, '\n')); p = end + 1) {
			if (*p == ':')
				put_line(&s, p, (size_t)(end - p));
		}
	}
	assert_true(s.spoilt >= bytes / 1000 / every);
	buf_fini(&log);
	buf_fini(&s.rest);
}

static void test_spoilt(void **state)
{
	static const char *const files[] = {"rocm70.log", "rocm57.log", "rocm63-level4.log",
					    "rocm43.log"};
	struct buf text = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (unsigned every = 7; every < 200; every *= 5) {
			spoil(&text, files[i], 60000, every, every == 35 ? "\r\n" : "\n");
			check_all_ways(files[i], text.data, text.len);
		}
	}
	buf_fini(&text);
}

// Most of a regular log must take the short way, else all of this tests nothing; and of one with
// few odd lines, too.
static void check_short_way(unsigned every, const char *end_of_line)
{
	struct buf text = {0}, log = {0};
	struct run r;
	struct blocks_job job = {.ctx = &r, .work = work, .take = take, .init = init, .fini = fini};
	struct blocks_input in = {.fd = -1, .read = give, .ctx = &r};
	uint64_t records;
	spoil(&text, "rocm70.log", 1000000, every, end_of_line);
	begin(&r, 1);
	r.text = text.data;
	r.left = text.len;
	assert_int_equal(blocks_run(&in, &job, 1, 16384), 0);
	records = r.reading.scan->counts.records;
	assert_true(r.results > 50);
	assert_true(r.results * 16384 > text.len * 9 / 10);
	assert_true(r.items * 2 < records);
	assert_true(r.scanned * 10 < text.len);
	finish(&r, &log);
	buf_fini(&text);
	buf_fini(&log);
}

static void test_short_way(void **state)
{
	(void)state;
	check_short_way(UINT_MAX / 2, "\n");
	check_short_way(UINT_MAX / 2, "\r\n");
	check_short_way(500, "\n");
}

// Two copies, so that prefixes are known in the second, which is cut.
static void check_cuts(const char *file, size_t step)
{
	struct buf log = {0}, text = {0}, want = {0}, got = {0};
	char path[128];
	snprintf(path, sizeof(path), "tests/data/amdlog/%s", file);
	assert_true(buf_read_at(&log, AT_FDCWD, path) > 0);
	for (size_t cut = 0; cut < log.len; cut += OF_BYTES * step) {
		text.len = 0;
		buf_append(&text, log.data, log.len);
		buf_append(&text, log.data, cut);
		in_order(text.data, text.len, &want);
		loop = cut % LOOPS;
		in_blocks(text.data, text.len, -1, 0, log.len, 1, &got);
		same(file, &want, &got, log.len, 1);
		loop = LOOPS - 1;
		in_blocks(text.data, text.len, -1, 0, log.len + cut + 1, 1, &got);
		same(file, &want, &got, log.len + cut + 1, 1);
	}
	buf_fini(&log);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

static void test_every_cut(void **state)
{
	(void)state;
	check_cuts("torn.log", 1);
	check_cuts("rocm63-level4.log", 1);
	check_cuts("rocm70.log", 13);
}

// Logs of all kinds, some lines of it several times, then damaged at random.
#define PART       6000
#define DAMAGE_MAX 6
static const char *const logs[] = {"cnn.log",         "moves.log",          "nolocation.log",
				   "repeated.txt",    "rocm35.log",         "rocm43.log",
				   "rocm57.log",      "rocm63-level3.log",  "rocm63-level4.log",
				   "rocm70.log",      "rocm712-level4.log", "torn.log",
				   "transformer.log", "windows.log",        "wrapped.log",
				   "pairs64.log",     "pairs57.log"};
#define LOGS (sizeof(logs) / sizeof(logs[0]))
static const char *const glue[] = {
	":3:a.cpp:66 : 1",
	(":3:hip_device_runtime.cpp   :668 : 20159813612 us: [pid:4711 tid: 0x7fd0001006c0] "
	 "hipSetDevice: Returned hipSuccess : "),
	":4:rocvirtual.cpp           :760 : 2000000000240 us: [7f00000b2880] HW",
};

// Of a log up to PART bytes from a line's beginning on, several times.
static void put_part(struct buf *out, unsigned times, unsigned *random)
{
	struct buf log = {0};
	const char *p, *end;
	char path[128];
	snprintf(path, sizeof(path), "tests/data/amdlog/%s", logs[any_below(random, LOGS)]);
	assert_true(buf_read_at(&log, AT_FDCWD, path) > 0);
	p = log.data;
	end = p + log.len;
	if (log.len > PART) {
		p = memchr(p + any_below(random, (unsigned)log.len - PART), '\n', PART);
		p = p ? p + 1 : log.data;
		end = end - p < PART ? end : p + PART;
	}
	while (times--) {
		buf_append(out, p, (size_t)(end - p));
		buf_append(out, "\n", 1);
	}
	buf_fini(&log);
}

static void damage(char *text, size_t len, size_t at, unsigned *random)
{
	static const char bytes[] = "\n\n::::3330 x=,]f\r\x1b[hS\t(";
	const char *from = text + any_below(random, (unsigned)len - 200);
	char *newline = memchr(text + at, '\n', len - at);
	size_t left = len - at, n = any_below(random, 200);
	n = n < left ? n : left;
	switch (any_below(random, 6)) {
	case 0: memmove(text + at, from, n); break;
	case 1: memmove(text + at, text + at + n, left - n); break;
	case 2:
		if (newline)
			*newline = ' ';
		break;
	case 3:
		from = glue[any_below(random, sizeof(glue) / sizeof(glue[0]))];
		n = strlen(from);
		memcpy(text + at, from, n < left ? n : left);
		break;
	default: text[at] = bytes[any_below(random, sizeof(bytes) - 1)]; break;
	}
}

// GPQ_DAMAGE: how many times; the default is quick.
static void test_damaged(void **state)
{
	const char *asked = getenv("GPQ_DAMAGE");
	unsigned rounds = asked ? (unsigned)strtoul(asked, NULL, 10) : 300 / OF_FILES;
	unsigned random = rounds, copies;
	struct buf text = {0}, want = {0}, got = {0};
	(void)state;
	while (rounds--) {
		size_t size;
		text.len = 0;
		copies = 3 + any_below(&random, 4);
		put_part(&text, copies, &random);
		size = any_below(&random, 2) ? text.len / copies * 2
					     : 1000 + any_below(&random, 9000);
		put_part(&text, 1, &random);
		for (unsigned i = 1 + any_below(&random, DAMAGE_MAX); i--;)
			damage(text.data, text.len, any_below(&random, (unsigned)text.len),
			       &random);
		loop = rounds % LOOPS;
		in_order(text.data, text.len, &want);
		in_blocks(text.data, text.len, -1, 0, size, 1 + any_below(&random, 2), &got);
		same("damaged", &want, &got, size, rounds);
	}
	loop = LOOPS - 1;
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

int main(void)
{
	filter = filters;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways),  cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_spoilt),    cmocka_unit_test(test_short_way),
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
