# Memory of another user's process that does not answer (a FUSE file whose server is silent, where its indices, a signal, its
# command line or its runtime lie): no command waits for it, it is named, and all others are shown. Nor for a driver that waits.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

load gfx90a
echo 0 > /proc/sys/kernel/yama/ptrace_scope
chmod 666 /dev/kfd /dev/dri/renderD*
SILENT=0

# silent WHAT MS: S is its pid.
silent() {
	SILENT=$((SILENT + 1))
	mkdir -p /tmp/fuse.$SILENT
	: > /tmp/silent.log # the process before this one has said "ready" there
	command silent /tmp/fuse.$SILENT $2 $1 > /tmp/silent.log 2>&1 &
	S=$!
	within 20 grep -q ready /tmp/silent.log || fail "silent $1 starts" "$(cat /tmp/silent.log)"
}

loud() {
	killall silent-server 2> /dev/null
	reap $S
	umount /tmp/fuse.$SILENT 2> /dev/null
}

# A command ends, whatever it reads; what it said is in OUT, its status in RC. One that hangs is left behind.
ends() { # DESCRIPTION COMMAND...
	local d=$1 c
	shift
	rm -f /tmp/ends.rc
	{ "$@" > /tmp/ends.out 2>&1; echo $? > /tmp/ends.rc; } &
	c=$!
	if within 40 test -s /tmp/ends.rc; then pass "$d ends"; else
		fail "$d ends" "it did not within 40 s: $(cat /proc/$c/task/$c/children 2> /dev/null)"
		pkill -9 -P $c 2> /dev/null
	fi
	OUT=$(cat /tmp/ends.out)
	RC=$(cat /tmp/ends.rc 2> /dev/null || echo none)
}

# ... and names the silent one, but not the other.
says_silent() { # DESCRIPTION COMMAND...
	ends "$@"
	like "$1: it is named" "$OUT" "pid $S: its memory does not answer"
	unlike "$1: none else is" "$OUT" "pid $P: its memory"
}

target -q -n 1 -s
silent indices 0

says_silent "queues" gpq queues -o PID,QID,READ_NOW,WRITE_NOW -n
like "the queue of the silent one has no indices" "$OUT" "(^| )$S +0 +- +- "
like "the queues of others have theirs" "$OUT" "(^| )$P +0 +[0-9]+ +[0-9]+ "
is "in part" $RC 3
says_silent "queues --output-all" gpq queues --output-all
says_silent "packets" gpq packets -p $S,$P -o PID,QID,PACKET_ID -n
like "packets of others" "$OUT" "(^| )$P +0 +[0-9]+ "
says_silent "why" gpq why -o PID,QID,STATE -n
like "the state of others is known" "$OUT" "(^| )$P +0 +(running|hung|idle|waits|behind)"
like "that of the silent one is told by its slot: its packet is not taken" "$OUT" "(^| )$S +0 +hung-or-long "
says_silent "why --profile" gpq why --profile 500ms -o PID,QID,STATE -n
like "a profile of others" "$OUT" "(^| )$P +0 +[a-z]+"
says_silent "suspend --verify" gpq suspend -p $S --verify --for 1s -o PID,QID,PROOF -n
within 10 gpq resume -p $S > /dev/null 2>&1
ends "suspend --idle" gpq suspend -p $S --idle --for 1s
gpq resume --all > /dev/null 2>&1
rm -rf /tmp/snap
ends "snapshot" gpq snapshot /tmp/snap
ok "a snapshot has the queues of both" test -d /tmp/snap/sys/class/kfd/kfd/proc/$P/queues/0 -a -d /tmp/snap/sys/class/kfd/kfd/proc/$S/queues/0

# ---- the scheduler goes on, and ends when told to

gpq sched --online comm=silent --offline comm=mkqueue --max-hold 1h --socket /run/gpq-sched.sock > /tmp/sched.log 2>&1 &
G=$!
within 20 gpq sched --status --socket /run/gpq-sched.sock || fail "sched starts" "$(cat /tmp/sched.log)"
for i in 1 2 3 4 5; do ends "sched --status, look $i" gpq sched --status --socket /run/gpq-sched.sock --table members; usleep 400000; done
within 30 sh -c "gpq sched --status --socket /run/gpq-sched.sock --table members | grep -qE '$P mkqueue +0 +off'"
like "the silent member counts as busy: the other is off" "$(gpq sched --status --socket /run/gpq-sched.sock --table members)" "$P mkqueue +0 +off"
kill $G
within 20 test ! -d /proc/$G && pass "sched ends by SIGTERM" || fail "sched ends by SIGTERM" "$(cat /proc/$G/stack)"
like "sched names the silent one" "$(cat /tmp/sched.log)" "pid $S: its memory does not answer"
moves 0 "after sched has ended"

# Those that were left behind end with what they waited for.
loud
within 10 sh -c '! pidof gpq-reader' && pass "nothing is left behind" || fail "nothing is left behind" "$(pidof gpq-reader)"

# ---- other places

silent signal 0
says_silent "why of a signal" gpq why -o PID,QID,STATE,NEXT -n
like "its indices are known" "$OUT" "(^| )$S +0 .*barrier"
loud

silent file 0
ends "why of a runtime whose file is silent" gpq why -o PID,QID,STATE,NEXT -n -v
like "its queue is shown all the same" "$OUT" "(^| )$S +0 .*barrier"
loud

# ---- late, but in time

silent indices 900
ends "queues of a page that answers after 900 ms" gpq queues -p $S -o PID,QID,READ_NOW,WRITE_NOW -n
like "it is waited for" "$OUT" "(^| )$S +0 +0 +1 "
is "nothing is missing" $RC 0
loud

# ---- a driver that waits for a preemption: its dumps stand behind the lock that it holds

PREEMPT=/sys/module/amdgpu/parameters/preempt_us
echo 7000000 > $PREEMPT
gpq suspend -p $P --for 1s > /dev/null 2>&1 &
B=$!
within 10 pidof gpq-holder || fail "a holder starts" ""
usleep 500000
ends "why while the driver waits" gpq why -o PID,QID,STATE -n
like "it says so" "$OUT" "the driver does not answer"
# Between two preemptions the driver may answer about MQDs, and wait again before it says what the slots hold.
like "the queues are listed" "$OUT" "(^| )$P +0 +(unknown|hung-or-long)"
is "why in part" $RC 3
echo 0 > $PREEMPT
wait $B
gpq resume --all > /dev/null 2>&1
moves 0 "once the driver has its answer"

reap $P
unload
kernel_is_content
finish
