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
	gen-amdlog $o --lines 6000 >log 2>truth
	gpq trace -q --perfetto json log >/dev/null
	empty "$o: by the rules" "$($check json 2>&1)"
	# 6.2 prints no pointers in barriers; the generator counts the depth of both.
	[ "$o" = "--release 6.2 --level 4" ] && drop='map(del(.deepest))' || drop=.
	is "$o: packets and depth of each queue" "$(jq -c "$shown | $drop" json)" "$(jq -c "$truth | $drop" truth)"
	is "$o: no queue without packets has a track" "$(jq -r '.traceEvents[] | select(.ph == "M" and .name == "thread_name").args.name | select(startswith("HWq")) | split(" ")[1]' json | sort)" \
		"$(jq -r "$truth | .[].hwq" truth | sort)"
	is "$o: kernels" "$(jq -S '[.traceEvents[] | select(.ph == "i" and .cat == "launch") | .name] | group_by(.) | map({key: .[0], value: length}) | from_entries' json)" \
		"$(jq -S '[.kernels[] | select(.launches > 0) | {key: .name, value: .launches}] | from_entries' truth)"
	is "$o: flows lead to every dispatch of a call" "$(jq '[.traceEvents[] | select(.ph == "f")] | length > 0' json)" \
		"true"
done
is "to standard output the same, and no report" "$(gpq trace -q --perfetto - log)" "$(cat json)"

for f in $(each 3 "$top"/tests/data/amdlog/shapes/*.log "$samples"/amdlog/*.log); do
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
	p 1415 'hipEventRecord: Returned hipSuccess : : duration: 16 us'
	p 1450 'hipEventQuery: Returned hipSuccess : : duration: 50 us'
} >log
gpq trace -q --perfetto json log >/dev/null
empty "hand-made: by the rules" "$($check json 2>&1)"
is "hand-made: slices" "$(jq -r '.traceEvents[] | select(.cat == "api" or .cat == "dispatch") | "\(.ph) \(.name) \(.ts) \(.dur)"' json |
	sort -k3.1,3 | { mapfile -t l; for w in hipInit hipLaunchKernel 'a "b' hipGetLastError hipFree hipMalloc hipMemcpy hipStreamSynchronize hipEventRecord hipEventQuery; do printf '%s\n' "${l[@]}" | grep -F " $w"; done; })" 'X hipInit 1000 10
X hipLaunchKernel 1030 10
X a "b\c" kernel 1032 0
i hipGetLastError 1020 null
i hipFree 1100 null
X hipMalloc 1160 40
i hipMemcpy 1300 null
i hipStreamSynchronize 1400 null
i hipEventRecord 1415 null
X hipEventQuery 1400 50'
is "hand-made: the GPU's times" "$(jq -r '.traceEvents[] | select(.cat == "gpu") | "\(.ph) \(.ts)"' json)" 'b 1060.5
e 1085.25'
is "hand-made: flow from the call to the packet" "$(jq -c '.traceEvents as $e
	| [$e[] | select(.ph == "s" or .ph == "f") | . as $f | {key: .ph, value: ($e[] | select(.ph == "X" and .tid == $f.tid and .ts <= $f.ts and .ts + .dur >= $f.ts) | .name)}]
	| from_entries' json)" '{"s":"hipLaunchKernel","f":"a \"b\\c\" kernel"}'
is "hand-made: the result of the call that failed" "$(jq -r '.traceEvents[] | select(.name == "hipMalloc") | .args.result' json)" \
	"Returned hipErrorOutOfMemory : 0x0: duration: 40 us"
is "hand-made: backlog" "$(jq '.traceEvents[] | select(.ph == "C" and .args.packets) | .args.packets' json)" "4"

# Every event of a log, by the rules of timeline.h: calls within calls, without a return, without an entry; packets with and without a
# call, cut, older than the ones before; queues that begin and end; the GPU's times in both forms.
q() { printf ':3:x.cpp                   :1   : %s us: [pid:%s     tid:0x7f00000000%s] %s\n' "$1" "$2" "$3" "$4"; }
packet() { # TIME PID TID HWQ KIND SIGNAL RPTR WPTR
	q "$1" "$2" "$3" "SWq=0x7$4, HWq=0x9$4, id=1, $5 Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), $([ "$5" != Dispatch ] ||
		echo "setup=3, grid=[$8, 2, 1], workgroup=[8, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0x5, kernarg_address=0x6, ")completion_signal=$6, rptr=$7, wptr=$8"
}
{
	q 1000 7 aa 'hipStreamCreate ( 0x1 ) '
	q 1001 7 aa 'Created SWq=0x71 to map on HWq=0x91 with size 64 with priority 2, cooperative: 0'
	q 1005 7 aa 'hipStreamCreate: Returned hipSuccess : stream:0x10'
	q 1100 7 aa 'hipLaunchKernel ( 0x1, stream:0x10 ) '
	q 1102 7 aa 'hipMemcpy ( 0x1 ) '
	q 1103 7 aa 'ShaderName : k1'
	packet 1104 7 aa 1 Dispatch 0xa 0 4
	q 1106 7 aa 'hipMemcpy: Returned hipSuccess : : duration: 3 us'
	packet 1107 7 aa 1 BarrierAND 0xb 0 6
	q 1108 7 aa 'hipLaunchKernel: Returned hipErrorNoDevice : '
	q 1200 7 aa 'hipMalloc ( 0x1 ) '
	q 1201 7 aa 'hipFree ( 0x1 ) '
	q 1205 7 aa 'hipMalloc: Returned hipSuccess : '
	q 1300 7 aa 'hipGraphLaunch ( 0x1, stream:0x10 ) '
	packet 1310 7 aa 1 Dispatch 0xc 7 9
	q 1310 7 aa 'hipGraphLaunch: Returned hipSuccess : '
	packet 1320 7 aa 1 BarrierOR 0x0 10 12
	q 1330 7 aa 'Signal = (0xa), start/end = 1111500 / 1112750'
	q 1331 7 aa 'Signal = (0xa), start/end = 1113500 / 1113750'
	q 1332 7 aa 'Signal = (0xc), start = 1119000, end = 1118000'
	q 1333 7 aa 'Signal = (0xc), start = 1118000, end = 1119000'
	q 1335 7 aa 'hipGetLastError (  ) '
	q 1336 7 aa 'hipPeekAtLastError (  ) '
	q 25000 9 bb 'ShaderName : k2'
	packet 25001 9 bb 2 Dispatch 0xa 8 8
	q 25100 9 bb 'hipFree: Returned hipSuccess : : duration: 40 us'
	q 25120 9 bb 'hipFree: Returned hipSuccess : : duration: 21 us'
	packet 35000 9 bb 2 BarrierValue 0x0 8 9
	packet 12000 7 aa 1 BarrierAND 0x0 12 12
	q 36000 9 bb 'Callback: Queue 0x92 aborting with error : x code: 0x1'
	q 37000 9 bb 'Deleting hardware queue 0x92 with refCount 0'
	q 37100 7 aa 'hipMemset ( 0x1 ) '
	packet 37000 7 aa 1 BarrierAND 0x0 12 12
	q 37110 7 aa 'hipMemset: Returned hipSuccess : '
	q 38000 9 bb 'hipMalloc ( 0x1 ) '
	q 400 9 bb 'hipMalloc: Returned hipSuccess : '
	q 500 9 bb 'hipDeviceSynchronize (  ) '
} >log
gpq trace -q --no-demangle --perfetto each log >/dev/null
is "hand-made: each event" "$(jq -r '.traceEvents[] | [.ph, .pid, .tid, .ts, .dur, .cat, .name, .id, (.args // {} | to_entries[] | "\(.key)=\(.value)")] | map(values) | join(" ")' each)" \
	"i 7 5000001 1001 queue queue created
X 7 5000001 1000 5 api hipStreamCreate
i 7 5000001 1103 launch k1
C 7 0 1104 backlog of 0x91 packets=4
X 7 5000001 1102 4 api hipMemcpy duration_us=3
C 7 0 1107 backlog of 0x91 packets=6
X 7 5000001 1100 8 api hipLaunchKernel result=Returned hipErrorNoDevice :
s 7 5000001 1104 launch launch 1
f 7 6000000 1104 launch launch 1
X 7 6000000 1104 0 dispatch k1 packet=dispatch grid=4x2x1 workgroup=8x1x1 wptr=4 rptr=0
s 7 5000001 1107 launch launch 2
f 7 6000000 1107 launch launch 2
X 7 6000000 1107 0 barrier barrier_and packet=barrier_and wptr=6 rptr=0
i 7 5000001 1201 api hipFree log=no return
X 7 5000001 1200 5 api hipMalloc
C 7 0 1310 backlog of 0x91 packets=2
X 7 5000001 1300 10 api hipGraphLaunch
s 7 5000001 1309 launch launch 3
f 7 6000000 1310 launch launch 3
X 7 6000000 1310 0 dispatch k1 packet=dispatch grid=9x2x1 workgroup=8x1x1 wptr=9 rptr=7
X 7 6000000 1320 0 barrier barrier_or packet=barrier_or wptr=12 rptr=10
b 7 6000000 1111.5 gpu k1 1 hwq=0x91 submitted_us=1104
e 7 6000000 1112.75 gpu k1 1
b 7 6000000 1118 gpu k1 2 hwq=0x91 submitted_us=1310
e 7 6000000 1119 gpu k1 2
i 7 5000001 1335 api hipGetLastError
i 7 5000001 1336 api hipPeekAtLastError
i 9 5000002 25000 launch k2
C 9 0 25001 backlog of 0x92 packets=0
C 8000000 0 0 queues with packets in 10 ms queues=1
C 8000000 0 10000 queues with packets in 10 ms queues=0
X 9 6000001 25001 0 dispatch k2 packet=dispatch grid=8x2x1 workgroup=8x1x1 wptr=8 rptr=8
X 9 5000002 25060 40 api hipFree duration_us=40
i 9 5000002 25120 api hipFree log=no entry
C 9 0 35000 backlog of 0x92 packets=1
C 8000000 0 20000 queues with packets in 10 ms queues=1
X 9 6000001 35000 0 barrier barrier_value packet=barrier_value wptr=9 rptr=8
C 7 0 12000 backlog of 0x91 packets=0
X 7 6000000 12000 0 barrier barrier_and packet=barrier_and wptr=12 rptr=12
i 9 5000002 36000 error queue error text=Callback: Queue 0x92 aborting with error : x code: 0x1
i 9 5000002 37000 queue queue deleted
X 7 6000000 37000 0 barrier barrier_and packet=barrier_and wptr=12 rptr=12
X 7 5000001 37100 10 api hipMemset
i 9 5000002 400 api hipMalloc log=another run
i 9 5000002 500 api hipDeviceSynchronize log=no return
C 8000000 0 30000 queues with packets in 10 ms queues=2
C 8000000 0 40000 queues with packets in 10 ms queues=0
M 7000000 0 process_name name=process not known
M 7000000 0 process_sort_index sort_index=1
M 7 0 process_name name=process 7
M 7 0 process_sort_index sort_index=2
M 9 0 process_name name=process 9
M 9 0 process_sort_index sort_index=3
M 8000000 0 process_name name=all queues
M 8000000 0 process_sort_index sort_index=0
M 7 6000000 thread_name name=HWq 0x91 id 1 high
M 7 6000000 thread_sort_index sort_index=0
M 9 6000001 thread_name name=HWq 0x92 id 1
M 9 6000001 thread_sort_index sort_index=1
M 7 5000001 thread_name name=thread 0x7f00000000aa
M 7 5000001 thread_sort_index sort_index=3
M 9 5000002 thread_name name=thread 0x7f00000000bb
M 9 5000002 thread_sort_index sort_index=4"
# Two calls in one that another is around: each began where the track had ended, whatever began at that depth later.
{
	q 100 7 aa 'hipOuter ( 0x1 ) '
	q 110 7 aa 'hipMiddle ( 0x1 ) '
	q 120 7 aa 'hipFirst ( 0x1 ) '
	q 130 7 aa 'hipFirst: Returned hipSuccess : '
	q 140 7 aa 'hipSecond ( 0x1 ) '
	q 150 7 aa 'hipSecond: Returned hipSuccess : '
	q 160 7 aa 'hipMiddle: Returned hipSuccess : '
	q 170 7 aa 'hipOuter: Returned hipSuccess : '
} >nested.log
gpq trace -q --perfetto nested nested.log >/dev/null
is "calls in calls are slices" "$(jq -r '.traceEvents[] | select(.cat == "api") | "\(.ph) \(.ts) \(.dur) \(.name)"' nested)" "X 120 10 hipFirst
X 140 10 hipSecond
X 110 50 hipMiddle
X 100 70 hipOuter"
# A call keeps 16 packets for its flows, a thread 8 calls.
{
	q 1000 7 aa 'hipGraphLaunch ( 0x1 ) '
	for i in $(seq 17); do packet $((1000 + i)) 7 aa 1 Dispatch 0x0 0 "$i"; done
	q 1100 7 aa 'hipGraphLaunch: Returned hipSuccess : '
	for i in $(seq 9); do q "200$i" 7 aa "hipExt$i ( 0x1 ) "; done
	for i in $(seq 9 -1 1); do q "20$((20 - i))" 7 aa "hipExt$i: Returned hipSuccess : "; done
} >log
gpq trace -q --perfetto each log >/dev/null
is "packets and calls that are kept" "$(jq -c '.traceEvents | [.[] | select(.ph == "f").ts], ([.[] | select(.cat == "dispatch").ts] | index(1017)), [.[] | select(.cat == "api") | [.ph, .name, .ts, .dur]]' each)" \
	'[1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,1012,1013,1014,1015,1016]
0
[["X","hipGraphLaunch",1000,100],["i","hipExt1",2001,null],["X","hipExt9",2009,2],["X","hipExt8",2008,4],["X","hipExt7",2007,6],["X","hipExt6",2006,8],["X","hipExt5",2005,10],["X","hipExt4",2004,12],["X","hipExt3",2003,14],["X","hipExt2",2002,16],["i","hipExt1",2019,null]]'

# A queue that was created, and took no packet, has no track.
{
	q 1000 7 aa 'Created SWq=0x73 to map on HWq=0x93 with size 64 with priority 2, cooperative: 0'
	packet 1104 7 aa 1 Dispatch 0xa 0 4
} >log
gpq trace -q --perfetto idle log >/dev/null
is "tracks are of queues with packets" "$(jq -r '.traceEvents[] | select(.ph == "M" and .name == "thread_name").args.name' idle | sort | xargs)" \
	"HWq 0x91 id 1 thread 0x7f00000000aa"

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
