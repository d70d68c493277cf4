// gpq --complete: candidates for shells. The scripts in completions/ ask here, so they never differ
// from the option and column tables.
#include "cmd/command.h"

#include "common/host/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void offer(const char *prefix, const char *word, const char *help)
{
	if (strncmp(word, prefix, strlen(prefix)) == 0)
		printf("%s\t%s\n", word, help);
}

static void offer_commands(const char *prefix)
{
	for (const struct command *c = gpq_commands; c->name; c++)
		offer(prefix, c->name, c->summary);
	offer(prefix, "help", "show the help of a command");
}

static void offer_options(const char *prefix, const struct opt *table)
{
	char word[64];
	for (; table->name; table++) {
		snprintf(word, sizeof(word), "--%s", table->name);
		offer(prefix, word, table->help);
	}
}

// "PID,QI" completes its last part and keeps the rest.
static void offer_columns(const char *typed, const struct cmd_spec *spec)
{
	const char *comma = strrchr(typed, ',');
	size_t keep = comma ? (size_t)(comma - typed) + 1 : typed[0] == '+' ? 1 : 0;
	char word[512];
	for (const struct out_table *const *t = spec->tables; t && *t; t++) {
		for (unsigned i = 0; i < (*t)->ncols; i++) {
			snprintf(word, sizeof(word), "%.*s%s", (int)keep, typed,
				 (*t)->cols[i].name);
			offer(typed, word, (*t)->cols[i].help);
		}
	}
}

static void offer_pids(const char *typed)
{
	DIR *dir = host_opendir("/sys/class/kfd/kfd/proc");
	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			offer(typed, e->d_name, "process with KFD open");
	closedir(dir);
}

static const struct opt *find_option(const struct opt *table, const char *word)
{
	for (; table->name; table++) {
		bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, table->name) == 0;
		bool is_short =
			word[0] == '-' && table->letter && word[1] == table->letter && !word[2];
		if (is_long || is_short)
			return table;
	}
	return NULL;
}

static void offer_values(const struct opt *o, const char *typed, const struct cmd_spec *spec)
{
	if (o->choices)
		for (unsigned i = 0; o->choices[i]; i++)
			offer(typed, o->choices[i], o->help);
	else if (o->kind == OPT_PIDS)
		offer_pids(typed);
	else if (strcmp(o->name, "output") == 0 && spec)
		offer_columns(typed, spec);
}

int complete_words(int n, char **words)
{
	const char *typed = n > 0 ? words[n - 1] : "";
	const struct command *def = NULL;
	for (int i = 0; i + 1 < n && !def; i++)
		for (const struct command *c = gpq_commands; c->name && !def; c++)
			if (strcmp(words[i], c->name) == 0)
				def = c;
	const struct opt *before = NULL;
	if (n > 1) {
		before = find_option(common_opts_table, words[n - 2]);
		if (!before && def)
			before = find_option(def->spec->opts, words[n - 2]);
	}
	if (before && before->arg) {
		offer_values(before, typed, def ? def->spec : NULL);
	} else if (typed[0] == '-') {
		if (def)
			offer_options(typed, def->spec->opts);
		offer_options(typed, common_opts_table);
	} else if (!def) {
		offer_commands(typed);
	}
	return fflush(stdout) ? GPQ_FAILED : GPQ_OK;
}
