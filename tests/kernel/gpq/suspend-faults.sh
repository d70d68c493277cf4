# The system calls of suspending and resuming that tests/faults/syscalls.c knows fail once each, in gpq or in its holder, until
# gpq ends. Status 0 of suspend means held, as does 3, where a value could not be read; any other that the queues run. Behind a
# COMMAND they run whatever the status. Status 0 of resume means that they run. What is not 0 comes with a message.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

# Ends what the run before left, so that each fault meets the same state.
let_go() {
	gpq resume -q -p $P > /dev/null 2>&1
	within 10 no_holder
}

queues_stand() {
	local r
	usleep 30000
	look_at_rptr 0
	r=$RPTR
	usleep 90000
	look_at_rptr 0
	[ "$RPTR" = "$r" ]
}

queue_runs() {
	look_at_rptr 0
	within 10 has_moved 0 "$RPTR"
}

# What is wrong after a suspension that ended with that status; nothing, when it told the truth.
after_suspend() { # STATUS
	[ $1 = 0 ] || [ -s /tmp/said ] || echo "status $1 without a message"
	case $1 in
	0 | 3)
		look_at_tracer $P
		[ "$TRACER" != 0 ] || echo "status $1, and nobody holds it"
		queues_stand || echo "status $1, and queue 0 runs"
		;;
	*)
		within 5 untraced $P || echo "status $1, and still held"
		queue_runs || echo "status $1, and queue 0 stands still"
		;;
	esac
}

after_command() { # STATUS
	[ $1 = 0 ] || [ -s /tmp/said ] || echo "status $1 without a message"
	within 5 untraced $P || echo "status $1, and still held"
	queue_runs || echo "status $1, and queue 0 stands still"
}

after_resume() { # STATUS
	[ $1 = 0 ] || [ -s /tmp/said ] || echo "status $1 without a message"
	[ $1 != 0 ] || within 5 untraced $P || echo "status 0, and still held"
	[ $1 != 0 ] || queue_runs || echo "status 0, and queue 0 stands still"
}

# Call number 1, 2, ... fails until there is none of that number; with two kernels, every other one on each.
each_call() { # VERB COMMAND...
	local verb=$1 n=0 bad=0 wrong
	shift
	while :; do
		n=$((n + 1))
		is_mine $n || continue
		rm -f /tmp/call
		[ $verb != resume ] || gpq suspend -q -p $P > /dev/null || fail "suspended before resume $n"
		syscalls $n /tmp/call "$@" > /dev/null 2> /tmp/said
		wrong=$(after_$verb $?)
		let_go
		[ -s /tmp/call ] || break
		[ -n "$wrong" ] || continue
		bad=$((bad + 1))
		note "call $n of $*: $(cat /tmp/call): $wrong: $(cat /tmp/said)"
	done
	[ $n -gt 30 ] || fail "$* makes system calls" "$n"
	is "$*: $((n - 1)) calls, each of this kernel's fails once, and it says what is so" "$bad" 0
}

load gfx942
target -q -n 1
each_call suspend gpq suspend -p $P --for 1h # its calls are those without --for, and the timers'
each_call command gpq suspend -p $P -- true
each_call resume gpq resume -p $P
queue_runs || fail "queue 0 runs after all that"
reap $P
unload
kernel_is_content
finish
