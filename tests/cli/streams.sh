#!/bin/bash
# Closed standard streams (apart from the transcripts because valgrind opens them again).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
is "closed standard output is noticed" "$(gpq --help 2>&1 >&- | tr -d "\n"; echo ", status ${PIPESTATUS[0]}")" "gpq: standard output: Bad file descriptor, status 1"
# A file opened later must not become standard error and take what is meant for it.
is "closed standard error: nothing is lost on standard output" "$(gpq --version 2>&-)" "gpq $(cat "$(dirname "$0")/../../VERSION")"
is "all closed: still ends with a status" "$(gpq queues --help <&- >&- 2>&-; echo $?) $(gpq --version <&- 2>&-)" "1 gpq $(cat "$top/VERSION")"
finish
