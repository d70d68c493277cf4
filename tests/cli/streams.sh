#!/bin/bash
# Closed standard streams (apart from the transcripts because valgrind opens them again).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
is "closed standard output is noticed" "$(gpq --help 2>&1 >&- | tr -d "\n"; echo ", status ${PIPESTATUS[0]}")" "gpq: standard output: Bad file descriptor, status 1"
# A file opened later must not become standard error and take what is meant for it.
is "closed standard error: nothing is lost on standard output" "$(gpq --version 2>&-)" "gpq $(cat "$(dirname "$0")/../../VERSION")"
is "all closed: still ends with a status" "$(gpq queues --help <&- >&- 2>&-; echo $?) $(gpq --version <&- 2>&-)" "1 gpq $(cat "$top/VERSION")"
is "closed standard input is empty" "$(timeout 20 gpq trace - 2>&1 <&- | cut -c-40; echo "${PIPESTATUS[0]}")" "gpq: trace: no AMD log records in the in
5"
log=$top/tests/data/amdlog/torn.log # it is warned of
gpq trace --perfetto "$work/open" "$log" >"$work/out" 2>"$work/err"
rig test -s "$work/open" -a -s "$work/out" -a -s "$work/err"
for fd in 1 2; do
	(eval "exec $fd>&-"; may $((2 - fd)) gpq trace --perfetto "$work/$fd" "$log") >"$work/out" 2>"$work/err"
	ok "descriptor $fd is closed: a file that is written has its own bytes alone" cmp "$work/open" "$work/$fd"
done
finish
