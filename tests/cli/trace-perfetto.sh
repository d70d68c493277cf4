#!/bin/bash
# gpq trace --perfetto: every file passes the strict check of check-traceevents, and holds what the generator of the log
# counted, and what grep finds in logs in the shape of real ones and, where they are at hand, in those.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
check=$top/tests/cli/check-traceevents
cd "$work" || exit

# What the generator says of each queue, and what the file shows.
truth='[.queues[] | {pid, hwq, dispatches, barriers, deepest: .backlog_max}] | sort_by(.hwq) | map(select(.dispatches + .barriers > 0))'
shown='.traceEvents as $e
	| ($e | map(select(.ph == "M" and .name == "thread_name" and (.args.name | startswith("HWq"))) | {key: "\(.pid) \(.tid)", value: (.args.name | split(" ")[1])}) | from_entries) as $queue
	| ($e | map(select(.ph == "C" and (.name | startswith("backlog"))) | {q: "\(.pid) \(.name[11:])", v: .args.packets}) | group_by(.q) | map({key: .[0].q, value: (map(.v) | max)}) | from_entries) as $deep
	| [$e[] | select(.ph == "X" and (.cat == "dispatch" or .cat == "barrier")) | {pid, hwq: $queue["\(.pid) \(.tid)"], cat}] | group_by("\(.pid) \(.hwq)")
	| map({pid: .[0].pid, hwq: .[0].hwq, dispatches: (map(select(.cat == "dispatch")) | length), barriers: (map(select(.cat == "barrier")) | length), deepest: $deep["\(.[0].pid) \(.[0].hwq)"]})
	| sort_by(.hwq)'
for o in "--release 6.2 --level 4" "--release 7.0 --level 4 --mix cpp" "--release 7.12 --level 5 --processes 3 --threads 3 --streams 7 --hwqs 2 --seed 7"; do
	gen-amdlog $o --lines 20000 >log 2>truth
	gpq trace -q --perfetto json log >/dev/null
	empty "$o: by the rules" "$($check json 2>&1)"
	# 6.2 prints no pointers in barriers; the generator counts the depth of both.
	[ "$o" = "--release 6.2 --level 4" ] && drop='map(del(.deepest))' || drop=.
	is "$o: packets and depth of each queue" "$(jq -c "$shown | $drop" json)" "$(jq -c "$truth | $drop" truth)"
	is "$o: kernels" "$(jq -S '[.traceEvents[] | select(.ph == "i" and .cat == "launch") | .name] | group_by(.) | map({key: .[0], value: length}) | from_entries' json)" \
		"$(jq -S '[.kernels[] | select(.launches > 0) | {key: .name, value: .launches}] | from_entries' truth)"
	is "$o: flows lead to every dispatch of a call" "$(jq '[.traceEvents[] | select(.ph == "f")] | length > 0' json)" \
		"true"
done
is "to standard output the same, and no report" "$(gpq trace -q --perfetto - log)" "$(cat json)"

for f in "$top"/tests/data/amdlog/shapes/*.log "$samples"/amdlog/*.log; do
	[ -f "$f" ] || continue
	gpq trace -q --perfetto json "$f" >/dev/null
	is "$(basename "$f"): by the rules" "$? $($check json 2>&1)" "0 "
	is "$(basename "$f"): dispatches" "$(jq '[.traceEvents[] | select(.cat == "dispatch")] | length' json)" \
		"$(grep -ac ':.*HWq=0x.*Dispatch Header = ' "$f")"
done

# Calls that lack a part, and times of the GPU.
p() { printf ':3:x.cpp                   :1   : %s us: [pid:7     tid:0x7f00000000aa] %s\n' "$1" "$2"; }
{
	p 1000 'hipInit ( 0 )'
	p 1010 'hipInit: Returned hipSuccess : '
	p 1020 'hipGetLastError (  ) '
	p 1030 'hipLaunchKernel ( 0x1, {1,1,1}, {1,1,1}, 0x2, 0, stream:<null> ) '
	p 1031 'ShaderName : a "b\c" kernel'
	p 1032 'SWq=0x7000, HWq=0x9000, id=1, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, grid=[64, 1, 1], workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0x5, kernarg_address=0x6, completion_signal=0xabc0, correlation_id=0, rptr=3, wptr=7'
	p 1040 'hipLaunchKernel: Returned hipSuccess : : duration: 9 us'
	p 1050 'Signal = (0xabc0), start = 1060500, end = 1085250 time taken= 24750 ns'
	p 1100 'hipFree ( 0x1 ) '
	p 1200 'hipMalloc: Returned hipErrorOutOfMemory : 0x0: duration: 40 us'
	p 1300 'hipMemcpy: Returned hipSuccess : '
	p 1400 'hipStreamSynchronize ( stream:<null> ) '
} >log
gpq trace -q --perfetto json log >/dev/null
empty "hand-made: by the rules" "$($check json 2>&1)"
is "hand-made: slices" "$(jq -r '.traceEvents[] | select(.cat == "api" or .cat == "dispatch") | "\(.ph) \(.name) \(.ts) \(.dur)"' json |
	sort -k3.1,3 | { mapfile -t l; for w in hipInit hipLaunchKernel 'a "b' hipGetLastError hipFree hipMalloc hipMemcpy hipStreamSynchronize; do printf '%s\n' "${l[@]}" | grep -F " $w"; done; })" 'X hipInit 1000 10
X hipLaunchKernel 1030 10
X a "b\c" kernel 1032 0
i hipGetLastError 1020 null
i hipFree 1100 null
X hipMalloc 1160 40
i hipMemcpy 1300 null
i hipStreamSynchronize 1400 null'
is "hand-made: the GPU's times" "$(jq -r '.traceEvents[] | select(.cat == "gpu") | "\(.ph) \(.ts)"' json)" 'b 1060.5
e 1085.25'
is "hand-made: flow from the call to the packet" "$(jq -c '.traceEvents as $e
	| [$e[] | select(.ph == "s" or .ph == "f") | . as $f | {key: .ph, value: ($e[] | select(.ph == "X" and .tid == $f.tid and .ts <= $f.ts and .ts + .dur >= $f.ts) | .name)}]
	| from_entries' json)" '{"s":"hipLaunchKernel","f":"a \"b\\c\" kernel"}'
is "hand-made: the result of the call that failed" "$(jq -r '.traceEvents[] | select(.name == "hipMalloc") | .args.result' json)" \
	"Returned hipErrorOutOfMemory : 0x0: duration: 40 us"
is "hand-made: backlog" "$(jq '.traceEvents[] | select(.ph == "C" and .args.packets) | .args.packets' json)" "4"

# The check notices what is wrong (that it can fail is what makes it a test).
broken() { # NAME JQ
	jq -c "$2" json >wrong
	$check wrong >/dev/null 2>&1
	rig is "the check refuses $1" "$?" "1"
}
broken "a slice without length" '(.traceEvents[] | select(.ph == "X")) |= del(.dur)'
broken "a counter of text" '(.traceEvents[] | select(.ph == "C") | .args) |= {x: "1"}'
broken "slices that overlap" '(.traceEvents[] | select(.name == "hipInit")).dur = 35'
broken "half of a flow" 'del(.traceEvents[] | select(.ph == "s"))'
broken "a flow from nowhere" '(.traceEvents[] | select(.ph == "s")).ts = 1045'
broken "half of an execution" 'del(.traceEvents[] | select(.ph == "e"))'
broken "a track without a name" 'del(.traceEvents[] | select(.name == "thread_name"))'
broken "an unknown phase" '.traceEvents[0].ph = "Z"'
broken "a negative time" '.traceEvents[0].ts = -1'

# Files
gen-amdlog --lines 20000 >log 2>/dev/null
cp log same
out=$(gpq trace --perfetto log log 2>&1)
is "a log is not overwritten" "$?:$out$(cmp log same 2>&1)" "2:gpq: trace: --perfetto log: is a log to be read; name another file"
out=$(gpq trace -q --perfetto /nowhere/x log 2>&1)
is "no such folder" "$?:$out" "5:gpq: trace: --perfetto /nowhere/x: No such file or directory; name a file in a folder you may write to"
out=$(gpq trace -q --perfetto /dev/full log 2>&1 >report)
is "full disk" "$?:$out" "1:gpq: trace: --perfetto /dev/full: No space left on device; what it holds is not complete"
out=$(bash -c 'trap "" XFSZ; ulimit -f 1; gpq trace -q --perfetto cut log >/dev/null' 2>&1)
is "a file that cannot grow" "$?:$out" "1:gpq: trace: --perfetto cut: File too large; nothing is left in it"
is "a part of the timeline is not left" "$(stat -c %s cut)" "0"
is "full disk: the report is there" "$(grep -c '^Kernels' report)" "1"
out=$(gpq trace -q --perfetto - log 2>&1 >/dev/full)
is "full disk on standard output" "$?:$out" "1:gpq: trace: standard output: No space left on device; what it holds is not complete"
gpq trace -q --perfetto - log 2>err | head -c 100 >/dev/null
is "closed pipe" "${PIPESTATUS[0]}:$(cat err)" "141:"
out=$(gpq trace -q --perfetto - -J log 2>&1)
is "one format on standard output" "$?" "2"
echo longer than the next one >old
yes x | head -100000 >>old
gpq trace -q --perfetto old log >/dev/null
empty "an old file is replaced" "$($check old 2>&1)"
# The kernel's trace: by itself, and beside a log.
data=$top/tests/data/ftrace
for f in "$data"/*.trace "$data"/*.pipe "$data"/*.report; do
	gpq trace -q --ftrace "$f" --perfetto json >/dev/null
	is "$(basename "$f"): by the rules" "$? $($check json 2>&1)" "0 "
done
gpq trace -q --ftrace "$data/kprobe-tgid-7.3.trace" --ftrace-clock mono --perfetto json "$data/container.log" >/dev/null
is "with a log: by the rules" "$? $($check json 2>&1)" "0 "
is "calls in the driver: each entry has its return" "$(jq '[.traceEvents[] | select(.cat == "driver" and .ph == "X")] | length' json)" "45"
is "one of them" "$(jq -c '.traceEvents[] | select(.name == "suspend_queues") | {ts, dur, name}' json)" \
	'{"ts":8185026,"dur":3778,"name":"suspend_queues"}'
is "tracks of both" "$(jq -r '[.traceEvents[] | select(.ph == "M") | .args.name | strings | select(test("driver|HWq|thread 1"))] | sort | join(",")' json)" \
	"HWq 0x7ffff7fe7000 id 1,dbg thread 169,driver: dbg 169,driver: mkqueue 167,mkqueue thread 167"

finish
