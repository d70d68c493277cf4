# gpq suspend and gpq resume on every kind of scheduler: what they do, say and undo.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/prio.inc

column() { echo "$1" | awk -v n="$2" 'NR > 1 { printf "%s ", $n }'; }

on_and_off() {
	target -n 2 -s
	status_is "suspend" 0 gpq suspend -p $P
	is "one row per queue" "$(column "$OUT" 3)" "0 1 2 "
	is "with its type" "$(column "$OUT" 4)" "compute compute sdma "
	is "all suspended" "$(column "$OUT" 5)" "suspended suspended suspended "
	still 0 suspended
	still 2 "SDMA, suspended"
	status_is "a second suspend changes nothing" 0 gpq suspend -p $P
	is "and says so" "$(column "$OUT" 5)" "already already already "
	is "one holder" "$(holders)" 1
	like "its command line says whom it holds" "$(tr '\0' ' ' < /proc/$(holder_pid)/cmdline)" \
		"^gpq-holder: pid $P: 3 queues suspended, until resume"
	status_is "suspend --list" 0 gpq suspend --list -r -o PID,STATE,QUEUES,HELD_QIDS,LEFT
	like "shows it" "$OUT" "$P suspended 3 .*"
	status_is "resume" 0 gpq resume -p $P
	is "all resumed" "$(column "$OUT" 5)" "resumed resumed resumed "
	moves 0 resumed
	moves 2 resumed
	is "it is untraced when resume returns" "$(tracer $P)" 0
	within 5 no_holder || fail "no holder is left" "$(holders)"
	status_is "resuming what is not suspended: not found" 5 gpq resume -p $P
	like "and says so" "$OUT" "pid $P: not suspended by gpq"
	reap $P
}

some_queues() {
	target -n 3
	status_is "suspend -Q 1" 0 gpq suspend -p $P -Q 1
	is "one row" "$(column "$OUT" 3)" "1 "
	still 1 "named"
	moves 0 "not named"
	status_is "-Q 1,99: done in part" 3 gpq suspend -p $P -Q 1,99
	like "the unknown one is named" "$OUT" "pid $P: no queue 99"
	moves 0 "not named"
	status_is "suspend the rest" 0 gpq suspend -p $P
	status_is "resume -Q 1,99: done in part" 3 gpq resume -p $P -Q 1,99
	like "the unknown one is named" "$OUT" "pid $P: no queue 99"
	moves 1 "resumed by name"
	still 0 "still suspended"
	status_is "resume --all" 0 gpq resume --all
	moves 0 "all resumed"
	status_is "resume --all with nothing to do" 0 gpq resume --all
	status_is "-Q 99 alone: not found" 5 gpq suspend -p $P -Q 99
	is "a suspend that suspends nothing leaves no tracer" "$(tracer $P)" 0
	reap $P
}

deadline_passed() { no_holder && untraced $P; }

for_a_while() {
	target -n 1
	status_is "suspend --for 1500ms" 0 gpq suspend -p $P --for 1500ms
	still 0 "before the deadline" 200
	within 10 deadline_passed || fail "it ends at the deadline" "$(ps | grep gpq-)"
	moves 0 "after the deadline"
	status_is "--for 1ms" 0 gpq suspend -p $P --for 1ms
	within 10 deadline_passed || fail "it ends at the deadline" "$(ps | grep gpq-)"
	moves 0 "after the deadline"
	# A lasting suspension is not shortened by a shorter one.
	gpq suspend -p $P > /dev/null
	gpq suspend -p $P --for 50ms > /dev/null
	usleep 300000
	still 0 "the longer wish wins" 200
	gpq resume -p $P > /dev/null
	reap $P
	# Each queue has a deadline of its own.
	target -q -n 2
	gpq suspend -p $P -Q 0 > /dev/null
	set -- $(gpq suspend -p $P -Q 1 --for 300ms -r -n -o RESULT,UNTIL_NS)
	like "only the second one has a deadline" "$*" "^suspended [0-9]+ ?$"
	moves 1 "its time is over"
	still 0 "held for longer" 200
	OUT=$(talk "$(gpq suspend --list -r -n -o SOCKET)" "suspend queues=1 tie" "suspend queues=0 tie" release)
	like "a release resumes what no other claim is about, and says so" "$OUT" "result=already .* ok .*queue id=1 .* result=resumed [^q]* ok .*held=1 "
	moves 1 "it was released"
	still 0 "held for longer" 200
	gpq resume -p $P > /dev/null
	reap $P
}

# /proc/uptime is the clock of logs, as this machine never sleeps; in steps of 10 ms.
uptime_cs() { sed 's/ .*//; s/\.//' /proc/uptime; }
in_time() { # BEGIN NANOSECONDS END
	if [ "$2" -gt 0 ] && [ $(($2 / 10000000)) -ge "$1" ] && [ $(($2 / 10000000)) -le "$3" ]; then echo yes; else
		echo "no: $1 $2 $3"; fi
}

# What gpq trace --mark reads.
stamps() {
	local before at until
	target -n 1
	before=$(uptime_cs)
	set -- $(gpq suspend -p $P --for 60s -r -n -o AT_NS,UNTIL_NS)
	at=$1 until=$2
	is "suspend says when" "$(in_time $before "$at" $(uptime_cs))" yes
	like "--list shows what is left" "$(gpq suspend --list -r -n -o LEFT)" '^[0-9]+ *$'
	is "and its deadline" "$(in_time $((before + 6000)) "$until" $(($(uptime_cs) + 6000)))" yes
	before=$(uptime_cs)
	OUT=$(gpq resume -p $P --ndjson)
	at=$(echo "$OUT" | sed -n 's/.*"at_ns":\([0-9]*\).*/\1/p')
	is "resume says when, in NDJSON without being asked" "$(in_time $before "$at" $(uptime_cs))" yes
	reap $P
}

# A holder that is on its way out when the next suspend finds its socket.
ending() {
	local h g r
	target -q -n 1
	GPQ_TEST_STOP=holder:9 gpq-testing suspend -p $P > /dev/null
	h=$(tracer $P)
	gpq resume -p $P > /dev/null & r=$!
	within 10 is_stopped $h || fail "the holder is ending" "$(ps | grep gpq-)"
	gpq suspend -p $P > /tmp/o 2>&1 & g=$!
	within 10 grep -q poll /proc/$g/wchan || fail "gpq suspend waits for it" "$(cat /tmp/o)"
	kill -CONT $h
	wait $g
	is "suspend asks a new one" "$? $(column "$(cat /tmp/o)" 5)" "0 suspended "
	wait $r
	still 0 "held by the new one" 200
	unlike "which is another one" "$(tracer $P)" "^$h "
	gpq resume -p $P > /dev/null
	reap $P
}

during_a_command() {
	target -n 1
	status_is "-- COMMAND: its exit status" 7 gpq suspend -p $P --marks /tmp/marks -- sh -c "grep -c TracerPid.*[1-9] /proc/$P/status; exit 7"
	is "it ran while the target was held" "$OUT" 1
	moves 0 "the command has ended"
	is "and it is untraced" "$(tracer $P)" 0
	is "--marks: when it went and came back" "$(sed 's/.*"pid":\([0-9]*\),.*"result":"\([a-z]*\)".*"at_ns":[1-9].*/\1 \2/' /tmp/marks)" "$P suspended
$P resumed"
	gpq suspend -p $P --for 100ms --marks /tmp/marks -- sh -c 'until [ "$(wc -l < /tmp/marks)" = 4 ]; do usleep 10000; done'
	like "... also at its deadline, while the command runs" "$(tail -n 1 /tmp/marks)" '"result":"resumed"'
	status_is "-- COMMAND that is killed" 137 sh -c "gpq suspend -p $P -- sh -c 'kill -9 \$\$'"
	moves 0 "the command was killed"
	status_is "-- COMMAND that does not exist" 127 gpq suspend -p $P -- /nonexistent
	moves 0 "the command did not exist"
	status_is "-- COMMAND that is no program" 126 gpq suspend -p $P -- /etc/passwd
	moves 0 "the command was no program"
	gpq suspend -p $P -- sh -c 'trap "echo got; exit 5" TERM; touch /tmp/runs; while :; do usleep 10000; done' > /tmp/o &
	G=$!
	within 10 test -e /tmp/runs
	still 0 "the command runs" 200
	kill -TERM $G
	wait $G
	is "SIGTERM is sent on to the command" "$? $(cat /tmp/o)" "5 got"
	moves 0 "the command was told to end"
	rm -f /tmp/runs
	status_is "a command is not run when nothing can be suspended" 5 gpq suspend -p 99999 -- touch /tmp/runs
	status_is "nor when one of two processes is not there" 3 gpq suspend -p $P,99999 -- touch /tmp/runs
	ok "it did not run" test ! -e /tmp/runs
	is "and nothing is held then" "$(tracer $P)" 0
	# Two at once: the queue comes back when the last one ends.
	gpq suspend -p $P -- sh -c 'until [ -e /tmp/go ]; do usleep 20000; done' &
	G=$!
	within 10 traced $P
	gpq suspend -p $P -- true
	still 0 "the other one still runs" 200
	touch /tmp/go
	wait $G
	moves 0 "both have ended"
	reap $P
}

several() {
	target -n 1
	mkqueue -q -n 2 -k /tmp/s2 & P2=$!
	within 20 test -s /tmp/s2
	status_is "two processes at once" 0 gpq suspend -p $P,$P2
	is "their queues" "$(column "$OUT" 3)" "0 0 1 "
	is "two holders" "$(holders)" 2
	still 0 "one of two"
	status_is "one of them does not exist: done in part" 3 gpq resume -p $P,$P2,99999
	like "it is named" "$OUT" "pid 99999: no such process"
	moves 0 "resumed"
	moves 1 "resumed" /tmp/s2
	status_is "PIDs from standard input" 0 sh -c "echo $P $P2 | gpq suspend -p -"
	status_is "resume --all" 0 gpq resume --all
	is "all three" "$(column "$OUT" 5)" "resumed resumed resumed "
	status_is "no PID on standard input" 5 sh -c "gpq suspend -p - < /dev/null"
	sh -c "mkqueue -q -n 1 -k /tmp/s3; :" & S=$!
	within 20 test -s /tmp/s3
	status_is "--tree: the process below" 0 gpq suspend --tree -p $S -o QID
	is "one queue" "$(holders)" 1
	status_is "resume --tree" 0 gpq resume --tree -p $S
	killall -q mkqueue
	wait
	rm -f /tmp/s2 /tmp/s3
}

new_queues() {
	target -n 1 -l 1500
	status_is "suspend" 0 gpq suspend -p $P
	within 10 grep -q "^1 " $STATUS
	within 5 list_has 1
	still 1 "created while suspended"
	status_is "resume" 0 gpq resume -p $P
	moves 1 "resumed"
	reap $P
	target -n 1 -l 1500
	status_is "suspend -Q 0" 0 gpq suspend -p $P -Q 0
	within 10 grep -q "^1 " $STATUS
	moves 1 "created while others were named"
	still 0 "named"
	gpq resume -p $P > /dev/null
	reap $P
	target -q -n 2 -l 1500
	gpq suspend -p $P > /dev/null
	gpq resume -p $P -Q 1 > /dev/null
	within 10 grep -q "^2 " $STATUS
	within 5 list_has 2
	moves 1 "resumed by name: a new one does not change that"
	reap $P
}

list_has() { gpq suspend --list -r -n -o HELD_QIDS | grep -q "$1"; }

keep() {
	target -n 1
	gpq suspend -p $P > /dev/null
	status_is "resume --keep" 0 gpq resume -p $P --keep
	moves 0 "resumed, kept"
	like "it is kept" "$(gpq suspend --list -r -n -o STATE,QUEUES)" "kept 0"
	H=$(tracer $P)
	status_is "the next suspend" 0 gpq suspend -p $P
	is "is done by the same holder" "$(tracer $P)" "$H"
	still 0 "suspended by a kept holder" 200
	status_is "resume ends it" 0 gpq resume -p $P
	is "untraced" "$(tracer $P)" 0
	reap $P
}

verify() {
	target -n 1 -s
	status_is "suspend --verify" 0 gpq suspend -p $P --verify -r -n -o QID,PROOF
	is "all stopped" "$OUT" "0 stopped
1 stopped"
	gpq resume -p $P > /dev/null
	status_is "--if-idle leaves a busy queue alone" 1 gpq suspend -p $P -Q 0 --if-idle -r -n -o RESULT
	is "and says so" "$OUT" busy
	moves 0 "it is busy"
	reap $P
}

# A failure holds nothing; a reader that has seen enough is none.
output() {
	target -q -n 1
	status_is "output to a full disk: failed" 1 sh -c "gpq suspend -p $P > /dev/full"
	is "nothing is held then" "$(tracer $P)" 0
	moves 0 "the output failed"
	sh -c "gpq suspend -p $P | true"
	still 0 "the reader went away"
	status_is "resume into a closed pipe" 0 sh -c "gpq resume -p $P | true"
	moves 0 "resumed"
	status_is "JSON" 0 gpq suspend -p $P -J
	like "names its schema" "$OUT" '"schema": ."name": "gpq.suspend"'
	like "is one document" "$OUT" '"qid": 0,.*"result": "suspended", *"latency_ns": [0-9]'
	gpq resume -p $P > /dev/null
	reap $P
}

# Of the queues below.
within_levels() {
	status_is "--prio 8" 0 gpq suspend -p $P --prio 8 -r -n -o QID
	is "only the queue of priority 15" "$OUT" 2
	still 2 "priority 15"
	moves 0 "priority 0"
	gpq resume -p $P > /dev/null
	status_is "--prio 0:7" 0 gpq suspend -p $P --prio 0:7 -r -n -o QID
	is "the other two" "$(echo $OUT)" "0 1"
	moves 2 "priority 15"
	gpq resume -p $P > /dev/null
	status_is "--prio 1:6: none fits" 5 gpq suspend -p $P --prio 1:6
}

# Queue ids 0, 1, 2 get these priorities; debugfs knows them.
priorities() {
	target -q -n 3 -p 0,7,15
	see_driver
	if [ $WRITES = yes ]; then
		within_levels
	else
		status_is "--prio 8 cuts a level: refused" 6 gpq suspend -p $P --prio 8
		like "with the reason and the levels" "$OUT" '^gpq: suspend: --prio 8: the driver does not write .*0:6 is low, 7:10 medium, 11:15 high'
		moves 2 "nothing was suspended"
	fi
	status_is "--prio high" 0 gpq suspend -p $P --prio high -r -n -o QID
	is "only the queue of priority 15 is high" "$OUT" 2
	still 2 "level high"
	moves 1 "level medium"
	gpq resume -p $P > /dev/null
	status_is "--prio 0:10, two whole levels" 0 gpq suspend -p $P --prio 0:10 -r -n -o QID
	is "the other two are low and medium" "$(echo $OUT)" "0 1"
	moves 2 "priority 15"
	gpq resume -p $P > /dev/null
	reap $P
	target -q -n 1 -p 7
	status_is "--prio low,high: none fits" 5 gpq suspend -p $P --prio low,high
	like "says so" "$OUT" "pid $P: none of its queues fits"
	reap $P
}

# One process with queues on two GPUs, named by index and by PCI address.
two_gpus() {
	local bdf
	target -q -G 2 -n 1
	bdf=$(gpq gpus -r -n -o BDF | tail -n 1)
	status_is "--gpu 0" 0 gpq suspend -p $P --gpu 0
	still 0 "on the first GPU"
	moves 1 "on the second GPU"
	status_is "--gpu BDF" 0 gpq suspend -p $P --gpu $bdf
	still 1 "on the second GPU"
	status_is "resume --gpu 0" 0 gpq resume -p $P --gpu 0
	moves 0 "on the first GPU"
	still 1 "on the second GPU"
	status_is "--gpu 9: not found" 5 gpq suspend -p $P --gpu 9
	gpq resume -p $P > /dev/null
	reap $P
}

load gfx942
on_and_off
output
priorities
some_queues
for_a_while
stamps
ending
during_a_command
several
new_queues
keep
verify
unload
load gfx942,gfx90a
two_gpus
unload
for model in $(mine gfx1030 gfx1100); do # another queue scheduler; one debug VMID for all
	load $model
	on_and_off
	new_queues
	unload
done
kernel_is_content
finish
