// gpq gpus --check; see gpus_check.h. What is checked is in common/kfd/check.c.
#include "cmd/gpus_check.h"

#include "common/kfd/check.h"

#include <stdio.h>
#include <string.h>

struct row {
	const char *check, *status, *found, *commands, *mend;
	char command_text[128];
};

#define COL(member, name, key, type, flags, help) OUT_COL(row, member, name, key, type, flags, help)

static const struct out_col cols[] = {
	COL(check, "CHECK", "check", OUT_STR, OUT_DEFAULT, "what is looked at"),
	COL(status, "STATUS", "status", OUT_STR, OUT_DEFAULT | OUT_STATUS, "ok, no or unknown"),
	COL(found, "FOUND", "found", OUT_STR, OUT_DEFAULT, "what was found"),
	COL(commands, "COMMANDS", "commands", OUT_LIST, OUT_DEFAULT,
	    "commands that need it, at least for some of what they do"),
	COL(mend, "MEND", "mend", OUT_STR, OUT_DEFAULT, "how to mend it"),
};

const struct out_table gpus_check_table = {"checks", "check", cols, sizeof(cols) / sizeof(cols[0])};

static bool is_command(const char *word, size_t len)
{
	for (const struct command *c = gpq_commands; c->name; c++)
		if (strlen(c->name) == len && strncmp(c->name, word, len) == 0)
			return true;
	return false;
}

// The words of `all` that are commands of this gpq.
static void keep_commands(struct row *r, const char *all)
{
	size_t used = 0;
	while (all && *all) {
		size_t len = strcspn(all, " ");
		if (is_command(all, len) && used + len + 2 < sizeof(r->command_text))
			used += (size_t)snprintf(r->command_text + used,
						 sizeof(r->command_text) - used, "%s%.*s",
						 used ? " " : "", (int)len, all);
		all += len + (all[len] == ' ');
	}
	r->commands = used ? r->command_text : NULL;
}

int gpus_check(struct cmd *c)
{
	static const char *const words[] = {"unknown", "no", "ok"};
	struct kfd_check checks[KFD_CHECKS_MAX];
	size_t n = kfd_check_all(checks);
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &gpus_check_table, false);
	for (size_t i = 0; !status && i < n; i++) {
		struct row r = {.check = checks[i].name,
				.status = words[checks[i].status],
				.found = checks[i].found,
				.mend = checks[i].mend};
		keep_commands(&r, checks[i].commands);
		out_row(o, &r);
	}
	return out_finish(o, status);
}
