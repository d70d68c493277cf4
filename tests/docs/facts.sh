#!/bin/bash
# Facts that comments and tests cite by name, [ROOM.NAME], are headings of a facts.md; each fact is cited somewhere, or says
# (background).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
cd "$(dirname "$0")/../.." || exit 1

pages=$(find common tests -name facts.md | LC_ALL=C sort)
names() { grep -aohE '\[(kfd|debugfs|aql|waves|amdlog|kernel)\.[a-z][a-z0-9-]*\]' "$@" | tr -d '[]'; }
headings() { sed -n 's/^### //p' $pages; }

all=$(headings | sed 's/ .*//' | LC_ALL=C sort)
cited=$(find cmd common tests man README.md HACKING.md -type f ! -name facts.md | LC_ALL=C sort | xargs -d '\n' cat | names - | LC_ALL=C sort -u)
is "facts have one page each" "$(ls $pages | wc -l)" 6
is "there are more than a hundred" "$([ "$(wc -l <<<"$all")" -gt 100 ] && echo yes)" yes
empty "a fact's name is used once" "$(uniq -d <<<"$all")"
empty "what is cited is a fact" "$(LC_ALL=C comm -23 <(sort -u <<<"$cited") <(echo "$all"))"
empty "and between facts, too" "$(LC_ALL=C comm -23 <(names $pages | LC_ALL=C sort -u) <(echo "$all"))"
empty "each fact is cited" "$(LC_ALL=C comm -23 <(headings | grep -v '(background)' | LC_ALL=C sort) <(echo "$cited"))"
empty "each fact has a source" "$(awk '/^### / { if (name) print name; name = $2 } /Source:|Seen:/ { name = "" } END { if (name) print name }' $pages)"
empty "no notes outside of the project are cited" \
	"$(grep -rnE 'kfd-facts|amd-log-facts|FACTS-hip|driver-7\.3/' cmd common man tests README.md HACKING.md | grep -v '^tests/docs/facts.sh:')"
finish
