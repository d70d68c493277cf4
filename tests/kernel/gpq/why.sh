# gpq why on living queues: each state that it names is made on purpose, and nothing else is said.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

PARAMS=/sys/module/amdgpu/parameters

aql() { # SCENARIO [FILE]: P is the pid
	: > /tmp/aqlq.log
	aqlq "$@" > /tmp/aqlq.log 2>&1 &
	P=$!
	within 20 grep -q ready /tmp/aqlq.log || fail "aqlq $1 starts" "$(cat /tmp/aqlq.log)"
}

signal() { awk -v n="$1" '$3 == "signal" && $4 == n { print $5 }' /tmp/aqlq.log; }

# The rows of the process, once the state of its first queue is this one, or what they are after a while.
rows() { # STATE COLUMNS [OPTION...]
	local state=$1 columns=$2
	shift 2
	within 10 sh -c "gpq why -p $P -rno STATE 2> /dev/null | head -1 | grep -qx $state"
	gpq why -p $P -rno $columns "$@"
}

made() { # SCENARIO STATUS COLUMNS WANTED [STATE]: the state of the first row, or STATE, is in the first line
	aql $1
	is "$1" "$(rows ${4%% *} STATE,$3)" "$4"
	status_is "$1: exit status" $2 gpq why -p $P
	like "$1: its state is in the first line" "$OUT" "^pid $P aqlq: (stuck for [0-9.]+m?s: queue [0-9]+ \\()?${5:-${4%% *}}[:)]"
	reap $P
}

load gfx90a
aql chain
A=$(signal a) E=$(signal host)
is "a chain: which packet of which queue sets the signal" "$(rows behind QID,STATE,STUCK,SIGNAL,SIGNAL_VALUE,BY_QID,BY_INDEX,BY_TYPE,ROOT_QID,ROOT_STATE)" \
"0 behind no $A 1 1 1 dispatch 1 waits-external
1 waits-external no $E 1 - - - - -"
status_is "nothing of it is stuck" 0 gpq why -p $P
like "in a sentence" "$OUT" "waits for kernel 0x123400 \(packet 1\) of queue 1 \(waits-external\): signal $A is 1 .*signal $E is 1, and no packet of this process sets it"
like "the verdict comes first" "$(gpq why -p $P | head -3 | tr -s '\n ' ' ')" \
	"^pid $P aqlq: waits-external: queue 1: signal $E is 1, and no packet of this process sets it: the host, or another process; 1 queue waits behind it"
kill -USR1 $P
is "and once the host has set it" "$(rows idle QID,STATE,BACKLOG)" "0 idle 0
1 idle 0"
reap $P

made deadlock 7 QID,STUCK,BY_QID,BY_INDEX "deadlock 0 yes 1 1
deadlock 1 yes 0 1"
made alone 7 BY_QID,BY_INDEX "deadlock 0 1"
made unpublished 7 STUCK,NEXT,BACKLOG "not-published yes invalid 1"
made idle 0 QID,BACKLOG,NEXT "idle 0 0 -
idle 1 0 -"
made running 0 BACKLOG,TAKEN,SIGNAL_VALUE "hung-or-long 0 0 1"
made sdma 0 QID,TYPE,BY_QID,BY_TYPE "behind 0 compute 1 sdma-atomic
waits-external 1 sdma - -" waits-external

# Profiles: heads that stand on known packets have all of the time, and what changes meanwhile is counted before and after.
looks() { awk '/^voluntary/ { print $2 }' /proc/$G/status; } # each look is followed by a wait
more_looks() { # SECONDS
	local n
	n=$(looks)
	within $1 sh -c "[ \$(awk '/^voluntary/ { print \$2 }' /proc/$G/status) -gt $((n + 20)) ]" || fail "it goes on looking" "$(looks) after $n"
}
profile() { # OPTION...: G is the pid
	gpq why --profile 1h "$@" -rno PID,QID,STATE,PACKET,SAMPLES,OF > /tmp/profile 2> /tmp/profile.err &
	G=$!
	within 30 sh -c "ls -l /proc/$G/fd | grep -q /proc/$P/mem" || fail "a profile begins" "$(cat /tmp/profile.err)"
}
aql chain
is "a profile of two queues that wait" "$(gpq why -p $P --profile 300ms -rno QID,STATE,PACKET,KERNEL,SHARE)" "0 waits barrier-and - 1
1 waits barrier-and - 1"
is "as stacks" "$(gpq why -p $P --profile 100ms --folded | sed 's/ [0-9]*$//')" "aqlq $P;compute 0;waits;barrier-and
aqlq $P;compute 1;waits;barrier-and"
before=$(cut -d' ' -f1-13 /proc/$P/stat)
profile --comm 'aqlq|mkqueue' --perfetto /tmp/profile.json --flame /tmp/profile.svg
more_looks 30
kill -USR1 $P
more_looks 30
A=$P
target -n 1
within 120 sh -c "ls -l /proc/$G/fd | grep -q /proc/$P/mem" || fail "a process that came later is looked at" "$(ls -l /proc/$G/fd)"
more_looks 30
reap $P
kill -TERM $G
wait $G
is "a profile that is ended early: exit status" $? 143
# Between the two there is a moment in which nothing holds the packets back any more.
is "of the first process before and after" "$(awk -v p=$A '$1 == p && $3 !~ /^(next|running)$/ { print $2, $3, $4; bad += $5 <= 0 } END { if (bad) print "no looks" }' /tmp/profile | sort)" "0 idle -
0 waits barrier-and
1 idle -
1 waits barrier-and"
is "the looks of a queue that was there all the time are all looks" "$(awk -v p=$A '$1 == p { n[$2] += $5; of = $6 } END { print n[0] - of, n[1] - of }' /tmp/profile)" "0 0"
# A frame for each row, and for each process the sum of its own; the last one ends where the axis does.
is "the flame graph has these looks" "$(sed -n 's/.*: \([0-9]*\) of .*class="c.*/\1/p' /tmp/profile.svg | sort -n | xargs)" "$(awk '$3 != "unknown" { print $5 }' /tmp/profile | sort -n | xargs)"
is "and sums of them" "$(sed -n 's/^<g><title>[a-z]* \([0-9]*\): \([0-9]*\) of \([0-9]*\) samples.*/\1 \2 \3/p' /tmp/profile.svg | grep -v '^[0-9] ' | sort -n)" \
	"$(awk '{ n[$1] += $5; all += $5 } END { for (p in n) print p, n[p], all }' /tmp/profile | sort -n)"
is "side by side" "$(sed -n 's/.*rect x="\([0-9.]*\)".* width="\([0-9.]*\)".*/\1 \2/p' /tmp/profile.svg | awk '{ end = $1 + $2; if (end > most) most = end } END { printf "%.0f\n", most }')" 468
is "the process that came and went is in the result" "$(awk -v p=$P '$1 == p { n += $5; of = $6 } END { print (n > 0), (n < of) }' /tmp/profile)" "1 1"
is "nothing of the target was stopped" "$(cut -d' ' -f1-13 /proc/$A/stat)" "$before"
is "the timeline is whole" "$(head -c 16 /tmp/profile.json; tail -c 3 /tmp/profile.json)" '{"traceEvents":[}}'
is "with a track of each queue" "$(grep -o '"name":"compute [0-9]*"' /tmp/profile.json | sort | uniq -c | sed 's/^ *//')" '2 "name":"compute 0"
1 "name":"compute 1"'
is "waits are slices" "$(grep '"ph":"X"' /tmp/profile.json | grep -c 'waits barrier-and')" 2
reap $A
aql running
is "a profile of a kernel that runs" "$(gpq why -p $P --profile 100ms -rno STATE,PACKET,SHARE)" "running dispatch 1"
reap $P
aql unpublished
is "a profile of a packet that is not written" "$(gpq why -p $P --profile 100ms -rno STATE,SHARE)" "not-published 1"
reap $P

# Without root, in one short session.
chmod 666 /dev/kfd /dev/dri/renderD*
: > /tmp/aqlq.log
su user -c 'aqlq chain' > /tmp/aqlq.log 2>&1 &
S=$!
within 20 grep -q ready /tmp/aqlq.log || fail "aqlq as a user starts" "$(cat /tmp/aqlq.log)"
P=$(awk '$3 == "ready" { sub(":", "", $2); print $2 }' /tmp/aqlq.log)
is "--attach, for the user's own process" "$(su user -c "gpq why -q -p $P --attach -rno QID,STATE,BY_QID")" "0 behind 1
1 waits-external -"
is "--attach --profile: one session, and then looks" "$(su user -c "gpq why -q -p $P --attach --profile 300ms -rno QID,STATE,SHARE")" "0 waits 1
1 waits 1"
is "that session is over" "$(grep TracerPid /proc/$P/status)" "TracerPid:	0"
reap $P $S

# In a PID namespace of its own, whose PIDs sysfs does not have, beside a process of the host with queues.
aql idle
H=$P
cat > /tmp/inside.sh << 'E'
aqlq chain > /tmp/aqlq.log 2>&1 &
P=$!
while ! grep -q ready /tmp/aqlq.log; do usleep 50000; done
gpq why -p $P > /tmp/refused 2>&1; echo $?
gpq why --attach --comm aqlq 2> /dev/null; echo $?
gpq why -q --attach -p $P -rno COMMAND,GPU_ID,QID,TYPE,STATE,BY_QID,ROOT_STATE; echo $?
gpq why -q --attach -p $P -Q 1 -rno QID; gpq why -q --attach -p $P --type sdma -rno QID; echo $?
gpq packets -q --attach -p $P -rno QID,STATE,TYPE --filter 'STATE == "next"'
gpq suspend -q -p $P -Q 0 > /dev/null; gpq why -q --attach -p $P -rno QID,STATE,BY_COMMAND; gpq resume -q -p $P > /dev/null
gpq why -q --attach -p 1 > /dev/null 2>&1; echo $?
kill $P
E
unshare -p -f --mount-proc sh /tmp/inside.sh > /tmp/inside 2> /tmp/inside.err
is "in a PID namespace" "$(cat /tmp/inside; grep -v '^gpq: why: no queue that' /tmp/inside.err)" "6
6
aqlq $(gpq queues -p $H -rno GPU_ID | head -1) 0 compute behind 1 waits-external
aqlq $(gpq queues -p $H -rno GPU_ID | head -1) 1 compute waits-external - -
0
1
5
0 next barrier-and
1 next barrier-and
1 waits-external -
0 suspended gpq-holder
5"
like "says what to do" "$(cat /tmp/refused)" "^gpq: why: KFD has PIDs of the host, and /proc those of a container; run gpq on the host; or with --attach and -p PID"
reap $H

echo N > $PARAMS/wptr_poll
made behind-lost 7 QID,STUCK,READ,WRITE,SLOT_WRITE,ROOT_QID "doorbell-lost 1 yes 1 2 1 -
behind 0 yes 0 1 1 1"
made lost 7 STUCK,READ,WRITE,SLOT_WRITE "doorbell-lost yes 1 2 1"
echo Y > $PARAMS/wptr_poll

echo Y > $PARAMS/aql_errors
made bad 7 QID,STUCK,NEXT,ROOT_QID,EXCEPTIONS "error 0 yes unknown - PACKET_UNSUPPORTED
behind 1 yes barrier-and 0 -"
echo N > $PARAMS/aql_errors

target -n 2
is "packets are taken" "$(rows running QID,STATE,STUCK --filter 'TAKEN > 0')" "0 running no
1 running no"
echo 0 > $PARAMS/packet_rate
is "none is taken, and none waits" "$(rows hung-or-long STATE,TAKEN,NEXT --filter 'QID == 0')" "hung-or-long 0 barrier-and"
status_is "and is stuck in the end" 7 gpq why -p $P --stuck-after 500ms --over 50ms
like "... for so long" "$OUT" "^pid $P mkqueue: stuck for ([5-9][0-9][0-9]ms|[0-9.]+s|[0-9]+m[0-9]+s): queue [01] \(hung-or-long\)"
is "heads that stand still" "$(gpq why -p $P --profile 200ms -rno QID,STATE,PACKET,SHARE)" "0 next barrier-and 1
1 next barrier-and 1"
echo 1000 > $PARAMS/packet_rate
ok "gpq suspends it" gpq suspend -q -p $P
is "a profile of what is suspended" "$(gpq why -p $P --profile 200ms -rno QID,STATE,SHARE)" "0 off 1
1 off 1"
is "suspended by gpq" "$(rows suspended QID,STATE,BY_PID,BY_COMMAND)" "$(H=$(gpq suspend --list -rno HOLDER | head -1); printf '0 suspended %s gpq-holder\n1 suspended %s gpq-holder' $H $H)"
ok "gpq resumes it" gpq resume -q -p $P
dbg $P seize enable snap=$CLEAR_NEW susp=0 hold > /tmp/dbg.log 2>&1 &
W=$!
within 20 grep -q 'susp=0 -> 1' /tmp/dbg.log || fail "queue 0 is suspended" "$(cat /tmp/dbg.log)"
is "suspended by another debugger: one queue of two" "$(rows suspended QID,STATE,BY_PID,BY_COMMAND)" "0 suspended $W dbg
1 running - -"
reap $W
echo $P > /sys/kernel/debug/softgpu/evict
if driver_has untraced_debugger; then S=suspended-or-evicted; else S=evicted; fi
is "evicted" "$(rows $S QID,STATE,STUCK)" "0 $S no
1 $S no"
echo $P > /sys/kernel/debug/softgpu/restore
within 20 sh -c "! gpq why -p $P -rno STATE | grep -q evicted" || fail "restored" "$(gpq why -p $P)"
gpq why -p $P --watch 100ms --over 10ms -rno STATE,DETAIL > /tmp/watched 2> /tmp/watched.err &
W=$!
within 20 test -s /tmp/watched
echo $P > /sys/kernel/debug/softgpu/evict
within 20 grep -q '^evicted by.*:.x20userptr$' /tmp/watched || fail "a watcher is told why" "$(sort /tmp/watched | uniq -c; cat /tmp/watched.err)"
kill $W
wait $W
echo $P > /sys/kernel/debug/softgpu/restore
reap $P

# Kernels that hang, on a GPU whose read index moves when a kernel ends (N), and on one where it moves at its launch (Y).
H=/sys/module/amdgpu/parameters
echo 0x123400 > $H/hang_object
for taken in N Y; do
	echo $taken > $H/hang_taken
	left=$([ $taken = Y ] && echo 1 || echo 2)
	was=$([ $taken = Y ] && echo "was taken" || echo "waits for nothing")
	made hung 0 QID,BACKLOG,AT_WORK,ROOT_QID "hung-or-long 0 $left 0 -
behind 1 1 - 0"
	aql hung
	rows hung-or-long STATE > /dev/null
	like "hang_taken $taken: the kernel that hangs, and who waits behind it" "$(gpq why -p $P | head -4 | tr -s '\n ' ' ')" \
		"^pid $P aqlq: hung-or-long: queue 0: kernel 0x123400 \(packet 0\) $was, and has not ended in [0-9.]+ms; 1 queue waits behind it host: the first thread: [a-z_.0-9]*pause[a-z_.0-9]* do: gpq why -p $P"
	is "hang_taken $taken: its time is its own in a profile" "$(gpq why -p $P -Q 0 --profile 200ms -rno STATE,PACKET,SHARE)" \
		"$([ $taken = Y ] && echo running || echo next) dispatch 1"
	reap $P
	made hung-signal 0 QID,AT_WORK,BY_QID,BY_INDEX "hung-or-long 0 0 - -
behind 1 - 0 0"
done
# For how long, by the time in the signal of the kernel: two looks that are 10 ms apart would not know.
aql hung-signal
within 20 sh -c "gpq why -p $P -rno STATE | grep -q hung-or-long"
usleep 1500000
like "since when it is at work" "$(gpq why -p $P --over 10ms -rno DETAIL --filter 'QID == 0' | sed 's/.x20/ /g')" \
	"^kernel 0x123400 \(packet 0\) was taken, and has not ended in ([1-9]|[1-9][0-9])(\.[0-9]+)?s: its signal"
reap $P

# The same with rings in VRAM, which others can read through the mapping's access operation alone; and where that fails.
export AQLQ_VRAM_RINGS=1
aql hung
unset AQLQ_VRAM_RINGS
within 20 sh -c "gpq why -p $P -rno STATE | grep -q hung-or-long"
is "the rings are mapped as VRAM is" "$(awk '/renderD/ { ring = 1 } /^VmFlags/ { n += ring && / pf io /; ring = 0 } END { print n }' /proc/$P/smaps)" 2
is "rings in the GPU's memory: what hangs, and who waits for it" "$(gpq why -p $P -rno QID,STATE,AT_WORK,ROOT_QID)" "0 hung-or-long 0 -
1 behind - 0"
echo N > $H/vram_access
like "rings that cannot be read there: indices tell" "$(gpq why -p $P -rno QID,STATE,DETAIL --filter 'QID == 0' | sed 's/.x20/ /g')" \
	"^0 hung-or-long stands still for [0-9.]+m?s with 1 packet behind it; its ring is in the GPU's memory, where packets cannot be read$"
echo Y > $H/vram_access
reap $P
made hung-two 0 BACKLOG,AT_WORK "hung-or-long 1 -"
made hung-mute 0 BACKLOG,AT_WORK "idle-or-running 0 -"
made hung-older 0 BACKLOG,AT_WORK "hung-or-long 0 1"
aql hung-older
is "of kernels that run at once the one that hangs" "$(rows hung-or-long DETAIL | sed -E 's/.x20/ /g; s/[0-9.]+(m?s)$/N\1/')" \
	"kernel 0x123400 (packet 1) was taken, and has not ended in Nms"
reap $P
aql hung
is "it hangs" "$(rows hung-or-long STATE --filter 'QID == 0')" hung-or-long
echo 0 > $H/hang_object
is "and ends" "$(rows idle QID,STATE)" "0 idle
1 idle"
reap $P
echo N > $H/hang_taken

# The root of several waits, whatever it is.
made behind 7 QID,STUCK,BY_QID,ROOT_QID,ROOT_STATE "not-published 2 yes - - -
behind 0 yes 1 2 not-published
behind 1 yes 2 2 not-published"
aql behind
kill -STOP $P
is "a stopped process is not stuck" "$(rows stopped QID,STATE,STUCK,ROOT_STATE)" "0 behind no stopped
1 behind no stopped
2 stopped no -"
status_is "a stopped process: exit status" 0 gpq why -p $P
kill -CONT $P
is "but is once it goes on" "$(rows not-published QID,STATE,STUCK --filter 'QID == 2')" "2 not-published yes"
reap $P
aql chain
dbg $P seize enable snap=$CLEAR_NEW susp=1 hold > /tmp/dbg.log 2>&1 &
W=$!
within 20 grep -q 'susp=1 -> 1' /tmp/dbg.log || fail "queue 1 is suspended" "$(cat /tmp/dbg.log)"
is "behind a queue that another debugger suspended" "$(rows behind QID,STATE,ROOT_QID,ROOT_STATE)" "0 behind 1 suspended
1 suspended - -"
reap $W $P

# Processes that wait for each other's signals, in a file that they share.
aql first /dev/shm/ring
FIRST=$P
aql third /dev/shm/ring
THIRD=$P
aql second /dev/shm/ring
is "two processes that wait for each other, and a third" "$(rows deadlock PID,STATE,STUCK,BY_PID,BY_COMMAND,BY_INDEX,ROOT_PID -p $FIRST,$THIRD | sort -n)" \
"$FIRST deadlock yes $P aqlq 1 -
$THIRD behind yes $FIRST aqlq 1 $FIRST
$P deadlock yes $FIRST aqlq 1 -"
status_is "... are stuck" 7 gpq why
like "each is named" "$(gpq why -rno DETAIL --filter "PID == $FIRST")" "^waits.x20for.*kernel.x200x123400.x20.packet.x201..x20of.x20queue.x200.x20of.x20process.x20$P,.x20which.x20waits.x20for.x20this.x20queue"
like "one of them alone" "$(gpq why -p $FIRST | head -1)" "^pid $FIRST aqlq: stuck for [0-9.]+m?s: queue 0 \(deadlock\): waits for kernel"
reap $FIRST $THIRD $P
rm /dev/shm/ring

# More processes than VMIDs.
ALL=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	mkqueue -q -n 1 > /dev/null 2>&1 &
	ALL="$ALL $!"
done
within 30 sh -c "[ \$(gpq queues -rno PID | wc -l) = 10 ]"
is "the GPU is over-subscribed, and all go on" "$(gpq why -rno STATE | sort | uniq -c | sed 's/^ *//')" "10 running"
echo 4 > $PARAMS/hqd_slots
echo 0 > $PARAMS/packet_rate
sleep 1
is "four are in a slot, and the others wait for one" "$(gpq why -rno STATE | sort -u)" "hung-or-long
waits-slot"
like "with how many there are" "$(gpq why -rno DETAIL --filter 'STATE == "waits-slot"' | head -1)" '^10\\x20compute\\x20queues\\x20of\\x2010\\x20processes\\x20share\\x20the\\x20GPU,\\x20which\\x20has\\x2024\\x20slots'
reap $ALL
# A GPU that does not let queues go, and the driver's reset: what the process had on it is gone.
echo 24 > $PARAMS/hqd_slots
echo 1000 > $PARAMS/packet_rate
aql chain
echo Y > $PARAMS/preempt_hang
echo $P > /sys/kernel/debug/softgpu/evict 2> /dev/null
echo N > $PARAMS/preempt_hang
is "after a reset" "$(rows reset QID,STATE,STUCK)" "0 reset yes
1 reset yes"
like "the kernel's log says why" "$(gpq why -p $P | head -2 | tr -s '\n ' ' ')" \
	"^pid $P aqlq: stuck for [0-9.]+m?s: queue 0 \(reset\): its GPU was reset: \[ *[0-9.]+\] softgpu: reset begin; 2 of 2 queues"
status_is "after a reset: exit status" 7 gpq why -p $P
reap $P
target -n 1
is "a process that began after it is not concerned" "$(rows running STATE)" running
reap $P
unload
kernel_is_content
finish
