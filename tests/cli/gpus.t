# gpq gpus on recorded hosts. Values from the properties files by [kfd.topology] and its neighbours, by hand.
$ gpq --sysroot $HOSTS/vm-gfx942x8-running gpus -o INDEX,NODE,GPU,HEX,BDF,GFX,CUS,XCCS,SLOTS,SDMA,XGMI,SUSPEND,VRAM
INDEX NODE   GPU    HEX BDF          GFX    CUS XCCS SLOTS SDMA XGMI SUSPEND VRAM
    0    1 15628 0x3d0c 0000:c0:00.0 gfx942 304    8    24   16    0 yes     192G

$ gpq --sysroot $HOSTS/vm-gfx90a-running gpus -r -n -o GPU,SCHED,CAPABILITY,MEC_FW,SDMA_FW,CWSR,CTL_STACK,CWSR_FROM,RENDER -b
58361 HWS 0x2087a280 83 8 63508480 36864 property renderD128

$ gpq --sysroot $HOSTS/vm-gfx1100-running gpus -r -n -o GPU,GFX,SCHED,CUS,SDMAQ,WAVE,UNIQUE_ID,HIVE,VENDOR_ID,DEVICE_ID,ASIC
14642 gfx1100 MES 96 6 32 0x5af700000000 - 0x1002 0x744c ip\x20discovery

$ gpq --sysroot $HOSTS/topo-gfx1030 gpus -P -o GPU,HEX,GFX,CUS,CWSR,CTL_STACK,VRAM,BDF
GPU="16918" HEX="0x4216" GFX="gfx1030" CUS="80" CWSR="27881472" CTL_STACK="28672" VRAM="17163091968" BDF="0000:c0:00.0"

$ gpq --sysroot $HOSTS/vm-gfx942-running gpus -r -n -b -o GPU,HEX,GFX,CUS,XCCS,SDMA,SDMAQ,CAPABILITY,DEBUG_PROP,MEC_FW,SDMA_FW,CWSR,CTL_STACK,VRAM
21385 0x5389 gfx942 38 1 2 8 0x2047a280 0x5e7 178 24 23203840 12288 25769803776

# The hosts of the worked examples.
$ for h in gfx90a-k6.12 gfx942-4xcc-k6.12 gfx1100-k6.12-mes; do gpq --sysroot $HOSTS/$h gpus -n -r -o INDEX,NODE,GPU,HEX,BDF,GFX,CUS,XCCS,SLOTS,SDMA,XGMI,SUSPEND; done
0 1 41460 0xa1f4 0000:43:00.0 gfx90a 104 1 24 2 3 yes
0 2 63420 0xf7bc 0000:0a:00.0 gfx942 80 4 24 2 6 yes
0 1 27694 0x6c2e 0000:03:00.0 gfx1100 96 1 8 2 0 yes

# Partitions share a PCI device, although location_id counts them in the function bits; a driver
# before 6.5 tells neither XCCs nor save areas: 20480 = pages of 40 + 2048 * 8 + 8 bytes,
# 20910080 = 20480 + 60 * 0x55000.
$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus -o INDEX,GPU,BDF,CUS,XCCS,SUSPEND,VRAM,CWSR,CTL_STACK,CWSR_FROM -b
INDEX   GPU BDF          CUS XCCS SUSPEND        VRAM     CWSR CTL_STACK CWSR_FROM
    0 51500 0000:0a:00.0  38    1 yes     25769803776 23203840     12288 property
    1 30817 0000:0a:00.0  38    1 yes     25769803776 23203840     12288 property
    2  9001 0000:0a:00.0  38    1 yes     25769803776 23203840     12288 property
    3 26287 0001:c4:00.0  60    - no      17163091968 20910080     20480 formula

# The mode of a partitioned GPU is a file that only its first partition leads to.
$ export GPQ_SYSROOT=$HOSTS/topo-partitions; gpq gpus | head -1 | grep -o 'XCCS.*SLOTS'; gpq gpus --gpu 26287 | head -1 | grep -o 'XCCS.*SLOTS'; cp -r $GPQ_SYSROOT odd; echo UNKNOWN >odd/sys/devices/pci0000:00/0000:0a:00.0/current_compute_partition; gpq --sysroot odd gpus | head -1 | grep -o 'XCCS.*SLOTS'; gpq --sysroot odd gpus -rno PARTITION --gpu 0; echo SPX >odd/sys/devices/pci0000:00/0000:0a:00.0/current_compute_partition; gpq --sysroot odd gpus | head -1 | grep -o 'XCCS.*SLOTS'
XCCS PARTITION SLOTS
XCCS SLOTS
XCCS SLOTS
-
XCCS SLOTS

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus -o GPU,PARTITION
  GPU PARTITION
51500 TPX
30817 TPX
 9001 TPX
26287 -

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus --gpu 0001:c4:00.0 -v -o GPU,CWSR
gpq: gpus: node 4: CWSR: this driver does not tell it; computed as the driver and the runtime do
gpq: gpus: node 4: SUSPEND: no: capability lacks 0x8000: the driver cannot debug on this GPU
  GPU  CWSR
26287 19.9M

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus -J -o GPU,XCCS,unique_id --gpu 1,66af
{
  "schema": {"name": "gpq.gpus", "version": 1},
  "gpus": [
    {"gpu_id": 30817, "xccs": 1, "unique_id": "0xa44fce81e1e2f6a3"},
    {"gpu_id": 26287, "xccs": null, "unique_id": null}
  ]
}

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus --ndjson -o GPU --gpu 0a:00.0 --gpu 0x66af
{"record":"gpu","gpu_id":51500}
{"record":"gpu","gpu_id":30817}
{"record":"gpu","gpu_id":9001}
{"record":"gpu","gpu_id":26287}

# A GPU is meant by its DRM devices, too: a card is the GPU whose render node has the same parent.
$ cp -r $HOSTS/topo-partitions drm; d=drm/sys/class/drm; mkdir $d/card0 $d/card1 $d/card9; ln -s ../../../0000:0a:00.0 $d/card0/device; ln -s ../../../amdgpu_xcp.0 $d/card1/device; ln -s ../../../0000:0b:00.0 $d/card9/device; for w in renderD128 renderD136 card0 card1 0,renderD138; do echo $w $(gpq --sysroot drm gpus -rno INDEX --gpu $w); done; for w in card9 card7 card cart0 renderD12 renderD1280 card00 card0/../card1; do gpq --sysroot drm gpus --gpu $w; done 2>&1 | cut -d' ' -f3-
renderD128 0
renderD136 1
card0 0
card1 1
0,renderD138 0 3
there is no GPU card9; gpq gpus lists them
there is no GPU card7; gpq gpus lists them
there is no GPU card; gpq gpus lists them
there is no GPU cart0; gpq gpus lists them
there is no GPU renderD12; gpq gpus lists them
there is no GPU renderD1280; gpq gpus lists them
there is no GPU card00; gpq gpus lists them
there is no GPU card0/../card1; gpq gpus lists them
? 5

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus --gpu 1,7
gpq: gpus: there is no GPU 7; gpq gpus lists them
? 5

$ GPQ_SYSROOT=$HOSTS/topo-partitions gpq gpus 0
gpq: gpus: 0: no operand is expected; say --gpu 0
? 2

# Numbers 1002 and 740f by the PCI ID database; that of 2022 has no MI210, that of 2021 no name.
% 740f Aldebaran
$ gpq --sysroot $HOSTS/vm-gfx90a-running gpus -J -o VENDOR,DEVICE,MARKETING | grep -cE 'Advanced Micro Devices.*(MI2[15]0|Aldebaran).*"marketing_name": null'
1

# No GPU; no driver; a topology that is no directory.
$ gpq --sysroot $HOSTS/nogpu-k6.12 gpus
gpq: gpus: the KFD driver is here but has no GPU (CPU nodes: 1); is one plugged in, and passed in if this is a container? see dmesg
? 5

$ gpq --sysroot $HOSTS/nogpu-k6.12 gpus -J -q 2>/dev/null
{
  "schema": {"name": "gpq.error", "version": 1},
  "error": {"level": "error", "command": "gpus", "message": "the KFD driver is here but has no GPU (CPU nodes: 1)", "next": "is one plugged in, and passed in if this is a container? see dmesg", "status": 5}
}
? 5

$ mkdir -p t/sys/class/kfd/kfd/topology && touch t/sys/class/kfd/kfd/topology/nodes && gpq --sysroot t gpus
gpq: gpus: /sys/class/kfd/kfd/topology/nodes: Not a directory
? 5

# Nodes that cannot be read, files that vanished, lines that are none: nulls, and -v says why.
$ N=t/sys/class/kfd/kfd/topology/nodes; rm -f $N; mkdir -p $N/0 $N/1/gpu_id $N/2 $N/3 $N/4 && echo 0 >$N/0/gpu_id && echo 7 >$N/2/gpu_id && echo 4711 >$N/3/gpu_id &&
> printf 'gfx_target_version 90010\nsimd_count -4\nsimd_per_cu\n\n\0\0\1\377\nlocation_id 99999999999\nnum_cp_queues 0x18\nnum_xcc 1' >$N/3/properties &&
> gpq --sysroot t gpus -v -o INDEX,NODE,GPU,BDF,GFX,CUS,XCCS,SLOTS,SUSPEND,VRAM
gpq: gpus: node 1: gpu_id: Is a directory
gpq: gpus: node 2: properties: No such file or directory
gpq: gpus: node 3: 4 lines of properties are no "name value"
gpq: gpus: node 3: VRAM: neither local_mem_size nor mem_banks tell it
INDEX NODE  GPU BDF GFX    CUS XCCS SLOTS SUSPEND VRAM
    -    1    - -   -        -    -     - -          -
    -    2    7 -   -        -    -     - -          -
    0    3 4711 -   gfx90a   -    1     - -          -

$ N=t/sys/class/kfd/kfd/topology/nodes; rm -r t; mkdir -p $N/3 && echo 4711 >$N/3/gpu_id && (echo 'simd_per_cu 4'; head -c 20000000 /dev/zero; echo; echo 'simd_count 416') >$N/3/properties && gpq --sysroot t gpus -n -o GPU,CUS
4711 104

$ N=t/sys/class/kfd/kfd/topology/nodes; : >$N/3/properties; mkdir $N/4 && echo 4712 >$N/4/gpu_id && echo num_xcc 0 >$N/4/properties; gpq --sysroot t gpus -v -n -r -o GPU,XCCS
gpq: gpus: node 3: properties: empty
4711 -
4712 -

$ gpq --sysroot $HOSTS/vm-gfx90a-running gpus >/dev/full
gpq: gpus: standard output: No space left on device
? 1

$ gpq --sysroot $HOSTS/vm-gfx90a-running gpus -o GPUS
gpq: gpus: unknown column GPUS in gpus, did you mean GPU; --list-columns lists them
? 2

# Slots of all XCCs together, more than the 32 of one, are divided; 24 are those of one.
$ cp -r $HOSTS/gfx942-4xcc-k6.12 sum; for n in 24 120 32 122; do sed -i "s/^num_cp_queues .*/num_cp_queues $n/" sum/sys/class/kfd/kfd/topology/nodes/2/properties; gpq --sysroot sum gpus -rno XCCS,SLOTS,SLOTS_FROM; done
4 24 property
4 30 guess
4 32 property
4 122 property

# The preflight. What only a living host knows is unknown on a recorded one.
$ gpq --sysroot $HOSTS/vm-gfx90a-running gpus --check -o CHECK,STATUS,FOUND,FIX
CHECK                  STATUS  FOUND                                                 FIX
kernel                 ok      Linux 6.12.95+deb12-amd64                             -
driver                 ok      amdgpu                                                -
gpus                   ok      GPUs: 1                                               -
processes              ok      processes that opened KFD: 2                          -
dev-kfd                unknown a recorded host cannot tell                           run gpq gpus --check on that host
kfd-version            unknown a recorded host cannot tell                           see the line dev-kfd
driver-faults          ok      none known                                            -
debug-driver           ok      bit 0x8000 is set on 1 of 1 GPUs                      -
debug-firmware         ok      bit 0x20000000 is set on 1 of 1 GPUs                  -
scheduler              ok      HWS: each suspend preempts all processes on the GPU   -
sched-policy           ok      0: firmware schedules, more queues than slots allowed -
cwsr                   ok      waves are saved and restored                          -
preemption-timeout     unknown queue_preemption_timeout_ms: was not recorded         record it: gpq snapshot on that host
num-kcq                ok      compute slots an XCC: 24                              -
ptrace-scope           ok      0: own processes may be traced                        -
cap-sys-ptrace         unknown a recorded host cannot tell                           see the line dev-kfd
cap-sys-admin          unknown a recorded host cannot tell                           see the line dev-kfd
cap-checkpoint-restore unknown a recorded host cannot tell                           see the line dev-kfd
pid-namespace          unknown a recorded host cannot tell                           see the line dev-kfd
debugfs                ok      /sys/kernel/debug/kfd is readable                     -
tracefs                unknown /sys/kernel/tracing was not recorded                  see the line preemption-timeout
gpq: gpus: nothing known forbids gpq; unknown checks: 8; run it on that host, as root

# A host on which everything is wrong.
$ rm -rf t && P=t/sys/module/amdgpu/parameters; S=t/proc/sys/kernel; mkdir -p t/sys/class $P $S/yama t/sys/kernel/tracing/events && cp -r $HOSTS/topo-partitions/sys/class/kfd t/sys/class &&
> echo 5.15.0-91-generic >$S/osrelease; echo 3 >$S/yama/ptrace_scope; echo 2 >$P/sched_policy; echo 0 >$P/cwsr_enable; echo 500 >$P/queue_preemption_timeout_ms; echo 6.8.5 >t/sys/module/amdgpu/version
> gpq --sysroot t gpus --check -n -o CHECK,STATUS,FOUND | grep -vE '^(dev|kfd|cap|pid)-'
gpq: gpus: cannot work here: bench core sched suspend; checks that say no: 5; FIX tells what helps
debug-driver           no      1 of 4 GPUs without bit 0x8000, first node 4 (gfx906)
debug-firmware         no      1 of 4 GPUs without bit 0x20000000, first node 4 (gfx906)
sched-policy           no      2: no firmware scheduler; the driver refuses all debug calls
cwsr                   no      0: a queue cannot leave the GPU in the middle of a kernel
ptrace-scope           no      3: nobody may trace
kernel                 unknown Linux 5.15.0-91-generic: its own driver cannot suspend queues, another might
driver                 ok      amdgpu, out of tree, 6.8.5
gpus                   ok      GPUs: 4
processes              unknown /sys/class/kfd/kfd/proc was not recorded
driver-faults          unknown suspending a process that left a GPU unopened can crash this driver
scheduler              ok      HWS: each suspend preempts all processes on the GPU
preemption-timeout     ok      500 ms; a preemption that takes longer resets the GPU
num-kcq                ok      compute slots an XCC: 24
debugfs                unknown /sys/kernel/debug/kfd/mqds was not recorded
tracefs                ok      /sys/kernel/tracing is readable

$ echo one >t/sys/module/amdgpu/parameters/cwsr_enable; rm t/proc/sys/kernel/osrelease; echo 2 >t/proc/sys/kernel/yama/ptrace_scope; rm t/sys/class/kfd/kfd/topology/nodes/[1234]/gpu_id; mkdir t/sys/class/kfd/kfd/topology/nodes/{1,2,3,4}/gpu_id
> gpq --sysroot t gpus --check -n -o CHECK,STATUS,FOUND,FIX | grep -E '^(kernel|gpus|cwsr|ptrace-scope|debug-d|sched)'
gpq: gpus: cannot work here: bench core events gpus hang hqd packets sched suspend why; checks that say no: 2; FIX tells what helps
gpus                   no      GPUs: 4, none readable                                              let the device cgroup of this container have the GPUs
sched-policy           no      2: no firmware scheduler; the driver refuses all debug calls        boot without amdgpu.sched_policy=2
kernel                 unknown osrelease: was not recorded                                         record it: gpq snapshot on that host
debug-driver           unknown no GPU tells its capability                                         see the line gpus
scheduler              unknown no GPU tells its gfx version                                        see the line gpus
cwsr                   unknown cwsr_enable: no number from 0 up                                    modinfo -p amdgpu tells what it may be
ptrace-scope           unknown 2: tracing needs CAP_SYS_PTRACE                                     run as root, or as root: sysctl kernel.yama.ptrace_scope=0

$ gpq --sysroot $HOSTS/vm-gfx1100-running gpus --check -J | jq -c '[.checks[] | select(.check == "scheduler" or .check == "driver") | {status, found, fix, lists: (.commands // [] | contains(["gpus"]))}]'
[{"status":"ok","found":"amdgpu","fix":null,"lists":true},{"status":"ok","found":"MES: no runlist to look at","fix":null,"lists":false}]

# It needs nothing: neither a driver nor a recording of one.
$ mkdir -p nothing && gpq --sysroot nothing gpus --check -r -n -o CHECK,STATUS | head -3
driver no
gpus no
kernel unknown

$ gpq gpus --check -r -n -o CHECK | wc -l
21

# One command: the checks that it needs, and 6 when it can do nothing here; what it needs for a part of its work stops nothing.
$ cp -r $HOSTS/gfx90a-k6.12 empty; rm -r empty/sys/class/kfd/kfd/topology/nodes; mkdir empty/sys/class/kfd/kfd/topology/nodes; for c in hqd queues snapshot sched why trace merge resume; do gpq --sysroot empty gpus --check $c -rno CHECK,STATUS | grep ' no$'; echo $c ${PIPESTATUS[0]}; done
gpq: gpus: gpq hqd cannot work here: gpus; FIX tells what helps
gpus no
hqd 6
gpus no
queues 0
gpus no
snapshot 0
gpq: gpus: gpq sched cannot work here: gpus; FIX tells what helps
gpus no
sched 6
gpq: gpus: gpq why cannot work here: gpus; FIX tells what helps
gpus no
why 6
trace 0
merge 0
resume 0
$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --check trace -ro CHECK,COMMANDS,STOPS; mkdir -p none; gpq --sysroot none gpus --check hqd -J 2>/dev/null | jq -c '[.checks[] | select(.status == "no") | .check, .stops[-1]]'; gpq gpus --check nosuch; gpq gpus --check hqd why; gpq gpus hqd
CHECK COMMANDS STOPS
cap-sys-admin events\x20trace -
tracefs trace\x20snapshot -
["driver","sched","gpus","sched"]
gpq: gpus: --check: nosuch is no command; gpq --list names them
gpq: gpus: why: no operand is expected; -h shows the options
gpq: gpus: hqd: no operand is expected; -h shows the options
? 2,6

# The verdict of a command that cannot work is the message.
$ gpq --sysroot none gpus --check hqd -no CHECK,STATUS
driver       no
gpus         no
scheduler    unknown
sched-policy unknown
num-kcq      unknown
debugfs      unknown
gpq: gpus: gpq hqd cannot work here: driver, gpus; FIX tells what helps
? 6

# Where nothing says no, the last line is for people: what is left to find out, and how. Other forms have each FIX in full.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq gpus --check hqd -o CHECK | tail -1; gpq gpus --check merge; gpq gpus --check -q --filter 'CHECK == "cap-sys-admin"' -no FIX; gpq gpus --check suspend --csv | grep -c ',run gpq gpus --check on that host'
gpq: gpus: nothing known forbids gpq hqd; unknown checks: 1; run it on that host, as root
debugfs
gpq: gpus: nothing known forbids gpq merge; unknown checks: 0
run gpq gpus --check on that host
5

$ gpq gpus --check --gpu 0
gpq: gpus: --check looks at the whole host: it takes no --gpu; leave one of them out
? 2

# --watch: in a pipe a stream of records, ended by the reader; or another form, without its heading again.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --watch 10ms -o GPU,GFX | head -2
{"record":"gpu","gpu_id":41460,"gfx":"gfx90a"}
{"record":"gpu","gpu_id":41460,"gfx":"gfx90a"}

$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --watch 10ms -r -o GPU,GFX | head -3
GPU GFX
41460 gfx90a
41460 gfx90a

$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --check --watch 10ms -o CHECK | grep -m 2 kernel
{"record":"check","check":"kernel"}
{"record":"check","check":"kernel"}

$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --watch 10ms -J | jq -c '[.schema.name, .error.status]'
{"level":"error","command":"gpus","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
["gpq.error",2]
? 2
