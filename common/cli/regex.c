// Regular expressions by PCRE2; see regex.h and pcre2api(3).
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/cli/regex.h"

#include "common/cli/err.h"
#include "common/host/dlopen.h"

#include <pcre2.h>

#define PCRE "libpcre2-8.so.0"

#define PCRE_FUNCTIONS(X)                       \
	X(pcre2_code_free)                      \
	X(pcre2_compile)                        \
	X(pcre2_get_error_message)              \
	X(pcre2_jit_compile)                    \
	X(pcre2_match)                          \
	X(pcre2_match_data_create_from_pattern) \
	X(pcre2_match_data_free)

struct pcre {
	LIB_STRUCT(PCRE_FUNCTIONS)
};

static LIB_GETTER(pcre, PCRE, PCRE_FUNCTIONS)

	int regex_init(struct regex *r, const char *option, const char *pattern)
{
	const struct pcre *lib = pcre_get();
	int error;
	PCRE2_SIZE at;
	PCRE2_UCHAR why[128];

	*r = (struct regex){.option = option};
	if (!lib)
		return err_fail(GPQ_UNSUPPORTED, "install libpcre2-8-0, or leave it out",
				"%s: " PCRE " is missing", option);
	r->code = lib->pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at,
				     NULL);
	if (!r->code) {
		lib->pcre2_get_error_message(error, why, sizeof(why));
		return err_fail(GPQ_USAGE, "see pcre2pattern(3)", "%s: %s: %s at character %zu",
				option, pattern, (const char *)why, (size_t)at);
	}
	lib->pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE); // without it, slower only
	r->match = lib->pcre2_match_data_create_from_pattern(r->code, NULL);
	return r->match ? GPQ_OK : err_fail(GPQ_FAILED, NULL, "out of memory");
}

void regex_fini(struct regex *r)
{
	const struct pcre *lib = r->code ? pcre_get() : NULL;

	if (!lib)
		return;
	lib->pcre2_match_data_free(r->match);
	lib->pcre2_code_free(r->code);
	*r = (struct regex){0};
}

bool regex_matches(struct regex *r, const char *text, size_t len)
{
	int n = pcre_get()->pcre2_match(r->code, (PCRE2_SPTR)text, len, 0, 0, r->match, NULL);

	if (n < PCRE2_ERROR_NOMATCH && !r->error)
		r->error = n;
	return n >= 0;
}

int regex_check(const struct regex *r, int status)
{
	PCRE2_UCHAR why[128];

	if (!r->error)
		return status;
	pcre_get()->pcre2_get_error_message(r->error, why, sizeof(why));
	return err_fail(GPQ_PARTIAL, "use a simpler expression",
			"%s: some names could not be matched: %s", r->option, (const char *)why);
}
