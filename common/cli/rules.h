// Rules about options that are given together, as data beside the table of options: which exclude
// each other, which need another, which numbers are allowed.
//
//	static const struct opt_rule rules[] = {
//		RULE_CHOOSE("active all"),
//		RULE_NEEDS("count", "every", "add --every 5s", "--count is one of --every"),
//		{0},
//	};
//
// Rules are tried in their order, and the first that is broken is reported. An option counts as
// given when its value differs from the command's default.
#pragma once

#include "common/cli/opts.h"

// The lists hold long names of options with blanks between them. NAME=VALUE counts only with that
// argument (OPT_STR, OPT_EXPR, OPT_CHOICE); a name in capital letters stands for any operand.
struct opt_rule {
	const char *texts; // in the order of enum rule_text, each ended by a NUL; NULL ends a table
	uint64_t least, most; // broken only by a number out of this range, in ns if it is a time
	bool several;         // broken only by two options of RULE_GIVEN
};

enum rule_text {
	RULE_GIVEN,   // options: the rule is broken only if one of these is given
	RULE_WITH,    // options: broken only if one of these is given, too; "": no such condition
	RULE_WITHOUT, // options: broken only if none of these is given
	RULE_ADVICE,  // what to do about a broken rule; "": no advice
	// %1: the option of RULE_GIVEN that broke the rule; %2: that of RULE_WITH or, if that is
	// "", the second of RULE_GIVEN; %v: the number. "": "--%1 and --%2 exclude each other".
	RULE_MESSAGE,
};

// Texts are literals.
#define RULE(given, with, without, advice, message, ...)                                    \
	{                                                                                   \
		.texts = given "\0" with "\0" without "\0" advice "\0" message, __VA_ARGS__ \
	}
// At most one option of `names` may be given.
#define RULE_CHOOSE(names) RULE(names, "", "", "choose one", "", .several = true)
// No option of `names` may be given together with one of `others`.
#define RULE_EXCLUDES(names, others, advice, message) RULE(names, others, "", advice, message)
// An option of `names` needs one of `others`.
#define RULE_NEEDS(names, others, advice, message) RULE(names, "", others, advice, message)
// The number given to option `name` must be at least `min` and at most `max`.
#define RULE_RANGE(name, min, max, advice, message) \
	RULE(name, "", "", advice, message, .least = (min), .most = (max))

// Checks the parsed options of `sets` and the number of operands against `rules` (ended by {0};
// NULL: none). Returns GPQ_USAGE after the message of the first rule that is broken, else GPQ_OK.
int opts_check(const struct opt_rule *rules, const struct opt_set *sets, int operands);

// Is any option of `names`, a list as in a rule, given?
bool opts_given(const char *names, const struct opt_set *sets, int operands);
