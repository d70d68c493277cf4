#!/bin/bash
# A folder includes only folders below it, declarations have one layout, names of static functions can be found.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
cd "$(dirname "$0")/../.." || exit 1

# Each folder with those it includes; its own are not named. A new arrow is added here, if it goes down.
rooms='aql: host reader
amdlog/analysis: amdlog/model amdlog/read cli host out
amdlog/merge: amdlog/model cli host out
amdlog/model: amdlog/read stats
amdlog/read: cli host out
bench: amdlog/merge amdlog/read cli holder host kfd out pick reader sched snapshot stats
cli: host
debugfs: host
ftrace: amdlog/model amdlog/read cli host kfd out pick
holder: host kfd reader
host:
kfd: host reader
out: cli host
pick: cli holder host kfd reader rows
reader: host
rows: cli debugfs holder host kfd reader
sched: cli holder host kfd out pick reader stats
slots: cli debugfs host reader rows
snapshot: cli host kfd out pick reader rows
stats: cli host out
waves: aql host kfd reader
why: aql cli debugfs holder host kfd pick reader rows slots waves'

# Folder and folders it includes, of the sources.
included() {
	local d
	for d in $(find common -name '*.c' | xargs -n1 dirname | sort -u); do
		[ "$d" = common/client ] || echo "${d#common/}: $(sed -nE 's/^#include "common\/(.*)\/[^/]*"$/\1/p' "$d"/*.[ch] | sort -u |
			may 1 grep -vx "${d#common/}" | xargs)"
	done | sed 's/ $//' | LC_ALL=C sort
}
is "each folder includes what it may" "$(included)" "$(LC_ALL=C sort <<<"$rooms")"
empty "no arrow makes a circle" "$(sed 's/:/ /' <<<"$rooms" | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | tsort 2>&1 >/dev/null)"
empty "no command is included by what lies below" "$(grep -rl '#include "cmd/' common)"
empty "no blank line behind declarations" "$(find cmd common tests man -name '*.[ch]' | grep -vE '^tests/(kernel/softgpu|data)/' | xargs tests/docs/layout.py)"

# NAME COUNT: of static functions, how many files have one of that name.
static_names() {
	find cmd common -name '*.[ch]' | xargs perl -ne 's/__attribute__\(\((?:[^()]|\([^()]*\))*\)\)//g;
		print "$1 $ARGV\n" if /^static [^=;(]*?(\w+)\(/' | sort -u | cut -d' ' -f1 | uniq -c | awk '{ print $2, $1 }'
}
names=$(static_names)
ok "static functions are found" test "$(wc -l <<<"$names")" -gt 1000
empty "no more than three static functions share a name" "$(awk '$2 > 3' <<<"$names")"
finish
