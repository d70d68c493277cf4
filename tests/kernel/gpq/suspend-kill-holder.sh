# The holder killed after each step of its part of the protocol.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/suspend-kill.inc

load gfx942
target -q -n 2
for n in 1 2 3 12 4 5 6 7 8; do # opened, seized, probed, stopped the target, enabled, prepaid, before the suspension, behind it, answered
	for sig in KILL TERM INT; do killed holder:$n $sig; done
	left_stopped holder:$n
done

# A client that keeps the holder, as gpq bench ab does, suspends and releases queue 1 while queue 0 is held by another.
released() { # STEP SIGNAL
	local h talk
	GPQ_TEST_STOP=holder:$1 gpq-testing suspend -p $P -Q 0 > /dev/null
	h=$(tracer $P)
	talk "$(gpq suspend --list -r -n -o SOCKET)" "suspend queues=1 tie" "release keep" > /tmp/talk.out &
	talk=$!
	within 20 is_stopped $h || fail "holder:$1 is reached" "$(cat /tmp/talk.out)"
	kill -$2 $h
	kill -CONT $h 2> /dev/null
	wait $talk
	is_whole "holder:$1 $2"
}
for n in 10 11; do # told to release, resumed
	for sig in KILL TERM; do released $n $sig; done
done
# A holder that is stopped for good is ended by the gpq that started it.
GPQ_TEST_STOP=holder:8 gpq-testing suspend -p $P > /tmp/gpq.out 2>&1
is "stopped before the hold was confirmed: status" $? 1
is_whole "stopped before the hold was confirmed"
status_is "stopped while COMMAND runs" 0 gpq suspend -p $P -- sh -c "kill -STOP \$(sed -n 's/^TracerPid:.//p' /proc/$P/status)"
is_whole "stopped while COMMAND runs"
reap $P
unload
kernel_is_content
finish
