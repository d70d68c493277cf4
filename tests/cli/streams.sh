#!/bin/bash
# Closed standard streams (apart from the transcripts because valgrind opens them again).
export PATH=${GPQ_BIN:-$(dirname "$0")/../..}:$PATH
n=0 bad=0
is() { # name, wanted, got
	n=$((n + 1))
	if [ "$2" = "$3" ]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		printf '# wanted %q\n# got    %q\n' "$2" "$3"
	fi
}
is "closed standard output is noticed" "gpq: standard output: Bad file descriptor, status 1" "$(gpq --help 2>&1 >&- | tr -d "\n"; echo ", status ${PIPESTATUS[0]}")"
# A file opened later must not become standard error and take what is meant for it.
is "closed standard error: nothing is lost on standard output" "gpq $(cat "$(dirname "$0")/../../VERSION")" "$(gpq --version 2>&-)"
is "all closed: still ends with a status" "1" "$(gpq --help <&- >&- 2>&-; echo $?)"
echo "1..$n"
[ $bad -eq 0 ]
