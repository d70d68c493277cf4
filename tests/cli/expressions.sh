#!/bin/bash
# An expression that is given twice adds up or is refused: over the options of all commands. Small mistakes of words. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
h=$top/tests/hosts/gfx90a-k6.12
cd "$work" || exit
# Over all tables of options: what takes an expression is of a kind that adds up (OPT_LIST) or is refused (OPT_EXPR).
rows=$(cat "$top"/cmd/*.c "$top"/cmd/*/*.c "$top"/common/*/*.h | tr -s '\n\t ' ' ' | grep -oE '"[a-z-]+", (0|.[a-zA-Z].), OPT_[A-Z]+, "[^"]*(REGEX|EXPR|LEVEL)[^"]*"')
rig empty "no command keeps the last of several expressions" "$(echo "$rows" | grep -vE 'OPT_(LIST|EXPR)')"
rig is "and they were found" "$(echo "$rows" | cut -d'"' -f2 | sort | tr '\n' ' ')" \
	"cmdline comm filter grep grep-not kernel metric offline-metric offline-ready prio "
is "the first of two is compiled as well" "$(gpq queues --comm '(' --comm x --sysroot "$h" 2>&1 | cut -d: -f-4; echo "${PIPESTATUS[0]}")" "gpq: queues: --comm: (
2"
is "selectors add up" "$(gpq queues --comm vllm --comm python3 -rno COMMAND --sysroot "$h" | sort -u | tr '\n' ' ')" "python3 vllm "
is "command lines add up, in a SPEC too" "$(gpq sched --offline 'comm=vllm,comm=python3' --dry-run -rno COMMAND --sysroot "$h" | sort -u | tr '\n' ' ')" "python3 vllm "
is "kernels add up" "$(gpq trace --by kernel --kernel attention --kernel layer_norm -rno NAME "$top/tests/data/amdlog/rocm70.log" | grep -cE 'attention|layer_norm')" 2
is "a filter given twice" "$(gpq queues --filter QID==0 --filter QID==1 --sysroot "$h" 2>&1; echo $?)" \
	"gpq: queues: --filter: given twice: QID==0 and QID==1; say in one expression what is meant
2"
is "-nJ is -n -J" "$(may 2 gpq queues -nJ --nope --sysroot "$h" 2>/dev/null | jq -r .error.message)" "unknown option --nope"
is "-J as another option's argument is none" "$(may 2 gpq trace --grep -J --nope x 2>&1 | cut -c1-4)" "gpq:"
is "a completion that cannot be written" "$(gpq --complete queues -- 2>&1 >/dev/full; echo $?)" "gpq: standard output: No space left on device
1"
# C1 controls: U+009B begins an escape sequence on some terminals.
cp -r "$h" evil && printf 'Name:\tx\xc2\x9b31m\nPPid:\t1\nUid:\t0\t0\t0\t0\n' >evil/proc/41207/status
for f in -J --ndjson -r -P --csv ''; do
	is "no C1 control passes: ${f:-a table}" "$(gpq queues $f -o PID,COMMAND --sysroot evil 2>&1 | grep -c -e $'\xc2\x9b' -e 41207)" 4
done
is "JSON escapes it" "$(gpq queues -J -p 41207 --sysroot evil | grep -o 'x.u009b31m' | sort -u)" 'x\u009b31m'
finish
