#!/bin/bash
# Closed standard streams (apart from the transcripts because valgrind opens them again).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
expect "closed standard output is noticed" "gpq: standard output: Bad file descriptor, status 1" "$(gpq --help 2>&1 >&- | tr -d "\n"; echo ", status ${PIPESTATUS[0]}")"
# A file opened later must not become standard error and take what is meant for it.
expect "closed standard error: nothing is lost on standard output" "gpq $(cat "$(dirname "$0")/../../VERSION")" "$(gpq --version 2>&-)"
expect "all closed: still ends with a status" "1" "$(gpq --help <&- >&- 2>&-; echo $?)"
finish
