#!/bin/bash
# The Python module of clients of gpq sched, against a scheduler's socket without a scheduler.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
command -v python3 >/dev/null || skip_all "no python3"
exec python3 "$top/tests/cli/client.py" "$top" "$bin/hint-server"
