# gpq why on the host aql-gfx90a: process 4712 has a queue in each state that memory alone shows (tests/data/aql/make-host). What
# takes a living driver is judged in the VM (tests/kernel/gpq/why.sh).
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -o QID,STATE,BACKLOG,NEXT,SIGNAL,SIGNAL_VALUE,BY_QID,BY_INDEX,BY_TYPE
QID STATE          BACKLOG NEXT          SIGNAL SIGNAL_VALUE BY_QID BY_INDEX BY_TYPE
  2 deadlock             2 barrier-and   0xa080            1      3        4 dispatch
  3 deadlock             2 barrier-value 0xa0c0            1      2        1 dispatch
  4 not-published        2 invalid            -            -      -        - -
  6 hung-or-long         0 -             0xa140            1      -        - -
  7 hung-or-long         1 barrier-or         -            -      -        - -
  0 behind               2 barrier-and   0xa000            1      1        1 dispatch
  1 waits-external       2 barrier-and   0xa040            1      -        - -
  5 idle                 0 -                  -            -      -        - -
? 7

# All queues of a process are looked at, whichever are shown. The exit status is that of those.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why -p 4712 -Q 0,1,5,6,7 -rno QID,STATE,STUCK,BY_QID,DETAIL; echo $?; gpq why -p 4712 -Q 3 -rno STATE,STUCK,BY_QID; echo $?
6 hung-or-long no - kernel\x200x5000\x20(packet\x205)\x20was\x20taken,\x20and\x20has\x20not\x20ended:\x20its\x20signal\x200xa140\x20is\x201
7 hung-or-long no - packet\x200\x20(barrier-or)\x20waits\x20for\x20no\x20signal,\x20and\x20was\x20not\x20taken
0 behind no 1 waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(waits-external):\x20signal\x200xa000\x20is\x201
1 waits-external no - signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
5 idle no - -
0
deadlock yes 2
7

# With -v those are named that wait for what is no signal, or for what cannot be read (make-host), and no others.
$ gpq --sysroot $HOSTS/aql-gfx90a why -v -rno PID >out 2>&1; echo $?; grep 'judged by' out
7
gpq: why: pid 4711: queue 2: signals or packets that it is judged by cannot be read, or are none
gpq: why: pid 4711: queue 0: signals or packets that it is judged by cannot be read, or are none

# With --filter it is that of the rows left, sorted or not.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; for f in STUCK '!STUCK' 'QID == 5' 'QID == 2' 'PID == 1'; do gpq why -p 4712 -rno QID --filter "$f" >out; echo $? $(cat out); gpq why -p 4712 --sort -QID -rno QID --filter "$f" >out; echo $? $(cat out); done
7 2 3 4
7 4 3 2
0 6 7 0 1 5
0 7 6 5 1 0
0 5
0 5
7 2
7 2
0
0
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4711 -rno QID,STATE --filter 'QID == 1'; echo $?; gpq --sysroot $HOSTS/aql-gfx90a why -p 4711 -rno QID,STATE --filter 'QID == 4'
1 hung-or-long
0
gpq: why: pid 4711: queue 4: its indices do not fit its ring
4 unknown
? 3

# Several signals: where all are needed the one that nobody here sets matters, where one is needed any that is set.
# Queue 3 is no longer busy because of a signal that queue 4 uses again.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4713 -ro QID,STATE,SIGNAL,BY_QID
QID STATE SIGNAL BY_QID
2 hung-or-long - -
4 hung-or-long - -
0 waits-external 0xa040 -
1 behind 0xa000 2
3 idle-or-running - -

# A signal that an SDMA queue will set, which polls the same; indices that no queue has.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4711 -ro QID,STATE,SIGNAL,SIGNAL_VALUE,BY_QID,BY_INDEX,BY_TYPE,READ,WRITE
gpq: why: pid 4711: queue 4: its indices do not fit its ring
QID STATE SIGNAL SIGNAL_VALUE BY_QID BY_INDEX BY_TYPE READ WRITE
2 deadlock 0xa040 3 2 12484 sdma-atomic 12416 12532
0 behind 0xa040 3 2 12484 sdma-atomic 5 15
1 hung-or-long - - - - - 1099511627838 1099511627842
3 hung-or-long - - - - - 100 108
4 unknown - - - - - - -
? 7

# Values that change what is waited for: the host has set its signal, so that queue 1 and with it queue 0 wait for nothing.
$ cp -r $HOSTS/aql-gfx90a host; printf '\0' | dd of=host/proc/4712/mem bs=1 seek=$((0xa048)) conv=notrunc status=none; gpq --sysroot host why -p 4712 -Q 0,1 -rno QID,STATE,BY_QID
1 hung-or-long -
0 behind 1

# A signal in memory that another process has mapped, whose packet sets it: the root is in that process. Memory of the same inode of another device.
$ cp -r $HOSTS/aql-gfx90a shm; for d in 1 2; do echo "a040-b000 rw-s 00000040 00:01 5   /dev/shm/x" >shm/proc/4712/maps; echo "a000-a040 rw-s 00000040 00:0$d 5   /dev/shm/x" >shm/proc/4713/maps; gpq --sysroot shm why -p 4712,4713 --filter 'PID == 4712 && QID < 2' -rno QID,STATE,BY_PID,BY_COMMAND,BY_QID,ROOT_PID,ROOT_QID,ROOT_STATE; done; gpq --sysroot shm why -p 4712 -Q 1 --csv -no DETAIL | tr -d '\r'
0 behind - - 1 4713 2 hung-or-long
1 behind 4713 train 2 4713 2 hung-or-long
0 behind - - 1 - 1 waits-external
1 waits-external - - - - - -
"signal 0xa040 is 1, in shared memory, and no packet of this process sets it: the host, or another process"

# Off the hardware: all queues of the process, which nobody traces, on a driver whose debuggers trace; or which a debugger traces.
$ cp -r $HOSTS/aql-gfx90a host; echo 6.12.95 >host/proc/sys/kernel/osrelease; sed -i -E 's/^(    00000200: [0-9a-f]+ [0-9a-f]+) 00000001/\1 00000000/' host/sys/kernel/debug/kfd/mqds; printf 'Node 1, gpu_id e3f9:\n  No active runlist\n' >host/sys/kernel/debug/kfd/rls
> gpq --sysroot host why -p 4712 -rno STATE | uniq -c | sed 's/^ *//'; sed -i 's/TracerPid:.*/TracerPid:\t1/' host/proc/4712/status; gpq --sysroot host why -p 4712 -Q 0 -rno STATE,BY_PID,BY_COMMAND
8 evicted
suspended-or-evicted 1 init

$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 141; gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 99; gpq --sysroot $HOSTS/aql-gfx90a why --over 25h
gpq: why: pid 141: its memory: No such file or directory; gpq snapshot records it as root
pid 141 mkqueue: unknown: queue 0: has 1009 packets, slot p0q2, no error
  do: one look does not tell whether it moves: record it again, and look at
      both: gpq why --sysroot BEFORE --sysroot AFTER
PID COMMAND QID TYPE    STATE   BACKLOG TAKEN NEXT KERNEL DETAIL
141 mkqueue   0 compute unknown    1009     0 -    -      has 1009 packets, slot p0q2, no error
gpq: why: no queue that was asked for is there; gpq queues lists them
gpq: why: --over: more than 24h; a second is long
? 2

# Exceptions: of queue 1 the save area at 0xb000 names a word at 0xb100, to which the driver adds bits [kfd.exception-word]. Queue 0 waits for
# a packet of queue 1, which is never reached. Bits that are no exception of a queue: not known. One queue off, the others on.
$ cp -r $HOSTS/aql-gfx90a bad; awk '/^Process/ { p = $2; n = 0 } /queue on/ { n++ } p == 4712 && n == 7 && /^ *000002a0:/ { $5 = "0000b000"; $0 = "    " $0 } 1' $HOSTS/aql-gfx90a/sys/kernel/debug/kfd/mqds >bad/sys/kernel/debug/kfd/mqds
> poke() { printf "$2" | dd of=bad/proc/4712/mem bs=1 seek=$(($1)) conv=notrunc status=none; }; why() { gpq --sysroot bad why -p 4712 -Q 0,1 -rno QID,STATE,STUCK,EXCEPTIONS,DETAIL; echo $?; }
> poke 0xb018 '\0\261'; why; poke 0xb100 '\020\0\004'; why; poke 0xb100 '\200'; why
> awk '/^Process/ { p = $2; n = 0 } /queue on/ { n++ } p == 4712 && n == 7 && /^ *00000200:/ { $4 = "00000000"; $0 = "    " $0 } 1' $HOSTS/aql-gfx90a/sys/kernel/debug/kfd/mqds >bad/sys/kernel/debug/kfd/mqds
> sed -i 's/c005a200 20000010 00001030/c0051000 20000010 00001030/' bad/sys/kernel/debug/kfd/rls; why; sed -i 's/TracerPid:.*/TracerPid:\t1/' bad/proc/4712/status; why
0 behind no - waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(waits-external):\x20signal\x200xa000\x20is\x201
1 waits-external no none signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
0
1 error yes WAVE_MEMORY_VIOLATION\x20PACKET_RESERVED the\x20driver\x20noted\x20WAVE_MEMORY_VIOLATION\x20PACKET_RESERVED
0 behind yes - waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(error):\x20signal\x200xa000\x20is\x201
7
0 behind no - waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(waits-external):\x20signal\x200xa000\x20is\x201
1 waits-external no - signal\x200xa040\x20is\x201,\x20and\x20no\x20packet\x20of\x20this\x20process\x20sets\x20it:\x20the\x20host,\x20or\x20another\x20process
0
1 suspended-or-reset no - by\x20a\x20debugger\x20that\x20does\x20not\x20trace\x20it,\x20or\x20reset\x20by\x20the\x20driver\x20after\x20a\x20hang:\x20these\x20look\x20the\x20same
0 behind no - waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(suspended-or-reset):\x20signal\x200xa000\x20is\x201
0
0 behind no - waits\x20for\x20kernel\x200x5000\x20(packet\x201)\x20of\x20queue\x201\x20(suspended):\x20signal\x200xa000\x20is\x201
1 suspended no - by\x20init,\x20process\x201
0

# An over-subscribed GPU: its runlist ends with a packet that runs it again. hws_max_conc_proc: -1 is the driver's choice, 0 one process at a time.
$ cp -r $HOSTS/aql-gfx90a turns; mkdir -p turns/sys/module/amdgpu/parameters; sed -i '$s/$/ c002a500 00000000 00000000/; $a\    00000300: 00000000' turns/sys/kernel/debug/kfd/rls
> for n in -1 0 8; do echo $n >turns/sys/module/amdgpu/parameters/hws_max_conc_proc; gpq --sysroot turns why -p 4712 -Q 7 --csv -no STATE,DETAIL; done | tr -d '\r'
waits-slot,"17 compute queues of 3 processes share the GPU, which has 24 slots"
waits-slot,"17 compute queues of 3 processes share the GPU, which has 24 slots; amdgpu.hws_max_conc_proc is 0"
waits-slot,"17 compute queues of 3 processes share the GPU, which has 24 slots; amdgpu.hws_max_conc_proc is 8"

# Its processor time is in nanoseconds: one look takes more than a thousand.
$ gpq --sysroot $HOSTS/aql-gfx90a why --profile 5s -p 4713 -J | jq -c '.counts[0] | .samples, .cpu_ns > 1000, .cpu_ns < 1e9'
1
true
true

# A profile of a recorded host is one look. Of 4713 queue 3 is idle: queue 4 has the signal of its last packet.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why --profile 5s -p 4712,4713 -ro PID,QID,TYPE,STATE,PACKET,KERNEL,SHARE,SAMPLES,OF
PID QID TYPE STATE PACKET KERNEL SHARE SAMPLES OF
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
train 4711;compute 0;waits;barrier-and 1
train 4711;compute 1;next;dispatch 1
train 4711;sdma 2;waits;sdma-poll 1
train 4711;compute 3;next;pm4-nop 1
train 4711;compute 4;unknown 1
? 3

# A command name that would part or end a frame. Idle queues have an empty track.
$ cp -r $HOSTS/aql-gfx90a frames; sed -i 's/^Name:.*/Name:\ta;b c/' frames/proc/4712/status; gpq --sysroot frames why -q --profile 1 -p 4712 -Q 0,5,6 --folded --perfetto t.json; $TOP/tests/cli/check-traceevents t.json; jq -r '.traceEvents[] | select(.ph == "X" or .args.name) | [.ph, .cat, .name, .args.name] | map(. // "-") | join(" ")' t.json
a\x3bb c 4712;compute 0;waits;barrier-and 1
a\x3bb c 4712;compute 5;idle 1
a\x3bb c 4712;compute 6;running;dispatch 1
X waits [waits barrier-and] -
X running [running dispatch] -
M - process_name a;b c 4712
M - thread_name compute 0
M - thread_name compute 5
M - thread_name compute 6

# Tracks of two processes carry their PIDs, and no queue has the number of a process.
$ gpq --sysroot $HOSTS/aql-gfx90a why -q -p 4711,4713 -Q 4711:0,4711:1,4713:0,4713:1 --profile 1 --perfetto t.json >/dev/null; $TOP/tests/cli/check-traceevents t.json; jq -r '.traceEvents[] | select(.ph == "X" or .args.name) | [.ph, .pid, .tid, .args.name // "-"] | join(" ")' t.json
X 4711 5000000 -
X 4711 5000001 -
X 4713 5000002 -
X 4713 5000003 -
M 4711 0 train 4711
M 4711 5000000 compute 0
M 4711 5000001 compute 1
M 4713 0 train 4713
M 4713 5000002 compute 0
M 4713 5000003 compute 1

# A flame graph beside each form; its name is escaped (tests/cli/pictures.py looks at it). Where nothing was seen there is none.
$ cp -r $HOSTS/aql-gfx90a frames; sed -i 's/^Name:.*/Name:\ta<b/' frames/proc/4712/status; gpq --sysroot frames why -q -p 4712 -Q 0 --profile 1 --flame f.svg -rno QID,SAMPLES; grep -o '>a&lt;b 4712: 1 of 1 samples, 100.0%<' f.svg; grep -o '>samples: 1 in [^<]*s<' f.svg | tr -d 0-9.; gpq --sysroot $HOSTS/gfx90a-k6.12 why -p 1 --profile 5 --flame none.svg; echo $?; ls none.svg 2>&1
0 1
>a&lt;b 4712: 1 of 1 samples, 100.0%<
>samples:  in ns<
gpq: why: pid 1: owns no queue; gpq queues lists those that do
5
ls: cannot access 'none.svg': No such file or directory
? 2

$ cd /; for o in '--profile 1 --flame /dev/full' '--profile 1 --folded --flame /dev/full' '--profile 1 --flame /nowhere/x' '--profile 1 --flame -' '--flame x'; do gpq --sysroot $HOSTS/aql-gfx90a why -q -p 4712 -Q 0 -rno QID $o; echo $?; done
gpq: why: --flame /dev/full: No space left on device
0
1
gpq: why: --folded writes stacks: it has no columns, rows or other forms; leave out one of them
2
gpq: why: --flame /nowhere/x: No such file or directory
5
gpq: why: --flame -: standard output has the result; name a file
2
gpq: why: --flame is a form of --profile and of --waves; for example --profile 5s
2

$ gpq --sysroot $HOSTS/aql-gfx90a why -q -p 4712 -Q 0 --profile 1 --folded --flame /dev/full
gpq: why: --flame /dev/full: No space left on device
train 4712;compute 0;waits;barrier-and 1
? 1

# Where no ring can be read, and mistakes.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 141 --profile 5 -ro STATE,PACKET,SAMPLES; echo $?; gpq --sysroot $HOSTS/gfx90a-k6.12 why -p 1 --profile 5 --perfetto none.json; echo $?; ls none.json 2>&1
gpq: why: pid 141: its memory: No such file or directory; gpq snapshot records it as root
STATE PACKET SAMPLES
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
gpq: why: --folded is a form of --profile and of --waves; for example --profile 5s
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

$ m() { for c in "$@"; do gpq --sysroot $HOSTS/aql-gfx90a why $c; echo "status $?"; done; }; m '--waves -p 4712' '--sample 4' '--waves --sample 0' '--waves --sample 100001' '--waves --every 0' '--waves --max-hold 999us' '--waves --max-hold 61s' '--waves --attach' '--waves --over 1s' '--waves --profile 1' '--waves --stacks' '--waves --stuck-after 1m' '--force' '--waves --watch 1' '--waves --folded -r' '--registers' '--waves --folded --registers' '--core x'
gpq: why: /proc/4712/gpucore: No such file or directory; gpq hang --waves records them
status 5
gpq: why: --sample is one of --waves; add --waves
status 2
gpq: why: --sample: at least 1, at most 100000; for example --sample 3
status 2
gpq: why: --sample: at least 1, at most 100000; for example --sample 3
status 2
gpq: why: --every: more than 0, at most 24h; for example --every 1s
status 2
gpq: why: --max-hold: at least 1ms, at most 1m; for example --max-hold 200ms
status 2
gpq: why: --max-hold: at least 1ms, at most 1m; for example --max-hold 200ms
status 2
gpq: why: --waves asks the driver's debug interface anyway; leave out --attach
status 2
gpq: why: --waves and --over exclude each other; leave out one of them
status 2
gpq: why: --waves and --profile exclude each other; leave out one of them
status 2
gpq: why: --waves and --stacks exclude each other; leave out one of them
status 2
gpq: why: --waves and --stuck-after exclude each other; leave out one of them
status 2
gpq: why: --force is one of --waves; add --waves
status 2
gpq: why: --waves and --watch exclude each other; leave out one of them
status 2
gpq: why: --folded writes stacks: it has no columns, rows or other forms; leave out one of them
status 2
gpq: why: --registers is one of --waves; add --waves
status 2
gpq: why: --folded and --registers exclude each other; leave out one of them
status 2
gpq: why: x: No such file or directory
status 5

# A core has all queues of one process.
$ for o in '-p 1' '-Q 1' '--gpu 0' '--waves --sample 2' '--waves --max-hold 1s' '--attach' '--profile 1' '--watch 1' '--stacks' '--over 1s'; do gpq why --core x $o; done
gpq: why: --core: a core has all queues of one process; leave out one of them
gpq: why: --core: a core has all queues of one process; leave out one of them
gpq: why: --core: a core has all queues of one process; leave out one of them
gpq: why: --core and --sample exclude each other; leave out one of them
gpq: why: --core and --max-hold exclude each other; leave out one of them
gpq: why: --core and --attach exclude each other; leave out one of them
gpq: why: --core and --profile exclude each other; leave out one of them
gpq: why: --core and --watch exclude each other; leave out one of them
gpq: why: --core and --stacks exclude each other; leave out one of them
gpq: why: --core and --over exclude each other; leave out one of them
? 2

# All members, and what is shown without -o.
$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 0,4,6,7 -J | jq -c '.queues[] | del(.over_ns)'
{"pid":4712,"command":"train","user":"0","container":null,"pod":null,"job":null,"gpu_id":58361,"qid":4,"context_id":null,"type":"compute","state":"not-published","stuck":true,"backlog":2,"taken":0,"next":"invalid","kernel":null,"detail":"packet 4 is not written, and the write index is 6","do":"on that host: look at its threads, as gpq why -p 4712 --stacks shows them: if none is about to write the packet, end the process","read":4,"write":6,"pointers":"process","slot_write":null,"on_hw":true,"stood_ns":null,"at_work":null,"signal":null,"signal_value":null,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"root_qid":null,"root_state":null,"root_pid":null,"by_pid":null,"by_command":null,"exceptions":null,"inversion":null}
{"pid":4712,"command":"train","user":"0","container":null,"pod":null,"job":null,"gpu_id":58361,"qid":6,"context_id":null,"type":"compute","state":"hung-or-long","stuck":false,"backlog":0,"taken":0,"next":null,"kernel":null,"detail":"kernel 0x5000 (packet 5) was taken, and has not ended: its signal 0xa140 is 1","do":"on that host: gpq why -p 4712 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4712 --waves where its waves are","read":6,"write":6,"pointers":"process","slot_write":null,"on_hw":true,"stood_ns":null,"at_work":5,"signal":"0xa140","signal_value":1,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"root_qid":null,"root_state":null,"root_pid":null,"by_pid":null,"by_command":null,"exceptions":null,"inversion":null}
{"pid":4712,"command":"train","user":"0","container":null,"pod":null,"job":null,"gpu_id":58361,"qid":7,"context_id":null,"type":"compute","state":"hung-or-long","stuck":false,"backlog":1,"taken":0,"next":"barrier-or","kernel":null,"detail":"packet 0 (barrier-or) waits for no signal, and was not taken","do":"on that host: gpq why -p 4712 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4712 --waves where its waves are","read":0,"write":1,"pointers":"process","slot_write":null,"on_hw":true,"stood_ns":null,"at_work":null,"signal":null,"signal_value":null,"by_qid":null,"by_index":null,"by_type":null,"by_kernel":null,"root_qid":null,"root_state":null,"root_pid":null,"by_pid":null,"by_command":null,"exceptions":null,"inversion":null}
{"pid":4712,"command":"train","user":"0","container":null,"pod":null,"job":null,"gpu_id":58361,"qid":0,"context_id":null,"type":"compute","state":"behind","stuck":false,"backlog":2,"taken":0,"next":"barrier-and","kernel":null,"detail":"waits for kernel 0x5000 (packet 1) of queue 1 (waits-external): signal 0xa000 is 1","do":"on that host: look at its threads, as gpq why -p 4712 --stacks shows them: one, or another process, is to set the signal","read":7,"write":9,"pointers":"process","slot_write":null,"on_hw":true,"stood_ns":null,"at_work":null,"signal":"0xa000","signal_value":1,"by_qid":1,"by_index":1,"by_type":"dispatch","by_kernel":null,"root_qid":1,"root_state":"waits-external","root_pid":null,"by_pid":null,"by_command":null,"exceptions":null,"inversion":null}
? 7

$ gpq --sysroot $HOSTS/aql-gfx90a why -p 4712 -Q 0,6
pid 4712 train: hung-or-long: queue 6: kernel 0x5000 (packet 5) was taken, and
    has not ended: its signal 0xa140 is 1
  do: on that host: gpq why -p 4712 --over 10s: if it has not ended then, it
      hangs; dmesg tells faults, gpq why -p 4712 --waves where its waves are
 PID COMMAND QID TYPE    STATE        BACKLOG TAKEN NEXT        KERNEL DETAIL
4712 train     6 compute hung-or-long       0     0 -           0x5000 kernel 0x5000 (packet 5) was taken, and has not ended: its signal 0xa140 is 1
4712 train     0 compute behind             2     0 barrier-and -      waits for kernel 0x5000 (packet 1) of queue 1 (waits-external): signal 0xa000 is 1

# Who waits for another process is told so, though the other one was not asked for; -Q is about the one that was. 4711 sets
# nothing that it does not share.
$ cp -r $HOSTS/aql-gfx90a both; for p in 4711 4713; do echo 'a000-b000 rw-s 0 0:19 2 /' >both/proc/$p/shared; done; echo 'a000-b000 rw-s 0 0:19 3 /' >both/proc/4712/shared; for p in 4713 4712; do gpq --sysroot both why -p $p -Q 0,1 -rno PID,QID,STATE,SIGNAL,BY_PID,BY_QID,BY_INDEX; done; rm both/proc/4711/shared; gpq --sysroot both why -p 4713 -Q 0 -rno PID,QID,STATE,SIGNAL,BY_PID; rm -r both/sys/class/kfd/kfd/proc/4713/queues/*; echo 'a000-b000 rw-s 0 0:19 2 /' >both/proc/4711/shared; gpq --sysroot both why -p 4713
4713 0 behind 0xa040 4711 2 12484
4713 1 behind 0xa000 - 2 0
4712 0 behind 0xa000 - 1 1
4712 1 waits-external 0xa040 - - -
4713 0 waits-external 0xa040 -
gpq: why: pid 4713: owns no queue; gpq queues lists those that do
? 5

# Who shares memory with one that shares memory with 4713 is read, too.
$ cp -r $HOSTS/aql-gfx90a chain; echo 'a000-b000 rw-s 0 0:19 2 /' >chain/proc/4713/shared; printf 'a000-b000 rw-s 0 0:19 2 /\nc000-d000 rw-s 0 0:19 3 /\n' >chain/proc/4712/shared; echo 'c000-d000 rw-s 0 0:19 3 /' >chain/proc/4711/shared; rm chain/proc/4711/mem; gpq --sysroot chain why -p 4713 -rno PID 2>&1 | uniq; echo 'c000-d000 rw-s 0 0:19 4 /' >chain/proc/4711/shared; gpq --sysroot chain why -p 4713 -rno PID 2>&1 | uniq
gpq: why: pid 4711: its memory: No such file or directory; gpq snapshot records it as root
4713
4713

# A priority on a driver that writes levels alone.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts why -p 140 --prio 5
gpq: why: --prio 5: the driver does not write the priority of a queue, only its level (Linux 7.0 and later write the level alone); choose whole levels: 0:6 is low, 7:10 medium, 11:15 high
? 6

# The verdicts as a table: of chosen queues, in documents and with --table. The exit status is that of the rows that are left.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq why -p 4712 -Q 0,5,7 -J | jq -c 'keys, .processes[]'; gpq why -p 4712 -Q 5 --ndjson | jq -c '[.record, .state, .verdict]'; gpq why --table processes -o PID,STATE,STUCK,QID,WAITING,QUEUES,STUCK_QUEUES; echo $?; gpq why --table processes --filter !STUCK -rno PID; echo $?; gpq why -o VERDICT -p 4712 -Q 5; gpq why -p 4712 -Q 5 --csv | wc -l
["processes","queues","schema"]
{"pid":4712,"command":"train","user":"0","container":null,"pod":null,"job":null,"state":"hung-or-long","stuck":false,"qid":7,"stood_ns":null,"waiting":0,"queues":3,"stuck_queues":0,"verdict":"hung-or-long: queue 7: packet 0 (barrier-or) waits for no signal, and was not taken","host":null,"stacks":null,"do":"on that host: gpq why -p 4712 --over 10s: if it has not ended then, it hangs; dmesg tells faults, gpq why -p 4712 --waves where its waves are"}
["process","idle","idle: queue 5"]
["queue","idle",null]
 PID STATE        STUCK QID WAITING QUEUES STUCK_QUEUES
4711 deadlock     yes     2       1      5            2
4712 deadlock     yes     2       0      8            3
4713 hung-or-long no      2       1      5            0
7
4713
0
VERDICT
idle: queue 5
gpq: why: only the table queues is written, not processes; --table NAME chooses one
2

# A command name that would colour a terminal or begin a line.
$ cp -r $HOSTS/aql-gfx90a names; printf 'Name:\ta\033[31m\\nb\n' >names/proc/4712/status; tail -n +2 $HOSTS/aql-gfx90a/proc/4712/status >>names/proc/4712/status; gpq --sysroot names why -p 4712 -Q 5 | head -1 | cat -v
pid 4712 a\x1b[31m\nb: idle: queue 5

# Stacks of threads, as gpq hang recorded them; names in them are the program's own.
$ cp -r $HOSTS/aql-gfx90a stacks; printf 'thread 4712: ioctl (libc.so.6) < main (train)\nthreads 4713, 4714: a\033[31m < b (x)\n' >stacks/proc/4712/stacks; gpq --sysroot stacks why -p 4712 -Q 5 --stacks | head -3; gpq --sysroot stacks why -p 4712 -Q 5 | grep thread; gpq --sysroot stacks why -p 4711,4712 --stacks --table processes -o PID,STACKS -r
pid 4712 train: idle: queue 5
  thread 4712: ioctl (libc.so.6) < main (train)
  threads 4713, 4714: a\x1b[31m < b (x)
gpq: why: --stacks: pid 4711: none was recorded
PID STACKS
4711 -
4712 thread\x204712:\x20ioctl\x20(libc.so.6)\x20<\x20main\x20(train)\x0athreads\x204713,\x204714:\x20a\x1b[31m\x20<\x20b\x20(x)\x0a
? 7
