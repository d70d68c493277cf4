// gpq --complete: candidates for shells. The scripts in completions/ call it, so they never
// differ from the option and column tables.
#include "cmd/command.h"

#include "common/host/proc.h"
#include "common/host/root.h"
#include "common/host/secure.h"
#include "common/state/queue_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The word under the cursor: what stays as it is ("--output=PID,"), and what is to be completed
// ("QI").
struct typed {
	const char *keep;
	int n; // bytes of it
	const char *rest;
};

static void offer(const struct typed *t, const char *word, const char *help)
{
	if (strncmp(word, t->rest, strlen(t->rest)) == 0)
		printf("%.*s%s\t%s\n", t->n, t->keep, word, help);
}

static void keep_up_to(struct typed *t, const char *end)
{
	t->n = (int)(end - t->keep);
	t->rest = end;
}

static void offer_options(const struct typed *t, const struct opt *table)
{
	char word[64];
	for (; table->name; table++) {
		snprintf(word, sizeof(word), "--%s", table->name);
		offer(t, word, table->help);
	}
}

// Of a list only the last part is completed.
static void skip_list(struct typed *t)
{
	const char *comma = strrchr(t->rest, ',');
	if (comma)
		keep_up_to(t, comma + 1);
}

static void offer_columns(struct typed *t, const struct cmd_spec *spec)
{
	if (t->rest[0] == '+')
		keep_up_to(t, t->rest + 1);
	skip_list(t);
	for (const struct out_table *const *table = spec->tables; table && *table; table++)
		for (unsigned i = 0; i < (*table)->ncols; i++)
			offer(t, (*table)->cols[i].name, (*table)->cols[i].help);
}

static void offer_pids(struct typed *t)
{
	skip_list(t);
	DIR *dir = host_opendir("/sys/class/kfd/kfd/proc");
	if (!dir)
		return;
	pid_t pid;
	for (struct dirent *e; (e = readdir(dir));)
		if (proc_parse_pid(e->d_name, &pid))
			offer(t, e->d_name, "process with KFD open");
	closedir(dir);
}

// The option that `word` is: "-o", "--output", or "--output" of "--output=PID".
static const struct opt *find_option(const struct opt *table, const char *word)
{
	for (; table->name; table++) {
		size_t n = strlen(table->name);
		bool is_long = strncmp(word, "--", 2) == 0 &&
			       strncmp(word + 2, table->name, n) == 0 &&
			       (!word[2 + n] || word[2 + n] == '=');
		bool is_short =
			word[0] == '-' && table->letter && word[1] == table->letter && !word[2];
		if (is_long || is_short)
			return table;
	}
	return NULL;
}

static const struct opt *find_any(const struct command *def, const char *word)
{
	const struct opt *o = find_option(common_opts_table, word);
	return o || !def ? o : find_option(def->spec->opts, word);
}

static void offer_levels(struct typed *t)
{
	skip_list(t);
	for (unsigned i = 0; prio_level_name(i); i++)
		offer(t, prio_level_name(i), "level of priority");
}

static void offer_values(const struct opt *o, struct typed *t, const struct cmd_spec *spec)
{
	if (o->choices)
		for (unsigned i = 0; o->choices[i]; i++)
			offer(t, o->choices[i], o->help);
	else if (o->kind == OPT_PIDS)
		offer_pids(t);
	else if (strcmp(o->name, "prio") == 0)
		offer_levels(t);
	else if (strcmp(o->name, "output") == 0 && spec)
		offer_columns(t, spec);
}

int complete_words(int n, char **words)
{
	const char *root = host_getenv("GPQ_SYSROOT"); // with none, or a wrong one: this host
	const char *word = n > 0 ? words[n - 1] : "";
	struct typed t = {word, 0, word};
	const struct command *def = NULL;
	for (int i = 0; i + 1 < n && !def; i++)
		def = command_find(words[i], strlen(words[i]));
	const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
	const struct opt *o = NULL; // option whose argument is completed
	if (equals) {
		o = find_any(def, word);
		keep_up_to(&t, equals + 1);
	} else if (n > 1 && !strchr(words[n - 2], '=')) {
		o = find_any(def, words[n - 2]);
	}
	if (root && *root)
		host_set_root(root);
	if (o && o->arg) {
		offer_values(o, &t, def ? def->spec : NULL);
	} else if (word[0] == '-') {
		if (def)
			offer_options(&t, def->spec->opts);
		offer_options(&t, common_opts_table);
	} else if (!def) {
		for (const struct command *c = gpq_commands; c->name; c++)
			offer(&t, c->name, c->summary);
		offer(&t, "help", "show the help of a command");
	}
	return fflush(stdout) ? GPQ_FAILED : GPQ_OK;
}
