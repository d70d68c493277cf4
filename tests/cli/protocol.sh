#!/bin/bash
# The C and Python examples of gpq-suspend(1), taken from the page and run against a holder. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
sleeper=
trap '[ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null; rm -rf "$work"' EXIT

result() { # DESCRIPTION CONDITION...
	if "${@:2}"; then pass "$1"; else fail "$1" <"$work/out"; fi
}

example() { # FILE
	awk -v want="$1" '/^\.\\" example: / { on = $3 == want } on && /^\.EE/ { exit } show { print } on && /^\.EX/ { show = 1 }' \
		"$top/man/gpq-suspend.1" | sed 's/\\e/\\/g; s/\\(aq/'"'"'/g; s/\\-/-/g; s/\\&//g' > "$work/$1"
	[ -s "$work/$1" ]
}

# A holder lives while somebody is connected to it, also without a GPU.
cat > "$work/keep.c" << 'END'
#include "common/holder/holder.h"
#include "common/holder/rundir.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char name[KFD_SOCKET_NAME_SIZE];
	struct kfd_target t;
	struct kfd_link l;
	struct kfd_failure f;

	if (argc != 2 || kfd_target_pin(&t, atoi(argv[1]), 0, &f) || kfd_link_open(&l, &t, true, &f))
		return 1;
	kfd_socket_name(name, t.pid, t.start);
	printf("%s/gpq/%s\n", getenv("XDG_RUNTIME_DIR"), name);
	fflush(stdout);
	return getchar() == 'x';
}
END
export XDG_RUNTIME_DIR=$work
: > "$work/out"
lib=$(ls -t "${GPQ_BIN:-$top/build/plain}"/libgpq.a 2> /dev/null | head -n 1)
cc=${CC:-gcc}
result "a holder without a GPU builds" $cc -D_GNU_SOURCE -I"$top" ${SANFLAGS:-} -o "$work/keep" "$work/keep.c" "$lib" -pthread \
	-no-pie -fsanitize=address,undefined -ldl -lrt
sleep 100 &
sleeper=$!
coproc KEEP { "$work/keep" $sleeper; }
keeper=$KEEP_PID # bash forgets it when that ends
read -r -t 20 socket <&"${KEEP[0]}"
result "a holder listens" test -S "$socket"

result "the page has the C example" example hold.c
result "it compiles without a warning" $cc -Wall -Wextra -Werror -o "$work/hold" "$work/hold.c"
"$work/hold" "$socket" status > "$work/out" 2>&1
result "it prints the answer and ends well" test $? -eq 0
result "the answer is the one the page describes" grep -qxE "ok holder=[0-9]+ target=$sleeper held=0 since_ns=0 until_ns=0 follows=0 kept=0 ended=0" "$work/out"
"$work/hold" "$socket" nonsense > "$work/out" 2>&1
result "an error is an exit status" test $? -eq 1
result "with a sentence" grep -qx "error 2 bad request: nonsense" "$work/out"

result "the page has the Python example" example hold.py
if command -v python3 > /dev/null; then
	python3 "$work/hold.py" "$socket" status > "$work/out" 2>&1
	result "Python: it prints the answer and ends well" test $? -eq 0
	result "Python: the answer" grep -qE "^ok holder=[0-9]+ target=$sleeper " "$work/out"
	python3 "$work/hold.py" "$socket" nonsense > "$work/out" 2>&1
	result "Python: an error is an exit status" test $? -eq 1
else
	pass "Python # skip no python3"
fi
eval "exec ${KEEP[1]}>&-"
wait "$keeper" 2> /dev/null
finish
