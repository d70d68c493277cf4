#!/bin/bash
# judge.sh [--record]: asks AMD's own library which waves it sees in the save areas that made.h makes, and compares with
# tests/data/waves/library, by which tests/unit/test_waves.c judges gpq; or records that file anew.
#
# The library is Debian sid's librocm-dbgapi0, unpacked beside the machine's own and run with its own C library; no GPU, no
# root: `make check-judge`. tests/kernel/hip/judge.sh asks it about living processes.
# shellcheck source-path=SCRIPTDIR source=../kernel/host.sh
. "$(dirname "$0")/../kernel/host.sh"
# shellcheck disable=SC2034 # of host.sh
SELF=../waves/judge.sh
RECORD=$TOP/tests/data/waves/library

need gcc
if ! root=$("$HERE/hip/fetch" judge-sid)/root; then
	echo "0 passed, 0 failed, 1 skipped"
	exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$TOP/tests/waves/build" "$root" "$work"
mv "$work/judge" "$work/program"
lib=$root/usr/lib/x86_64-linux-gnu
printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@" 2> "%s"\n' "$lib/ld-linux-x86-64.so.2" "$lib" "$work/program" "$work/errors" > "$work/judge"
chmod +x "$work/judge"
sh "$TOP/tests/waves/lists.sh" "$work" > "$work/all" || die 1 "$(cat "$work/errors")"
if [ "${1:-}" = --record ]; then
	cp "$work/all" "$RECORD"
elif diff -u "$RECORD" "$work/all"; then
	echo "$(grep -c '^made ' "$RECORD") passed, 0 failed"
else
	echo "0 passed, 1 failed" && exit 1
fi
