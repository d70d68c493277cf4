# gpq queues and hqd on recorded hosts of Linux 7.3: priorities, contexts, over-subscription. Expected: TRUTH of each host, which is
# what the programs said that they created, and HOW.

# --- priorities: 0, 7, 11, 15 and an SDMA queue; the driver writes their levels alone

$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues -o QID,TYPE,PRIO,LEVEL,PIPE_PRIO
QID TYPE    PRIO LEVEL  PIPE_PRIO
  0 compute    - low            0
  1 compute    - medium         1
  2 compute    - high           2
  3 compute    - high           2
  4 sdma       - -              -
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues -v -ro QID 2>&1 | sort
0
1
2
3
4
QID
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues -v -o PRIO 2>&1 >/dev/null | grep PRIO
gpq: queues: PRIO: unknown for 4 compute queues: this driver does not write it into MQDs (Linux 7.0 and later); LEVEL is known

# People see LEVEL where PRIO is unknown, or where they ask for it.
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues | head -1 | tr -s ' '
gpq: queues: STATE: unknown for 1 queue: neither the runlist nor the MQD tells; gpq hqd shows who has a slot
PID NSPID COMMAND USER PROCESS CONTAINER GPU BDF QID TYPE RING PRIO LEVEL STATE BACKLOG EVICTED CUS VRAM
$ gpq --sysroot $HOSTS/vm-gfx1100-running queues | head -1 | tr -s ' ' | sed 's/^ //'
gpq: queues: STATE: unknown for 1 queue: neither the runlist nor the MQD tells; gpq hqd shows who has a slot
PID NSPID COMMAND USER PROCESS CONTAINER GPU BDF QID TYPE RING PRIO STATE BACKLOG EVICTED CUS VRAM
$ gpq --sysroot $HOSTS/vm-gfx1100-running queues -p 1646 -o +LEVEL | head -1 | grep -c LEVEL
gpq: queues: STATE: unknown for 1 queue: neither the runlist nor the MQD tells; gpq hqd shows who has a slot
1
$ gpq --sysroot $HOSTS/vm-gfx1100-running queues -p 1646 -rno QID,PRIO,LEVEL
0 7 medium
1 7 medium
2 - -
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues -J | jq -c '.queues[] | [.qid, .prio, .level]'
[0,null,"low"]
[1,null,"medium"]
[2,null,"high"]
[3,null,"high"]
[4,null,null]

$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues --prio high -rno QID
2
3
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues --prio high,low -rno QID
0
2
3
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues --prio 7 -rno QID
1
2
3
$ gpq --sysroot $HOSTS/vm73-gfx1100-running queues --prio 0:3
gpq: queues: --prio 0:3: the driver does not write the priority of a queue, only its level (Linux 7.0 and later write the level alone); choose whole levels: 0:6 is low, 7:10 medium, 11:15 high
? 6
$ gpq --sysroot $HOSTS/vm-gfx1100-running queues -p 1646 --prio 7:9 -rno QID
0
1

# A file alone tells by what it holds: a queue of level medium has a priority above 0.
$ gpq queues --mqds $HOSTS/vm73-gfx1100-running/sys/kernel/debug/kfd/mqds -rno PRIO,LEVEL | sort
- -
- high
- high
- low
- medium
$ gpq queues --mqds $HOSTS/vm-gfx1100-running/sys/kernel/debug/kfd/mqds -p 1647 -rno PRIO,LEVEL
7 medium

# Slots likewise; the registers are shown as they are.
$ gpq --sysroot $HOSTS/vm73-gfx1100-running hqd --active -rno QID,TYPE,PRIO,LEVEL | grep compute
0 compute - low
1 compute - medium
2 compute - high
3 compute - high
$ gpq hqd --hqds $HOSTS/vm73-gfx1100-running/sys/kernel/debug/kfd/hqds --active -rno TYPE,PRIO,LEVEL | grep compute | sort
compute - high
compute - high
compute - low
compute - medium
$ gpq --sysroot $HOSTS/vm73-gfx1100-running hqd --active --fields -rno FIELD,NUMBER | grep -E '^(PIPE_PRIORITY|PRIORITY_LEVEL) ' | sort | uniq -c | sed 's/^ *//'
1 PIPE_PRIORITY 0
1 PIPE_PRIORITY 1
2 PIPE_PRIORITY 2
4 PRIORITY_LEVEL 0

# --- contexts: two secondary ones, of which 1 is evicted; queue 0 of the primary one was destroyed and made anew

$ gpq --sysroot $HOSTS/vm73-gfx942-contexts queues -p 140 -o QID,CONTEXT_ID,TYPE,RING_ADDR,LEVEL,STATE,CUS,PASID,MATCH
QID CONTEXT_ID TYPE         RING_ADDR LEVEL  STATE   CUS PASID MATCH
  0          - compute 0x7f29713cf000 high   running   6 32768 order
  1          - compute 0x7f2979c31000 medium running   6 32768 order
  2          - compute 0x7f2978500000 high   running   6 32768 order
  3          - sdma    0x7f2976ebf000 -      mapped    6 32768 order
  0          0 compute 0x7f2976ebb000 low    running   4 32769 order
  1          0 compute 0x7f297578a000 medium running   4 32769 order
  2          0 sdma    0x7f2974149000 -      mapped    4 32769 order
  0          1 compute 0x7f2974145000 high   evicted   0 32770 order
  1          1 compute 0x7f2972a14000 low    evicted   0 32770 order
  2          1 sdma    0x7f29713d3000 -      evicted   0 32770 order
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts queues | head -1 | grep -c CONTEXT_ID
1
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts queues -p 141 | head -1 | grep -o -e CONTEXT_ID -e QID
QID

# Each column reads what it needs: alone it shows what it shows among all.
$ export GPQ_SYSROOT=$HOSTS/vm73-gfx942-contexts; gpq queues -r --output-all >all; for c in $(head -1 all); do gpq queues -ro $c | cmp - <(awk -v c=$c 'NR == 1 { for (n = 1; $n != c;) n++ } { print $n }' all); done; grep -c . all; unset GPQ_SYSROOT
12

# Without PASIDs, and so without an order of contexts, nothing is guessed; the likelier order has the newest first.
$ cp -r $HOSTS/vm73-gfx942-contexts nopasid; rm -r nopasid/sys/kernel/debug/kfd/proc; gpq --sysroot nopasid queues -p 140 -rno CONTEXT_ID,QID,RING_ADDR,PASID | sort | uniq -c | awk '{ print $4, $5 }' | sort | uniq -c | sed 's/^ *//'
10 - -
$ gpq --sysroot nopasid queues -p 140 -v -rno RING_ADDR 2>&1 >/dev/null | grep "several MQDs"
gpq: queues: pid 140: queues 0,1,2,3, context 0: 0,1,2, context 1: 0,1,2: several MQDs have its GPU, type and size; shown is what they have in common, --likely takes the likeliest
$ gpq --sysroot nopasid queues -p 140 --likely -rno CONTEXT_ID,QID,RING_ADDR,MATCH | grep -E '^[01] '
0 0 0x7f2976ebb000 likely
0 1 0x7f297578a000 likely
0 2 0x7f2974149000 likely
1 0 0x7f2974145000 likely
1 1 0x7f2972a14000 likely
1 2 0x7f29713d3000 likely
$ P=nopasid/sys/class/kfd/kfd/proc/140; echo 0 1 >$P/.contexts; gpq --sysroot nopasid queues -p 140 -rno CONTEXT_ID,QID,RING_ADDR,MATCH | grep -E '^[01] '
0 0 0x7f2976ebb000 order
0 1 0x7f297578a000 order
0 2 0x7f2974149000 order
1 0 0x7f2974145000 order
1 1 0x7f2972a14000 order
1 2 0x7f29713d3000 order

# A snapshot of it keeps all that, with the order of contexts, once.
$ gpq --sysroot nopasid snapshot again -q >/dev/null; cat $(find again -name .contexts); gpq --sysroot again queues -p 140 -rno CONTEXT_ID,QID,RING_ADDR,CUS | diff - <(gpq --sysroot nopasid queues -p 140 -rno CONTEXT_ID,QID,RING_ADDR,CUS)
0 1
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts snapshot with -q >/dev/null; gpq --sysroot with queues -p 140 --output-all -J | tee saved | diff - <(gpq --sysroot $HOSTS/vm73-gfx942-contexts queues -p 140 --output-all -J) && jq '.queues | length > 0' saved
true

# Runlist: a packet for each context; only the evicted one's queues are missing.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts hqd --runlist -p 140 -rno PACKET,PASID,CONTEXT_ID,QID,QUEUES,MAPPED
MAP_PROCESS 32770 1 - 3 0
none - 1 2 - -
none - 1 1 - -
none - 1 0 - -
MAP_PROCESS 32769 0 - 3 3
MAP_QUEUES - 0 2 - -
MAP_QUEUES - 0 1 - -
MAP_QUEUES - 0 0 - -
MAP_PROCESS 32768 - - 4 4
MAP_QUEUES - - 0 - -
MAP_QUEUES - - 3 - -
MAP_QUEUES - - 2 - -
MAP_QUEUES - - 1 - -
$ cp -r $HOSTS/vm73-gfx942-contexts blind; chmod -R u+w blind; : >blind/sys/kernel/debug/kfd/mqds; gpq --sysroot blind hqd --runlist -rno PACKET,PASID,PID,CONTEXT_ID | grep MAP_PROCESS
MAP_PROCESS 32771 141 -
MAP_PROCESS 32770 140 1
MAP_PROCESS 32769 140 0
MAP_PROCESS 32768 140 -

# --- evicted, or held by a debugger that does not trace? What this driver allows decides

$ cp -r $HOSTS/vm-gfx942-evicted maybe; gpq --sysroot maybe queues -p 664 -rno STATE | uniq
evicted
$ for r in 6.12.95+deb12-amd64 6.12.107+deb12-amd64 6.13.1 7.3.4+deb13-amd64; do echo $r >maybe/proc/sys/kernel/osrelease; echo $r $(gpq --sysroot maybe queues -p 664 -rno STATE | uniq); done
6.12.95+deb12-amd64 evicted
6.12.107+deb12-amd64 off-hardware
6.13.1 off-hardware
7.3.4+deb13-amd64 off-hardware
$ gpq --sysroot maybe queues -p 664 -v -rno STATE 2>&1 | grep nobody
gpq: queues: off-hardware: 3 queues of processes that nobody traces: evicted, or held by a debugger that has detached: this driver lets it hold on

# --- over-subscription: ten processes take turns, all run

$ gpq --sysroot $HOSTS/vm73-gfx90a-oversubscribed queues -rno STATE | sort | uniq -c | sed 's/^ *//'
15 running
# People are told once where to look, if a shown queue is on such a GPU.
$ export GPQ_SYSROOT=$HOSTS/vm73-gfx90a-oversubscribed; gpq --filter 'PID == 246' -o PID,STATE; gpq queues -p 246 -no PID,STATE; gpq ps -q -o PID,STATE -p 246; gpq ps -rno STATE -p 246
> cp -r $GPQ_SYSROOT two; cd two; D=sys/kernel/debug/kfd; sed -i 's/58361/58362/; s/gpu_id e3f9/gpu_id e3fa/' $D/rls; GPQ_SYSROOT=. gpq ps -p 246 -o PID,STATE
> cd ..; cp -r $GPQ_SYSROOT other; cd other; for q in 0 1; do echo 1 >sys/class/kfd/kfd/proc/246/queues/$q/gpuid; done; GPQ_SYSROOT=. gpq ps -p 246 -no PID,COMPUTE,STATE
gpq: ps: GPU 58361 is over-subscribed: its queues take turns; gpq hqd --summary shows who shares it
PID STATE
246 running
gpq: queues: GPU 58361 is over-subscribed: its queues take turns; gpq hqd --summary shows who shares it
246 running
246 running
PID STATE
246 running
running
PID STATE
246 running
246       2 unknown

$ gpq --sysroot $HOSTS/vm73-gfx90a-oversubscribed hqd --summary -rno TYPE,SLOTS,QUEUES,OVERSUB,BY | grep compute
compute 24 15 yes processes

# The same a moment later, when firmware has taken two of the processes off (dword 130) and runs the others.
$ cp -r $HOSTS/vm73-gfx90a-oversubscribed turns; M=sys/kernel/debug/kfd/mqds; awk '/^Process/ { off = $2 == 246 || $2 == 255 } off && /^    00000200:/ { $4 = "00000000"; $0 = "    " $0 } { print }' $HOSTS/vm73-gfx90a-oversubscribed/$M >turns/$M; gpq --sysroot turns queues -rno PID,STATE,ON_HW | grep -v 'mapped yes'
246 takes-turns -
246 takes-turns -
247 running yes
248 running yes
248 running yes
249 running yes
250 running yes
250 running yes
251 running yes
252 running yes
252 running yes
253 running yes
254 running yes
254 running yes
255 takes-turns -
$ gpq --sysroot turns queues -v -rno STATE 2>&1 | grep -i turns | sort -u
gpq: queues: on hardware or off: unknown for 3 compute queues: mapped, but the GPU is over-subscribed and queues take turns
takes-turns
# Slots as they were at that moment: the same word.
$ D=turns/sys/kernel/debug/kfd; sed -E 's/^(    0000c914: [0-9a-f]+ [0-9a-f]+) 00000001/\1 00000000/' $D/hqds >empty; gpq hqd --hqds empty --mqds $D/mqds --rls $D/rls --summary --table waiting -rno PID,WHY | sort -u | grep -E '^(246|255) '
246 takes-turns
255 takes-turns
