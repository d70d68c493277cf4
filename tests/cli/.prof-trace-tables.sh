#!/bin/bash
PS4='+@${EPOCHREALTIME} ${BASH_LINENO[${#BASH_LINENO[@]}-2]}:$LINENO '; BASH_XTRACEFD=9; set -x
# Each table, column and filter of gpq trace on two logs, against what trace_tables.py works out from their text on its own.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/cli/trace_tables.py" "$top/tests/data/amdlog"
