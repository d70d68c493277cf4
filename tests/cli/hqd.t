# gpq hqd on recorded hosts. Values by hand from the dumps ([debugfs.examples]), by [debugfs.mqd-compute] and [debugfs.sdma-slot].
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --active
  GPU TYPE    XCC MEC PIPE QUEUE ACTIVE   PID COMMAND QID VMID      RING_ADDR RING  RPTR   WPTR DOORBELL PRIO ERROR
41460 hiq       0   2    0     0 yes        - -         -    0       0xfcc000   2K   119   2679   0x3000    1 none
41460 compute   0   1    0     2 yes    52880 vllm      0    9 0x7fb1c8000000   1M 70128 332336   0x6000    7 none
41460 compute   0   1    0     3 yes    41207 python3   0    8 0x7f2a41c00000   4K   448    448   0x4000    7 none
41460 compute   0   1    1     2 yes    41207 python3   -    8 0x7f2a40000000   1M 72224 596544   0x4010    7 none
41460 sdma      -   -    1     0 yes    41207 python3   3    8 0x7f2a3f000000   1M 15224  15224   0x4850    - -

# Slots in use are the default of every output, 5 of 65, but for raw registers and MQDs: of these 3 are on, 1 off, 1 unknown.
$ cd $HOSTS/gfx90a-k6.12; export GPQ_SYSROOT=$PWD; for f in "" --active -a; do for o in -r -P --ndjson; do gpq hqd $f $o -n -o SLOT | wc -l; done; gpq hqd $f -J | jq '.slots | length'; gpq hqd $f --regs -rn -o GPU,XCC,SLOT | uniq | wc -l; gpq hqd $f --fields -rn -o GPU,XCC,SLOT | uniq | wc -l; gpq hqd $f --raw-regs -rn -o GPU,XCC,SLOT | uniq | wc -l; gpq hqd $f --mqd -qrn | wc -l; done | tr '\n' ' ' | sed 's/ $/\n/'
5 5 5 5 5 5 65 5 5 5 5 5 5 5 5 3 65 65 65 65 65 65 65 5

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --active -a
gpq: hqd: --active and --all exclude each other; choose one
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --runlist -a
gpq: hqd: --all is about slots, --runlist about what is to get one; leave it out
? 2

# Nothing in use: said, but with -q; and not where a process was asked for. What is unknown is no "no".
$ gpq --sysroot $HOSTS/vm-gfx1100-evicted hqd --sdma; gpq --sysroot $HOSTS/vm-gfx1100-evicted hqd --sdma -q; gpq --sysroot $HOSTS/vm-gfx1100-evicted hqd --sdma -aJ | jq '.slots | length'
gpq: hqd: none of 16 slots is in use; -a shows them
16

$ printf 'Node 1, gpu_id a1f4:\n Inst 0,  CP Pipe 0, Queue 2\n    0000c914: 01401000 00000000\n' | gpq hqd --hqds - -rno SLOT
gpq: hqd: left out: 1 slot of which the dump does not tell whether in use; -a shows them

# Empty slots are not all zero [debugfs.hqds-idle]: what they hold is left over, and null.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -a -r -n -o TYPE,ACTIVE,PID,RING_ADDR,RPTR,PRIO,ERROR | sort | uniq -c | sort -rn | head -3
     24 sdma-xgmi no - - - - -
     21 compute no - - - - -
     15 sdma no - - - - -

# Four XCCs: the same queue in the same slot on each, by another MQD address.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd -p 94314 -r -o XCC,SLOT,QID,MQD_ADDR,MATCH
XCC SLOT QID MQD_ADDR MATCH
0 p0q2 3 0x17a2000 mqd
0 p0q3 0 0x6ed000 mqd
1 p0q2 3 0x17a5000 mqd
1 p0q3 0 0x6f0000 mqd
2 p0q2 3 0x17a8000 mqd
2 p0q3 0 0x6f3000 mqd
3 p0q2 3 0x17ab000 mqd
3 p0q3 0 0x6f6000 mqd
- e0r0 1 - ring

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd -p 94314 --xcc 1,3 -r -n -o XCC,SLOT,QID
1 p0q2 3
1 p0q3 0
3 p0q2 3
3 p0q3 0

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --sdma --hiq --active -r -n -o TYPE,XCC,MEC,PIPE,QUEUE,PID,QID
hiq 0 2 0 0 - -
hiq 1 2 0 0 - -
hiq 2 2 0 0 - -
hiq 3 2 0 0 - -
sdma - - 0 0 94314 1

# MES: nobody uses the HIQ.
$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq hqd -av --hiq -o TYPE,ACTIVE,RING_ADDR
gpq: hqd: 1 HIQ slot: the MES firmware uses none, the content means nothing
TYPE ACTIVE RING_ADDR
hiq  -              -

$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq hqd -p 7311 -r -n -o GPU,TYPE,PIPE,QUEUE,QID,RING_ADDR,RING,WPTR,DOORBELL,BACKLOG
27694 compute 0 2 1 0x7ff0a1000000 1048576 565520 0x2008 3
27694 compute 1 2 0 0x7ff0a1200000 4096 176 0x2000 0
27694 sdma 0 2 2 0x7ff0a0e00000 1048576 0 0x2800 0

# Which of the alike queues is which nothing proves; --likely takes the likeliest.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -p 41207 -v -r -n -o SLOT,QID
gpq: hqd: QID: unknown for 1 row: gpq queues -v tells why; --likely takes the likeliest
gpq: hqd: pid 41207: queues 1,2: several MQDs have its GPU, type and size; shown is what they have in common, --likely takes the likeliest
p0q3 0
p1q2 -
e1r0 3

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -p 41207 --likely -r -n -o SLOT,QID
p0q3 0
p1q2 2
e1r0 3

# Suspended queues are in no slot: queues 0 and 2 of 664 (TRUTH).
$ grep -c 'susp=0,2 -> 2' $HOSTS/vm-gfx942-suspended/TRUTH; gpq --sysroot $HOSTS/vm-gfx942-suspended hqd --active --likely -r -n -o PID,QID | grep -v '^-' | sort
1
664 1
665 0

# GPUs by index, number of sysfs, number of debugfs, PCI address.
$ for g in 0 41460 a1f4 0000:43:00.0; do GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -a --gpu $g -r -n | wc -l; done
65
65
65
65

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --gpu 7
gpq: hqd: there is no GPU 7; gpq gpus lists them
? 5

# Registers and fields.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -p 52880 --regs -o REGISTER,VALUE,ADDRESS,DWORD | sed -n '1,4p;16,19p;57p'
REGISTER                           VALUE ADDRESS DWORD
cp_mqd_base_addr_lo            0x1401000  0xc914   128
cp_mqd_base_addr_hi                  0x0  0xc918   129
cp_hqd_active                        0x1  0xc91c   130
cp_hqd_pq_wptr_poll_addr_hi       0x7fb1  0xc94c   142
cp_hqd_pq_doorbell_control    0x60006002  0xc950   143
-                                    0x0  0xc954   144
cp_hqd_pq_control             0x1c014511  0xc958   145
cp_hqd_pq_wptr_hi                    0x0  0xc9f0   183

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd -p 52880 --fields -o REGISTER,FIELD,BITS,CONTENT,NUMBER,UNIT,MEANING | grep -E 'doorbell|QUEUE_SIZE|wptr |eop_control|PRIO|ctx_save_size'
cp_hqd_pipe_priority       PIPE_PRIORITY       1:0   medium                       1 -       -
cp_hqd_queue_priority      PRIORITY_LEVEL      3:0   7                            7 -       0 to 15
cp_hqd_pq_doorbell_control BIF_DROP            1     yes                          1 flag    AQL queue
cp_hqd_pq_doorbell_control OFFSET              27:2  24K                      24576 bytes   in the doorbell BAR
cp_hqd_pq_doorbell_control SOURCE              28    no                           0 flag    -
cp_hqd_pq_doorbell_control SCHD_HIT            29    yes                          1 flag    -
cp_hqd_pq_doorbell_control EN                  30    yes                          1 flag    -
cp_hqd_pq_doorbell_control HIT                 31    no                           0 flag    rung since it was mapped
cp_hqd_pq_control          QUEUE_SIZE          5:0   1M                     1048576 bytes   of the ring
cp_hqd_eop_control         EOP_SIZE            5:0   8B                           8 bytes   of the buffer for end-of-pipe events, if it has one
cp_hqd_eop_wptr            -                   31:0  0x7f8000               8355840 -       -
cp_hqd_ctx_save_size       -                   31:0  62020K                63508480 bytes   of the save area of one XCC
cp_hqd_pq_wptr             -                   63:0  332336                  332336 dwords  written in all

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --sdma --active --fields -r -n -o REGISTER,FIELD,CONTENT | grep -E 'rb_cntl|rb_base|rptr|doorbell'
sdmax_rlcx_rb_cntl RB_ENABLE yes
sdmax_rlcx_rb_cntl RB_SIZE 1M
sdmax_rlcx_rb_cntl RPTR_WRITEBACK_ENABLE yes
sdmax_rlcx_rb_cntl RPTR_WRITEBACK_TIMER 6
sdmax_rlcx_rb_cntl RB_VMID 8
sdmax_rlcx_rb_base - 0x7f2a3f000000
sdmax_rlcx_rb_rptr - 15224
sdmax_rlcx_rb_rptr_addr - 0x7f2a5d09c010
sdmax_rlcx_ib_rptr - 0
sdmax_rlcx_doorbell ENABLE yes
sdmax_rlcx_doorbell CAPTURED no
sdmax_rlcx_doorbell_log - 0x0
sdmax_rlcx_doorbell_offset OFFSET 18512B

$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq hqd --sdma --active --raw-regs -r -n -o ADDRESS,VALUE | sed -n '1,3p;8p;18,20p'
0x4e40 0x861825
0x4e44 0xf0a0e000
0x4e48 0x7f
0x4e60 0x7ff0
0x4e88 0x10000000
0x4ee4 0x0
0x4eec 0x2800

# What MQDs in memory say: the queue that is off the hardware too, and its CU mask.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --mqd -p 94314 -r -n -o QID,TYPE,XCC,ACTIVE,RPTR,WPTR,BACKLOG
3 compute 0 yes 0 0 0
3 compute 1 yes 0 0 0
3 compute 2 yes 0 0 0
3 compute 3 yes 0 0 0
2 compute 0 no 227664 260536656 0
2 compute 1 no 227664 260536656 0
2 compute 2 no 227664 260536656 0
2 compute 3 no 227664 260536656 0
1 sdma - - 84 84 0
0 compute 0 yes 16 16 0
0 compute 1 yes 16 16 0
0 compute 2 yes 16 16 0
0 compute 3 yes 16 16 0

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --mqd --xcc 2 -p 94314 --fields -r -n -o QID,REGISTER,FIELD,CONTENT | grep -E '^2 .*(xcc_id|mgmt_se0|stride|wg_state)'
2 compute_static_thread_mgmt_se0 SH0_CU_EN 16\x20of\x2016
2 compute_static_thread_mgmt_se0 SH1_CU_EN 16\x20of\x2016
2 compute_current_logic_xcc_id - 3
2 cp_hqd_wg_state_offset - 8K
2 cp_mqd_stride_size - 12K

# Which slot a compute queue has only the slots tell; an SDMA queue keeps its engine and RLC.
$ gpq hqd --mqds $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds -rn -o TYPE,XCC,MEC,PIPE,QUEUE | sort -u
compute 0 - - -
sdma - - 1 0

# Every queue once an XCC; the repeated SDMA dumps of the kernel are none.
$ grep -c 'queue on device' $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/mqds; gpq hqd --mqds $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/mqds -r -n -o TYPE | sort | uniq -c
4
     12 compute
      1 sdma

# Captured text: only what is in it.
$ D=$HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd; gpq hqd --hqds $D/hqds --active --xcc 0 -r -n -o GPU,TYPE,SLOT,PID,QID,RING_ADDR,INDEX; gpq hqd --hqds - --mqds $D/mqds --active --xcc 0 -r -n -o SLOT,PID,COMMAND,QID <$D/hqds
63420 hiq hiq - - 0xfcc000 -
63420 compute p0q2 - - 0x7f61c0200000 -
63420 compute p0q3 - - 0x7f61c15a6000 -
hiq - - -
p0q2 94314 - -
p0q3 94314 - -

# Slots of files are those of their hosts, whose GPUs the topology tells, and as many as the dump has; only it knows which SDMA engines are for XGMI.
$ slots() { gpq "$@" -a -rno SLOT,XCC,TYPE,ACTIVE,PID,PRIO,LEVEL,RING_ADDR,RPTR,WPTR,MQD_ADDR | sed s/-xgmi//; }; for h in gfx90a gfx942-4xcc gfx1100; do H=$(echo $HOSTS/$h-k6.12*) D=$H/sys/kernel/debug/kfd; diff <(slots --sysroot $H hqd) <(slots hqd --hqds $D/hqds --mqds $D/mqds); slots --sysroot $H hqd | wc -l; grep -cE '^ +(Inst|SDMA)' $D/hqds; done
65
65
164
164
25
25

$ gpq hqd --hqds - --mqds -
gpq: hqd: only one of the files can be standard input
? 2

$ gpq hqd --hqds - -p 1 --tree
gpq: hqd: only -p chooses processes of files: the other options need a host; leave it out, or the files
? 2

$ gpq hqd --hqds - --watch 1
gpq: hqd: --watch and --sample need a host: a file does not change
? 2

$ gpq hqd --hqds /nowhere
gpq: hqd: /nowhere: No such file or directory; check the name
? 5

$ truncate -s 1500M sparse; gpq hqd --hqds sparse; rm sparse
gpq: hqd: sparse: File too large

$ echo hello | gpq hqd --hqds -
gpq: hqd: standard input: line 1 is not in slot-dump format; it must be a copy of /sys/kernel/debug/kfd/hqds
? 1

$ printf 'Node 1, gpu_id a1f4:\n Inst 0,  CP Pipe 0, Queue 2\nhello\n    0000c914: 01401000 00000000 0000000x 00000909\n' | gpq hqd -a --hqds - -o GPU,SLOT,ACTIVE
gpq: hqd: standard input: 1 line not understood, the first is line 3
gpq: hqd: standard input: 1 word not of 8 hex digits, so that what it means is unknown
  GPU SLOT ACTIVE
41460 p0q2 -
? 3

# Kernels up to 6.4 name no XCC; a stopped device has no slots.
$ printf 'Node 1, gpu_id a1f4:\n  CP Pipe 1, Queue 2\n    0000c914: 01401000 00000000 00000001 00000909 40005301\nNode 2, gpu_id a1f5:\n Device is stopped\n' | gpq hqd --hqds - -o GPU,NODE,XCC,SLOT,ACTIVE,VMID,MQD_ADDR
gpq: hqd: GPU a1f5: device is stopped (suspended, resetting, or without scheduler): it has no slots to read
  GPU NODE XCC SLOT ACTIVE VMID  MQD_ADDR
41460    1   0 p1q2 yes       9 0x1401000

$ printf 'Node 1, gpu_id a1f4:\n Device is stopped\n' | gpq hqd --hqds - -rno GPU
gpq: hqd: GPU a1f4: device is stopped (suspended, resetting, or without scheduler): it has no slots to read

# An address of which the dump has the low half alone: of a ring, in units of 256 bytes.
$ printf 'Node 1, gpu_id a1f4:\n  CP Pipe 1, Queue 2\n    0000c914: 01401000 00000000 00000001 00000909 40005301 00000000 00000000 00000000\n    0000c934: 00001234\n' | gpq hqd --hqds - --fields -J | jq -c '.fields[] | select(.register == "cp_hqd_pq_base_lo") | [.content, .number]'
["0x123400",1192960]

# gfx8 prints four registers of the CU mask first; fields know them.
$ printf 'Node 1, gpu_id 12:\n  CP Pipe 0, Queue 0\n    0000b858: ffff00ff 000f0000\n    0000b864: 00000001 00000000\n    0000c914: 01401000 00000000 00000001 00000009\n' | gpq hqd --hqds - --fields -r -n -o REGISTER,FIELD,CONTENT | head -9
compute_static_thread_mgmt_se0 SH0_CU_EN 8\x20of\x2016
compute_static_thread_mgmt_se0 SH1_CU_EN 16\x20of\x2016
compute_static_thread_mgmt_se1 SH0_CU_EN 0\x20of\x2016
compute_static_thread_mgmt_se1 SH1_CU_EN 4\x20of\x2016
compute_static_thread_mgmt_se2 SH0_CU_EN 1\x20of\x2016
compute_static_thread_mgmt_se2 SH1_CU_EN 0\x20of\x2016
compute_static_thread_mgmt_se3 SH0_CU_EN 0\x20of\x2016
compute_static_thread_mgmt_se3 SH1_CU_EN 0\x20of\x2016
cp_mqd_base_addr - 0x1401000

# Queues without a slot are on the node that the topology has for their GPU.
$ for o in '' --mqd --runlist; do gpq --sysroot $HOSTS/gfx942-4xcc-k6.12 hqd $o -rno NODE,GPU | sort -u; done
2 63420
2 63420
2 63420

$ cp -r $HOSTS/gfx942-4xcc-k6.12 seven; chmod -R u+w seven; sed -i 's/^Node 2,/Node 7,/' seven/sys/kernel/debug/kfd/hqds; gpq --sysroot seven hqd -rno NODE,GPU | sort -u; gpq hqd --hqds seven/sys/kernel/debug/kfd/hqds -rno NODE,GPU | sort -u
2 63420
7 63420

# Which of the three it is: not in a slot, no queue, no process.
$ gpq --sysroot $HOSTS/vm-gfx942-suspended hqd -p 664 --sdma
gpq: hqd: pid 664: none of its 3 queues is in a slot that was asked for; gpq hqd --summary tells which are not, and why
? 5

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd -p 94377
gpq: hqd: pid 94377: owns no queue; gpq queues -a shows who has KFD open
? 5

$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd -p 94314,4711 --active --xcc 0 -r -n -o SLOT,PID
gpq: hqd: pid 4711: no such process; gpq queues lists those that own queues
p0q2 94314
p0q3 94314
? 3

# Hosts without GPU, without debugfs, without KFD.
$ gpq --sysroot $HOSTS/nogpu-k6.12 hqd; gpq --sysroot $HOSTS/nogpu-k6.12 hqd -o PID -r
PID

$ gpq --sysroot $HOSTS/nogpu-k6.12 hqd -J
{
  "schema": {"name": "gpq.hqd", "version": 1},
  "slots": []
}

$ mkdir -p h/sys/class/kfd/kfd; gpq --sysroot h hqd
gpq: hqd: debugfs is not mounted on /sys/kernel/debug; record it as root
? 6

$ gpq --sysroot . hqd
gpq: hqd: no KFD driver here: /sys/class/kfd/kfd: No such file or directory; the recorded host has none: is it the right directory?
? 6

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --xcc one
gpq: hqd: --xcc one: not a number; they are counted from 0, for example --xcc 0,1
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --regs --fields
gpq: hqd: --regs and --fields exclude each other; choose one
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --watch 0
gpq: hqd: --watch: the least interval is 10ms; for example --watch 0.5
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --watch 1 -J | jq -c '[.schema.name, .error.status]'
{"level":"error","command":"hqd","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
["gpq.error",2]
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd -o SLOT,PIPES
gpq: hqd: unknown column PIPES in slots, did you mean PIPE; --list-columns lists them
? 2

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd >/dev/full
gpq: hqd: standard output: No space left on device
? 1

$ gpq --sysroot $HOSTS/gfx942-4xcc-k6.12 hqd --regs | head -1
  GPU XCC SLOT   PID QID REGISTER                             VALUE  ADDRESS

$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --watch 0.01 -o SLOT --hiq | head -2
{"record":"slot","slot":"hiq"}
{"record":"slot","slot":"hiq"}

# How full the slots are: 24 of a gfx9 XCC, 8 of gfx11 [kfd.slots], 8 queues of each SDMA engine: 2, and 6 for XGMI.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --summary --by xcc
Slots
  GPU TYPE      XCC SLOTS USED FREE USED_SHARE QUEUES OVERSUB BY
63420 compute     0    24    2   22     0.0833      2 no      -
63420 compute     1    24    2   22     0.0833      2 no      -
63420 compute     2    24    2   22     0.0833      2 no      -
63420 compute     3    24    2   22     0.0833      2 no      -
63420 sdma        -    16    1   15     0.0625      1 no      -
63420 sdma-xgmi   -    48    0   48          0      0 no      -

Queues without a slot
  GPU   PID COMMAND        QID TYPE         RING_ADDR PRIO BACKLOG OFF_XCCS WHY REASON
63420 94314 pt_main_thread   2 compute 0x7f61c0400000    7       0        4 off not to run: evicted, suspended by a debugger, or disabled by its program; the dumps do not tell which

$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq hqd --summary
Slots
  GPU TYPE    SLOTS USED FREE USED_SHARE QUEUES OVERSUB BY
27694 compute     8    2    6       0.25      2 no      -
27694 sdma       16    1   15     0.0625      1 no      -

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --summary --table waiting -r -n -o PID,TYPE,RING_ADDR,BACKLOG,SAVED,XCCS,OFF_XCCS,WHY
41207 compute 0x7f2a40200000 1 1742144 1 1 off

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --summary -r -n -o TYPE,USED
compute 3
sdma 1
sdma-xgmi 0

# What is chosen: types of queues and XCCs; who shares a GPU is told by compute queues.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --summary --sdma -r -n -o TYPE,USED
sdma 1
sdma-xgmi 0
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --summary --xcc 1,3 -r -n -o TYPE,XCC
compute 1
compute 3

# A line a GPU: the slots of its XCCs together (4 times 24, 4 times 2), its queues once. Of several GPUs also a total.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq hqd --summary --table occupancy; cd $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd; gpq -q hqd --summary --table occupancy -rno GPU,TYPE,XCC,SLOTS,USED,QUEUES --hqds <(cat hqds; sed s/f7bc/f7bd/ hqds) --mqds <(cat mqds; sed s/f7bc/f7bd/ mqds)
  GPU TYPE      SLOTS USED FREE USED_SHARE QUEUES OVERSUB BY
63420 compute      96    8   88     0.0833      2 no      -
63420 sdma         16    1   15     0.0625      1 no      -
63420 sdma-xgmi    48    0   48          0      0 no      -
63420 compute - 96 8 2
63420 sdma - 64 1 1
63421 compute - 96 8 2
63421 sdma - 64 1 1
- compute - 192 16 4
- sdma - 128 2 2
$ gpq hqd --by xcc; gpq hqd --summary --by node
gpq: hqd: --by is of --summary; add --summary
gpq: hqd: --by: node is none of gpu, xcc
? 2

$ gpq --sysroot $HOSTS/nogpu-k6.12 hqd --summary -J
{
  "schema": {"name": "gpq.hqd.summary", "version": 1},
  "occupancy": [],
  "sharers": [],
  "waiting": []
}

# More compute queues than slots: who shares them. The MQDs of 26 queues of two processes, of which slots hold one.
$ mkdir -p dumps; awk 'BEGIN { for (p = 1; p <= 2; p++) { print "Process " p " PASID 0x" p ":"; for (q = 0; q < 13; q++) { print "  Compute queue on device a1f4"; for (i = 0; i < 64; i++) { printf "    %08x:", i * 32; for (w = 0; w < 8; w++) printf " %08x", i == 16 && w == 0 ? p * 4096 + q : i == 16 && w == 2 ? 1 : i == 16 && w == 4 ? 1073763073 : i == 17 && w == 0 ? p * 256 + q : i == 17 && w == 7 ? p * 8192 + q * 8 : 0; print "" } } } }' >dumps/mqds; awk 'BEGIN { print "Node 1, gpu_id a1f4:"; for (s = 0; s < 24; s++) { printf " Inst 0,  CP Pipe %d, Queue %d\n", s % 4, s / 4 + 2; for (i = 0; i < 2; i++) { printf "    %08x:", 51476 + i * 32; for (w = 0; w < 8; w++) printf " %08x", i == 0 && w == 0 ? 4096 + s : i == 0 && w == 2 ? s < 13 : i == 1 && w == 0 ? 256 + s : 0; print "" } } }' >dumps/hqds; gpq hqd --hqds dumps/hqds --mqds dumps/mqds --summary | cut -c1-106 | sed -n '1,9p;$p'
Slots
  GPU TYPE    SLOTS USED FREE USED_SHARE QUEUES OVERSUB BY
41460 compute    24   13   11      0.542     26 yes     compute queues

Processes that share over-subscribed GPUs: 2, of which 1 is in slots now
  GPU PID COMMAND MAPPED IN_SLOT
41460   1 -           13      13
41460   2 -           13       0

41460   2 -         - compute   0x20c00    - low         -        1 takes-turns its GPU is over-subscribed

# On two GPUs, of which the dumps have the later one first: by GPU.
$ gpq hqd --hqds <(for g in b2f5 a1f4; do sed "s/a1f4/$g/" dumps/hqds; done) --mqds <(for g in b2f5 a1f4; do sed "s/a1f4/$g/" dumps/mqds; done) --summary --table sharers -rno GPU,PID,MAPPED,IN_SLOT
41460 1 13 13
41460 2 13 0
45813 1 13 13
45813 2 13 0

$ both() { gpq hqd --hqds <(for g in b2f5 a1f4; do sed "s/a1f4/$g/" dumps/hqds; done) --mqds <(for g in b2f5 a1f4; do sed "s/a1f4/$g/" dumps/mqds; done) --summary -rno GPU,PID,MAPPED --table sharers "$@"; }; both -p 2; both --gpu 45813; both --sdma | wc -l
41460 2 13
45813 2 13
45813 1 13
45813 2 13
4

# An SDMA queue shares no slots of compute queues.
$ gpq hqd --hqds dumps/hqds --mqds <(cat dumps/mqds; echo 'Process 3 PASID 0x3:'; awk '/queue on/ { on = /SDMA/ } on' $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds | head -17) --summary --table sharers -rno PID,MAPPED
1 13
2 13

# The index of a GPU that is not the first.
$ cp -r $HOSTS/topo-partitions two; mkdir -p two/sys/kernel/debug/kfd two/sys/class/kfd/kfd/proc; for f in hqds mqds; do sed s/a1f4/7861/ dumps/$f >two/sys/kernel/debug/kfd/$f; done; for t in occupancy sharers waiting; do gpq --sysroot two hqd --summary --table $t -rno GPU,INDEX | sort -u; done
30817 1
30817 1
30817 1

# Whose they are.
$ cp -r $HOSTS/vm73-gfx90a-oversubscribed whose; chmod -R u+w whose; sed -i 's/^Uid:.*/Uid:\t1000\t1001\t1000\t1000/' whose/proc/246/status; cp $HOSTS/gfx90a-k6.12/proc/52880/cgroup whose/proc/246/; gpq --sysroot whose hqd --summary --table sharers -ro PID,USER,CONTAINER,POD | head -3; gpq --sysroot whose hqd --summary -J | jq -c '.sharers[0] | [.pid, .user, .container, .pod]'
PID USER CONTAINER POD
246 1001 24c458cfb46d -
248 0 - -
[246,"1001","24c458cfb46d",null]

# Those with most queues come first; of as many the first process.
$ cd $HOSTS/vm73-gfx90a-oversubscribed; ls -d sys/class/kfd/kfd/proc/*/queues/* | cut -d/ -f6 | uniq -c | awk '{ print $2, $1, $1 }' | sort -k2,2rn -k1,1n | diff - <(gpq --sysroot . hqd --summary --table sharers -rno PID,MAPPED,IN_SLOT) && gpq --sysroot . hqd --summary --table sharers -rno PID,MAPPED | sed -n '5,6p'
254 2
247 1

# Most mapped, not most in slots: the first process has a queue less.
$ gpq hqd --hqds dumps/hqds --mqds <(sed 2,66d dumps/mqds) --summary --table sharers -rno PID,MAPPED,IN_SLOT
2 13 0
1 12 12

# The same with a runlist that is chained and has all of them: still more queues than slots, not more processes than VMIDs.
$ awk 'function w(x) { printf n % 8 ? " %08x" : (n ? "\n" : "") "  %08x: %08x", n % 8 ? x : n * 4, x; n++ } BEGIN { print "Node 1, gpu_id a1f4:"; for (p = 1; p <= 2; p++) for (q = 0; q < 13; q++) { w(3221594624); w(536870928); w(p * 8192 + q * 8); w(p * 4096 + q); w(0); w(0); w(0) } w(3221398784); w(0); w(0); w(0); print "" }' >dumps/rls; gpq hqd --hqds dumps/hqds --rls dumps/rls --mqds dumps/mqds --summary -rno TYPE,SLOTS,USED,QUEUES,OVERSUB,BY --table occupancy
compute 24 13 26 yes compute\x20queues

# Over-subscribed by the runlist's word: more processes than VMIDs, though slots are free.
$ printf 'Node 1, gpu_id a1f4:\n  00000000: c002a500 00000000 00000000 00000000\n' >dumps/rls; gpq hqd --hqds dumps/hqds --rls dumps/rls --mqds <(head -66 dumps/mqds) --summary -r -n -o TYPE,SLOTS,USED,QUEUES,OVERSUB,BY
compute 24 13 1 yes processes

# Queues without their words: whether they are mapped, and so too many, is not known.
$ gpq hqd --hqds dumps/hqds --mqds <(printf 'Process 1 PASID 0x1:\n'; yes '  Compute queue on device a1f4' | head -30) --summary --table occupancy -qrno TYPE,SLOTS,USED,QUEUES,OVERSUB
compute 24 13 0 -
? 3

# Runlists: 3 of the 4 queues of 41207 have a packet [debugfs.rls-active].
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --runlist -r -n -o PACKET,PASID,PID,QID,TYPE,QUEUES,MAPPED,QUANTUM,GWS,SDMA_ALLOWED,DOORBELL,MQD_ADDR,WPTR_ADDR
MAP_PROCESS 4 52880 - - 1 1 10 0 yes - - -
MAP_QUEUES - 52880 0 compute - - - - - 0x6000 0x1401000 0x7fb1e2c10038
MAP_PROCESS 3 41207 - - 4 3 10 0 yes - - -
MAP_QUEUES - 41207 3 sdma - - - - - 0x4850 0x6e6000 0x7f2a5d09c008
MAP_QUEUES - 41207 - compute - - - - - 0x4010 0x13c2000 0x7f2a5d0a4038
MAP_QUEUES - 41207 0 compute - - - - - 0x4000 0x6f1000 0x7f2a5d0c0038
none - 41207 - compute - - - - - 0x4008 0x13ae000 0x7f2a5d0b2038

$ GPQ_SYSROOT=$HOSTS/gfx1100-k6.12-mes gpq hqd --runlist -v
gpq: hqd: GPU 6c2e: no active runlist: its scheduler is MES, which has none

$ gpq hqd --rls $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/rls -r -n -o PACKET,PID,TYPE,DOORBELL,MQD_ADDR
MAP_PROCESS - - - -
MAP_QUEUES - compute 0x4010 0x17a2000
MAP_QUEUES - sdma 0x4800 0x6e5000
MAP_QUEUES - compute 0x4000 0x6ed000

# Another process has an SDMA queue of the same doorbell on another GPU, before or behind the one that is meant.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; other() { echo 'Process 999 PASID 0x9:'; sed -n '68,84s/a1f4/f7bc/; 68,84p' $D/mqds; }
> for o in 'other; cat $D/mqds' 'cat $D/mqds; other'; do eval "$o" | gpq hqd --runlist --rls $D/rls --mqds - -rno PACKET,PID,TYPE,DOORBELL | grep 0x4850; done
MAP_QUEUES 41207 sdma 0x4850
MAP_QUEUES 41207 sdma 0x4850

# Processes whose queues came or went between the two dumps: known by PASID, the first and the last of mqds.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; grep ^Process $D/mqds | gpq hqd --runlist --rls $D/rls --mqds - -rno PACKET,PASID,PID | grep MAP_PROCESS
MAP_PROCESS 4 52880
MAP_PROCESS 3 41207

# Slots of queues of which mqds knows nothing are counted: the two of 41207, or those of both.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; for keep in 52880 none; do sed -n "/^Process $keep/,/^Process/{/^Process $keep/p;/^Process/!p};1{/$keep/!s/.*/Process 1 PASID 0x9:/p}" $D/mqds | gpq hqd --hqds $D/hqds --mqds - -rnvo PID; done
gpq: hqd: PID: unknown for 2 slots: mqds has no such queue (0: at the address of its MQD there is one with another ring): it came or went between the two dumps
-
52880
-
-
gpq: hqd: PID: unknown for 3 slots: mqds has no such queue (0: at the address of its MQD there is one with another ring): it came or went between the two dumps
-
-
-
-

$ head -3 $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd/rls | gpq hqd --rls - -r -n -o PACKET,QUEUES,MAPPED
gpq: hqd: 1 runlists end inside a packet or hold what is none: more may be mapped
? 3

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --runlist -p 41207,999 -r -n -o PACKET | sort | uniq -c
gpq: hqd: pid 999: no queue of it is in a runlist, or should be; gpq queues shows whether it owns any
      1 MAP_PROCESS
      3 MAP_QUEUES
      1 none
? 3

# Nobody is found: 5, as without a form.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --runlist --comm nobody -r -n
gpq: hqd: no process that was asked for is in a runlist; gpq queues shows who owns queues
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --summary --table waiting --comm nobody -r -n -o GPU
gpq: hqd: no process that was asked for owns a queue
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --summary --table waiting -p 41207,999 -r -n -o PID
gpq: hqd: pid 999: no such process; gpq queues lists those that own queues
41207
? 3

$ gpq hqd --hqds dumps/hqds --runlist
gpq: hqd: --runlist needs a copy of rls; add --rls FILE
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --sample 3
gpq: hqd: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --sample 0; GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --sample 1
gpq: hqd: --sample: a number from 1 to 1000000; for example --sample 20
gpq: hqd: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --table waiting
gpq: hqd: --table waiting: no such table; printed here: slots
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --mqd --summary
gpq: hqd: --mqd shows MQDs in memory, --summary is about something else; leave one of them out
? 2

# The debugger's queue of old kernels: one dump, in a slot like others, and no queue of the process.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; sed '0,/^  Compute queue on/s//  DIQ on/' $D/mqds >dumps/diq; gpq hqd --mqds dumps/diq -r -n -o TYPE,PID,RING_ADDR | sort | head -4; gpq hqd --mqds dumps/diq --hqds $D/hqds --active -r -n -o SLOT,PID,MATCH
compute 41207 0x7f2a40000000
compute 41207 0x7f2a40200000
compute 41207 0x7f2a41c00000
diq 52880 0x7fb1c8000000
hiq - -
p0q2 52880 mqd
p0q3 41207 mqd
p1q2 41207 mqd
e1r0 41207 ring


# What was asked for by number must be there: a host of one XCC, a dump that names GPUs by gpu_id.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq hqd --xcc 0,1
gpq: hqd: no GPU that was asked for has an XCC 1; they are counted from 0
? 5

$ D=$HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd; gpq hqd --hqds $D/hqds --gpu f7bc --xcc 3 --active -rno SLOT | sort -u; gpq hqd --hqds $D/hqds --gpu f7bc --xcc 4; gpq hqd --mqds $D/mqds --gpu 2
hiq
p0q2
p0q3
gpq: hqd: no GPU that was asked for has an XCC 4; they are counted from 0
gpq: hqd: there is no GPU 2 in the files; dumps name GPUs by gpu_id alone, not by index or address
? 5

# Whose queues it is about: the dump has no owners, or has not this one.
$ cp -r $HOSTS/gfx942-4xcc-k6.12/sys/kernel/debug/kfd owners; cd owners; for f in '--hqds hqds' '--mqds mqds' '--hqds hqds --mqds mqds'; do gpq hqd $f -p 7; done
gpq: hqd: pid 7: owns no queue in the dump: --mqds FILE tells owners
gpq: hqd: pid 7: owns no queue in mqds
gpq: hqd: pid 7: owns no queue in mqds
? 5

# LEVEL is there where a slot has one of the three: not for the HIQ (8 lines), nor for the pipe priority 3.
$ head -17 $HOSTS/vm73-gfx1100-running/sys/kernel/debug/kfd/hqds >slot; for s in 10,17d '' '11s/ 40005501 00000000/ 40005501 00000003/'; do sed "$s" slot | gpq hqd --hqds - -a | grep -o 'PRIO .*ERROR'; done
PRIO ERROR
PRIO LEVEL ERROR
PRIO ERROR

# A file of another kind, also one that begins with the same line; a good one with a line too much; empty ones.
$ echo hello | gpq hqd --rls -
gpq: hqd: standard input: line 1 is not in runlist-dump format; it must be a copy of /sys/kernel/debug/kfd/rls
? 1

$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; gpq hqd --rls $D/hqds 2>&1 | sed "s,$D,D,"; gpq hqd --rls $D/hqds --mqds $D/mqds 2>&1 | sed "s,$D,D,"
gpq: hqd: D/hqds: line 2 is not in runlist-dump format; it must be a copy of /sys/kernel/debug/kfd/rls
gpq: hqd: D/hqds: line 2 is not in runlist-dump format; it must be a copy of /sys/kernel/debug/kfd/rls
? 1

$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; (cat $D/rls; echo hello) | gpq hqd --rls - -rno PACKET 2>&1 | sort | uniq -c; grep -c . $D/rls
      2 MAP_PROCESS
      4 MAP_QUEUES
      1 gpq: hqd: standard input: 1 line not understood, the first is line 11
10
? 3

$ for o in hqds rls 'rls /dev/null --mqds' 'hqds /dev/null --mqds'; do gpq hqd --$o /nowhere || echo $?; done
gpq: hqd: /nowhere: No such file or directory; check the name
5
gpq: hqd: /nowhere: No such file or directory; check the name
5
gpq: hqd: /nowhere: No such file or directory; check the name
5
gpq: hqd: /nowhere: No such file or directory; check the name
5

$ gpq hqd --hqds /dev/null; gpq hqd --rls /dev/null
gpq: hqd: /dev/null: empty: the host had no GPU; or was copied without the right to read it
gpq: hqd: /dev/null: empty: the host had no GPU; or was copied without the right to read it

# A dump that a form does not read: nothing is said of it.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; gpq hqd --hqds $D/hqds --rls $D/rls --runlist -rno PACKET | sort | uniq -c
      2 MAP_PROCESS
      4 MAP_QUEUES

# Forms without the dump that they are about.
$ for o in --summary --regs --fields --mqd --active; do gpq hqd --rls $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/rls $o; done
gpq: hqd: --summary needs a copy of hqds or mqds; add --hqds FILE, --mqds FILE or both
gpq: hqd: --regs needs a copy of hqds or mqds; add --hqds FILE, --mqds FILE or both
gpq: hqd: --fields needs a copy of hqds or mqds; add --hqds FILE, --mqds FILE or both
gpq: hqd: --mqd needs a copy of mqds; add --mqds FILE
gpq: hqd: --active is about slots, --runlist about what is to get one; leave it out
? 2

$ gpq hqd --mqds $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds --summary --table waiting -rno WHY,REASON | sort | uniq -c
      4 no-slots no\x20dump\x20of\x20slots\x20was\x20given:\x20--hqds\x20FILE
      1 off not\x20to\x20run:\x20evicted,\x20suspended\x20by\x20a\x20debugger,\x20or\x20disabled\x20by\x20its\x20program;\x20the\x20dumps\x20do\x20not\x20tell\x20which

# Slots of another GPU alone: of a host, and in copies.
$ cp -r $HOSTS/gfx90a-k6.12 other; D=other/sys/kernel/debug/kfd; sed -i 's/gpu_id a1f4/gpu_id a1f5/' $D/hqds; why() { gpq "$@" --summary --table waiting -rno WHY,REASON | grep -v ^off | sort | uniq -c; }; why --sysroot other hqd; why hqd --hqds $D/hqds --mqds $D/mqds; why hqd --mqds $D/mqds | cut -d: -f1
      4 no-slots the\x20dump\x20of\x20slots\x20does\x20not\x20have\x20its\x20GPU
      4 no-slots the\x20dump\x20of\x20slots\x20does\x20not\x20have\x20its\x20GPU
      4 no-slots no\x20dump\x20of\x20slots\x20was\x20given

# A GPU that is stopped has no slots for any of them.
$ printf 'Node 1, gpu_id a1f4:\n Device is stopped\n' | gpq hqd --hqds - --mqds $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds --summary --table waiting -rno WHY,REASON -q | sort | uniq -c
      5 no-slots its\x20GPU\x20is\x20stopped:\x20suspended,\x20resetting\x20or\x20broken

# Errors: bits 4, 5, 8 to 19 of cp_hqd_error (dword 51), by name and, in --fields, in words: none without.
$ D=$HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd; sed 's/00009000 03c91000 00000000 00000000/00009000 03c91000 00000000 000fff30/' $D/hqds >errors; gpq hqd --hqds errors --mqds $D/mqds -p 52880 -rno SLOT,ERROR | sed 's/\\x20/\n/g' | wc -l; gpq hqd --hqds errors --mqds $D/mqds -p 52880 --fields -rno REGISTER,FIELD,CONTENT,MEANING | grep '^cp_hqd_error .* yes ' >words; grep -c . words; grep -c ' -$' words; gpq hqd --hqds errors --mqds $D/mqds -p 52880 -o SLOT,ERROR | cut -c1-50
14
14
0
SLOT ERROR
p0q2 SUA_ERROR AQL_ERROR PQ_UTCL1_ERROR IB_UTCL1_E

# A bit that has no name is told as what it is.
$ sed 's/000fff30/00000040/' errors | gpq hqd --hqds - --active --xcc 0 -rno SLOT,ERROR | grep -m1 0x
p0q2 0x40

# The selector's words for queues, in all forms.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --type sdma -rno PID,QID,TYPE; gpq --sysroot $HOSTS/gfx90a-k6.12 hqd -Q 41207:0,52880:0 -rno PID,QID; gpq --sysroot $HOSTS/gfx90a-k6.12 hqd -p 41207 -Q 3 -rno PID,QID
41207 3 sdma
52880 0
41207 0
41207 3
$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd -Q 0
gpq: hqd: queue 0: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which
? 2
$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --type hqd
gpq: hqd: --type hqd: no such type; it is one of compute, sdma, sdma-xgmi
? 2

# A register of an MQD in memory has no address.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --mqd -Q 41207:0 --regs -ro REGISTER,VALUE,ADDRESS | sed -n 1,2p
REGISTER VALUE ADDRESS
header 0xc0310800 -
