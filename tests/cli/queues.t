# gpq queues on recorded hosts. Values by hand from the dumps ([debugfs.examples]), by [debugfs.mqd-compute] and [debugfs.off].
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues
gpq: queues: STATE: unknown for 2 queues: which MQD is whose is not certain; gpq queues --likely takes the likeliest
  PID NSPID COMMAND USER PROCESS CONTAINER      GPU BDF          QID TYPE    RING PRIO STATE   BACKLOG EVICTED CUS  VRAM
41207    31 python3 root alive   116f54c41d04 41460 0000:43:00.0   0 compute   4K    7 idle          0     0ns  61 31.8G
41207    31 python3 root alive   116f54c41d04 41460 0000:43:00.0   1 compute   1M    7 unknown       -     0ns  61 31.8G
41207    31 python3 root alive   116f54c41d04 41460 0000:43:00.0   2 compute   1M    7 unknown       -     0ns  61 31.8G
41207    31 python3 root alive   116f54c41d04 41460 0000:43:00.0   3 sdma      1M    - mapped        -     0ns  61 31.8G
52880     7 vllm    1000 alive   24c458cfb46d 41460 0000:43:00.0   0 compute   1M    7 running       4     0ns 104  2.0G

# Two queues look alike from outside, so nothing proves which MQD is whose: null, unless asked for.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -v -r -p 41207 -o QID,RING_ADDR,RPTR,WPTR,DOORBELL,ON_HW,XCCS,CWSR,MATCH
gpq: queues: pid 41207: queues 1,2: several MQDs have its GPU, type and size; shown is what they have in common, --likely takes the likeliest
QID RING_ADDR RPTR WPTR DOORBELL ON_HW XCCS CWSR MATCH
0 0x7f2a41c00000 448 448 0x4000 yes 1 63508480 only
1 - - - - - 1 63508480 -
2 - - - - - 1 63508480 -
3 0x7f2a3f000000 15224 15224 0x4850 yes - - only

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -v -r -n -p 41207 --likely -o QID,RING_ADDR,RPTR,WPTR,DOORBELL,ON_HW,BACKLOG,SAVED,MATCH
0 0x7f2a41c00000 448 448 0x4000 yes 0 - only
1 0x7f2a40200000 53680 2412992 0x4008 no 1 1742144 likely
2 0x7f2a40000000 72224 596528 0x4010 yes 2 - likely
3 0x7f2a3f000000 15224 15224 0x4850 yes - - only

# Where the order of creation is known it proves every match. Four XCCs; repeated SDMA dumps are not queues.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq queues -v -r -o PID,QID,TYPE,RING_ADDR,RPTR,WPTR,DOORBELL,ON_HW,XCCS,CWSR,MATCH
PID QID TYPE RING_ADDR RPTR WPTR DOORBELL ON_HW XCCS CWSR MATCH
94314 0 compute 0x7f61c15a6000 16 16 0x4000 yes 4 12214272 order
94314 1 sdma 0x7f6155000000 84 84 0x4800 yes - - order
94314 2 compute 0x7f61c0400000 227664 260536656 0x4008 no 4 12214272 order
94314 3 compute 0x7f61c0200000 0 0 0x4010 yes 4 12214272 order

$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq queues -r -o PID,NSPID,COMMAND,USER,CONTAINER,RUNTIME,GPU,INDEX,GFX,QID,TYPE,RING_ADDR,DOORBELL,ON_HW,CUS,ENGINE,RLC
PID NSPID COMMAND USER CONTAINER RUNTIME GPU INDEX GFX QID TYPE RING_ADDR DOORBELL ON_HW CUS ENGINE RLC
7311 412 blender 101000 gpu1 lxc 27694 0 gfx1100 0 compute 0x7ff0a1200000 0x2000 yes - - -
7311 412 blender 101000 gpu1 lxc 27694 0 gfx1100 1 compute 0x7ff0a1000000 0x2008 yes - - -
7311 412 blender 101000 gpu1 lxc 27694 0 gfx1100 2 sdma 0x7ff0a0e00000 0x2800 - - 0 2

# The real driver over a software GPU, whose firmware writes dword 130 as that of gfx942 does (queues 0 and 2 of the first
# process are suspended, see TRUTH). Of SDMA queues only the runlist tells, and MES has none.
$ gpq --sysroot $HOSTS/vm-gfx90a-suspended queues -r -n --likely -o PID,QID,TYPE,ON_HW,RPTR,WPTR,BACKLOG
170 0 compute no 12480 44848 999
170 1 compute yes 12480 44848 1016
170 2 sdma no 68608 68608 0
171 0 compute yes 1809 18149 16376

$ gpq --sysroot $HOSTS/vm-gfx90a-running queues -r -n -o PID,QID,ON_HW
170 0 yes
170 1 yes
170 2 yes
171 0 yes

$ gpq --sysroot $HOSTS/vm-gfx1100-suspended queues -r -n --likely -o PID,QID,TYPE,ON_HW
1646 0 compute no
1646 1 compute yes
1646 2 sdma -
1647 0 compute yes

# Where the runlist alone tells, and where nothing does: firmware that does not write the dword.
$ cp -r $HOSTS/vm-gfx90a-suspended $HOSTS/vm-gfx1100-suspended .; sed -i -E 's/^(    00000200: [0-9a-f]+ [0-9a-f]+) 00000001/\1 00000000/' */sys/kernel/debug/kfd/mqds; gpq --sysroot vm-gfx90a-suspended queues -r -n --likely -o PID,QID,ON_HW; gpq --sysroot vm-gfx1100-suspended queues -v -r -n -p 1647 -o PID,QID,ON_HW,BACKLOG
170 0 no
170 1 yes
170 2 no
171 0 yes
gpq: queues: on hardware or off: unknown for 3 compute queues: no MQD on its GPU has dword 130 set: its firmware may not write it, and there is no runlist
1647 0 - 16358

# Processes without queues, and one that is dead while somebody holds its KFD open.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq queues -a -o PID,COMMAND,PROCESS,QID,VRAM -r
PID COMMAND PROCESS QID VRAM
93010 - gone - 536870912
94314 pt_main_thread alive 0 1073741824
94314 pt_main_thread alive 1 1073741824
94314 pt_main_thread alive 2 1073741824
94314 pt_main_thread alive 3 1073741824
94377 rocm-smi alive - 0

# Counters of a process without queues are those of all GPUs together; if one is unknown, so is the sum, whichever it is.
$ cp -r $HOSTS/gfx942-4xcc-k6.12 two; cd two/sys/class/kfd/kfd/proc/94377
> for gpu in 63420:1:2:3 7:40:50:60 8:700:800:900; do IFS=: read -r id vram sdma evicted <<<$gpu; mkdir -p stats_$id; echo $vram >vram_$id; echo $sdma >sdma_$id; echo $evicted >stats_$id/evicted_ms; done
> for lost in none vram_63420 sdma_7 stats_8/evicted_ms; do : >$lost; gpq --sysroot ~+/../../../../../.. queues -a -p 94377 -rno VRAM,SDMA_BUSY,EVICTED; done
741 852000 963000000
- 852000 963000000
- - 963000000
- - -

$ gpq --sysroot $HOSTS/nogpu-k6.12 queues; gpq --sysroot $HOSTS/nogpu-k6.12 queues -o PID -r
PID
$ gpq --sysroot $HOSTS/nogpu-k6.12 queues -a -o PID,COMMAND,QID,VRAM
PID COMMAND  QID VRAM
903 rocminfo   -    -

$ gpq --sysroot $HOSTS/nogpu-k6.12 queues -J
{
  "schema": {"name": "gpq.queues", "version": 1},
  "queues": []
}

# Which of the three it is: no queues, no process, another namespace.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq queues -p 94377
gpq: queues: pid 94377: owns no queue, it only has KFD open; -a shows it
? 5

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq queues -p 93010
gpq: queues: pid 93010: ended, and owns no queue, but something holds its KFD open; -a shows it
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 1
gpq: queues: pid 1: owns no queue, it never opened KFD
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 999
gpq: queues: pid 999: no such process; without -p all are listed
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 31
gpq: queues: pid 31: in another PID namespace: it is pid 41207 of this host; use the host's PID, or --ns-pid
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 31 --ns-pid -r -o PID,NSPID,QID
PID NSPID QID
41207 31 0
41207 31 1
41207 31 2
41207 31 3

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 32 --ns-pid
gpq: queues: pid 32: no container has a process with that PID; without --ns-pid, PIDs are those of the host
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 999,52880,1 -o PID,QID
gpq: queues: pid 999: no such process; without -p all are listed
gpq: queues: pid 1: owns no queue, it never opened KFD
  PID QID
52880   0
? 3

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --ndjson -p 999
{"level":"error","command":"queues","message":"pid 999: no such process","next":"without -p all are listed","status":5}
? 5

# Descendants; the parent itself owns nothing.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 41150
gpq: queues: pid 41150: owns no queue, it never opened KFD
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 41150 --tree -r -n -o PID,QID
41207 0
41207 1
41207 2
41207 3

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --tree
gpq: queues: --tree says how to read -p; add -p PID
? 2

$ echo 52880 | GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p - -r -n -o PID,QID
52880 0

# Containers by name (docker's own record), by digits of the id; commands by regular expression.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --container trainer -r -n -o PID,QID,CONTAINER_NAME,RUNTIME
41207 0 trainer docker
41207 1 trainer docker
41207 2 trainer docker
41207 3 trainer docker

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --container 24c458 -r -n -o PID,QID,CONTAINER_NAME,RUNTIME
52880 0 - kubernetes

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --container nope
gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --comm nope
gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
? 5

# GPUs alone, as of a driver before Linux 5.8.
$ GPQ_SYSROOT=$HOSTS/topo-gfx1030 gpq queues
gpq: queues: /sys/class/kfd/kfd/proc: No such file or directory; it was not recorded, or the kernel was older than 5.8
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --comm '^v.*m$' -r -n -o PID,COMMAND,CMDLINE
52880 vllm /usr/bin/python3\x20-m\x20vllm.entrypoints.openai.api_server\x20--model\x20/models/seven-b

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --comm '('
gpq: queues: --comm: (: missing closing parenthesis at character 1; see pcre2pattern(3)
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --comm vllm -p 41207
gpq: queues: pid 41207: the other options do not choose it
? 5

# Queues by GPU, type and priority.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --gpu a1f4 --type sdma -r -n -o PID,QID,TYPE,SDMA_BUSY
41207 3 sdma 88121000

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --type sdam
gpq: queues: --type sdam: no such type, did you mean sdma; it is one of compute, sdma, sdma-xgmi
? 2

$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for q in 41207:99 52880:3 52880:0,41207:7 41207:7,52880:0; do gpq queues -p 41207,52880 -Q $q -rno PID,QID; echo $?; done; gpq queues -p 41207 -Q 99; gpq queues -p 41207 -Q 1 --type sdma
gpq: queues: pid 41207: -Q names none of its queues: 0, 1, 2, 3
gpq: queues: pid 52880: the other options choose none of its queues
5
gpq: queues: pid 41207: the other options choose none of its queues
gpq: queues: pid 52880: -Q names none of its queues: 0
5
gpq: queues: pid 41207: -Q names none of its queues: 0, 1, 2, 3
52880 0
3
gpq: queues: pid 41207: -Q names none of its queues: 0, 1, 2, 3
52880 0
3
gpq: queues: pid 41207: -Q names none of its queues: 0, 1, 2, 3
gpq: queues: pid 41207: the other options choose none of its queues
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --type sdma -p 52880
gpq: queues: pid 52880: the other options choose none of its queues
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --gpu 7
gpq: queues: there is no GPU 7; gpq gpus lists them
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --prio 5:7 -v -r -n -o PID,QID,PRIO,PIPE_PRIO
gpq: queues: --prio: left out: 1 queue of unknown priority
gpq: queues: pid 41207: queues 1,2: several MQDs have its GPU, type and size; shown is what they have in common, --likely takes the likeliest
41207 0 7 1
41207 1 7 1
41207 2 7 1
52880 0 7 1

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --prio 8 -r -o PID
PID
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --prio 9:3
gpq: queues: --prio 9:3: neither levels (low, medium, high) nor MIN[:MAX] with priorities from 0 to 15; for example --prio high, --prio 8 or --prio 0:7
? 2

# Without debugfs: what sysfs tells is there, the rest is null and -v says why.
$ cp -r $HOSTS/gfx90a-k6.12 h && rm -r h/sys/kernel && gpq --sysroot h queues -v -p 52880 -r -n -o PID,QID,RING,PRIO,ON_HW,RING_ADDR
gpq: queues: PRIO, ON_HW, RING_ADDR: unknown: the recorded host has no debugfs; gpq snapshot records it as root
gpq: queues: /sys/kernel/debug/kfd/mqds: No such file or directory: what MQDs tell is unknown
52880 0 1048576 - - -

$ gpq --sysroot h queues --prio 3
gpq: queues: --prio: /sys/kernel/debug/kfd/mqds: No such file or directory; priorities are in MQDs, which root can read where debugfs is mounted
? 5

# Files that vanish, are empty or hold nonsense: nulls.
$ q=h/sys/class/kfd/kfd/proc/41207/queues; rm $q/0/size $q/1/type; printf x >$q/2/gpuid; : >$q/3/size; printf '%025d' 7 >$q/2/size; gpq --sysroot h queues -p 41207 -r -n -o QID,GPU,TYPE,RING,VRAM,CUS
0 41460 compute - 34187771904 61
1 41460 - 1048576 34187771904 61
2 - compute 7 - -
3 41460 sdma - 34187771904 61

$ rm -r h/sys/class/kfd/kfd/proc/41207/queues h/proc/52880 && gpq --sysroot h queues -a -r -n -o PID,COMMAND,PROCESS,QID
41207 python3 alive -
52880 - gone 0

# A captured dump alone.
$ gpq queues --mqds $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds
  PID   GPU TYPE    RING PRIO ON_HW BACKLOG      RING_ADDR  RPTR    WPTR DOORBELL XCCS  CWSR
52880 41460 compute   1M    7 yes         - 0x7fb1c8000000 70128  332288   0x6000    1 60.6M
41207 41460 sdma      1M    - -           - 0x7f2a3f000000 15224   15224   0x4850    -     -
41207 41460 compute   1M    7 yes         - 0x7f2a40000000 72224  596528   0x4010    1 60.6M
41207 41460 compute   1M    7 no          1 0x7f2a40200000 53680 2412992   0x4008    1 60.6M
41207 41460 compute   4K    7 yes         - 0x7f2a41c00000   448     448   0x4000    1 60.6M

$ gpq queues --mqds - -p 52880 --gpu a1f4 -J -o PID,QID,GPU,RING_ADDR <$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds
{
  "schema": {"name": "gpq.queues", "version": 1},
  "queues": [
    {"pid": 52880, "qid": null, "gpu_id": 41460, "ring_addr": "0x7fb1c8000000"}
  ]
}

$ cp $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds . && gpq queues --mqds mqds -p 7
gpq: queues: pid 7: owns no queue in mqds
? 5

# Damaged dumps: torn in the middle of a line, a word that is none, foreign text, empty, binary.
$ head -c 1631 mqds >torn && gpq queues --mqds torn -r -n
gpq: queues: torn: 1 word not of 8 hex digits, so that what it means is unknown
gpq: queues: torn: 1 MQD cut short
52880 41460 compute - 7 yes - 0x7fb1c8000000 70128 - 0x6000 - -
? 3

$ sed '0,/ 40005301 /s// 4000530g /; s/ 000111f0 / 111f0 /' mqds | gpq queues --mqds - -p 52880 -r -n -o RING_ADDR,RPTR,WPTR
gpq: queues: standard input: 7 words not of 8 hex digits, so that what it means is unknown
0x7fb1c8000000 - 332288
? 3

$ sed '0,/on device [0-9a-f]*/s//on device a1z4/' mqds | gpq queues --mqds - -p 52880 -r -n -o GPU,RING_ADDR
gpq: queues: standard input: 1 queue without a GPU
- 0x7fb1c8000000
? 3

$ : >empty && gpq queues --mqds empty -v
gpq: queues: empty: empty: no process had KFD open; or was copied without the right to read it

$ head -c 5000 /dev/zero >zeros && gpq queues --mqds zeros
gpq: queues: zeros: line 1 is not in MQD-dump format; it must be a copy of /sys/kernel/debug/kfd/mqds
? 1

$ gpq queues --mqds /
gpq: queues: /: Is a directory; name a file in it
? 1

$ gpq queues --mqds missing
gpq: queues: missing: No such file or directory; check the name
? 5

$ gpq queues --mqds empty --comm x
gpq: queues: only -p chooses processes of a file: the other options need a host; leave it out, or --mqds
? 2

# --watch: a stream of records in a pipe, ended by the reader.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -p 52880 --watch 0.05 -o PID,QID | head -3
{"record":"queue","pid":52880,"qid":0}
{"record":"queue","pid":52880,"qid":0}
{"record":"queue","pid":52880,"qid":0}

$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --watch 1 -J | jq -c '[.schema.name, .error.status]'
{"level":"error","command":"queues","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
["gpq.error",2]
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues >/dev/full
gpq: queues: STATE: unknown for 2 queues: which MQD is whose is not certain; gpq queues --likely takes the likeliest
gpq: queues: standard output: No space left on device
? 1

# A secondary context of the process (KFD 1.19): its queues are listed too, and prove nothing about order.
$ cp -r $HOSTS/gfx942-4xcc-k6.12 c; q=c/sys/class/kfd/kfd/proc/94314; mkdir -p $q/context_1/queues && cp -r $q/queues/3 $q/context_1/queues/0 && gpq --sysroot c queues -v -r -n -o QID,CONTEXT_ID,TYPE,RING_ADDR,MATCH
gpq: queues: pid 94314: queues 2,3, context 1: 0: the process has more queues than MQDs of its GPU, type and size
0 - compute 0x7f61c15a6000 only
1 - sdma 0x7f6155000000 only
2 - compute - -
3 - compute - -
0 1 compute - -

# Order of creation of a recorded host, against the order of queue ids; nonsense in it is no order.
$ q=c/sys/class/kfd/kfd/proc/94314; rm -r $q/context_1; echo 0 1 3 2 >$q/queues/.order; gpq --sysroot c queues -r -n -o QID,RING_ADDR,MATCH
0 0x7f61c15a6000 order
1 0x7f6155000000 order
2 0x7f61c0200000 order
3 0x7f61c0400000 order

$ q=c/sys/class/kfd/kfd/proc/94314; echo 0 1 x 3 2 >$q/queues/.order; gpq --sysroot c queues -r -n -o QID,RING_ADDR,MATCH
0 0x7f61c15a6000 only
1 0x7f6155000000 only
2 - -
3 - -

# A recorded host from a stranger: names as long as they can be, pipes where files should be.
$ cp -r $HOSTS/gfx90a-k6.12 s && q=s/sys/class/kfd/kfd/proc/52880/queues && cp -r $q/0 $q/$(printf '0%.0s' $(seq 200))5 && cp -r $q/0 $q/00 && gpq --sysroot s queues -p 52880 -rno PID,QID
52880 0

$ cp -r $HOSTS/gfx90a-k6.12 f && rm f/sys/kernel/debug/kfd/mqds f/proc/52880/status && mkfifo f/sys/kernel/debug/kfd/mqds f/proc/52880/status && timeout 60 gpq --sysroot f queues -p 52880 -rno PID,QID,PRIO,COMMAND
gpq: queues: PRIO: unknown: No such device or address
52880 0 - -

# The one MQD of a GPU lost what shows its generation: the topology tells it, where there is one.
$ cp -r $HOSTS/gfx90a-k6.12 g && m=g/sys/kernel/debug/kfd/mqds && sed -i '85,$d; 1,66d; s/0000002f/00000000/' $m && gpq --sysroot g queues -p 41207 -rno TYPE,RING_ADDR,DOORBELL | grep sdma; gpq queues --mqds $m -rno TYPE,RING_ADDR,DOORBELL
sdma 0x7f2a3f000000 0x4850
sdma - -

# What a copy of mqds does not tell is no fault of sysfs, which has not been read.
$ gpq queues --mqds g/sys/kernel/debug/kfd/mqds -v -rno GPU,TYPE,RING
41460 sdma -

# What sysfs does not tell is said with -v.
$ cp -r $HOSTS/gfx90a-k6.12 v && q=v/sys/class/kfd/kfd/proc/52880/queues/0 && rm $q/gpuid && printf 9 >$q/type && printf x >$q/size && rm v/sys/kernel/debug/kfd/mqds && gpq --sysroot v queues -p 52880 -v -rno GPU,TYPE,RING
gpq: queues: GPU: unknown for 1 queue: sysfs file gpuid is missing, unreadable or holds no number
gpq: queues: RING: unknown for 1 queue: sysfs file size is missing, unreadable or holds no number
gpq: queues: TYPE: unknown for 1 queue: sysfs file type is missing, unreadable, or a number newer than this gpq
- - -

$ printf '41207\0 52880' | gpq --sysroot $HOSTS/gfx90a-k6.12 queues -p - -rno PID | uniq
41207
52880

$ seq 100000 100100 | gpq --sysroot $HOSTS/gfx90a-k6.12 queues -p - 2>&1 | tail -1
gpq: queues: 81 more PIDs own no queue
? 5

$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --watch 0
gpq: queues: --watch: the least interval is 10ms; for example --watch 0.5
? 2

# Headers without queues, as processes that only have KFD open.
$ grep -n Process $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/mqds | wc -l; gpq queues -a --mqds $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/mqds -rno PID | sort -u | wc -l
3
3

# The first process was evicted (HOW tells) and nobody traces it. Then it was suspended by a debugger, which traces it.
$ gpq --sysroot $HOSTS/vm-gfx942-evicted queues -r -n -o QID,STATE
0 evicted
1 evicted
2 evicted
0 running
$ gpq --sysroot $HOSTS/vm-gfx942-suspended queues -r -n -o QID,STATE
0 unknown
1 unknown
2 off-hardware
0 running

# The selector: each option alone, and together.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --pod 3f2c1a9e-0d1b-4c6e-9a57-aa01d2b7c9e4 -rno PID,QID
52880 0
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --pod 3f2c1a9e --cgroup /sys/fs/cgroup/kubepods.slice/ -rno PID,QID
52880 0
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --cmdline 'train\.py.*epochs' --type sdma -rno PID,QID
41207 3
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --cgroup /kubepods.slice --cmdline train
gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
? 5
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --pod 3f2c1a9
gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
? 5
# The kubelet's links to logs name pods: NAME_NAMESPACE_CONTAINER-ID.log. A link of another container, one without a
# namespace, and one whose id is not the end of a name are no names of this pod.
$ cp -r $HOSTS/gfx90a-k6.12 kube; logs=kube/var/log/containers; id=24c458cfb46d9a456d314c7897601e51578e43c1f9dc007adf1a745bbc15e0f5; mkdir -p $logs; touch $logs/other_ns_c-${id%f5}aa.log $logs/x$id.log $logs/$id.log; gpq --sysroot kube queues -rno PID,POD,CONTAINER_NAME -Q 41207:0,52880:0
41207 - trainer
52880 - -
$ touch kube/var/log/containers/vllm-0_ml-team_engine-24c458cfb46d9a456d314c7897601e51578e43c1f9dc007adf1a745bbc15e0f5.log; gpq --sysroot kube queues -Q 41207:0,52880:0 -o PID,CONTAINER,POD,CONTAINER_NAME
  PID CONTAINER    POD            CONTAINER_NAME
41207 116f54c41d04 -              trainer
52880 24c458cfb46d ml-team/vllm-0 engine
$ for w in vllm-0 ml-team/vllm-0 none,vllm-0 3f2c1a9e vllm ml-team ml-team/vllm-01 ns/vllm-0; do echo $w $(gpq --sysroot kube queues -q --pod $w -rno PID 2>&1); done; gpq --sysroot kube queues --container engine -rno PID
vllm-0 52880
ml-team/vllm-0 52880
none,vllm-0 52880
3f2c1a9e 52880
vllm gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
ml-team gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
ml-team/vllm-01 gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
ns/vllm-0 gpq: queues: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
52880
# A word that chooses nothing is named where others of its option choose: there is none of the other kinds.
$ for c in 'queues -rno PID,QID' 'why -rno PID,QID' 'suspend --dry-run -rno PID,QID' 'bench preempt --dry-run -rno PID,QID'; do gpq --sysroot kube $c --user 1000,nosuch --pod vllm-0 --pod ml-team/other --comm zz --comm 'vllm|zz' --cgroup /kubepods.slice --cgroup /nosuch --container engine,none --cmdline . --cmdline '^$' 2>&1 | grep -v 'its memory' || true; done
gpq: queues: --container none: chooses nothing now; gpq ps -a lists what can be chosen
gpq: queues: --cgroup /nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: queues: --pod ml-team/other: chooses nothing now; gpq ps -a lists what can be chosen
gpq: queues: --user nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: queues: --comm zz: chooses nothing now; gpq ps -a lists what can be chosen
gpq: queues: --cmdline ^$: chooses nothing now; gpq ps -a lists what can be chosen
52880 0
gpq: why: --container none: chooses nothing now; gpq ps -a lists what can be chosen
gpq: why: --cgroup /nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: why: --pod ml-team/other: chooses nothing now; gpq ps -a lists what can be chosen
gpq: why: --user nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: why: --comm zz: chooses nothing now; gpq ps -a lists what can be chosen
gpq: why: --cmdline ^$: chooses nothing now; gpq ps -a lists what can be chosen
52880 0
gpq: suspend: --container none: chooses nothing now; gpq ps -a lists what can be chosen
gpq: suspend: --cgroup /nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: suspend: --pod ml-team/other: chooses nothing now; gpq ps -a lists what can be chosen
gpq: suspend: --user nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: suspend: --comm zz: chooses nothing now; gpq ps -a lists what can be chosen
gpq: suspend: --cmdline ^$: chooses nothing now; gpq ps -a lists what can be chosen
52880 0
gpq: bench: --container none: chooses nothing now; gpq ps -a lists what can be chosen
gpq: bench: --cgroup /nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: bench: --pod ml-team/other: chooses nothing now; gpq ps -a lists what can be chosen
gpq: bench: --user nosuch: chooses nothing now; gpq ps -a lists what can be chosen
gpq: bench: --comm zz: chooses nothing now; gpq ps -a lists what can be chosen
gpq: bench: --cmdline ^$: chooses nothing now; gpq ps -a lists what can be chosen
52880 0
# Jobs of Slurm, by number and step, in every command and in SPEC; the column is shown where a process is in one.
$ cp -r $HOSTS/gfx90a-k6.12 slurm; chmod u+w slurm/proc/*/cgroup; echo 0::/system.slice/n1_slurmstepd.scope/job_123/step_0/user/task_1 >slurm/proc/41207/cgroup; echo 0::/system.slice/n1_slurmstepd.scope/job_124/step_batch/user/task_0 >slurm/proc/52880/cgroup; for w in 123 123.0 123.1 12 124.batch 123.0,124; do echo $w $(gpq --sysroot slurm ps -q --job $w -rno PID,JOB 2>&1); done
123 41207 123
123.0 41207 123
123.1 gpq: ps: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
12 gpq: ps: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
124.batch 52880 124
123.0,124 41207 123 52880 124
$ for c in queues ps; do gpq --sysroot slurm $c -q | head -2 | grep -c JOB; gpq $c -q --sysroot $HOSTS/gfx90a-k6.12 | head -2 | grep -c JOB; done; for c in why 'suspend --dry-run' 'bench preempt --dry-run' hqd; do echo $(gpq --sysroot slurm $c -q --job 124 -rno PID 2>/dev/null | sort -u); done; gpq --sysroot slurm sched --offline job=123 --online job=124.batch --dry-run -rno CLASS,PID,JOB; gpq --sysroot slurm queues --job 123_4; gpq --sysroot slurm why --job 123.
1
0
1
0
52880
52880
52880
52880
online 52880 124
offline 41207 123
gpq: queues: --job 123_4: give the number of a job, or JOB.STEP; squeue -o %A shows numbers of jobs, of arrays, too
gpq: why: --job 123.: give the number of a job, or JOB.STEP; squeue -o %A shows numbers of jobs, of arrays, too
? 2,3
$ gpq --complete -- --sysroot slurm ps --job '' | sort; gpq --complete -- --sysroot slurm sched --offline job= | sort; gpq --complete -- --sysroot kube queues --pod ml
123	process 41207
124	process 52880
job=123	process 41207
job=124	process 52880
ml-team/vllm-0	process 52880
# A word alone, or with others that choose as well: nothing is said.
$ for o in '--user 1000' '--user 1000,root' '--comm vllm --comm python3' '-p 41207 --comm python3'; do gpq --sysroot kube queues $o -rno PID 2>&1 | sort -u | xargs; done
52880
41207 52880
41207 52880
41207
# The column is shown where a process is in a pod.
$ for c in queues ps 'queues -p 41207' 'ps -p 41207'; do gpq --sysroot kube $c -q | head -2 | grep -c POD; done; for c in queues ps why hqd 'suspend --dry-run' 'hqd --runlist'; do gpq --sysroot kube $c -qp 52880 -J 2>/dev/null | jq -c '[.[] | arrays] | flatten | first | [.user, .container, .pod]'; done
1
1
0
0
["1000","24c458cfb46d","ml-team/vllm-0"]
["1000","24c458cfb46d","ml-team/vllm-0"]
["1000","24c458cfb46d","ml-team/vllm-0"]
["1000","24c458cfb46d","ml-team/vllm-0"]
["1000","24c458cfb46d","ml-team/vllm-0"]
["1000","24c458cfb46d","ml-team/vllm-0"]
? 3
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --cmdline '['
gpq: queues: --cmdline: [: missing terminating ] for character class at character 1; see pcre2pattern(3)
? 2
$ gpq queues --user root,no-such-user; gpq sched --offline user=no-such-user
gpq: queues: --user no-such-user: there is no such user; give a login name, or a number
gpq: sched: --user no-such-user: there is no such user; give a login name, or a number
? 5
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --user 1000 -rno PID,QID
52880 0
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --user root,nobody --type sdma -rno PID,QID
gpq: queues: --user nobody: chooses nothing now; gpq ps -a lists what can be chosen
41207 3
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -Q 52880:0,41207:3 -rno PID,QID; gpq --sysroot $HOSTS/gfx90a-k6.12 queues -p 41207 -Q 1,0x2 -rno QID
41207 3
52880 0
1
2
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -Q 0
gpq: queues: queue 0: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which
? 2
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -Q 41207:9
gpq: queues: no queue that was asked for is there; without -Q all are listed
? 5

# --wait: at once, at the timeout, and when it comes.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq queues --wait 5 -rno PID,QID -Q 41207:3,52880:0 --timeout 10ms; echo $?; gpq queues --wait 0 --filter 'QID == 99' -o PID; echo $?; gpq queues -p 41207 --wait 4 -rno QID
gpq: queues: --wait: 2 rows at the timeout, 5 are waited for
41207 3
52880 0
124
0
0
1
2
3
$ cp -r $HOSTS/gfx90a-k6.12 wait && q=wait/sys/class/kfd/kfd/proc/41207/queues; w() { gpq --sysroot wait queues --filter 'QID == 3' -q -rno QID --timeout 1m --wait $1; }; w 0 & sleep 0.2; mv $q/3 late; wait $!; ls $q; w 1 & sleep 0.2; mv late $q/3; wait $!
0
1
2
3
# A living process may still get the queue that is missing, also beside one that is not there.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for p in 41207 999,41207; do gpq queues -p $p -Q 41207:9 --wait 1 --timeout 10ms -qrno QID 2>&1 | tail -1; echo ${PIPESTATUS[0]}; done
gpq: queues: --wait: 0 rows at the timeout, 1 is waited for
124
gpq: queues: --wait: 0 rows at the timeout, 1 is waited for
124

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 41207,999 --wait 4 -rno QID
gpq: queues: pid 999: no such process; without -p all are listed
0
1
2
3
? 3
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --sort -QID --filter 'QID > 1' --wait 2 -rno QID
3
2
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 99 --wait 1 --timeout 5s
gpq: queues: pid 99: no such process; without -p all are listed
? 5
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues -p 99 --wait 0 -J | jq -c .queues
[]
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --timeout 1s
gpq: queues: --timeout says how long to --wait; for example --wait 1
? 2
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --wait 1 --watch 1
gpq: queues: --wait and --watch exclude each other; choose one
? 2

# STATE that is unknown in single rows: what knows more, once, for people, and only of rows that are shown with it.
$ q() { gpq --sysroot $HOSTS/gfx90a-k6.12 queues "$@" 2>&1 >/dev/null | sed 's/which.*;/.../'; }; q -p 41207; echo; q --likely; q -r; q -J; q -q; q -o PID,QID; q -p 52880; q --filter 'STATE != "unknown"'; q --filter 'QID == 1'; q -Q 41207:2 -o QID,STATE --sort QID
gpq: queues: STATE: unknown for 2 queues: ... gpq queues --likely takes the likeliest

gpq: queues: STATE: unknown for 1 queue: ... gpq queues --likely takes the likeliest
gpq: queues: STATE: unknown for 1 queue: ... gpq queues --likely takes the likeliest
$ gpq --sysroot $HOSTS/gfx1100-k6.12-mes queues --likely -o QID,STATE
gpq: queues: STATE: unknown for 1 queue: neither the runlist nor the MQD tells; gpq hqd shows who has a slot
QID STATE
  0 idle
  1 running
  2 unknown

# --wait --new: queues that come later alone; of old ones none, however long they are waited for.
$ cp -r $HOSTS/gfx90a-k6.12 later; chmod -R u+w later; Q=later/sys/class/kfd/kfd/proc/52880/queues; gpq --sysroot later queues --wait 1 --new --timeout 10ms; echo $?; gpq -q --sysroot later queues -p 52880 --wait 1 --new -rno QID >got & i=7; while kill -0 $! 2>/dev/null; do [ $i -lt 2000 ] || kill $!; cp -r $Q/0 $Q/$i; i=$((i + 1)); done; wait $!; echo "status $?"; sed -n '/^[0-6]$/p' got | wc -l; sed -n '/^[0-9]*$/p' got | wc -l | grep -c '[1-9]'; gpq queues --new
gpq: queues: --wait: 0 rows at the timeout, 1 is waited for
124
status 0
0
1
gpq: queues: --new is of --wait; for example --wait 1 --new
? 2
