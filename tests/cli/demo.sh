#!/bin/bash
# make demo: it ends well without a terminal and with hardly an environment, and each of its commands shows something.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
is "the demonstration" "$(env -i PATH="$PATH" GPQ_BIN="$bin" COLUMNS=40 "$top/tests/demo" >"$work/out" 2>&1; echo $?) $(grep -c "^DISPATCHES: *7$" "$work/out")" "0 1"
"$top/tests/demo" >"$work/out" 2>&1
is "no complaint" "$(grep -c '^DISPATCHES: *7$' "$work/out")$(grep '^gpq: ' "$work/out" | grep -v '^gpq: gpus: \(.*checks that say no\|nothing known forbids gpq; \)')" 1
empty "each command shows something" "$(awk '/^\$ / { c = $0; n++; next } c != "" { if ($0 == "") print c; c = "" } END { if (c != "") print c; if (n < 5) print n " commands" }' "$work/out")"
finish
