# gpq ps on recorded hosts. Memory and compute units are those of sysfs, once a process; what queues do is that of queues.t.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 ps; cat $HOSTS/gfx90a-k6.12/sys/class/kfd/kfd/proc/*/vram_41460
2 processes, 4 compute and 1 SDMA queues; compute slots: 4 of 24 taken
  PID COMMAND USER CONTAINER    GPUS COMPUTE SDMA STATE       VRAM CUS BACKLOG OFF
41207 python3 root 116f54c41d04 0          3    1 partly-off 31.8G  61       3   1
52880 vllm    1000 24c458cfb46d 0          1    0 running     2.0G 104       4   0
34187771904
2199912448

$ gpq --sysroot $HOSTS/gfx90a-k6.12 ps -J
{
  "schema": {"name": "gpq.ps", "version": 1},
  "processes": [
    {"pid": 41207, "command": "python3", "user": "root", "container": "116f54c41d04", "pod": null, "job": null, "gpus": ["0"], "gpu_ids": ["41460"], "compute": 3, "sdma": 1, "state": "partly-off", "vram_bytes": 34187771904, "cu_occupancy": 61, "backlog": 3, "queues_off": 1, "holder": null, "ns_pid": 31, "container_id": "116f54c41d0405dbb10e7b04ebc31e262a5b8c85c1233fcf36eaee344d91ae58"},
    {"pid": 52880, "command": "vllm", "user": "1000", "container": "24c458cfb46d", "pod": null, "job": null, "gpus": ["0"], "gpu_ids": ["41460"], "compute": 1, "sdma": 0, "state": "running", "vram_bytes": 2199912448, "cu_occupancy": 104, "backlog": 4, "queues_off": 0, "holder": null, "ns_pid": 7, "container_id": "24c458cfb46d9a456d314c7897601e51578e43c1f9dc007adf1a745bbc15e0f5"}
  ]
}

$ gpq --sysroot $HOSTS/gfx90a-k6.12 ps --csv -o PID,STATE,VRAM --sort PID --filter 'COMPUTE == 1' | tr -d '\r'; gpq --sysroot $HOSTS/gfx90a-k6.12 ps -r -o NSPID,CMDLINE,RUNTIME,CONTAINER_NAME
pid,state,vram_bytes
52880,running,2199912448
NSPID CMDLINE RUNTIME CONTAINER_NAME
31 python3\x20train.py\x20--epochs\x2090 docker trainer
7 /usr/bin/python3\x20-m\x20vllm.entrypoints.openai.api_server\x20--model\x20/models/seven-b kubernetes -

# A process that ended while something holds its KFD open keeps its memory; one that only opened KFD takes -a.
$ export GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12; gpq ps -r -o PID,GPUS,COMPUTE,SDMA,STATE,VRAM; gpq ps -a -rn -o PID,GPUS,COMPUTE,SDMA,STATE,VRAM; gpq ps -p 94377
PID GPUS COMPUTE SDMA STATE VRAM
94314 0 3 1 partly-off 1073741824
93010 0 0 0 gone 536870912
94314 0 3 1 partly-off 1073741824
93010 0 0 0 gone 536870912
94377 - 0 0 no-queues 0
gpq: ps: pid 94377: owns no queue, it only has KFD open; -a shows it
? 5

# Totals by sysfs alone: of a host whose GPU has fewer slots than queues, what would give it more; of chosen processes and columns none.
$ cp -r $HOSTS/gfx1100-k6.12-mes few; rm -rf few/sys/kernel/debug; cd few/sys/class/kfd/kfd; cat proc/*/queues/*/type | tr -d '\n'; echo; sed -i 's/^num_cp_queues 8/num_cp_queues 1/' topology/nodes/1/properties; cd $OLDPWD; mkdir -p few/sys/module/amdgpu/parameters; for k in 8 1; do echo $k >few/sys/module/amdgpu/parameters/num_kcq; gpq -q --sysroot few ps | sed '/PID/,$d'; done; for o in '-o PID' -n '--type compute' "--filter PID>1"; do gpq -q --sysroot few ps $o | grep -c slots; done
001
1 process, 2 compute and 1 SDMA queues; compute slots: 1 of 1 taken
GPU 0: 2 compute queues on 1 slot, so they take turns; the kernel keeps 8 more: boot with amdgpu.num_kcq=1
1 process, 2 compute and 1 SDMA queues; compute slots: 1 of 1 taken
GPU 0: 2 compute queues on 1 slot, so they take turns; GPU_MAX_HW_QUEUES gives programs fewer
0
0
0
0
? 1
$ gpq -q --sysroot $HOSTS/vm73-gfx90a-oversubscribed ps | head -2; gpq --sysroot few queues --summary; gpq --sysroot few queues --by process -rno PID,COMPUTE,SDMA | sort | diff - <(gpq --sysroot few ps -rno PID,COMPUTE,SDMA | sort)
10 processes, 15 compute and 0 SDMA queues; compute slots: 15 of 24 taken
GPU 0: 10 processes on 8 VMIDs, so they take turns
INDEX   GPU PROCS COMPUTE SDMA SLOTS OVERSUB
    0 27694     1       2    1     1 yes

# Three servers with three queues each on a gfx1030 that has eight slots, as people reported it.
$ cp -r $HOSTS/topo-gfx1030 nine; cd nine/sys/class/kfd/kfd; sed -i 's/^num_cp_queues .*/num_cp_queues 8/' topology/nodes/1/properties; for p in 101 102 103; do for q in 0 1 2; do mkdir -p proc/$p/queues/$q; echo 16918 >proc/$p/queues/$q/gpuid; echo 0 >proc/$p/queues/$q/type; echo 1048576 >proc/$p/queues/$q/size; done; done; cd $OLDPWD; mkdir -p nine/sys/module/amdgpu/parameters; echo 8 >nine/sys/module/amdgpu/parameters/num_kcq; gpq -q --sysroot nine ps | sed '/PID/,$d'; gpq -q --sysroot nine queues --summary
3 processes, 9 compute and 0 SDMA queues; compute slots: 8 of 8 taken
GPU 0: 9 compute queues on 8 slots, so they take turns; the kernel keeps 8 more: boot with amdgpu.num_kcq=1
INDEX   GPU PROCS COMPUTE SDMA SLOTS OVERSUB
    0 16918     3       9    0     8 yes

# Without a GPU.
$ gpq --sysroot $HOSTS/nogpu-k6.12 ps -r -o PID; gpq --sysroot $HOSTS/nogpu-k6.12 ps -a -o PID,COMMAND,GPUS,STATE,VRAM
PID
PID COMMAND  GPUS STATE     VRAM
903 rocminfo -    no-queues    -

# Why there is no row: the chosen processes own no queue, or none of that id.
$ gpq --sysroot $HOSTS/nogpu-k6.12 ps --comm rocminfo; gpq --sysroot $HOSTS/gfx90a-k6.12 ps --comm python -Q 77
gpq: ps: the processes that the options choose own no queue; gpq ps -a shows them
gpq: ps: the processes that the options choose own no such queue; without -Q, --gpu, --type and --prio all of theirs are shown
? 5

# The messages are those of gpq queues.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq ps -p 999,52880,1 -o PID,GPUS; gpq ps -p 31; gpq ps -p 41150 --tree -rno PID; gpq ps --comm nosuch
gpq: ps: pid 999: no such process; without -p all are listed
gpq: ps: pid 1: owns no queue, it never opened KFD
  PID GPUS
52880 0
gpq: ps: pid 31: in another PID namespace: it is pid 41207 of this host; use the host's PID, or --ns-pid
41207
gpq: ps: no process that the options choose has opened /dev/kfd; gpq ps -a lists those that have
? 5

# -Q chooses by id, and nothing proves which MQD is that of queue 1. Other choices are the same for any order of the MQDs.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq ps -p 41207 -Q 1 -rno COMPUTE,SDMA,STATE,VRAM; gpq ps -Q 0,3 -rn; gpq ps -p 41207 -Q 7; gpq ps --type sdma -rno PID,COMPUTE,SDMA,STATE
1 0 unknown 34187771904
gpq: ps: queue 0: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which
gpq: ps: pid 41207: -Q names none of its queues: 0, 1, 2, 3
41207 0 1 mapped

# Levels of the seven compute queues of process 140, by dword 133 of its MQDs: two low, two medium, three high.
$ export GPQ_SYSROOT=$HOSTS/vm73-gfx942-contexts; for p in low medium high; do gpq ps --prio $p -rno PID,COMPUTE,SDMA; done; awk '/^Process/ { p = $2 } p == 140 && /^    00000200:/ { print $7 }' $GPQ_SYSROOT/sys/kernel/debug/kfd/mqds | sort | uniq -c | xargs
140 2 0
140 2 0
141 1 0
140 3 0
2 00000000 2 00000001 3 00000002

$ gpq --sysroot $HOSTS/vm73-gfx942-contexts ps --prio 0:2
gpq: ps: --prio 0:2: the driver does not write the priority of a queue, only its level (Linux 7.0 and later write the level alone); choose whole levels: 0:6 is low, 7:10 medium, 11:15 high
? 6

# Three GPUs: process 100 has a second context, and memory on a GPU where it has no queue; 200 has memory and no queue, 300 and 500
# opened KFD alone; 400 is a zombie of which the driver counts no memory. Linux 6.12: type 0 is compute, 1 SDMA, 3 XGMI.
$ cp -r $HOSTS/topo-partitions wide; cd wide; P=sys/class/kfd/kfd/proc; chmod -R u+w .
> q() { mkdir -p $P/$1; echo $2 >$P/$1/gpuid; echo 4096 >$P/$1/size; echo $3 >$P/$1/type; }
> u() { mkdir -p $P/$1/stats_$2; echo $3 >$P/$1/vram_$2; echo $4 >$P/$1/stats_$2/cu_occupancy; }
> q 100/queues/0 51500 0; q 100/queues/1 51500 1; q 100/queues/2 26287 0; q 100/context_0/queues/0 9001 0; q 400/queues/0 26287 0; mkdir -p $P/{2,3,5}00/queues
> u 100 51500 1048576 3; u 100 9001 2097152 4; u 100 30817 0 0; u 100 26287 0 5; u 100/context_0 51500 4096 8; u 100/context_0 9001 0 1
> u 200 9001 8388608 0; u 300 51500 0 0; for p in 100 200 300 400; do mkdir -p proc/$p; done
> for p in 100:S 200:S 300:S 400:Z; do printf 'Name:\tjob\nState:\t%s\nUid:\t0\t0\t0\t0\n' ${p#*:} >proc/${p%:*}/status; done
> show() { gpq --sysroot . ps -q -rn -o PID,GPUS,COMPUTE,SDMA,STATE,VRAM,CUS "$@" | sed 's/\\x20/,/g'; }; show
> echo all; show -a; for g in 0 1 2 3; do echo gpu $g; show --gpu $g; done; echo gpu 1; show --gpu 1 -a; echo -Q 0; show -Q 100:0; echo sum; cat $P/100/{,context_0/}vram_* | awk '{ n += $1 } END { print n }'
200 2 0 0 no-queues 8388608 0
100 0,2,3 3 1 unknown 3149824 21
400 3 1 0 zombie - -
all
200 2 0 0 no-queues 8388608 0
100 0,2,3 3 1 unknown 3149824 21
300 - 0 0 no-queues 0 0
400 3 1 0 zombie - -
500 - 0 0 gone - -
gpu 0
100 0 1 1 unknown 1052672 11
gpu 1
gpu 2
200 2 0 0 no-queues 8388608 0
100 2 1 0 unknown 2097152 5
gpu 3
100 3 1 0 unknown 0 5
400 3 1 0 zombie - -
gpu 1
-Q 0
100 0,2 2 0 unknown 3149824 21
sum
3149824

# What a snapshot noted of the moment: packets that wait add up over AQL queues, SDMA bytes do not; a holder.
$ cp -r $HOSTS/vm-gfx90a-running now; cd now; chmod -R u+w .; Q=sys/class/kfd/kfd/proc/170/queues; touch MANIFEST
> show() { gpq --sysroot . ps -p 170 -rno COMPUTE,SDMA,STATE,BACKLOG,HOLDER "$@"; }; show; echo '10 15 -' >$Q/0/.now; echo '100 100 -' >$Q/1/.now; echo '0 4096 -' >$Q/2/.now; show
> echo '100 107 -' >$Q/1/.now; show; echo '10 10 -' >$Q/0/.now; show; echo '0 0 4321' >$Q/2/.now; show; show --type compute; show --type sdma
> gpq --sysroot . ps -o PID,HOLDER,BACKLOG; gpq --sysroot . ps | sed -n 2p; gpq --sysroot $HOSTS/vm-gfx90a-running ps | sed -n 2p
2 1 running 2022 -
2 1 running 5 -
2 1 running 12 -
2 1 running 7 -
2 1 partly-suspended 7 4321
2 0 running 7 -
0 1 suspended 0 4321
PID HOLDER BACKLOG
170   4321       7
171      -       -
PID COMMAND USER CONTAINER    GPUS COMPUTE SDMA STATE            VRAM CUS BACKLOG OFF HOLDER
PID COMMAND USER CONTAINER    GPUS COMPUTE SDMA STATE   VRAM CUS BACKLOG OFF

# States of the real driver: a context that is evicted, and one that runs; queues off the hardware; packets when taken off.
$ for h in vm73-gfx942-contexts vm-gfx90a-evicted vm-gfx90a-suspended vm-gfx1100-gone; do gpq --sysroot $HOSTS/$h ps -q -rno PID,COMPUTE,SDMA,OFF,STATE,CUS,BACKLOG; done
140 7 3 3 partly-evicted 10 49139
141 1 0 0 running 2 1009
170 2 1 3 evicted 0 1966
171 1 0 0 running 2 -
170 2 1 2 partly-off 2 2015
171 1 0 0 running 2 -
1646 2 1 - gone 4 2028
1647 1 0 0 running 2 -

# A column does not depend on the others that are shown.
$ GPQ_SYSROOT=; for h in $HOSTS/gfx90a-k6.12 $HOSTS/gfx942-4xcc-k6.12 now wide; do
> gpq --sysroot $h ps -qa -rn --output-all >all; n=0
> for c in $(gpq ps --list-columns -rno COLUMN); do n=$((n + 1)); gpq --sysroot $h ps -qa -rno $c | cmp -s - <(cut -d' ' -f$n all) || echo $h $c; done; done; echo $n; wc -l <all
21
5

# What has memory alone is not among those whose queues are asked for.
$ export GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12; for o in '-o PID' '--type compute' '-Q 94314:0' '--prio medium' '-p 93010' '--gpu 0'; do gpq ps $o -rno PID | xargs; done
94314 93010
94314
94314
94314
93010
94314 93010

$ cp -r $HOSTS/gfx90a-k6.12 bare; chmod -R u+w bare; rm -r bare/sys/kernel; gpq --sysroot bare ps -o PID,COMPUTE,STATE,BACKLOG
gpq: ps: STATE, BACKLOG: unknown: the recorded host has no debugfs; gpq snapshot records it as root
  PID COMPUTE STATE   BACKLOG
41207       3 unknown       -
52880       1 unknown       -

# Again and again; in a pipe a line of JSON each.
$ timeout 10 gpq --sysroot $HOSTS/gfx90a-k6.12 ps --watch 10ms -o PID --sort PID | head -3; gpq ps --watch 1 -J >/dev/null; gpq ps --watch 1ms
{"record":"process","pid":41207}
{"record":"process","pid":52880}
{"record":"process","pid":41207}
{"level":"error","command":"ps","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
gpq: ps: --watch: the least interval is 10ms; for example --watch 0.5
? 2

# gpq alone is gpq ps where there are GPUs, with the options of every command; what to type next is for terminals (width.sh).
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq 2>&1 | cmp - <(gpq ps) && gpq -J 2>&1 | cmp - <(gpq ps -J); gpq -rno PID,VRAM; gpq --sort NOSUCH; gpq --sysroot $HOSTS/topo-partitions
41207 34187771904
52880 2199912448
gpq: ps: --sort: unknown column NOSUCH in processes at column 1; --list-columns lists them
gpq: ps: /sys/class/kfd/kfd/proc: No such file or directory; it was not recorded, or the kernel was older than 5.8
? 5

$ gpq --sysroot $HOSTS/nogpu-k6.12
gpq: there is no GPU here, of which gpq alone lists the processes; trace, merge and bench report work without, and --sysroot FILE reads a recorded host; gpq -h shows the commands
? 2

$ gpq --sysroot /nowhere
gpq: sysroot /nowhere: No such file or directory; name a folder or an archive that gpq snapshot wrote
? 5

$ gpq --sysroot $HOSTS/nogpu-k6.12 -J 2>/dev/null | jq -c .error.message
"there is no GPU here, of which gpq alone lists the processes"
? 2

# Who took queues off is not among the columns: what tells it is named, but for rows that go to a pipe as such, and without STATE.
$ for h in vm-gfx942-suspended vm-gfx942-evicted vm-gfx942-running; do gpq --sysroot $HOSTS/$h ps -o PID,STATE,OFF; done; gpq --sysroot $HOSTS/vm-gfx942-suspended ps -rno PID,STATE; gpq --sysroot $HOSTS/vm-gfx942-suspended ps -o PID
gpq: ps: some queues are off the hardware, and their processes are traced; gpq why names who took them off
PID STATE      OFF
664 partly-off   2
665 running      0
PID STATE   OFF
664 evicted   3
665 running   0
PID STATE   OFF
664 running   0
665 running   0
664 partly-off
665 running
PID
664
665
$ gpq --sysroot $HOSTS/vm-gfx90a-suspended ps -p 170 -Q 2 -o PID,STATE,OFF
gpq: ps: some queues are off the hardware, and their processes are traced; gpq why names who took them off
PID STATE        OFF
170 off-hardware   1

# Without topology, GPUs and their slots are not known, and nothing is said of them.
$ cp -r $HOSTS/gfx90a-k6.12 blind; chmod -R u+w blind; rm -r blind/sys/class/kfd/kfd/topology; gpq --sysroot blind ps | head -1
2 processes, 4 compute and 1 SDMA queues
