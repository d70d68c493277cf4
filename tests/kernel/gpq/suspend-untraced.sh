# gpq suspend --no-trace: the holder sets the session up, lets go of ptrace, and goes on holding. The promises are those of
# a traced hold. A driver that takes calls from the tracer alone (6.12) refuses, and the target is as it was.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/suspend-kill.inc

hold() { gpq suspend -p $P --no-trace "$@"; }
holder_of() { gpq suspend --list -r -n -o HOLDER -p $1; }
is_left() { within 10 no_holder || fail "no holder is left ($1)" "$(holders)"; }

refuses() {
	target -q -n 2
	status_is "the driver wants a tracer: exit status" 6 hold
	like "the sentence" "$OUT" "pid $P: this kernel's driver lets only the tracer .*; leave out --no-trace"
	is_left "refused"
	is_whole "refused"
	reap $P
}

holds() {
	target -q -n 2 -s --signals /tmp/signals
	status_is "suspend" 0 hold
	for q in 0 1; do still $q "held without tracing" 200; done
	is "nobody traces the target" "$(tracer $P)" 0
	is "gpq queues calls its queues suspended" \
		"$(gpq queues -p $P -r -n -o QID,STATE | tr '\n' ' ')" "0 suspended 1 suspended 2 suspended "
	is "and names the holder" "$(gpq queues -p $P -r -n -o HOLDER | sort -u)" "$(holder_of $P)"
	status_is "suspending again is harmless" 0 hold
	status_is "also without the option" 0 gpq suspend -p $P
	is "it is the same holder, which still does not trace" "$(holders) $(tracer $P)" "1 0"
	sendsig $P 1000
	within 60 grep -q "^received 1000 " /tmp/signals
	like "signals do not pass through the holder, and none is lost" "$(cat /tmp/signals)" "^received 1000 distinct 1000 duplicate 0 "
	status_is "resume of one queue" 0 gpq resume -p $P -Q 1
	moves 1 "resumed by name"
	still 0 "still held" 200
	status_is "--keep" 0 gpq resume -p $P --keep
	moves 0 "kept"
	status_is "suspended by the kept holder" 0 hold
	still 1 "by the kept holder" 200
	status_is "resume" 0 gpq resume -p $P
	is_left "resume"
	is_whole "resumed"
	gpq suspend -p $P > /dev/null
	status_is "a holder that traces cannot let go" 1 hold
	like "and says so" "$OUT" "pid $P: it is held already, by a holder that traces it; gpq resume ends that one"
	still 0 "the first hold stays" 200
	gpq resume -p $P > /dev/null
	is_left "traced"
	reap $P
}

# Other tracers come and go, one of them while the queues are held.
tracers() {
	target -q -n 2
	hold > /dev/null
	dbg $P seize ms=300 detach hold > /tmp/dbg.out 2>&1 &
	D=$!
	within 10 traced $P || fail "another program traces a held target" "$(cat /tmp/dbg.out)"
	still 0 "somebody else traces" 200
	within 10 untraced $P || fail "it lets go" "$(cat /tmp/dbg.out)"
	still 0 "it let go" 200
	kill -9 $D
	still 0 "it was killed" 200
	status_is "resume" 0 gpq resume -p $P
	is_left "tracers"
	is_whole "after other tracers"
	reap $P
}

# A debugger that calls ENABLE gets EALREADY, and the driver still makes it the owner, whose death resumes nothing. The
# holder takes the session back as soon as nobody else traces.
thieves() {
	target -q -n 2
	hold > /dev/null
	dbg $P seize enable detach hold > /tmp/dbg.out 2>&1 &
	D=$!
	within 60 grep -q "detach -> 0" /tmp/dbg.out || fail "a debugger comes and lets go" "$(cat /tmp/dbg.out)"
	like "the driver says EALREADY" "$(cat /tmp/dbg.out)" "enable -> -1 EALREADY"
	still 0 "taken" 200
	status_is "resume takes the session back from a debugger that does not trace" 0 gpq resume -p $P
	is_left "taken back"
	moves 0 "taken back and resumed"
	kill -9 $D
	is_whole "the thief is gone"

	# Nobody calls the holder: it notices by itself, keeps the queues off, and its death resumes them again.
	hold > /dev/null
	H=$(holder_of $P)
	dbg $P seize enable > /tmp/dbg.out 2>&1
	within 10 sh -c "grep -q 'TracerPid:.$H\$' /proc/$P/status" || fail "an idle holder takes the session back, by tracing" "$(cat /tmp/dbg.out; grep Tracer /proc/$P/status)"
	still 0 "the hold is kept" 200
	is "and says so" "$(gpq suspend --list -r -n -o STATE -p $P)" suspended
	kill -9 $H
	is_free "the holder was killed after that"

	hold > /dev/null
	dbg $P seize enable hold > /tmp/dbg.out 2>&1 &
	D=$!
	within 10 grep -q "enable ->" /tmp/dbg.out
	status_is "resume while the thief traces" 1 gpq resume -p $P
	like "it does not say that the queues run" "$OUT" "pid $P: another debugger has taken the debug session, and its queues stay as they are"
	still 0 "they stay off" 200
	ok "the holder stays, and tries again" has_holder
	kill -9 $D
	is_left "the thief has ended: the holder ends the session"
	is_whole "the thief has ended"
	reap $P
}

lives() {
	target -q -n 1 -l 1500
	hold > /dev/null
	within 20 test -d $KFD/proc/$P/queues/1
	within 10 sh -c "gpq queues -p $P -r -n -o STATE | grep -c suspended | grep -qx 2" || fail "a new queue is held too" "$(gpq queues -p $P)"
	gpq resume -p $P > /dev/null
	moves 1 "the new queue, resumed"
	reap $P
	target -q -n 1 --exec 2000
	hold > /dev/null
	is_left "exec"
	within 10 test -d "$KFD/proc/$P/queues/0"
	usleep 200000
	is_free "after exec"
	reap $P
	target -q -n 1 --exit 1500
	hold > /dev/null
	wait $P
	is "it exits while held: its parent learns how" $? 3
	is_left "exit"
	target -q -n 1
	status_is "a deadline" 0 hold --for 500ms
	is_left "deadline"
	is_whole "deadline"
	status_is "a command" 0 gpq suspend -p $P --no-trace -- true
	is_whole "after the command"
	reap $P
}

# The driver makes a target that enables or disables its runtime wait for an answer: the owner gives it, traced or not.
runtime() {
	mkqueue -q -n 1 -W 2500 -k $STATUS & P=$!
	within 10 test -d "$KFD/proc/$P"
	rm -f $STATUS $STATUS.new
	status_is "suspend before the runtime is enabled" 0 hold
	within 20 test -d "$KFD/proc/$P/queues/0" || fail "the target starts while it is held" "$(cat /proc/$P/wchan)"
	within 10 test -s $STATUS
	still 0 "its first queue was caught"
	gpq resume -p $P > /dev/null
	moves 0 resumed
	reap $P
	target -q -n 1 -E -t 2
	hold > /dev/null
	wait $P
	is "the runtime is disabled while held: the target ends" $? 0
	is_left "the runtime is disabled"
}

kills() {
	target -q -n 2
	for n in 1 2 3 4 5 6 7 8; do
		killed holder:$n KILL --no-trace
		killed holder:$n TERM --no-trace
		left_stopped holder:$n --no-trace
	done
	for n in 1 2 3 4 5; do killed gpq:$n KILL --no-trace; done
	hold > /dev/null
	kill -9 "$(holder_of $P)"
	is_free "a holder that held was killed"
	hold > /dev/null
	kill -STOP "$(holder_of $P)"
	status_is "suspend with a holder that is stopped" 124 hold
	like "says so" "$OUT" "its holder is stopped .*; gpq resume ends it"
	status_is "resume with a holder that is stopped" 0 gpq resume -p $P
	like "says so" "$OUT" "its holder did not answer and was killed"
	is_free "the holder was stopped"
	# Also where somebody else traces, who hides whether the queues run.
	hold > /dev/null
	dbg $P seize hold > /tmp/dbg.out 2>&1 &
	D=$!
	within 10 traced $P
	kill -STOP "$(holder_of $P)"
	status_is "resume of a stopped holder beside another tracer" 1 gpq resume -p $P
	like "does not say more than it knows" "$OUT" "its holder did not answer and was killed, but whether its queues run is hidden"
	within 5 no_holder || fail "it was killed" "$(holders)"
	moves 0 "the driver resumed them"
	kill -9 $D
	is_free "the other tracer is gone"
	reap $P
}

load gfx942
# What the driver allows is found out here, too: its change came in the middle of a series.
target -q -n 1
if dbg $P seize enable detach snap | grep -q "snap -> 0"; then allowed=yes; else allowed=; fi
reap $P
if [ -n "$allowed" ]; then
	for part in holds tracers thieves lives runtime kills; do $part; done
else
	refuses
fi
unload
kernel_is_content
finish
