// Rules about options that are given together, as data beside the table of options: which exclude
// each other, which need another, which numbers are allowed.
//
//	static const struct opt_rule rules[] = {
//		RULE_CHOOSE("active all"),
//		RULE_NEEDS("table", "summary", "add --summary", "--table is one of --summary"),
//		{0},
//	};
//
// Rules are tried in their order, and the first that is broken is reported. An option counts as
// given when its value differs from the command's default.
#ifndef GPQ_CLI_RULES_H
#define GPQ_CLI_RULES_H

#include "common/cli/opts.h"

// The lists hold long names of options with blanks between them. NAME=VALUE counts only with that
// argument (OPT_STR, OPT_EXPR, OPT_CHOICE); a name in capital letters stands for any operand.
struct opt_rule {
	const char *texts;    // by enum rule_text, each ended by a NUL; NULL ends a table
	uint64_t least, most; // broken only by a number (OPT_U64, OPT_NS) out of this range
	bool several;         // broken only by two of RULE_GIVEN
};

enum rule_text {
	RULE_GIVEN,   // the rule is about these: at least one is given ...
	RULE_WITH,    // ... and one of these ("": whatever else is given) ...
	RULE_WITHOUT, // ... and none of these
	RULE_ADVICE,  // "": none
	RULE_MESSAGE, // %1, %2: the options that broke it, of RULE_GIVEN, or the second of
		      // RULE_WITH; %v: the number. "": "--%1 and --%2 exclude each other"
};

// Texts are literals.
#define RULE(given, with, without, advice, message, ...)                                    \
	{                                                                                   \
		.texts = given "\0" with "\0" without "\0" advice "\0" message, __VA_ARGS__ \
	}
// At most one of these.
#define RULE_CHOOSE(names) RULE(names, "", "", "choose one", "", .several = true)
// None of `names` with one of `others`.
#define RULE_EXCLUDES(names, others, advice, message) RULE(names, others, "", advice, message)
// None of `names` without one of `others`.
#define RULE_NEEDS(names, others, advice, message) RULE(names, "", others, advice, message)
// The number of option `name` is at least `min` and at most `max`.
#define RULE_RANGE(name, min, max, advice, message) \
	RULE(name, "", "", advice, message, .least = (min), .most = (max))

// GPQ_OK, or GPQ_USAGE after the message of the first rule of `rules` (ended by {0}; NULL: none)
// that is broken by the options in the bases of `sets` and by so many operands.
int opts_check(const struct opt_rule *rules, const struct opt_set *sets, int operands);

// Is one of the options given that `names` lists, as in a rule?
bool opts_given(const char *names, const struct opt_set *sets, int operands);

#endif
