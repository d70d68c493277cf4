// Rules about options that are given together, as data beside the table of options: which exclude
// each other, which need another, which numbers are allowed.
//
//   static const struct opt_rule rules[] = {
//           RULE_CHOOSE("active all"),
//           RULE_NEEDS("table", "summary", "add --summary", "--table chooses a table of
//           --summary"), {0},
//   };
//
// Rules are tried in their order, and the first that is broken is reported. An option counts as
// given when its value differs from the command's default.
#ifndef GPQ_CLI_RULES_H
#define GPQ_CLI_RULES_H

#include "common/cli/opts.h"

// The lists hold long names of options with blanks between them. NAME=VALUE counts only with that
// argument (OPT_STR, OPT_EXPR, OPT_CHOICE); a name in capital letters stands for any operand.
struct opt_rule {
	const char *given;    // the rule is about these: at least one is given ...
	const char *with;     // ... and one of these (NULL: whatever else is given) ...
	const char *without;  // ... and none of these (NULL: likewise)
	bool several;         // broken only by two of `given`
	uint64_t least, most; // broken only by a number (OPT_U64, OPT_NS) out of this range
	const char *next;     // advice, or NULL
	const char *text; // %1, %2: the options of `given` (or of `given` and `with`) that broke
			  // it; %v: the number. NULL: "--%1 and --%2 exclude each other"
};

// At most one of these.
#define RULE_CHOOSE(names)                                               \
	{                                                                \
		.given = (names), .several = true, .next = "choose one", \
	}
// None of `names` with one of `others`.
#define RULE_EXCLUDES(names, others, advice, message)                                    \
	{                                                                                \
		.given = (names), .with = (others), .next = (advice), .text = (message), \
	}
// None of `names` without one of `others`.
#define RULE_NEEDS(names, others, advice, message)                                          \
	{                                                                                   \
		.given = (names), .without = (others), .next = (advice), .text = (message), \
	}
// The number of option `name` is at least `min` and at most `max`.
#define RULE_RANGE(name, min, max, advice, message)                               \
	{                                                                         \
		.given = (name), .least = (min), .most = (max), .next = (advice), \
		.text = (message),                                                \
	}

// GPQ_OK, or GPQ_USAGE after the message of the first rule of `rules` (ended by {0}; NULL: none)
// that is broken by the options in the bases of `sets` and by so many operands.
int opts_check(const struct opt_rule *rules, const struct opt_set *sets, int operands);

// Is one of the options given that `names` lists, as in a rule?
bool opts_given(const char *names, const struct opt_set *sets, int operands);

#endif
