#!/bin/bash
# tests/kernel/tap-merge.awk, which judges the tests in the VMs, and tests/run: what of their output counts as failed. Input by hand.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
merged() { # TEXT...: a line each; the last line of the answer is the status
	printf '%s\n' "$@" | awk -f "$top/tests/kernel/tap-merge.awk" 2>&1
	echo "status ${PIPESTATUS[1]}"
}
ends() { tail -n 2 <<<"$1" | paste -sd' '; }

out=$(merged "# vm rig" "# script rig/a.sh" "ok 1 - one" "# a note" "ok 2 - two # SKIP no disk" 1..2 "# end rig/a.sh 0" \
	"# script rig/b.sh" "what the driver said" "ok 1 - three" 1..1 "# end rig/b.sh 0")
is "scripts are numbered through, each line with its own" "$(grep '^ok' <<<"$out")" \
	$'ok 1 - rig rig/a.sh: one\nok 2 - rig rig/a.sh: two # SKIP no disk\nok 3 - rig rig/b.sh: three'
is "one plan, one count" "$(tail -n 3 <<<"$out")" $'1..3\n2 passed, 0 failed, 1 skipped\nstatus 0'
is "notes and other output stay apart" "$(grep -c '^# a note$\|^# what the driver said$' <<<"$out")" 2

out=$(merged "# vm rig" "# script rig/a.sh" "not ok 1 - one" "ok 2 - two" 1..2 "# end rig/a.sh 1")
is "a failed assertion" "$(ends "$out")" "1 passed, 1 failed, 0 skipped status 1"
out=$(merged "# vm rig" "# script rig/a.sh" "ok 1 - one" "# end rig/a.sh 124")
is "a script without its plan" "$(ends "$out")" "1 passed, 1 failed, 0 skipped status 1"
is "and why" "$(grep '^not ok' <<<"$out")" "not ok 2 - rig rig/a.sh: ended with status 124 after 1 assertions, without a plan"
out=$(merged "# vm rig" "# script rig/a.sh" "ok 1 - one" 1..2 "# end rig/a.sh 0")
is "fewer assertions than planned" "$(ends "$out")" "1 passed, 1 failed, 0 skipped status 1"
out=$(merged "# vm rig" "# script rig/a.sh" 1..0 "# end rig/a.sh 0")
is "a script without assertions" "$(ends "$out")" "0 passed, 1 failed, 0 skipped status 1"
out=$(merged "# vm rig" "# script rig/a.sh" "ok 1 - one" "# died 124")
is "a VM that was killed" "$(grep '^not ok' <<<"$out")" "not ok 2 - rig rig/a.sh: the VM did not come to its end, status 124"
is "has failed" "$(ends "$out")" "1 passed, 1 failed, 0 skipped status 1"
out=$(merged "# vm hip-sid" "ok 1 - the real HIP runtime # SKIP no packages")
is "all skipped: nothing has failed" "$out" $'# vm hip-sid\nok 1 - hip-sid: the real HIP runtime # SKIP no packages\n1..1\n0 passed, 0 failed, 1 skipped\nstatus 0'
is "nothing at all" "$(ends "$(merged "# vm rig")")" "0 passed, 0 failed, 0 skipped status 1"

cd "$work" || exit 1
run() { # TEXT [STATUS]: the status of tests/run, and its last line, for a program that prints TEXT
	printf '#!/bin/sh\nprintf '"'%s'"'\nexit %s\n' "$1" "${2-0}" >program
	chmod +x program
	"$top/tests/run" ./program >out
	echo "$? $(tail -n 1 out)"
}
is "tests/run: all is well" "$(run 'ok 1 - x\nok 2 - y # skip no disk\n1..2\n')" "0 1 passed, 0 failed, 1 skipped"
is "and why one is skipped" "$(sed -E 's/[0-9]+ s/0 s/' out | head -n 1)" "ok ./program (1 passed, 0 s, 1 skipped: no disk)"
is "a failed assertion" "$(run 'not ok 1 - x\nok 2 - y\n1..2\n')" "1 1 passed, 1 failed, 0 skipped"
is "no plan" "$(run 'ok 1 - x\n')" "1 1 passed, 1 failed, 0 skipped"
is "fewer assertions than planned" "$(run 'ok 1 - x\n1..2\n')" "1 1 passed, 1 failed, 0 skipped"
is "a status" "$(run 'ok 1 - x\n1..1\n' 3)" "1 1 passed, 1 failed, 0 skipped"
is "no assertions" "$(run '1..0\n')" "1 0 passed, 1 failed, 0 skipped"
is "no assertions, and why" "$(run '1..0 # SKIP no disk\n')" "0 0 passed, 0 failed, 1 skipped"
is "is told" "$(sed -E 's/[0-9]+ s/0 s/' out | head -n 1)" "ok ./program (0 passed, 0 s, 1 skipped: no disk)"
is "a NUL in front of a failed assertion" "$(run 'ok 1 - x\n\0not ok 2 - y\n1..1\n')" "1 1 passed, 1 failed, 0 skipped"
finish
