#!/bin/bash
# make demo: it ends well without a terminal and with hardly an environment, and each of its commands shows something.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
ok "the demonstration" env -i PATH="$PATH" GPQ_BIN="$bin" COLUMNS=40 "$top/tests/demo"
"$top/tests/demo" >"$work/out" 2>&1
empty "no complaint" "$(grep '^gpq: ' "$work/out")"
empty "each command shows something" "$(awk '/^\$ / { c = $0; n++; next } c != "" { if ($0 == "") print c; c = "" } END { if (c != "") print c; if (n < 5) print n " commands" }' "$work/out")"
finish
