# gpq why on the host aql-gfx90a: process 4712 has a queue in each state that memory alone shows (tests/data/aql/make-host). What
# takes a living driver is judged in the VM (tests/kernel/gpq/why.sh).
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -o QID,STATE,BACKLOG,NEXT,SIGNAL,VALUE,BY_QID,BY_INDEX,BY_TYPE
QID STATE             BACKLOG NEXT          SIGNAL VALUE BY_QID BY_INDEX BY_TYPE
  0 waits-barrier           2 barrier-and   0xa000     1      1        1 dispatch
  1 waits-external          2 barrier-and   0xa040     1      -        - -
  2 deadlock                2 barrier-and   0xa080     1      3        4 dispatch
  3 deadlock                2 barrier-value 0xa0c0     1      2        1 dispatch
  4 not-published           2 invalid            -     -      -        - -
  5 idle                    0 -                  -     -      -        - -
  6 computing               0 -             0xa140     1      -        - -
  7 computing-or-hung       1 barrier-or         -     -      -        - -
? 3

# All queues of a process are looked at, whichever are shown. The exit status is that of those.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why -p 4712 -Q 0,1,5,6,7 -rno QID,STATE,STUCK,BY_QID,DETAIL; echo $?; gpq why -p 4712 -Q 3 -rno STATE,STUCK,BY_QID; echo $?
0 waits-barrier no 1 signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 waits-external no - signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
5 idle no - -
6 computing no - packet\x205\x20is\x20taken,\x20and\x20its\x20signal\x200xa140\x20is\x201
7 computing-or-hung no - the\x20next\x20packet\x20waits\x20for\x20nothing,\x20and\x20is\x20not\x20taken:\x20a\x20long\x20kernel,\x20or\x20one\x20that\x20hangs
0
deadlock yes 2
3

# Several signals: where all are needed the one that nobody here sets matters, where one is needed any that is set.
# Queue 3 is no longer busy because of a signal that queue 4 uses again.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4713 -ro QID,STATE,SIGNAL,BY_QID
QID STATE SIGNAL BY_QID
0 waits-external 0xa040 -
1 waits-barrier 0xa000 2
2 computing-or-hung - -
3 idle - -
4 computing-or-hung - -

# A signal that an SDMA queue will set, which polls the same; indices that no queue has.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4711 -ro QID,STATE,SIGNAL,VALUE,BY_QID,BY_INDEX,BY_TYPE,READ,WRITE
gpq: why: pid 4711: queue 4: its indices do not fit its ring
QID STATE SIGNAL VALUE BY_QID BY_INDEX BY_TYPE READ WRITE
0 deadlock 0xa040 3 2 12484 sdma-atomic 5 15
1 computing-or-hung - - - - - 1099511627838 1099511627842
2 deadlock 0xa040 3 2 12484 sdma-atomic 12416 12532
3 computing-or-hung - - - - - 100 108
4 unknown - - - - - - -
? 3

# Values that change what is waited for: the host has set its signal, so that queue 1 and with it queue 0 wait for nothing.
$ cp -r $HOSTS/aql-gfx90a host; printf '\0' | dd of=host/proc/4712/mem bs=1 seek=$((0xa048)) conv=notrunc status=none; gpq --sysroot host why -p 4712 -Q 0,1 -rno QID,STATE,BY_QID
0 waits-barrier 1
1 computing-or-hung -

# Off the hardware: all queues of the process, which nobody traces, on a driver whose debuggers trace; or which a debugger traces.
$ cp -r $HOSTS/aql-gfx90a host; echo 6.12.95 >host/proc/sys/kernel/osrelease; sed -i -E 's/^(    00000200: [0-9a-f]+ [0-9a-f]+) 00000001/\1 00000000/' host/sys/kernel/debug/kfd/mqds; printf 'Node 1, gpu_id e3f9:\n  No active runlist\n' >host/sys/kernel/debug/kfd/rls
> gpq --sysroot host why -p 4712 -rno STATE | uniq -c | sed 's/^ *//'; sed -i 's/TracerPid:.*/TracerPid:\t1/' host/proc/4712/status; gpq --sysroot host why -p 4712 -Q 0 -rno STATE,BY_PID,BY_COMMAND
8 evicted
suspended-or-evicted 1 init

$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 141; gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 99; gpq --sysroot $HOSTS/aql-gfx90a why --over 61
gpq: why: pid 141: its memory: No such file or directory; recorded hosts have none
PID COMMAND QID TYPE    STATE   BACKLOG TAKEN NEXT KERNEL DETAIL
141 mkqueue   0 compute unknown       -     - -    -      the memory of the process cannot be read
gpq: why: no queue that was asked for is there; gpq queues lists them
gpq: why: --over: more than 60s; a second is long
? 2

# Exceptions: of queue 1 the save area at 0xb000 names a word at 0xb100, to which the driver adds bits [kfd.exception-word]. Queue 0 waits for
# a packet of queue 1, which is never reached. Bits that are no exception of a queue: not known. One queue off, the others on.
$ cp -r $HOSTS/aql-gfx90a bad; awk '/^Process/ { p = $2; n = 0 } /queue on/ { n++ } p == 4712 && n == 7 && /^ *000002a0:/ { $5 = "0000b000"; $0 = "    " $0 } 1' $HOSTS/aql-gfx90a/sys/kernel/debug/kfd/mqds >bad/sys/kernel/debug/kfd/mqds
> poke() { printf "$2" | dd of=bad/proc/4712/mem bs=1 seek=$(($1)) conv=notrunc status=none; }; why() { gpq --sysroot bad why -p 4712 -Q 0,1 -rno QID,STATE,STUCK,EXCEPTIONS,DETAIL; echo $?; }
> poke 0xb018 '\0\261'; why; poke 0xb100 '\020\0\004'; why; poke 0xb100 '\200'; why
> awk '/^Process/ { p = $2; n = 0 } /queue on/ { n++ } p == 4712 && n == 7 && /^ *00000200:/ { $4 = "00000000"; $0 = "    " $0 } 1' $HOSTS/aql-gfx90a/sys/kernel/debug/kfd/mqds >bad/sys/kernel/debug/kfd/mqds
> sed -i 's/c005a200 20000010 00001030/c0051000 20000010 00001030/' bad/sys/kernel/debug/kfd/rls; why; sed -i 's/TracerPid:.*/TracerPid:\t1/' bad/proc/4712/status; why
0 waits-barrier no - signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 waits-external no none signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
0
0 deadlock yes - signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 error yes WAVE_MEMORY_VIOLATION\x20PACKET_RESERVED the\x20driver\x20noted\x20WAVE_MEMORY_VIOLATION\x20PACKET_RESERVED
3
0 waits-barrier no - signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 waits-external no - signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
0
0 waits-barrier no - signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 suspended-or-reset no - by\x20a\x20debugger\x20that\x20does\x20not\x20trace\x20it,\x20or\x20reset\x20by\x20the\x20driver\x20after\x20a\x20hang:\x20these\x20look\x20the\x20same
0
0 waits-barrier no - signal\x200xa000\x20is\x201,\x20set\x20by\x20packet\x201\x20(dispatch)\x20of\x20queue\x201
1 suspended no - by\x20init,\x20process\x201
0

# An over-subscribed GPU: its runlist ends with a packet that runs it again. hws_max_conc_proc: -1 is the driver's choice, 0 one process at a time.
$ cp -r $HOSTS/aql-gfx90a turns; mkdir -p turns/sys/module/amdgpu/parameters; sed -i '$s/$/ c002a500 00000000 00000000/; $a\    00000300: 00000000' turns/sys/kernel/debug/kfd/rls
> for n in -1 0 8; do echo $n >turns/sys/module/amdgpu/parameters/hws_max_conc_proc; gpq --sysroot turns why -p 4712 -Q 7 --csv -no STATE,DETAIL; done | tr -d '\r'
takes-turns,"17 compute queues of 3 processes share the GPU, which has 24 slots"
takes-turns,"17 compute queues of 3 processes share the GPU, which has 24 slots; amdgpu.hws_max_conc_proc is 0"
takes-turns,"17 compute queues of 3 processes share the GPU, which has 24 slots; amdgpu.hws_max_conc_proc is 8"

# A profile of a recorded host is one look. Of 4713 queue 3 is idle: queue 4 has the signal of its last packet.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why --profile 5s -p 4712,4713 -ro PID,QID,TYPE,STATE,PACKET,KERNEL,SHARE,LOOKS,OF
PID QID TYPE STATE PACKET KERNEL SHARE LOOKS OF
4712 0 compute waits barrier-and - 1 1 1
4712 1 compute waits barrier-and - 1 1 1
4712 2 compute waits barrier-and - 1 1 1
4712 3 compute waits barrier-value - 1 1 1
4712 4 compute not-published - - 1 1 1
4712 5 compute idle - - 1 1 1
4712 6 compute running dispatch - 1 1 1
4712 7 compute next barrier-or - 1 1 1
4713 0 compute waits barrier-and - 1 1 1
4713 1 compute waits barrier-or - 1 1 1
4713 2 compute next dispatch - 1 1 1
4713 3 compute idle - - 1 1 1
4713 4 compute next dispatch - 1 1 1

# The signal of the packet that queue 0 took last is that of its next ones, too: it waits. PM4 and SDMA; indices that are none.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why --profile 1 -p 4711 -rno QID,STATE,PACKET; echo $?; gpq why --profile 1 -p 4711 --folded --perfetto t.json
gpq: why: pid 4711: queue 4: its indices do not fit its ring
0 waits barrier-and
1 next dispatch
2 waits sdma-poll
3 next pm4-nop
4 unknown -
3
gpq: why: pid 4711: queue 4: its indices do not fit its ring
train 4711;compute 0;[waits barrier-and] 1
train 4711;compute 1;[next dispatch] 1
train 4711;sdma 2;[waits sdma-poll] 1
train 4711;compute 3;[next pm4-nop] 1
train 4711;compute 4;[unknown] 1
? 3

# A command name that would part or end a frame. Idle queues have an empty track.
$ cp -r $HOSTS/aql-gfx90a frames; sed -i 's/^Name:.*/Name:\ta;b c/' frames/proc/4712/status; gpq --sysroot frames why -q --profile 1 -p 4712 -Q 0,5,6 --folded --perfetto t.json; $TOP/tests/cli/check-traceevents t.json; jq -r '.traceEvents[] | select(.ph == "X" or .args.name) | [.ph, .cat, .name, .args.name] | map(. // "-") | join(" ")' t.json
a\x3bb c 4712;compute 0;[waits barrier-and] 1
a\x3bb c 4712;compute 5;[idle] 1
a\x3bb c 4712;compute 6;[running dispatch] 1
X waits [waits barrier-and] -
X running [running dispatch] -
M - process_name a;b c 4712
M - thread_name compute 0
M - thread_name compute 5
M - thread_name compute 6

# Where no ring can be read, and mistakes.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 141 --profile 5 -ro STATE,PACKET,LOOKS; echo $?; gpq --sysroot $HOSTS/gfx90a-k6.12 why -p 1 --profile 5 --perfetto none.json; echo $?; ls none.json 2>&1
gpq: why: pid 141: its memory: No such file or directory; recorded hosts have none
STATE PACKET LOOKS
unknown - 1
5
gpq: why: pid 1: owns no queue; gpq queues lists those that do
5
ls: cannot access 'none.json': No such file or directory
? 2

$ m() { for c in "$@"; do gpq --sysroot $HOSTS/aql-gfx90a why $c; echo "status $?"; done; }; m '--profile 0' '--profile 2h' '--profile 1 --watch 1' '--folded' '--perfetto x' '--profile 1 --perfetto -' '--profile 1 --folded -r' '--profile 1 -p 4712 --perfetto /nowhere/x' '--profile 1 -o NEXT' '--profile 1 --attach'
gpq: why: --profile: more than 0, at most 1h; for example --profile 5s
status 2
gpq: why: --profile: more than 0, at most 1h; for example --profile 5s
status 2
gpq: why: --profile and --watch exclude each other; choose one
status 2
gpq: why: --folded is a form of --profile; for example --profile 5s
status 2
gpq: why: --perfetto is a form of --profile; for example --profile 5s
status 2
gpq: why: --perfetto -: standard output has the result; name a file
status 2
gpq: why: --folded writes stacks: it has no columns, rows or other forms; leave out one of them
status 2
gpq: why: --perfetto /nowhere/x: No such file or directory; name a file in a folder you may write to
status 5
gpq: why: unknown column NEXT in counts; --list-columns lists them
status 2
gpq: why: --attach asks a running driver, and this is a recorded host; leave out --attach, or --sysroot and GPQ_SYSROOT
status 2

# All members, and what is shown without -o.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 0,4,6,7 -J | jq -c '.queues[] | del(.over_ns)'
{"pid":4712,"command":"train","gpu_id":58361,"qid":0,"context":null,"type":"compute","state":"waits-barrier","stuck":false,"backlog":2,"taken":0,"next":"barrier-and","kernel":null,"detail":"signal 0xa000 is 1, set by packet 1 (dispatch) of queue 1","read":7,"write":9,"slot_write":null,"on_hw":true,"signal":"0xa000","signal_value":1,"by_qid":1,"by_index":1,"by_type":"dispatch","by_kernel":null,"by_pid":null,"by_command":null,"exceptions":null}
{"pid":4712,"command":"train","gpu_id":58361,"qid":4,"context":null,"type":"compute","state":"not-published","stuck":true,"backlog":2,"taken":0,"next":"invalid","kernel":null,"detail":"packet 4 is not written, and the write index is 6","read":4,"write":6,"slot_write":null,"on_hw":true,"signal":null,"signal_value":null,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"by_pid":null,"by_command":null,"exceptions":null}
{"pid":4712,"command":"train","gpu_id":58361,"qid":6,"context":null,"type":"compute","state":"computing","stuck":false,"backlog":0,"taken":0,"next":null,"kernel":null,"detail":"packet 5 is taken, and its signal 0xa140 is 1","read":6,"write":6,"slot_write":null,"on_hw":true,"signal":"0xa140","signal_value":1,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"by_pid":null,"by_command":null,"exceptions":null}
{"pid":4712,"command":"train","gpu_id":58361,"qid":7,"context":null,"type":"compute","state":"computing-or-hung","stuck":false,"backlog":1,"taken":0,"next":"barrier-or","kernel":null,"detail":"the next packet waits for nothing, and is not taken: a long kernel, or one that hangs","read":0,"write":1,"slot_write":null,"on_hw":true,"signal":null,"signal_value":null,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"by_pid":null,"by_command":null,"exceptions":null}
? 3

$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 0,6
 PID COMMAND QID TYPE    STATE         BACKLOG TAKEN NEXT        KERNEL DETAIL
4712 train     0 compute waits-barrier       2     0 barrier-and -      signal 0xa000 is 1, set by packet 1 (dispatch) of queue 1
4712 train     6 compute computing           0     0 -           -      packet 5 is taken, and its signal 0xa140 is 1

# A priority on a driver that writes levels alone.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 140 --prio 5
gpq: why: --prio 5: the driver does not write the priority of a queue, only its level (Linux 7.0 and later write the level alone); choose whole levels: 0:6 is low, 7:10 medium, 11:15 high
? 6
