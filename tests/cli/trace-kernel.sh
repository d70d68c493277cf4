#!/bin/bash
# Functions, records and suspensions of kernel traces (gpq trace --ftrace) against what trace_kernel.py works out from their lines on its own.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1
data=$top/tests/data/ftrace
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/cli/trace_kernel.py" "$top/tests/data/amdlog" "$data"/kprobe-tgid-7.3.trace "$data"/kprobe-6.12.trace "$data"/holds.trace
