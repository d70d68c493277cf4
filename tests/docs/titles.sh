#!/bin/bash
# Commits that came after a certain one: `area: what changed` in at most 72 characters without a semicolon, and why in the body.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
cd "$(dirname "$0")/../.." || exit 1

# Those of standard input that are written otherwise; each has id, title, body, ended by tab, tab, NUL.
wrong() {
	perl -0ne 's/\0$//; s/^\n//; length or next; my ($id, $title, $body) = split /\t/, $_, 3;
		print "$id $title\n" if $title !~ m{^[\w., /+-]+: \S} || length $title > 72 || $title =~ /;/ || $body !~ /\S/'
}
is "what is wrong with a commit" "$(printf '%s\t%s\t%s\0' 1 "Mend queues" "Why." 2 "queues: mend" "" 3 "queues: a; b" "Why." \
	4 "queues: mend $(printf 'x%.0s' {1..59})" "Why." 5 "queues: mend $(printf 'x%.0s' {1..60})" "Why." 6 "a/b, c: mend" $'Why.\n\nMore.' | cat - <(echo) | wrong)" \
	"1 Mend queues
2 queues: mend
3 queues: a; b
5 queues: mend $(printf 'x%.0s' {1..60})"

since=fc6a986f
git merge-base --is-ancestor $since HEAD 2>/dev/null || { pass "titles of commits # skip that commit is not in the history here"; finish; }
empty "titles and bodies of commits" "$(git log --no-merges --format='%h%x09%s%x09%b%x00' "$since..HEAD" | wrong)"
finish
