#!/bin/bash
# Replays the fuzz corpora, inputs that once found something among them: each must end without a crash.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=${GPQ_BIN:-$top/build/plain}
n=0 bad=0
for src in "$top"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$src" .c)
	name=${name#fuzz_}
	n=$((n + 1))
	files=("$top/tests/fuzz/corpus/$name"/*)
	if [ ! -e "${files[0]}" ]; then
		echo "ok $n - $name # skip no corpus"
	elif out=$("$bin/fuzz/$name" "${files[@]}" 2>&1) && ! grep -q '^not ok' <<<"$out"; then
		echo "ok $n - $name: ${#files[@]} inputs"
	else
		echo "not ok $n - $name"
		tail -20 <<<"$out" | sed 's/^/# /'
		bad=1
	fi
done
echo "1..$n"
exit $bad
