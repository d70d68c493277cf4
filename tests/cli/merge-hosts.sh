#!/bin/bash
# gpq merge of parts of several hosts: equal process ids of two hosts stay apart, parts of one file come together wherever
# they were made, in any order and grouping; what was said long before a range is known to the sum.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
data=$top/tests/data/amdlog
log=$data/rocm70.log
cd "$work" || exit

# What each host's log says, counted by awk: process, records, dispatches.
counted() { # HOST FILE
	awk -v host="$1" 'match($0, /\[pid:[0-9]+/) { pid = substr($0, RSTART + 5, RLENGTH - 5); records[pid]++
		if (/Dispatch Header/) dispatches[pid]++ }
		END { for (pid in records) print host, pid, records[pid], dispatches[pid] + 0 }' "$2" | sort
}
sed 's/pid:8022/pid:9033/' "$log" | grep -v 'train_step' >other.log
gpq trace --partial --host b "$log" >b
gpq trace --partial --host a other.log >a
gpq trace --partial "$data/cnn.log" >c
columns=HOST,PID,RECORDS,DISPATCHES
is "equal pids of two hosts" "$(gpq merge -q --by process -rno $columns b a)" "$(counted a other.log; counted b "$log")"
is "and of no named host" "$(gpq merge -q --by process -rno $columns b c a)" "$(counted - "$data/cnn.log"; counted a other.log; counted b "$log")"
is "a file that is named twice counts once" "$(gpq trace --partial "$log" "$log" | gpq merge -q --by process -rno $columns)" "$(counted - "$log")"
{ head -30 "$log" >early && tail -n +31 "$log" >late; }
is "without names they are one" "$(gpq trace --partial early late | gpq merge -q --by process -rno $columns)" "$(counted - "$log")"
is "queues are of a process of a host" "$(gpq merge -q --by queue -rno HOST,HWQ,DISPATCHES a b | grep 0x7f)" \
	"$(for h in a b; do printf "$h 0x7f0000b20000 3\n$h 0x7f0000b40000 3\n"; done)"
is "so are streams" "$(gpq merge -q --by stream -rno HOST,STREAM,DISPATCHES a b)" \
	"$(for h in a b; do printf "$h 0x1950000 3\n$h 0x1960000 3\n"; done)"
is "and errors" "$(gpq merge -q --by error -rno HOST,PID,COUNT b a)" "$(for h in a b; do awk -v h=$h '/Returned hipErrorOutOfMemory/ { match($0, /pid:[0-9]+/); print h, substr($0, RSTART + 4, RLENGTH - 4), 1 }' \
	$([ $h = a ] && echo other.log || echo "$log"); done)"
is "kernels are one by name" "$(gpq merge -q --by kernel -rno LAUNCHES,NAME a b | awk '/layer_norm/ { print $1 }')" \
	"$(cat other.log "$log" | grep -c 'ShaderName : layer_norm')"
is "HOST is shown when there is one" "$(gpq merge -q --by process a | awk 'NR == 1 { print $1 }') $(gpq merge -q --by process c | grep -c HOST)" "HOST 0"
is "what names no host stands first" "$(gpq merge --partial a b c | head -1 | jq -r .file)" "$data/cnn.log"
is "the clocks of two hosts are not compared" "$(gpq merge -qJ a b | jq -r '[.totals | .first_us, .last_us, .span_ns, .steps_back] | map(tostring) | join(" ")')" \
	"null null null 0"
is "that of one is its own" "$(gpq merge -qJ a | jq .totals.span_ns)" "$(gpq trace -J other.log | jq .totals.span_ns)"
is "which is said" "$(gpq merge a b 2>&1 >/dev/null | grep -c 'each with a clock of its own')" 1

# Any order and grouping; ranges of one file made on two hosts that do not say so; and some that do.
half=$(($(stat -c %s "$log") / 2))
gpq trace --partial --host b --range 0:$half "$log" >b1
gpq trace --partial --host b --range $half: "$log" >b2
gpq merge --partial a b c >all
gpq merge -qJ --by process -o +HOST a b c >whole
gpq merge -qJ a b c >report
for order in "a b1 b2 c" "c b2 b1 a" "b1 c a b2" "b2 a c b1"; do
	set -- $order
	gpq merge --partial $1 $2 >x
	gpq merge --partial $4 $3 >y
	is "($1 $2)($4 $3): the same report" "$(gpq merge -qJ y x)" "$(cat report)"
	is "($1 $2)($4 $3): the same bytes" "$(gpq merge --partial y x)" "$(gpq merge --partial a b1 b2 c)"
done
is "parts are kept as they came" "$(sort all)" "$(sort a b c)"
# What x lacks, b has: whether they have one log is not known, so nothing may be missing.
gpq trace --partial --host x --range 0:$half "$log" >x1
is "ranges of one file by two hosts" "$(gpq merge --by process x1 b2 2>&1 >/dev/null)" \
	"gpq: merge: $log: hosts have different ranges of it, so gaps are not known; if they share one log, make its parts without --host"
is "what no other host has" "$(gpq merge --by process x1 a 2>&1 >/dev/null | grep -c 'in no part')" 1
is "ranges that name no host are of one file" "$( (gpq trace --partial --range $half: "$log"; gpq trace --partial --range 0:$half "$log") | gpq merge -J)" \
	"$(gpq trace -J "$log")"
gpq trace --host x "$log" >out 2>err
is "--host without --partial" "$? $(cat err)" "2 gpq: trace: --host is for parts that gpq merge adds up; say --partial too"
is "a name with quotes and escapes" "$(gpq trace --partial --host $'x"\\y\e' "$log" | gpq merge -qJ --by process -o HOST | jq -c '.processes[0].host')" '"x\"\\y\u001b"'

# A kernel that is named, and a stream that is made, more than 4 MiB before the range that needs them.
launch=$(grep -m1 -n ShaderName "$log" | cut -d: -f1)
packet=$(grep -m1 -n 'Dispatch Header' "$log" | cut -d: -f1)
{
	head -$packet "$log" # to the first dispatch
	for ((i = 0; i < 60000; i++)); do
		echo ':3:hip_memory.cpp           :786 : 0090000500 us: [pid:4711 tid: 0x7f00000e5400] some words that mean nothing here'
	done
	for _ in 1 2 3; do sed -n ${packet}p "$log"; done # as of a graph: no names
} >far
size=$(stat -c %s far)
rig is "what is between is long enough" $((size > 5500000)) 1
name=$(sed -n "${launch}s/.*ShaderName : //p" far)
for at in 1000000 2000000 $((size - 1200)) $((size - 700)); do
	{ gpq trace --partial --range $at: far; gpq trace --partial --range 0:$at far; } >parts
	is "4 dispatches of it, cut at $at" "$(gpq merge -q --by kernel -rno DISPATCHES,NAME parts | sed 's/\\x20/ /g')" "4 $name"
	is "one stream, cut at $at" "$(gpq merge -J --by stream parts)" "$(gpq trace -J --by stream far)"
done
finish
