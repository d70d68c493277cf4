// What a recorded host says beside its files; see recorded.h.
#include "common/rows/recorded.h"

#include "common/cli/text.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool recorded_chosen(struct pids *to)
{
	enum { MOST = 1 << 16 }; // bytes; pids_add() compares each PID with all before it
	struct buf b = {0};
	char bad[32];
	const char *line = !host_is_live() && host_read(&b, "/MANIFEST") > 0
				   ? strstr(b.data, "\n" RECORDED_CHOSEN)
				   : NULL;
	const char *end = b.data ? strstr(b.data, "\n\n") : NULL; // of the head
	const bool chosen = line && line < end;
	if (chosen) {
		line += strlen("\n" RECORDED_CHOSEN);
		char *text = xasprintf("%.*s", (int)strcspn(line, "\n"), line);
		text[strnlen(text, MOST)] = '\0';
		pids_add(to, text, bad);
		free(text);
	}
	buf_fini(&b);
	return chosen;
}

void recorded_queue(struct recorded_queue *to, const char *folder)
{
	struct buf b = {0};
	char word[3][24] = {"-", "-", "-"};
	uint64_t holder;
	if (host_readf(&b, "%s/.now", folder) > 0)
		sscanf(b.data, "%23s %23s %23s", word[0], word[1], word[2]);
	buf_fini(&b);
	to->has_indices =
		parse_u64(word[0], &to->read_index) && parse_u64(word[1], &to->write_index);
	to->holder =
		parse_u64(word[2], &holder) && holder <= INT32_MAX ? (int64_t)holder : INT64_MIN;
}
