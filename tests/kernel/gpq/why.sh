# gpq why on living queues: each state that it names is made on purpose, and nothing else is said.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

PARAMS=/sys/module/amdgpu/parameters

aql() { # SCENARIO: P is the pid
	: > /tmp/aqlq.log
	aqlq "$1" > /tmp/aqlq.log 2>&1 &
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

made() { # SCENARIO STATUS COLUMNS WANTED
	aql $1
	is "$1" "$(rows ${4%% *} STATE,$3)" "$4"
	status_is "$1: exit status" $2 gpq why -p $P
	reap $P
}

load gfx90a
aql chain
A=$(signal a) E=$(signal host)
is "a chain: which packet of which queue sets the signal" "$(rows waits-barrier QID,STATE,STUCK,SIGNAL,VALUE,BY_QID,BY_INDEX,BY_TYPE)" \
"0 waits-barrier no $A 1 1 1 dispatch
1 waits-external no $E 1 - - -"
status_is "nothing of it is stuck" 0 gpq why -p $P
like "in a sentence" "$OUT" "signal $A is 1, set by packet 1 \(dispatch\) of queue 1 .*signal $E is 1, and no packet of this process sets it"
kill -USR1 $P
is "and once the host has set it" "$(rows idle QID,STATE,BACKLOG)" "0 idle 0
1 idle 0"
reap $P

made deadlock 3 QID,STUCK,BY_QID,BY_INDEX "deadlock 0 yes 1 1
deadlock 1 yes 0 1"
made alone 3 BY_QID,BY_INDEX "deadlock 0 1"
made unpublished 3 STUCK,NEXT,BACKLOG "not-published yes invalid 1"
made idle 0 QID,BACKLOG,NEXT "idle 0 0 -
idle 1 0 -"
made running 0 BACKLOG,TAKEN,VALUE "computing 0 0 1"
made sdma 0 QID,TYPE,BY_QID,BY_TYPE "waits-barrier 0 compute 1 sdma-atomic
waits-external 1 sdma - -"

# Profiles: heads that stand on known packets have all of the time, and what changes meanwhile is counted before and after.
looks() { awk '/^voluntary/ { print $2 }' /proc/$G/status; } # each look is followed by a wait
more_looks() { # SECONDS
	local n
	n=$(looks)
	within $1 sh -c "[ \$(awk '/^voluntary/ { print \$2 }' /proc/$G/status) -gt $((n + 20)) ]" || fail "it goes on looking" "$(looks) after $n"
}
profile() { # OPTION...: G is the pid
	gpq why --profile 1h "$@" -rno PID,QID,STATE,PACKET,LOOKS,OF > /tmp/profile 2> /tmp/profile.err &
	G=$!
	within 30 sh -c "ls -l /proc/$G/fd | grep -q /proc/$P/mem" || fail "a profile begins" "$(cat /tmp/profile.err)"
}
aql chain
is "a profile of two queues that wait" "$(gpq why -p $P --profile 300ms -rno QID,STATE,PACKET,KERNEL,SHARE)" "0 waits barrier-and - 1
1 waits barrier-and - 1"
is "as stacks" "$(gpq why -p $P --profile 100ms --folded | sed 's/ [0-9]*$//')" "aqlq $P;compute 0;[waits barrier-and]
aqlq $P;compute 1;[waits barrier-and]"
before=$(cut -d' ' -f1-13 /proc/$P/stat)
profile --comm 'aqlq|mkqueue' --perfetto /tmp/profile.json
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
is "--attach, for the user's own process" "$(su user -c "gpq why -q -p $P --attach -rno QID,STATE,BY_QID")" "0 waits-barrier 1
1 waits-external -"
is "--attach --profile: one session, and then looks" "$(su user -c "gpq why -q -p $P --attach --profile 300ms -rno QID,STATE,SHARE")" "0 waits 1
1 waits 1"
is "that session is over" "$(grep TracerPid /proc/$P/status)" "TracerPid:	0"
reap $P $S

echo N > $PARAMS/wptr_poll
made lost 3 STUCK,READ,WRITE,SLOT_WRITE "doorbell-lost yes 1 2 1"
echo Y > $PARAMS/wptr_poll

echo Y > $PARAMS/aql_errors
made bad 3 QID,STUCK,NEXT,BY_QID,EXCEPTIONS "error 0 yes unknown - PACKET_RESERVED
deadlock 1 yes barrier-and 0 -"
echo N > $PARAMS/aql_errors

target -n 2
is "packets are taken" "$(rows computing QID,STATE,STUCK --filter 'TAKEN > 0')" "0 computing no
1 computing no"
echo 0 > $PARAMS/packet_rate
is "none is taken, and none waits" "$(rows computing-or-hung STATE,TAKEN,NEXT --filter 'QID == 0')" "computing-or-hung 0 barrier-and"
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
1 computing - -"
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

# More processes than VMIDs.
ALL=
for _ in 1 2 3 4 5 6 7 8 9 10; do
	mkqueue -q -n 1 > /dev/null 2>&1 &
	ALL="$ALL $!"
done
within 30 sh -c "[ \$(gpq queues -rno PID | wc -l) = 10 ]"
within 20 sh -c "[ \$(gpq why -rno STATE | grep -c takes-turns) = 10 ]"
is "the GPU is over-subscribed" "$(gpq why -rno STATE | sort | uniq -c | sed 's/^ *//')" "10 takes-turns"
like "with how many there are" "$(gpq why -rno DETAIL | head -1)" '^10\\x20compute\\x20queues\\x20of\\x2010\\x20processes\\x20share\\x20the\\x20GPU,\\x20which\\x20has\\x2024\\x20slots'
reap $ALL
unload
kernel_is_content
finish
