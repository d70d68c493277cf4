// Options from a file; opts_file.h.
#include "common/cli/opts_file.h"

#include "common/cli/err.h"
#include "common/cli/text.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { SIZE_MOST = 65536 };

#define BOM "\xef\xbb\xbf" // which some editors write before a text

static const char blanks[] = " \t\r";

static int unknown_name(const struct opt *table, const char *names, const char *name)
{
	const char *words[64] = {0};
	size_t n = 0;
	for (; table->name && n + 1 < COUNT(words); table++)
		if (text_has_word(names, table->name, strlen(table->name)))
			words[n++] = table->name;
	const char *guess = opts_suggest(name, words);
	return err_fail(GPQ_USAGE, "long names of options, without dashes",
			"%s is no option of such a file%s%s", *name ? name : "(nothing)",
			guess ? ", did you mean " : "", guess ? guess : "");
}

// Returns the text without the blanks around it, which it ends.
static char *trimmed(char *text)
{
	char *end = text + strlen(text);
	while (end > text && strchr(blanks, end[-1]))
		*--end = '\0';
	return text + strspn(text, blanks);
}

static void add_line(struct opts_file *f, const struct opt *o, char *arg, unsigned number)
{
	*ARRAY_ADD(f->v, f->cap, f->n) = (struct opts_line){o, arg, number, false};
}

// Begins a section, "[offline]" or "[class batch]".
static int read_section(struct opts_file *f, char *line, const struct opt *table, const char *names)
{
	char *end = line + strlen(line) - 1;
	if (end == line || *end != ']')
		return err_fail(GPQ_USAGE, "[offline], or [class NAME]", "%s has no ] at its end",
				line);
	*end = '\0';
	char *name = trimmed(line + 1), *key = name + strcspn(name, blanks);
	if (*key)
		*key++ = '\0';
	key += strspn(key, blanks);
	const struct opt *o = opts_find(table, name, 0);
	if (!o || !text_has_word(names, name, strlen(name)))
		return unknown_name(table, names, name);
	if (o->kind != OPT_LIST)
		return err_fail(GPQ_USAGE, "write it above all sections",
				"%s is given once, and no section", name);
	free(f->key);
	f->key = *key ? xstrdup(key) : NULL;
	f->section = o;
	return GPQ_OK;
}

// Reads a line, which it changes.
static int read_line(struct opts_file *f, char *line, unsigned number, const struct opt *table,
		     const char *names)
{
	line = trimmed(line);
	if (!*line || *line == '#')
		return GPQ_OK;
	if (*line == '[')
		return read_section(f, line, table, names);
	const size_t word = strcspn(line, " \t=");
	if (f->section && text_has_word(names, line, word))
		return err_fail(GPQ_USAGE, NULL,
				"%.*s stands below [%s]: options stand above all sections",
				(int)word, line, f->section->name);
	if (f->section) {
		add_line(f, f->section, f->key ? xasprintf("%s=%s", f->key, line) : xstrdup(line),
			 number);
		return GPQ_OK;
	}
	char *arg = line + strcspn(line, " \t=");
	const char between = *arg;
	if (between)
		*arg++ = '\0';
	arg += strspn(arg, blanks);
	if (between != '=' && *arg == '=')
		arg += 1 + strspn(arg + 1, blanks);
	const struct opt *o = opts_find(table, line, 0);
	if (!o || !text_has_word(names, line, strlen(line)))
		return unknown_name(table, names, line);
	if (opt_arg(o) ? !between : *arg != '\0')
		return err_fail(GPQ_USAGE, NULL,
				opt_arg(o) ? "%s needs an argument: %s" : "%s takes no argument%s",
				line, opt_arg(o) ? opt_arg(o) : "");
	add_line(f, o, xstrdup(arg), number);
	return GPQ_OK;
}

// Reads the text of the file. Returns NULL after a message, with the exit status in *status.
static char *read_text(const char *path, int *status)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		*status = err_sys(errno, NULL, "%s", path);
		close_quietly(fd);
		return NULL;
	}
	char *text = xcalloc(1, SIZE_MOST + 1);
	const ssize_t n = S_ISREG(st.st_mode) ? read(fd, text, SIZE_MOST + 1) : 0;
	if (n < 0)
		*status = err_sys(errno, NULL, "%s", path);
	else if (!S_ISREG(st.st_mode) || n > SIZE_MOST || memchr(text, '\0', (size_t)n))
		*status = err_fail(GPQ_USAGE, "a file with an option a line",
				   "%s: not a text file of at most 64 KiB", path);
	close(fd);
	if (!*status)
		return text;
	free(text);
	return NULL;
}

int opts_file_read(struct opts_file *f, const char *path, const struct opt *table,
		   const char *names)
{
	int status = GPQ_OK;
	SCOPED(free_at) char *text = read_text(path, &status);
	char *rest = text && memcmp(text, BOM, strlen(BOM)) == 0 ? text + strlen(BOM) : text;
	*f = (struct opts_file){0};
	for (unsigned number = 1; rest && !status; number++) {
		char *line = strsep(&rest, "\n");
		SCOPED(free_at) char *at = xasprintf("%s: line %u", path, number);
		err_at(at);
		status = read_line(f, line, number, table, names);
		err_at(NULL);
	}
	return status;
}

int opts_file_store(struct opts_file *f, const char *path, void *base)
{
	int status = GPQ_OK;
	for (size_t i = 0; i < f->n && !status; i++) {
		SCOPED(free_at) char *at = xasprintf("%s: line %u", path, f->v[i].number);
		f->v[i].skip = opts_was_given(f->v[i].o);
		err_at(at);
		if (!f->v[i].skip)
			status = opts_store(f->v[i].o, base, f->v[i].arg);
		err_at(NULL);
	}
	return status;
}

// Appends what the file says of an option: all of a list, else the last line.
static void put_said(struct buf *b, const struct opts_file *f, const struct opt *o)
{
	buf_puts(b, "");
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].o != o || f->v[i].skip)
			continue;
		if (o->kind != OPT_LIST)
			b->len = 0;
		buf_printf(b, "%s%s", b->len ? ", " : "", opt_arg(o) ? f->v[i].arg : "given");
	}
}

void opts_file_compare(const struct opts_file *before, const struct opts_file *now,
		       const struct opt *table, const char *names,
		       void (*each)(const char *name, const char *before, const char *now))
{
	for (; table->name; table++) {
		SCOPED(buf_fini) struct buf a = {0}, b = {0};
		if (!text_has_word(names, table->name, strlen(table->name)))
			continue;
		put_said(&a, before, table);
		put_said(&b, now, table);
		if (strcmp(a.data, b.data) != 0)
			each(table->name, a.data, b.data);
	}
}

void opts_file_fini(struct opts_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].arg);
	free(f->v);
	free(f->key);
	*f = (struct opts_file){0};
}
