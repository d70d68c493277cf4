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
is "rows of tests/mutate/table* have their text" "$(cd "$top" && PYTHONDONTWRITEBYTECODE=1 python3 - 2>&1 <<'P'
import glob
rows = [(path, row.split("\t")) for path in glob.glob("tests/mutate/table*") for row in open(path).read().split("\n") if row and row[0] != "#"]
lost = [(path, file, text) for path, (file, text, _, _) in rows if text.replace("\\n", "\n").replace("\\t", "\t") not in open(file).read()]
print(lost or ("many" if len(rows) > 300 else len(rows)))
P
)" many
finish
