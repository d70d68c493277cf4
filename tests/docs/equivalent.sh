#!/bin/bash
# Faults that change nothing (tests/mutate/equivalent) are of code that stands: a row of other code ends each run of the driver.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
command -v python3 >/dev/null || skip_all "no python3"
is "rows of tests/mutate/equivalent have their text, and a reason" "$(cd "$top/tests/mutate" && PYTHONDONTWRITEBYTECODE=1 python3 - 2>&1 <<'P'
import draw
from source import sources
from tree import TOP
rows = draw.equivalents("equivalent", sources(TOP))
print("many" if len(rows) > 50 else rows)
P
)" many
finish
