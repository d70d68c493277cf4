# gpq trace: what ties, windows, errors and orders come to, on logs of a few lines made here. Times, addresses and pointers
# are chosen so that each expected value follows from the lines above it.
#
# w: a record; d: a dispatch with these pointers; its ring is 0x7f0000KK0000.
$ cat >lib <<'END'
> w() { printf ':3:rocvirtual.cpp           :3351: %010d us: [pid:%d tid: 0x%s] %s\n' "$@"; } # US PID TID TEXT
> d() { # US PID TID KK RPTR WPTR [SIGNAL]
> 	w "$1" "$2" "$3" "SWq=0x7f0000${4}1000, HWq=0x7f0000${4}0000, id=1, Dispatch Header = 0xb02 (type=2, barrier=1, acquire=1, release=1), setup=3, grid=[256, 1, 1], workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0xd01, kernarg_address=0x7f0000900000, completion_signal=0x${7:-0}, correlation_id=0, rptr=$5, wptr=$6"
> }
> b() { # US PID TID KK WHICH RPTR WPTR
> 	w "$1" "$2" "$3" "SWq=0x7f0000${4}1000, HWq=0x7f0000${4}0000, id=1, Barrier$5 Header = 0x1503 (type=3, barrier=1, acquire=2, release=2), dep_signal=[0x0, 0x0, 0x0, 0x0, 0x0], completion_signal=0x0, rptr=$6, wptr=$7"
> }
> c() { w "$1" "$2" "$3" "Created SWq=0x7f0000${4}1000 to map on HWq=0x7f0000${4}0000 with size 16384 with priority 1, cooperative: 0"; }
> END

# Gaps: three dispatches at once are two gaps of nothing, which count in the distribution (0 0 100 100) and are not listed.
# Of equal ones the earlier comes first, and is the one that is kept.
$ . ./lib; { d 100 7 a 0a 0 1; d 100 7 a 0a 0 2; d 100 7 a 0a 0 3; d 200 7 a 0a 0 5; d 300 7 a 0a 0 9; } >gaps.log
> gpq trace -q --gaps gaps.log; gpq trace -qr --gaps --top 1 -o hwq_or_all,begin_us,backlog gaps.log
Time between dispatches
PID HWQ_OR_ALL     DISPATCHES GAP_P50 GAP_P99 GAP_MAX MARKS QUIET AFTER_P50 AFTER_MAX
  7 0x7f00000a0000          5     0ns       -   100us     -     -         -         -

Longest times without a dispatch, of each queue (5; --top N): not idle time
PID HWQ_OR_ALL     BEGIN_US END_US   GAP BACKLOG MARK OVERLAP
  7 0x7f00000a0000      100    200 100us       3 -          -
  7 0x7f00000a0000      200    300 100us       5 -          -
HWQ_OR_ALL BEGIN_US BACKLOG
all 100 -
0x7f00000a0000 100 3

# What all queues did together is left out only where it is what the one queue did, and only for people.
$ . ./lib; { d 100 7 a 0a 0 1; d 200 7 a 0a 0 5; } >one.log; { cat one.log; d 300 7 b 0b 0 1; } >two.log
> gpq trace -q --gaps two.log | grep -c all; for f in 'HWQ_OR_ALL == "all"' 'DISPATCHES == 2'; do gpq trace -q --gaps --filter "$f" one.log | grep -c all; done; gpq trace -q --gaps -J one.log | jq -c '[.queues[].hwq_or_all]'
3
2
2
["all","0x7f00000a0000"]

# Windows: one before the first dispatch and one of which nothing is known behind the last do not count; of two that cover
# as much of a gap the earlier is named; a window without length may mark a moment. (500, 600 and 800 us: the median is
# told to 3 %.)
$ . ./lib; { d 1000 7 a 0a 0 1; d 2000 7 a 0a 0 2; d 3000 7 a 0a 1 3; } >w.log
> printf '10 20 before\n1100 1200 one\n1300 1400 two\n2500 2500 moment\n3000 4000 behind\n' >marks
> gpq trace -q --gaps --mark marks w.log 2>&1 | grep -v all
Time between dispatches
PID HWQ_OR_ALL     DISPATCHES GAP_P50 GAP_P99 GAP_MAX MARKS QUIET AFTER_P50 AFTER_MAX
  7 0x7f00000a0000          3     1ms       -     1ms     3     3     607us     800us

Longest times without a dispatch, of each queue (5; --top N): not idle time
PID HWQ_OR_ALL     BEGIN_US END_US GAP BACKLOG MARK OVERLAP
  7 0x7f00000a0000     1000   2000 1ms       1 one    100us
  7 0x7f00000a0000     2000   3000 1ms       2 -          -

Marked windows
MARK   BEGIN_US LENGTH PID            HWQ DISPATCHES TAKEN DEEPEST GAP AFTER
one        1100  100us   7 0x7f00000a0000          0     -       - 1ms 800us
two        1300  100us   7 0x7f00000a0000          0     -       - 1ms 600us
moment     2500    0ns   7 0x7f00000a0000          0     -       - 1ms 500us

# Series: the queue with most dispatches comes first, not the first one of the log. Nothing happens at 300 us.
$ . ./lib; { d 100 7 a 0a 0 1; d 200 7 a 0b 0 1; d 400 7 a 0b 0 2; d 400 7 a 0b 0 3; } >s.log
> gpq trace -qJ --series 100us s.log | jq -c '.tracks[] | [.hwq_or_all, .dispatches, .idle_intervals]'
["all",4,1]
["0x7f00000b0000",3,1]
["0x7f00000a0000",1,0]

# Of shapes with as many work-items the one shown does not depend on which came first.
$ . ./lib; d 100 7 a 0a 0 1 >wide; sed 's/256, 1, 1/1, 256, 1/' wide >high; n() { w 90 7 a 'ShaderName : k'; cat $1; }
> for f in "wide high" "high wide"; do for x in $f; do n $x; done | gpq trace -qr --by kernel -o grid_min,grid_max -n -; done
1x256x1 256x1x1
1x256x1 256x1x1

# Queues that failed, in the order they did, however often they say so.
$ . ./lib; e() { w $1 7 a "Callback: Queue 0x7f0000${2}0000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016"; }
> { e 100 0b; e 200 0a; e 300 0a; e 400 0a; } | gpq trace -qr --by error -o kind,count,first_us,last_us,hwq -
KIND COUNT FIRST_US LAST_US HWQ
queue 1 100 100 0x7f00000b0000
queue 3 200 400 0x7f00000a0000

# A message that fills the runtime's buffer of 4096 bytes was cut by the runtime, not by another writer.
$ . ./lib; long() { w 1 7 a "hipModuleLaunchKernel ( $(head -c $1 /dev/zero | tr '\0' x)"; }
> for n in 4000 4060; do long $n | gpq trace -qJ - | jq .totals.cut_records; done
1
0

# A queue made anew with another id: its id is not told, and a note says so. (Its id was 1 before and is 1 at the end.)
$ . ./lib; { d 1 7 a 0a 0 1; d 2 7 a 0a 0 2 | sed 's/id=1/id=2/'; d 3 7 a 0a 0 3; d 4 7 a 0a 0 4; } >id.log
> gpq trace -qr --by queue -o id,dispatches id.log; gpq trace -J id.log 2>&1 | jq -r '.notes[]' | grep anew
> head -1 id.log >id1; tail -3 id.log >id2; gpq trace --partial id1 id2 | gpq merge -qr --by queue -o id,dispatches
> { head -1 id.log | sed 's/id=1/id=0/'; tail -1 id.log; } >id0; gpq trace -qr --by queue -o id,dispatches id0
ID DISPATCHES
- 4
queues made anew at the same address, with another id: 1
ID DISPATCHES
- 4
ID DISPATCHES
- 2

# When a queue was made and deleted: the first making, the last deletion, also when parts are added up.
$ . ./lib; x() { w $1 7 a "Deleting hardware queue 0x7f00000a0000 with refCount 0"; }
> { c 10 7 a 0a; d 11 7 a 0a 0 1; x 20; c 30 7 a 0a; d 31 7 a 0a 0 1; x 40; d 50 7 a 0a 0 2; } >made.log
> gpq trace -qr --by queue -o created_us,deleted_us,created,deleted made.log
> split -n l/7 made.log m.; gpq trace --partial m.?? | gpq merge -qr --by queue -o created_us,deleted_us,created,deleted
CREATED_US DELETED_US CREATED DELETED
10 40 2 2
CREATED_US DELETED_US CREATED DELETED
10 40 2 2

# Times between the ends of a call and its packets: a flow begins within its call's slice, also when the packet has the
# time of the return.
$ . ./lib; { w 100 7 a 'hipLaunchKernel ( 0x1 ) '; d 200 7 a 0a 0 1; w 200 7 a 'hipLaunchKernel: Returned hipSuccess : '; } >f.log
> gpq trace -q --perfetto - f.log | jq -c '.traceEvents[] | select(.ph == "s" or .ph == "f" or .cat == "api") | [.ph, .ts, .dur]'
["X",100,100]
["s",199,null]
["f",200,null]

# Kernels that were used most come first, launched or dispatched: three launches without a packet before two dispatches.
$ . ./lib; k() { w $1 7 a "ShaderName : $2"; }
> { k 1 b_packets; d 2 7 a 0a 0 1; k 3 b_packets; d 4 7 a 0a 0 2; for i in 5 6 7; do k $i a_launches; done; } >k.log
> gpq trace -qr --by kernel -o launches,dispatches,name k.log
LAUNCHES DISPATCHES NAME
3 0 a_launches
2 2 b_packets

# Two logs at different times, either way around; a mean backlog of less than a packet is nothing to speak of.
$ . ./lib; { d 1000000 7 a 0a 9 9; d 2000000 7 a 0a 9 10; } >early.log; { d 4500000 8 a 0b 5 5; d 5500000 8 a 0b 6 6; } >late.log
> gpq trace -q --compare early.log late.log | sed -n '/began/p;/deep/p'; gpq trace -q --compare late.log early.log | grep began
queues are about as deep: mean backlog 0.5 in A, 0 in B
B began 2.5 s after A had ended, if they are of one host and boot
A began 2.5 s after B had ended, if they are of one host and boot

# Two versions of the runtime in one log: none is told, and a note says so.
$ v() { printf ':3:hip_context.cpp          :60  : %010d us: [pid:7 tid: 0xa] HIP Version: %s, Direct Dispatch: 1\n' $1 $2; }
> for s in "v 1 7.0.1; v 2 7.0.1" "v 1 7.0.1; v 2 6.4.2"; do eval "$s" | gpq trace -J - 2>/dev/null | jq -c '[.totals.hip_version, (.notes | map(select(test("versions"))) | length)]'; done
> v 1 7.0.1 >v1; v 2 6.4.2 >v2; { v 3 6.4.2; v 4 7.0.1; } >v3
> for f in v2 v3; do gpq trace --partial v1 $f | gpq merge -J | jq -c '[.totals.hip_version, (.notes | map(select(test("versions"))) | length)]'; done
["7.0.1",0]
[null,1]
[null,1]
[null,1]

# A duration is of a return alone, even if the arguments of a call look like one.
$ . ./lib; { w 1 7 a 'hipFoo ( 1 ) : duration: 5 us'; w 2 7 a 'hipFoo: Returned hipSuccess : : duration: 6 us'; } |
> gpq trace -q --list --ndjson -o kind,duration_us - | jq -c '[.kind, .duration_us]'
["api",null]
["return",6]

# A packet that was put together counts for the range in which it begins, be it the first byte.
$ gpq trace -qJ --range 0: $DATA/amdlog/wrapped.log | jq .totals.mended
> cp $DATA/amdlog/wrapped.log again.log; gpq trace --partial $DATA/amdlog/wrapped.log again.log | gpq merge -qJ | jq .totals.mended
1
2

# A stream that was made and never used is told of; without packets in the log nobody knows of dispatches.
$ . ./lib; s() { w $1 7 a 'hipStreamCreate ( 0x1 ) '; c $(($1 + 1)) 7 a 0a; w $(($1 + 2)) 7 a "hipStreamCreate: Returned hipSuccess : stream:0x$2"; }
> l() { w $1 7 a "hipLaunchKernel ( 0x1, stream:0x$2 ) "; d $(($1 + 1)) 7 a 0a 0 1; w $(($1 + 2)) 7 a 'hipLaunchKernel: Returned hipSuccess : '; }
> { s 10 51; s 20 52; l 30 52; l 40 52; } >st.log; grep -v Dispatch st.log >st3.log
> for f in st.log st3.log; do gpq trace -qr --by stream -o stream,first_us,last_us,created,packets,dispatches $f; done
STREAM FIRST_US LAST_US CREATED PACKETS DISPATCHES
0x51 12 12 1 0 0
0x52 22 41 1 2 2
STREAM FIRST_US LAST_US CREATED PACKETS DISPATCHES
0x51 12 12 1 - -
0x52 22 22 1 - -

# In windows: what is exactly at a border counts, DEEPEST is the most and not the last, GAP the longest that overlaps, and a
# dispatch at the very end is 0 behind it. Of windows that begin together the shorter comes first. TAKEN: 3 to 8.
$ . ./lib; { d 100 7 a 0a 0 1; d 200 7 a 0a 3 9; b 210 7 a 0a AND 4 11; b 211 7 a 0a OR 4 11; d 300 7 a 0a 8 10; d 700 7 a 0a 8 11; d 800 7 a 0a 9 12; } >in.log
> printf '200 750 long\n200 300 short\n' >marks
> gpq trace -q --by queue -rno rptr_min,rptr_max,wptr_min,wptr_max,backlog_max,barriers in.log; gpq trace -q --gaps --mark marks in.log | sed -n '/Marked/,$p'
0 9 1 12 7 2
Marked windows
MARK  BEGIN_US LENGTH PID            HWQ DISPATCHES TAKEN DEEPEST   GAP AFTER
short      200  100us   7 0x7f00000a0000          2     5       7 100us   0ns
long       200  550us   7 0x7f00000a0000          3     5       7 400us  50us

# Mangled names on both sides say nothing special; those used most in either log come first; grids 1 to 10 have these
# percentiles.
$ . ./lib; k() { w $1 7 a "ShaderName : $2"; d $1 7 a 0a 0 1 | sed "s/256, 1, 1/$3, 1, 1/"; }
> { k 100 _Z1av 64; k 200 _Z1av 64; } >ka; for i in 1 2 3 4 5 6 7 8 9 10; do k ${i}00 _Z1bv $i; done >kb
> gpq trace -q --compare ka kb | grep -c mangled; gpq trace -q --compare --by kernel -r -o in,a,b,grid_max_b,grid_min_b,name ka kb
> gpq trace -qJ --compare ka kb | jq -c '.logs[1] | [.grid_items_p50, .grid_items_p90, .grid_items_max]'
0
IN A B GRID_MAX_B GRID_MIN_B NAME
B 0 10 10x1x1 1x1x1 _Z1bv
A 2 0 - - _Z1av
[5,9,10]

# Latency by queue: a command is of the queue of its first packet, a handler of its signal's.
$ . ./lib; h() { w $1 7 a "Set Handler: handle(0x$2), timestamp(0x1)"; }; done_() { w $1 7 b "Handler: value(0), timestamp(0x1), handle(0x$2)"; }
> { d 1 7 a 0a 0 1; w 100 7 a 'Command (KernelExecution) enqueued: 0x5 to queue: 0x9'; h 105 f01; d 110 7 a 0b 0 1 f01; d 120 7 a 0a 0 2
>   w 150 7 b 'Command 0x5 complete'; done_ 165 f01; } >q.log
> gpq trace -q --latency --by queue -r -o hwq,completed,max,handlers,handler_max q.log
HWQ COMPLETED MAX HANDLERS HANDLER_MAX
0x7f00000b0000 1 50000 1 60000

# Kinds of commands have a limit of 256: what is beyond it is no other kind's, nor an older command at its address, and it is said.
$ . ./lib; { w 1 7 a 'Command (K1) enqueued: 0x257 to queue: 0x9'; for i in {1..258}; do w $i 7 a "Command (K$i) enqueued: 0x$i to queue: 0x9"; w 300 7 b "Command 0x$i complete"; done; } >kinds.log
> for n in 513 517; do head -$n kinds.log | gpq trace -q --latency --table commands -rn -o enqueued,completed - | sort | uniq -c | sed 's/^ *//'; echo ${PIPESTATUS[1]}; done
255 1 1
1 2 1
0
gpq: trace: --latency: too many commands or kernels: some are left out; choose by --pid or --since
255 1 1
1 2 1
3

# Latency by kernel: those that completed most often first.
$ . ./lib; q() { w $1 7 a "Command (KernelExecution) enqueued: 0x$1 to queue: 0x9"; w $1 7 a "ShaderName : $2"; d $1 7 a 0a 0 1; w $(($1 + 5)) 7 b "Command 0x$1 complete"; }
> { q 10 once; q 20 twice; q 30 twice; } | gpq trace -q --latency --by kernel -r -o completed,name -
COMPLETED NAME
2 twice
1 once

# A timeline: 0 queues in the 10 ms behind the last packet of a window, when nothing follows at once; and names of queues
# with their priority.
$ . ./lib; { c 1 7 a 0a; d 5000 7 a 0a 0 1; d 25000 7 a 0a 0 2; d 35000 7 a 0a 0 3; } | sed 's/priority 1/priority 2/' >t.log
> gpq trace -q --perfetto - t.log | jq -c '.traceEvents[] | select((.ph == "C" and (.name | startswith("queues"))) or (.ph == "M" and .name == "thread_name" and (.args.name | startswith("HWq")))) | [.ts, .args.queues, .args.name]'
[0,1,null]
[10000,0,null]
[20000,1,null]
[30000,1,null]
[40000,0,null]
[null,null,"HWq 0x7f00000a0000 id 1 high"]

# Parts. The format has a number, which changes when it does; parts of another version are refused, damaged ones too: whatever
# they count from 0 is less than there are.
$ gpq trace --partial $DATA/amdlog/rocm70.log >part; head -c 37 part; echo
> for n in 1 3 9; do sed "s/\"schema\":4/\"schema\":$n/" part | gpq merge 2>&1 >/dev/null | sed -n 1p; done
{"record":"trace_partial","schema":4,
gpq: merge: -: left out 1 part of schema 1: this gpq reads schema 4; make them anew, or merge all with the gpq that wrote them
gpq: merge: -: left out 1 part of schema 3: this gpq reads schema 4; make them anew, or merge all with the gpq that wrote them
gpq: merge: -: left out 1 part of schema 9: this gpq reads schema 4; make them anew, or merge all with the gpq that wrote them
? 5

$ for e in '.threads[0].kernel = (.kernels | length)' '.threads[0].process = (.processes | length)' \
>   '.queue_kernels[0] = (.queues | length)' '.queue_kernels[1] = (.kernels | length)' '.api_times[0] = (.apis | length)' \
>   '.streams[0].queue = (.queues | length)' 'del(.kernels[0].name)' '.queues[0].priority = 4' '.kernels[1].name = .kernels[0].name'; do
>   jq -c "$e" part | gpq merge 2>&1 >/dev/null | sed 's/.* is //'
> done
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
damaged; make it anew
? 1

# Parts of two files do not continue each other, however their bytes are numbered; lines begin at 591 and 1029 (grep -b), the
# file that begins has 8117 bytes.
$ { gpq trace --partial --range 0:1000 $DATA/amdlog/cnn.log; gpq trace --partial --range 500: $DATA/amdlog/transformer.log; } | gpq merge 2>&1 >/dev/null | grep -o 'bytes.*'
bytes 1029 to 8117 are in no part; make it: --range 1029:7088
bytes 0 to 591 are in no part; make it: --range 0:591

# Parts that overlap, one of them within the other: its lines begin at 1029 and end at 1557 (grep -b).
$ cp $DATA/amdlog/cnn.log .; { gpq trace --partial --range 0: cnn.log; gpq trace --partial --range 1000:500 cnn.log; } | gpq merge 2>&1 >/dev/null | grep bytes
gpq: merge: cnn.log, bytes 1029 to 1557: is in cnn.log, bytes 0 to 8117, too; counted once

$ gpq trace --partial /nonexistent1 /nonexistent2 2>&1
gpq: trace: /nonexistent1: No such file or directory
gpq: trace: /nonexistent2: No such file or directory
? 5

$ gpq trace --partial --until +1s $DATA/amdlog/cnn.log
gpq: trace: --partial: a + counts from the first record of each part; give the log's own time
? 2

# 25 kernels: the report shows 20 of them and says so, the one table all, as do programs' formats.
$ . ./lib; for i in $(seq 25); do w $i 7 a "ShaderName : k$i"; done >many.log
> gpq trace -q many.log | sed -n '/^Kernels/,$p' | sed -n '1p;$='; gpq trace -q --by kernel many.log | wc -l; gpq trace -qJ many.log | jq '.kernels | length'
Kernels (20 of 25)
22
26
25

# A time behind a + is a duration, in seconds without a unit; without it, microseconds of the log.
$ . ./lib; { w 10 7 a x; w 500000 7 a x; w 1000010 7 a x; w 1000011 7 a x; } >time.log
> for t in +1s +1000ms +500ms 500000us 1000011us; do gpq trace -qJ --since $t time.log | jq .totals.records; done
2
2
2
3
1

# The greatest process id that a file's name may have; files are read in the order of their numbers.
$ . ./lib; w 1 7 a x | sed 's/\[pid.*\] /  /' >run_2147483647; cp run_2147483647 run_20; cp run_20 run_3
> gpq trace -q -rn --by process -o PID,RECORDS run; gpq trace -qn --list -o PID run
3 1
20 1
2147483647 1
      3
     20
2147483647

# A last line without its end.
$ . ./lib; w 1 7 a x | tr -d '\n' | gpq trace -J - 2>&1 | jq -r '.notes[]' | grep newline
the last line has no newline: it may be cut

# Up to 4.5 queue lines have no process id, but their address is the queue's in packets of the same host alone.
$ grep 'created hardware' $DATA/amdlog/rocm43.log >lines; grep -v 'created hardware' $DATA/amdlog/rocm43.log >packets; for h in "a a" "a b"; do
>   set -- $h; { gpq trace --partial --host $1 lines; gpq trace --partial --host $2 packets; } | gpq merge -q --by queue -rno dispatches,created | sort
> done
1 1
- 1
1 0

# A fill or copy that names no stream goes to the null stream.
$ . ./lib; { w 1 7 a 'hipMemset ( 0x7f00, 0, 16 ) '; d 2 7 a 0a 0 1; w 3 7 a 'hipMemset: Returned hipSuccess : '; } | gpq trace -q --by stream -rno stream,dispatches -
0x0 1

# Packets without pointers, as up to 6.1: no backlog is known, which is not a backlog of 0.
$ . ./lib; d 100 7 a 0a 0 1 | sed 's/, correlation_id.*//' >nop.log; gpq trace -qJ --series 100us nop.log | jq -c '.tracks[] | [.dispatches, .backlog_max]'
> gpq trace -q --by queue -rno dispatches,backlog_max,rptr_max nop.log
[1,null]
[1,null]
1 - -

# The same address in two processes: a queue line without a process is of neither.
$ { cat $DATA/amdlog/rocm43.log; sed 's/9001/9002/; s/7f00000b2880/7f00000c2880/' $DATA/amdlog/rocm43.log | grep -v 'created hardware'; } >two.log
> gpq trace -q --by queue -rno pid,dispatches,created two.log | sort
- - 1
9001 1 0
9002 1 0

# The greatest read pointer is not the last one; barriers of both kinds count over time as well.
$ . ./lib; { d 100 7 a 0a 9 12; d 110 7 a 0a 5 13; b 120 7 a 0a OR 6 14; b 130 7 a 0a AND 6 15; } >ptr.log
> gpq trace -q --by queue -rno rptr_min,rptr_max,wptr_min,wptr_max ptr.log; gpq trace -q --series 1ms -rno time_us,dispatches,barriers ptr.log
5 9 12 15
0 2 2

# ROCr's own lines have no level.
$ echo ':amd_blit_kernel.cpp      :123 : 0123456789 us: [pid:7     tid:0x7f00000000aa] [***rocr***] words' | gpq trace -q --list --ndjson -o kind,log_level -
{"record":"record","kind":"rocr","log_level":null}

# Times of the GPU, in nanoseconds; a pair that ends before it begins is none.
$ . ./lib; { d 100 7 a 0a 0 1 f01; d 110 7 a 0a 0 2 f02; w 300 7 a 'Signal = (0x7f02), start/end = 5 / 6'; w 301 7 a 'Signal = (0xf01), start/end = 150000 / 160000, Elapsed = 10000 ns'
>   w 302 7 a 'Signal = (0xf02), start/end = 170000 / 165000, Elapsed = 0 ns'; } >sig.log
> gpq trace -q --perfetto - sig.log | jq -c '.traceEvents[] | select(.ph == "b" or .ph == "e") | [.ph, .ts, .args.submitted_us, .args.hwq]'
["b",150,100,"0x7f00000a0000"]
["e",160,null,null]

# A number that is too long to be a time.
$ . ./lib; for t in 123456789012345678 1234567890123456789; do w 7 7 a x | sed "s/0000000007/$t/"; done | gpq trace -q --list --ndjson -o time_us -
{"record":"record","time_us":123456789012345678}
{"record":"record","time_us":null}

# Two records of the same microsecond are in order; one step back is one.
$ . ./lib; for t in 100 100 90 90 95; do w $t 7 a x; done | gpq trace -qJ - | jq .totals.steps_back
1
