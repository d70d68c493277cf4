# gpq hang: why says of the archive what it says of the living queues, also once the process is gone; and ranks side by side.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

COLUMNS_OF_WHY=QID,TYPE,STATE,STUCK,BACKLOG,NEXT,KERNEL,READ,WRITE,AT_WORK,SIGNAL,SIGNAL_VALUE,BY_QID,BY_INDEX,BY_TYPE,ROOT_QID,ROOT_STATE,EXCEPTIONS

aql() { # SCENARIO [RANK [FILE]]: P is the pid
	: > /tmp/aqlq.log
	RANK=$2 aqlq "$1" $3 > /tmp/aqlq.log 2>&1 &
	P=$!
	within 20 grep -q ready /tmp/aqlq.log || fail "aqlq $1 starts" "$(cat /tmp/aqlq.log)"
}

why() { gpq why -p $P -rno $COLUMNS_OF_WHY "$@"; }
verdict() { gpq why -p $P --table processes -rno STATE,STUCK,QID,WAITING,VERDICT "$@" | sed -E 's/[0-9.]+ ?(ms|us|s)\b/TIME/g'; }

same() { # SCENARIO STATE STATUS VERDICT
	aql $1
	within 10 sh -c "gpq why -p $P -rno STATE 2> /dev/null | head -1 | grep -qx $2"
	rm -rf /tmp/kept
	status_is "$1: kept" 0 gpq hang -p $P --over 600ms /tmp/kept
	like "$1: the verdict is told" "$OUT" "^pid $P aqlq: (stuck for [0-9.a-z]+|$4): queue [01]"
	why > /tmp/live
	verdict > /tmp/live.verdict
	reap $P
	like "$1: its first queue" "$(cut -d' ' -f3 /tmp/live | head -1)" "^$2\$"
	is "$1: why says the same of what was kept" "$(why --sysroot /tmp/kept)" "$(cat /tmp/live)"
	is "$1: and of the process" "$(verdict --sysroot /tmp/kept)" "$(cat /tmp/live.verdict)"
	status_is "$1: exit status" $3 gpq why --sysroot /tmp/kept -p $P
	ok "$1: it stood through all looks" [ "$(gpq why --sysroot /tmp/kept -p $P --table processes -J | sed -n 's/.*"stood_ns": *\([0-9]*\).*/\1/p')" -ge 500000000 ]
}

load gfx90a
same chain behind 0 waits-external
same deadlock deadlock 7 deadlock
same alone deadlock 7 deadlock
same unpublished not-published 7 not-published
same running hung-or-long 0 hung-or-long
same sdma behind 0 waits-external

# What two processes share, and who is frozen, is kept, too.
aql first "" /dev/shm/ring
FIRST=$P
aql second "" /dev/shm/ring
within 10 sh -c "gpq why -rno STATE | grep -qx deadlock"
all() { gpq why -rno PID,STATE,BY_PID "$@" | sort -n; }
is "two processes wait for each other" "$(all)" "$FIRST deadlock $P
$P deadlock $FIRST"
is "which is told of one alone, too" "$(all -p $FIRST)" "$FIRST deadlock $P"
gpq hang --over 300ms /tmp/both > /dev/null
gpq hang --over 300ms -p $FIRST /tmp/one > /dev/null
gpq snapshot -p $FIRST /tmp/snap > /dev/null
is "a snapshot of one has nothing of the other" "$(cd /tmp/snap/proc && echo */memory)" "$FIRST/memory"
gpq hang --redact --over 300ms /tmp/both2 > /dev/null
wanted=$(all)
reap $FIRST $P
is "and so they do in the archive" "$(all --sysroot /tmp/both)" "$wanted"
is "and in that of one" "$(all --sysroot /tmp/one)" "$wanted"
is "without names, too" "$(all --sysroot /tmp/both2)" "$wanted"
aql unpublished
mkdir /sys/fs/cgroup/frozen
echo $P > /sys/fs/cgroup/frozen/cgroup.procs
echo 1 > /sys/fs/cgroup/frozen/cgroup.freeze
within 10 grep -q 'frozen 1' /sys/fs/cgroup/frozen/cgroup.events
gpq hang --over 300ms /tmp/cold > /dev/null
wanted=$(all)
echo 0 > /sys/fs/cgroup/frozen/cgroup.freeze
reap $P
rmdir /sys/fs/cgroup/frozen
like "a frozen process" "$wanted" "^$P stopped -"
is "is one in the archive" "$(all --sysroot /tmp/cold)" "$wanted"

# What the driver tells between the looks is there.
aql chain
listens() { [ "$(ls /sys/class/kfd/kfd/proc | wc -l)" = 2 ]; }
alone() { [ "$(ls /sys/class/kfd/kfd/proc)" = $P ]; }
gpq hang --over 3s /tmp/looks > /dev/null &
HANG=$!
within 10 listens
sleep 0.3
echo $P > /sys/kernel/debug/softgpu/evict
wait $HANG
like "an eviction while it looks" "$(grep '"queue-eviction"' /tmp/looks/EVENTS | grep -c "\"pid\":$P[,}]")" "^[1-9]"
is "nobody listens afterwards" "$(ls /sys/class/kfd/kfd/proc)" $P
gpq hang --over 60s /tmp/killed > /dev/null &
HANG=$!
ok "somebody listens" within 10 listens
kill -9 $HANG
ok "nobody does once it is killed" within 10 alone
reap $P
rm -r /tmp/looks

aql chain
rm -rf /tmp/a
gpq hang --over 300ms /tmp/a > /dev/null
like "packets are there, too" "$(gpq packets --sysroot /tmp/a -p $P -Q 0 -rno PACKET_ID,STATE,TYPE | tail -1)" "^[0-9]+ next barrier-and$"
is "threads are there" "$(find /tmp/a/proc/$P/task -name wchan | head -1 | wc -l)" 1
like "the verdicts are a text" "$(cat /tmp/a/VERDICTS)" "^pid $P aqlq: waits-external"
gpq snapshot /tmp/b > /dev/null
is "a snapshot has the same" "$(why --sysroot /tmp/b)" "$(why)"
gpq snapshot --redact /tmp/c > /dev/null
is "without names, too" "$(why --sysroot /tmp/c)" "$(why)"
ok "which has no verdicts, as they name programs" test ! -e /tmp/c/VERDICTS
gpq --sysroot /tmp/a snapshot /tmp/d > /dev/null
is "and a copy of it" "$(why --sysroot /tmp/d)" "$(why)"
status() { grep -v '^SigQ' /proc/$P/status; } # that counts signals of all processes of the user
before=$(status)
gpq hang -p $P --over 300ms /tmp/e > /dev/null
is "nothing changes in the target" "$(status)" "$before"
like "as JSON" "$(gpq hang -p $P --over 1ms -J /tmp/j | tr -d ' \n')" "\"name\":\"gpq.hang\".*\"processes\":\[\{\"pid\":$P,.*\"snapshots\":\[\{\"path\":\"/tmp/j\""
status_is "a name that is taken" 1 gpq hang --over 1ms /tmp/e
status_is "no such process" 5 gpq hang -p 1 /tmp/f
ok "nothing is left of it" test ! -e /tmp/f
gpq hang --over 20s -p $P /tmp/g > /dev/null 2>&1 &
G=$!
usleep 500000
kill $G
wait $G
is "stopped: it ends by the signal" $? 143
empty "and nothing is left" "$(ls -d /tmp/g /tmp/.g* 2> /dev/null)"
reap $P

aql running 0
P0=$P
rm -rf /tmp/r0 /tmp/r1
gpq hang -p $P --over 300ms /tmp/r0 > /dev/null
aql chain 1
gpq hang -p $P --over 300ms /tmp/r1 > /dev/null
is "ranks side by side" "$(gpq hang --merge -rno RANK,PID,COMMAND,STATE,LAUNCHED /tmp/r1 /tmp/r0)" "0 $P0 aqlq hung-or-long none
1 $P aqlq waits-external none"
reap $P
reap $P0

# The examples: who waits for a hang to keep it, and the liveness probe.
mkdir /tmp/w /evidence
watchdog() { AFTER=500ms EVERY=1 EXT= sh /t/gpq-watchdog.sh /tmp/w "kill $P; echo restarted" -p "$P"; }
probe() { sh -c "$(sed -n 's/^ *- \(gpq why.*\)/\1/p' /t/gpq-liveness-kubernetes.yaml | sed 's/-after 60s/-after 1s/')" < /dev/null; }
target -q -n 1
status_is "queues that move are alive" 0 probe
empty "of which nothing is kept" "$(ls /evidence | grep why-)"
timeout 4 sh -c "AFTER=500ms EVERY=1 sh /t/gpq-watchdog.sh /tmp/w 'kill $P' -p $P" > /tmp/o 2> /dev/null
is "the watchdog waits on" "$? $(cat /tmp/o)" "143 "
ok "and lets them run" command kill -0 $P
reap $P
aql alone
status_is "a deadlock is not" 1 probe
like "what why said is kept" "$(cat /evidence/why-*)" "^pid $P aqlq: stuck for [0-9.]+m?s: queue 0 \(deadlock\)"
OUT=$(watchdog 2>&1)
is "the watchdog ends with its command" $? 0
like "which is told why" "$OUT" "^pid $P aqlq: stuck for .* restarted\$"
wait $P
is "and run" $? 143
like "the evidence is there" "$(gpq why --sysroot "$(ls -d /tmp/w/hang-*)" -rno PID,STATE)" "^$P deadlock\$"
reap $P
# The epilog drains a node on which the job's queues are stuck, and no other.
grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
J=/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_42
mkdir -p $J /tmp/bin
printf '#!/bin/sh\necho scontrol "$@"\n' > /tmp/bin/scontrol
chmod 755 /tmp/bin/scontrol
epilog() { PATH=/tmp/bin:$PATH SLURM_JOB_ID=42 SLURMD_NODENAME=node1 GPQ_HANGS=/tmp/spool AFTER=500ms EXT= sh /t/gpq-slurm-epilog.sh; }
target -q -n 1
echo $P > $J/cgroup.procs
is "the epilog leaves a job alone whose queues move" "$(epilog; echo $?; ls /tmp/spool 2> /dev/null)" 0
reap $P
aql alone
is "and one that is not of the job" "$(epilog; echo $?; ls /tmp/spool 2> /dev/null)" 0
echo $P > $J/cgroup.procs
like "it drains the node where its queues are stuck" "$(epilog 2> /dev/null | tail -n 1)" \
	"^scontrol update nodename=node1 state=drain reason=GPU queues of job 42 are stuck, see /tmp/spool\$"
is "and keeps the evidence" "$(gpq why --sysroot /tmp/spool/job42-* -rno PID,STATE)" "$P deadlock"
reap $P
rmdir $J
status_is "the watchdog says how it is used" 2 sh /t/gpq-watchdog.sh /tmp/w true

# With the waves of each process.
M=/sys/module/amdgpu/parameters
echo 0-2=barrier@0x50,5=run@0x60 > $M/wave_states
# shellcheck disable=SC2016
waveq 'sh=echo $KERNEL > '$M/hang_object skip=2 dispatch=1000,256 'sh=echo ready >&2' ms=900000 > /tmp/waveq.log 2>&1 &
P=$!
within 20 grep -q ready /tmp/waveq.log || fail "waveq starts" "$(cat /tmp/waveq.log)"
places() { gpq why --waves -p $P -rno QID,PC,WAVES,GROUPS,DISPATCH,STATE,MISSING "$@" 2> /tmp/why.err; }
within 20 sh -c "gpq why --waves --sample 1 -p $P -rno WAVES 2> /dev/null | grep -qx 3"
wanted=$(places --sample 1 --max-hold 5s)
status_is "with waves" 0 gpq hang --waves -p $P --over 300ms /tmp/waves
ok "a GPU core is there" test -s /tmp/waves/proc/$P/gpucore
is "its waves are those of the process" "$(places --sysroot /tmp/waves)" "$wanted"
is "which stand at three places" "$(echo "$wanted" | grep -c ' 2 ')" 3
freed() { gpq queues -p $P -rno STATE | grep -qvx suspended && grep -q '^TracerPid:.0$' /proc/$P/status; }
ok "nothing is held or traced afterwards" within 10 freed
dbg $P seize hold > /tmp/dbg.log 2>&1 &
W=$!
within 20 grep -q "^TracerPid:.$W\$" /proc/$P/status || fail "a debugger attaches" "$(cat /tmp/dbg.log)"
status_is "a process that a debugger has" 3 gpq hang --waves -p $P --over 300ms /tmp/traced
like "it is told" "$OUT" "pid $P.*trace"
ok "its archive is there" test -s /tmp/traced/VERDICTS
ok "without a core" test ! -e /tmp/traced/proc/$P/gpucore
echo 0 > $M/hang_object
reap $W $P
status_is "no queues" 5 gpq hang /tmp/h
unload
status_is "no driver" 6 gpq hang /tmp/h
kernel_is_content
finish
