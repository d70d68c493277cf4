# Sourced by every test script that runs in the VM (busybox sh). Output is TAP: one line for each assertion, what was got
# and what was wanted when it fails, the plan at the end. Nothing here sleeps for a fixed time to let something happen:
# it polls for the thing, with a deadline.
# shellcheck shell=dash disable=SC2086

TAP_N=0
TAP_BAD=0
TURN=           # see is_mine
GPU=            # the model under test, put before each description
STATUS=/tmp/s   # mkqueue's status file: "queue rptr wptr" lines, rewritten all the time
CLEAR_NEW=0x40000000 # EC_QUEUE_NEW, the flag every queue is born with and that keeps it from being suspended

# What differs between the drivers that are tried here: FACT=SERIES, the series from which on it is so. Seen are 6.12 and
# 7.3; where a fact came in between is read from their sources and change logs. Scripts expect by `driver_has FACT`;
# rig/driver.sh and rig/contexts.sh hold each of them, and what was before, against the driver that runs.
#   contexts           a process may have several contexts (AMDKFD_IOC_CREATE_PROCESS), in each of which ids begin at 0
#   pasid_per_gpu      sysfs proc/PID/pasid is 0; debugfs kfd/proc/PID/pasid_GPU has it, 0 where a GPU was not acquired
#   level_only         of a queue's priority only the pipe priority is in its MQD (word 133); word 134 is 0
#   untraced_debugger  who said ENABLE may suspend and resume after PTRACE_DETACH; a stranger's DISABLE is refused
#   process_events     SMI events tell of processes that begin and end
#   events_ns_pid      SMI events name a process by its PID in its own PID namespace
#   gfx950             amdkfd knows GC 9.5.0
DRIVER_SINCE="contexts=7.0 pasid_per_gpu=7.0 level_only=7.0 untraced_debugger=7.0 process_events=7.0 events_ns_pid=7.0 gfx950=6.13"

# The last line of the console log then names the script and the assertion after which a VM hung.
tap_line() { # WORD DESCRIPTION
	TAP_N=$((TAP_N + 1))
	echo "$1 $TAP_N - ${GPU:+$GPU: }$2"
	echo "${0##*/}: $1 $TAP_N - ${GPU:+$GPU: }$2" > /dev/kmsg 2> /dev/null
}

pass() { tap_line ok "$1"; }

fail() { # DESCRIPTION [TEXT]
	TAP_BAD=$((TAP_BAD + 1))
	tap_line "not ok" "$1"
	[ -z "$2" ] || echo "$2" | sed 's/^/#   /'
}

skip() { tap_line ok "$1 # SKIP $2"; } # DESCRIPTION WHY

note() { echo "$*" | sed 's/^/# /'; }

# A command succeeds.
ok() { # DESCRIPTION COMMAND...
	local d=$1 out rc
	shift
	out=$("$@" 2>&1)
	rc=$?
	if [ $rc -eq 0 ]; then pass "$d"; else fail "$d" "status $rc from: $*
$out"; fi
}

# A command ends with this exit status; its output is left in $OUT.
status_is() { # DESCRIPTION STATUS COMMAND...
	local d=$1 want=$2 rc
	shift 2
	OUT=$("$@" 2>&1)
	rc=$?
	if [ $rc -eq "$want" ]; then pass "$d"; else fail "$d" "got status $rc, wanted $want, from: $*
$OUT"; fi
}

is() { # DESCRIPTION GOT WANTED
	if [ -z "$2$3" ]; then fail "$1" "nothing got and nothing wanted: where that is meant, \`empty\` says so"
	elif [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got    '$2'
wanted '$3'"; fi
}

empty() { # DESCRIPTION GOT: nothing
	if [ -z "$2" ]; then pass "$1"; else fail "$1" "got '$2'"; fi
}

# Text matches an extended regular expression; newlines count as blanks, as one does at the end unless the expression ends
# with $. Where that says no more than "there is this text somewhere", no grep is needed to see that there is.
matches() { # TEXT ERE
	local line text='' IFS='
'
	set -f
	for line in $1; do text="$text$line "; done
	set +f
	case $2 in *\$) text=${text% } ;; esac
	case $2 in
	*[][\\^\$*+?\(\){}\|]*) ;;
	*) case $text in *"$2"*) return ;; esac ;;
	esac
	grep -qE -- "$2" <<- E
		$text
	E
}

like() { # DESCRIPTION GOT ERE
	if matches "$2" "$3"; then pass "$1"; else fail "$1" "got:
$2
wanted a match of: $3"; fi
}

unlike() { # DESCRIPTION GOT ERE
	if matches "$2" "$3"; then fail "$1" "got:
$2
wanted no match of: $3"; else pass "$1"; fi
}

# Called at the end of a script. A script that does not get here has no plan, and that counts as a failure.
finish() {
	echo "1..$TAP_N"
	[ $TAP_BAD -eq 0 ]
}

# 20 ms without starting a process: nothing is ever written into this pipe. Only busybox has read -t.
NAP=/tmp/.nap
[ -p $NAP ] || mkfifo $NAP
# shellcheck disable=SC3045
if (read -t 0.01 -r _ <> $NAP) 2> /dev/null; [ $? = 1 ]; then nap() { ! read -t 0.02 -r _ <> $NAP; }; else nap() { usleep 20000; }; fi

# Process 0 is the script's own group: TracerPid of what nobody traces, say.
kill() { # SIGNAL PID...
	case " $* " in *" 0 "*) fail "nobody to signal" "kill $*"; return 1 ;; esac
	command kill "$@"
}

# Poll until a command succeeds. The deadline is generous, as the processor is emulated and shared.
within() { # SECONDS COMMAND...
	local end
	clock
	end=$((NOW + $1 * 1000))
	shift
	while ! "$@" > /dev/null 2>&1; do
		clock
		[ $NOW -lt $end ] || return 1
		nap
	done
}

# NOW in milliseconds since boot, with no process started: on an emulated processor that costs more than what one waits for.
clock() {
	read -r NOW _ < /proc/uptime
	NOW=${NOW%.*}${NOW#*.}0
}

uptime_ms() { clock && echo $NOW; }

# ---- the driver --------------------------------------------------------------------------------------------------------

KFD=/sys/class/kfd/kfd

# A fact of the table at the head of this file, for the kernel that runs.
driver_has() { # FACT
	local word
	for word in $DRIVER_SINCE; do
		case $word in "$1="*) not_before "${word#*=}" && return || return 1 ;; esac
	done
	fail "driver_has $1: the table in lib.sh knows no such fact"
	return 1
}

not_before() { # SERIES
	local release
	release=$(uname -r)
	[ $((${release%%.*} * 1000 + $(series_minor $release))) -ge $((${1%%.*} * 1000 + $(series_minor $1))) ]
}

series_minor() { # RELEASE
	local rest=${1#*.}
	echo ${rest%%[!0-9]*}
}

# What depends more on the model or the call than on the driver is divided between two kernels that run together: is the Nth of
# it this kernel's? With WHOLE each has all.
is_mine() { # N
	[ -n "$TURN" ] || { TURN=1 && ! driver_has contexts || TURN=0; }
	[ -n "$WHOLE" ] || [ $(($1 % 2)) = $TURN ]
}

mine() { # WORD...: those that are this kernel's
	local word n=0
	for word; do
		n=$((n + 1))
		! is_mine $n || echo "$word"
	done
}

load() { # MODEL[,MODEL...] [PARAMETER=VALUE...]
	local g=$1
	shift
	GPU=$g
	insmod /mods/amdgpu.ko "gpus=$g" "$@" || { fail "amdgpu.ko loads" "$(dmesg | tail -n 3)"; return 1; }
}

# References go away a little after the last process; rmmod only works then.
unload() {
	within 10 rmmod amdgpu || fail "amdgpu.ko unloads" "$(rmmod amdgpu 2>&1; ls $KFD/proc)"
	GPU=
}

# Nothing in the kernel's log that a kernel developer would have to look at.
kernel_is_content() {
	local out
	out=$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|oison|softgpu: unknown|cannot map')
	empty "no complaint in the kernel's log" "$out"
}

# So many offline processes belong to gpq sched, and none of them is still being attached to.
members_are() { [ "$(gpq sched --status --table members -n -r -o CLASS,STATE 2> /dev/null | grep -c '^offline [^j]')" = "$1" ]; }
of_offline() { gpq sched --status -n -r -o CLASS,$1 2> /dev/null | sed -n "s/^offline //p"; } # COLUMN
is_offline() { [ "$(of_offline $1)" = "$2" ]; } # COLUMN VALUE

SOCKET=/run/gpq-sched/socket
listens() { gpq sched --status > /dev/null 2>&1; }
# The scheduler, in the background: S is its PID.
sched() { # OPTIONS...
	mkdir -p /run
	gpq sched "$@" > /tmp/sched.out 2> /tmp/sched.err &
	S=$!
	within 60 listens || fail "gpq sched $* starts" "$(cat /tmp/sched.err)"
}
end_sched() { # WHEN
	kill -TERM $S
	wait $S
	is "it ends ($1)" $? 0
	within 60 sh -c '! pidof gpq-holder'
	empty "no holder is left ($1)" "$(pidof gpq-holder)"
}

# ---- a target ----------------------------------------------------------------------------------------------------------

# Start mkqueue in the background and return when its queues are there: P is its pid.
# A mkqueue that was killed may leave STATUS.new, which another user could not replace.
target() { # MKQUEUE-ARGS...
	rm -f $STATUS $STATUS.new
	mkqueue "$@" -k $STATUS > /tmp/mkqueue.log 2>&1 &
	P=$!
	within 20 test -s $STATUS || fail "mkqueue $* starts" "$(cat /tmp/mkqueue.log)"
}

# End a process and wait until the driver has forgotten it, too.
reap() { # PID...
	local p
	for p; do
		kill -9 "$p" 2> /dev/null
		wait "$p" 2> /dev/null
		within 20 test ! -d "$KFD/proc/$p"
	done
}

look_at_rptr() { # QUEUE [STATUSFILE]; in RPTR
	local q r
	RPTR=
	while read -r q r _; do [ "$q" != "$1" ] || RPTR=$r; done < "${2:-$STATUS}"
}

rptr() { look_at_rptr "$@" && echo "$RPTR"; } # QUEUE [STATUSFILE]

has_moved() { look_at_rptr "$1" "$3" && [ "$RPTR" != "$2" ]; } # QUEUE FROM [STATUSFILE]

# A queue's read pointer goes on.
moves() { # QUEUE WHEN [STATUSFILE]
	local r
	look_at_rptr "$1" "$3"
	r=$RPTR
	if [ -n "$r" ] && within 60 has_moved "$1" "$r" "$3"; then pass "queue $1 runs ($2)"; else
		fail "queue $1 runs ($2)" "read pointer stays at ${r:-nothing}"
	fi
}

# A queue's read pointer, which only ever grows, is the same after a while (default 0.5 s; the first look is taken after the
# status file has been rewritten once, so that it shows the present).
still() { # QUEUE WHEN [MILLISECONDS [STATUSFILE]]
	local r now
	usleep 60000
	look_at_rptr "$1" "$4"
	r=$RPTR
	usleep ${3:-500}000
	look_at_rptr "$1" "$4"
	now=$RPTR
	if [ -z "$r" ]; then
		fail "queue $1 stands still ($2)" "no such queue"
	elif [ "$now" = "$r" ]; then
		pass "queue $1 stands still ($2)"
	else
		fail "queue $1 stands still ($2)" "read pointer went from $r to $now"
	fi
}
