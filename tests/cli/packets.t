# gpq packets on the host aql-gfx90a, whose rings tests/data/aql/make-host lays out by hand: what is expected here is what it says.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; gpq packets -p 4711 -Q 0 --around 9 -ro PACKET_ID,AHEAD,STATE,TYPE,BARRIER,ACQUIRE,RELEASE,GRID,WORKGROUP,SIGNAL,SIGNAL_VALUE
PACKET_ID AHEAD STATE TYPE BARRIER ACQUIRE RELEASE GRID WORKGROUP SIGNAL SIGNAL_VALUE
0 -5 taken invalid - - - - - - -
1 -4 taken invalid - - - - - - -
2 -3 taken invalid - - - - - - -
3 -2 taken invalid - - - - - - -
4 -1 taken dispatch - - - 256x1x1 64x1x1 0xa100 1
5 0 next barrier-and yes system system - - 0xa100 1
6 1 queued dispatch yes agent agent 1024x2x3 64x2x1 0xa100 1
7 2 queued barrier-or no none none - - - -
8 3 queued barrier-value yes none none - - 0xa100 1
9 4 queued barrier-value no none none - - - -
10 5 queued ext-dispatch no none none - 32x4x2 0xa100 1
11 6 queued pm4-buffer no none none - - 0xa100 1
12 7 queued vendor no none none - - - -
13 8 queued agent-dispatch no none none - - 0xa100 1
14 9 unpublished invalid - - - - - - -

# Signals that packets wait for: a doorbell, and what is no signal, have no value.
$ GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 0 --around 9 --filter 'DEPS =~ "."' -o PACKET_ID,TYPE,DEPS,DEP_VALUES,CONDITION
PACKET_ID TYPE          DEPS                 DEP_VALUES CONDITION
        5 barrier-and   0xa000 0xa040 0xa080 0 3 1      all 0
        7 barrier-or    0xa040 0xa0c0 0x777  3 - -      any 0
        8 barrier-value 0xa040               3          & 0xff >= 5
        9 barrier-value 0xa040               3          < -1
       10 ext-dispatch  0xa040               3          all 0

# How many values are not known is told: 0xa0c0 and 0x777 in queue 0, and in the others none.
$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; for q in 0 1 2 3; do gpq packets -v -p 4711 -Q $q --around 9 2>&1 >out; done
gpq: packets: pid 4711: queue 0: unknown: 2 values of signals that cannot be read, or are none

$ GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 0 --around 9 -J | jq -c '.packets[] | select(.kernel_object) | [.packet_id, .header, .vendor_format, .kernel_object, .kernarg, .private_bytes, .group_bytes, .grid, .clusters, .cluster, .kernel]'
[4,"0x1",null,"0x5000","0x6000",0,0,"256x1x1",null,null,null]
[6,"0xb02",null,"0x5040","0x6040",16,2048,"1024x2x3",null,null,null]
[10,"0x0",3,"0x5080","0x7000",16,32,null,"4x5x6","2x1x1",null]

# Indices only grow: a ring that is read across its end.
$ GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 1 --around 1 -ro PACKET_ID,STATE,TYPE,GRID,ADDRESS; GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 1 --around 65536 --filter 'STATE != "taken"' -rno PACKET_ID,STATE,GRID,ADDRESS,READ,WRITE
PACKET_ID STATE TYPE GRID ADDRESS
1099511627837 taken invalid - 0x2f40
1099511627838 next dispatch 64x1x1 0x2f80
1099511627839 queued dispatch 128x1x1 0x2fc0
1099511627838 next 64x1x1 0x2f80 1099511627838 1099511627842
1099511627839 queued 128x1x1 0x2fc0 1099511627838 1099511627842
1099511627840 queued 192x1x1 0x2000 1099511627838 1099511627842
1099511627841 queued 256x1x1 0x2040 1099511627838 1099511627842

# SDMA (bytes) and PM4 (dwords), as far as lengths are known.
$ GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 2,3 -o QID,PACKET_ID,AHEAD,STATE,TYPE,SIZE,DEPS,DEP_VALUES,CONDITION,WRITES
QID PACKET_ID AHEAD STATE  TYPE                SIZE DEPS   DEP_VALUES CONDITION WRITES
  2     12416     0 next   sdma-poll            24B 0xa048 3          == 0           -
  2     12440    24 queued sdma-copy            28B -      -          -              -
  2     12468    52 queued sdma-fence           16B -      -          -         0xa008
  2     12484    68 queued sdma-atomic          32B -      -          -         0xa048
  2     12516   100 queued sdma-nop             12B -      -          -              -
  2     12528   112 queued sdma-unknown           - -      -          -              -
  3       100     0 next   pm4-nop               8B -      -          -              -
  3       102     2 queued pm4-filler            4B -      -          -              -
  3       103     3 queued pm4-dispatch-direct  20B -      -          -              -

# Indices that no queue has; a host without the memory; who may know where rings are; mistakes.
$ GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q 4
gpq: packets: pid 4711: queue 4: its indices do not fit its ring
? 3

$ gpq --sysroot $HOSTS/vm73-gfx942-contexts packets -p 140,1
gpq: packets: pid 1: owns no queue; gpq queues lists those that do
gpq: packets: pid 140: its memory: No such file or directory; gpq snapshot records it as root
? 5

$ cp -r $HOSTS/aql-gfx90a host; rm host/sys/kernel/debug/kfd/mqds; gpq --sysroot host packets -p 4711
gpq: packets: where the rings are is in /sys/kernel/debug/kfd/mqds: No such file or directory; gpq snapshot records it as root
? 6

$ export GPQ_SYSROOT=$HOSTS/aql-gfx90a; m() { for c in "$@"; do gpq packets $c; echo "status $?"; done; }; m '-p 4711 -Q 9' '-p 1' '-p 4711 --around 65537' '--attach' '--attach --watch 1' '--demangle --no-demangle'
gpq: packets: no queue that was asked for is there; gpq queues lists them
status 5
gpq: packets: pid 1: owns no queue; gpq queues lists those that do
status 5
gpq: packets: --around 65537: too many; no ring has more than 65536 packets
status 2
gpq: packets: --attach asks a running driver, and this is a recorded host; leave out --attach, or --sysroot and GPQ_SYSROOT
status 2
gpq: packets: --attach and --watch exclude each other: each listing would take queues off; as root nothing is attached to
status 2
gpq: packets: --demangle and --no-demangle exclude each other; choose one
status 2

# Without --around 8 packets before the read index, 8 behind it, and its own; queue 0 has 5 before, queue 1 3 behind.
$ for q in 0 1; do for a in "" "--around 8" "--around 7"; do GPQ_SYSROOT=$HOSTS/aql-gfx90a gpq packets -p 4711 -Q $q $a -rno AHEAD | sed -n '1p;$p' | paste -sd' '; done; done
-5 8
-5 8
-5 7
-8 3
-8 3
-7 3

# All members of a dispatch that was taken, a barrier, a dispatch, a poll; what is shown without -o; a ring without a packet.
$ gpq --sysroot $HOSTS/aql-gfx90a packets -p 4711 -Q 0 --around 1 -J | jq -c '.packets[]'
{"pid":4711,"command":"train","user":"0","container":null,"pod":null,"job":"1207","gpu_id":58361,"qid":0,"context_id":null,"ring_addr":"0x1000","read":5,"write":15,"packet_id":4,"ahead":-1,"state":"taken","type":"dispatch","header":"0x1","vendor_format":null,"barrier":null,"acquire":null,"release":null,"kernel":null,"kernel_object":"0x5000","grid":"256x1x1","workgroup":"64x1x1","clusters":null,"cluster":null,"kernarg":"0x6000","private_bytes":0,"group_bytes":0,"deps":null,"dep_values":null,"condition":null,"signal":"0xa100","signal_value":1,"writes":null,"bytes":64,"address":"0x1100"}
{"pid":4711,"command":"train","user":"0","container":null,"pod":null,"job":"1207","gpu_id":58361,"qid":0,"context_id":null,"ring_addr":"0x1000","read":5,"write":15,"packet_id":5,"ahead":0,"state":"next","type":"barrier-and","header":"0x1503","vendor_format":null,"barrier":true,"acquire":"system","release":"system","kernel":null,"kernel_object":null,"grid":null,"workgroup":null,"clusters":null,"cluster":null,"kernarg":null,"private_bytes":null,"group_bytes":null,"deps":["0xa000","0xa040","0xa080"],"dep_values":["0","3","1"],"condition":"all 0","signal":"0xa100","signal_value":1,"writes":null,"bytes":64,"address":"0x1140"}
{"pid":4711,"command":"train","user":"0","container":null,"pod":null,"job":"1207","gpu_id":58361,"qid":0,"context_id":null,"ring_addr":"0x1000","read":5,"write":15,"packet_id":6,"ahead":1,"state":"queued","type":"dispatch","header":"0xb02","vendor_format":null,"barrier":true,"acquire":"agent","release":"agent","kernel":null,"kernel_object":"0x5040","grid":"1024x2x3","workgroup":"64x2x1","clusters":null,"cluster":null,"kernarg":"0x6040","private_bytes":16,"group_bytes":2048,"deps":null,"dep_values":null,"condition":null,"signal":"0xa100","signal_value":1,"writes":null,"bytes":64,"address":"0x1180"}

$ gpq --sysroot $HOSTS/aql-gfx90a packets -p 4711 -Q 2 --around 0 -J | jq -c '.packets[]'
{"pid":4711,"command":"train","user":"0","container":null,"pod":null,"job":"1207","gpu_id":58361,"qid":2,"context_id":null,"ring_addr":"0x3000","read":12416,"write":12532,"packet_id":12416,"ahead":0,"state":"next","type":"sdma-poll","header":null,"vendor_format":null,"barrier":null,"acquire":null,"release":null,"kernel":null,"kernel_object":null,"grid":null,"workgroup":null,"clusters":null,"cluster":null,"kernarg":null,"private_bytes":null,"group_bytes":null,"deps":["0xa048"],"dep_values":["3"],"condition":"== 0","signal":null,"signal_value":null,"writes":null,"bytes":24,"address":"0x3080"}

$ gpq --sysroot $HOSTS/aql-gfx90a packets -p 4711 -Q 0 --around 0
 PID QID PACKET_ID AHEAD STATE TYPE        BARRIER KERNEL GRID WORKGROUP DEPS                 DEP_VALUES CONDITION SIGNAL SIGNAL_VALUE
4711   0         5     0 next  barrier-and yes     -      -    -         0xa000 0xa040 0xa080 0 3 1      all 0     0xa100            1

$ gpq --sysroot $HOSTS/aql-gfx90a packets -v -p 4712 -Q 5 --around 0
gpq: packets: pid 4712: queue 5: its ring is empty

# A priority on a driver that writes levels alone.
$ gpq --sysroot $HOSTS/vm73-gfx942-contexts packets -p 140 --prio 5
gpq: packets: --prio 5: the driver does not write the priority of a queue, only its level (Linux 7.0 and later write the level alone); choose whole levels: 0:6 is low, 7:10 medium, 11:15 high
? 6
