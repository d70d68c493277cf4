#!/bin/bash
# tests/gpu/check-gpu before it begins: it says what it will do, and does nothing unasked. What it does is tested in the VM
# (tests/kernel/gpq/check-gpu.sh).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit
printf '#!/bin/sh\nexec gpq --sysroot %s/tests/hosts/vm-gfx942-running "$@"\n' "$top" >there
printf '#!/bin/sh\ntouch %s/started\n' "$PWD" >mkqueue
chmod +x there mkqueue
kit() { # ARGUMENTS...: its last line and exit status
	GPQ=${GPQ-$PWD/there} MKQUEUE=$PWD/mkqueue "$top/tests/gpu/check-gpu" "$@" </dev/null 2>&1 | tail -n 1
	echo "status ${PIPESTATUS[0]}"
}

is "without a terminal it takes -y" "$(kit)" \
	"check-gpu: nothing was done: without a terminal to ask on it takes -y (make check-gpu YES=1)
status 2"
# The answer comes after the question, and its writer stays: script ends the terminal with its input.
mkfifo answer
GPQ=$PWD/there MKQUEUE=$PWD/mkqueue script -qec "$top/tests/gpu/check-gpu; echo status \$?" /dev/null <answer >asked 2>&1 &
script=$!
exec 9>answer
until grep -q Begin asked || ! kill -0 $script 2>/dev/null; do sleep 0.05; done
echo n >&9
wait $script
exec 9>&-
is "on a terminal it asks" "$(tr -d '\r' <asked | grep -E 'touched|now:|archive|Begin|nothing was|status')" \
	"No other process is touched. But each suspension takes all queues off that GPU for a moment, and it does so 1000 times;
processes with queues there now: 2.
At the end there is one archive in ., with names and addresses redacted.
Begin? [y/N] n
check-gpu: nothing was done
status 2"
is "a GPU that is not there" "$(kit -y -g 7)" \
	"check-gpu: no GPU 7 here; gpq gpus lists them, gpq gpus --check says what is in the way
status 5"
is "a check that is not there" "$(kit -y -t 'listed x')" \
	"check-gpu: no check x; there are: $(sed -n 's/^ALL="\(.*\)"$/\1/p' "$top/tests/gpu/check-gpu")
status 2"
is "no number" "$(kit -n 1x | tail -n 1)" "status 2"
is "no folder for the archive" "$(kit -y -o nowhere)" "check-gpu: -o nowhere: no folder to write to
status 2"
is "no gpq" "$(GPQ=nothing kit -y)" "check-gpu: no nothing: run make first
status 5"
ok "and no program was started" test ! -e started
finish
