#!/bin/bash
# gpq core as a command, with a driver and a clock of the test's own (tests/holder/rig.py).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
command -v python3 >/dev/null || skip_all "no python3"
exec python3 "$top/tests/holder/core.py" "$top" "$bin"
