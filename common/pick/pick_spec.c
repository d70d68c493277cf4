// Selectors in one word; see pick_spec.h.
#include "common/pick/pick_spec.h"

#include "common/cli/err.h"
#include "common/cli/text.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>

static const struct opt keys[] = {PICK_OPTS(pick_spec), PICK_QUEUES_OPTS(pick_spec), {0}};

static int unknown_key(const char *option, const char *key)
{
	const char *names[COUNT(keys)] = {0};
	for (size_t i = 0; keys[i].name; i++)
		names[i] = keys[i].name;
	const char *guess = text_suggest(key, names);
	return err_fail(GPQ_USAGE, "keys are the long options that choose processes and queues",
			"%s: %s is no key%s%s", option, *key ? key : "(nothing)",
			guess ? ", did you mean " : "", guess ? guess : "");
}

// One condition: "KEY=VALUE", or "KEY" of a flag.
static int store_condition(struct pick_spec *s, const char *option, char *condition)
{
	char *value = strchr(condition, '=');
	if (value)
		*value++ = '\0';
	const struct opt *o = opts_find(keys, condition, 0);
	if (!o)
		return unknown_key(option, condition);
	if (opt_arg(o) && (!value || !*value))
		return err_fail(GPQ_USAGE, NULL, "%s: %s needs a value: %s=%s", option, condition,
				condition, opt_arg(o));
	if (!opt_arg(o) && value)
		return err_fail(GPQ_USAGE, NULL, "%s: %s takes no value", option, condition);
	return opts_store(o, s, value);
}

// Ends the condition at `text` and gives the next one, or NULL; "\&" becomes "&".
static char *next_condition(char *text)
{
	char *to = text;
	for (; *text && *text != '&'; text++) {
		text += text[0] == '\\' && text[1] == '&';
		*to++ = *text;
	}
	char *next = *text ? text + 1 : NULL;
	*to = '\0';
	return next;
}

int pick_spec_parse(struct pick_spec *s, const char *option, const char *text)
{
	int status = GPQ_OK;
	*s = (struct pick_spec){.text = xstrdup(text), .own = xstrdup(text)};
	for (char *at = s->own, *next; at && !status; at = next) {
		next = next_condition(at);
		status = store_condition(s, option, at);
	}
	return status;
}

void pick_spec_fini(struct pick_spec *s)
{
	const struct opt_set set[] = {{keys, s, NULL, NULL}, {0}};
	opts_fini(set);
	free(s->text);
	free(s->own);
	*s = (struct pick_spec){0};
}
