# gpq sched on two GPUs: what is held where, whose a hint is, jobs that are held whole, moves between control groups, hints that last.
# Judges: read pointers that the software GPUs move, and mkqueue's own account of them.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

job_is() { gpq sched --status --table jobs -n -r -o INDEX,STATE | grep -qx "$1"; }
hold() { # REQUEST...: hints that last; H
	rm -f /tmp/hint
	hint $SOCKET "$@" > /tmp/hint &
	H=$!
	within 30 test -s /tmp/hint || fail "an answer to $*" "$(gpq sched --status --table jobs)"
}
let_go() {
	kill $H
	wait $H 2> /dev/null
	within 30 is_offline OFF 0 || fail "the end of a client ends its hints" "$(gpq sched --status)"
}
worker() { # STATUSFILE MKQUEUE-ARGS...: W
	local f=$1
	shift
	mkqueue -q -k $f "$@" &
	W=$!
	within 20 test -s $f || fail "mkqueue $* starts"
}
stands() { still "$1" "$2" 500 "$3"; } # QUEUE WHEN STATUSFILE

load gfx942,gfx942
worker /tmp/a -n 1
A=$W
worker /tmp/b -n 1 -G 2 --skip 1
B=$W
worker /tmp/c -n 1 -G 2
C=$W

# ---- work on one GPU ---------------------------------------------------------------------------------------------------------

sched --offline pid=$A,$B,$C --max-hold 1h
within 30 members_are 3 || fail "it has found them" "$(gpq sched --status)"
hold 'begin gpu=0'
like "two have queues on the GPU" "$(cat /tmp/hint)" '^ok off=2 missed=0 '
stands 0 "on the GPU of a hint" /tmp/a
stands 0 "on the GPU of a hint, of one with both" /tmp/c
moves 0 "on the other GPU" /tmp/b
moves 1 "on the other GPU, of one with both" /tmp/c
within 10 job_is '0 held' || fail "GPU 0 is shown as held" "$(gpq sched --status --table jobs)"
within 10 job_is '1 runs' || fail "GPU 1 is shown as free" "$(gpq sched --status --table jobs)"
let_go
end_sched "by GPU"
for f in a b c; do moves 0 "afterwards" /tmp/$f; done
moves 1 "afterwards" /tmp/c

# Its own queues tell where the online work is.
worker /tmp/on -n 1 -G 2 --skip 1 -R 200 -b 20
ON=$W
sched --online pid=$ON --offline pid=$A,$B,$C --max-hold 1h --idle 500ms
within 60 job_is '1 held' || fail "it is held where the online process works" "$(gpq sched --status)"
moves 0 "where the online process has no queue" /tmp/a
moves 0 "where the online process has no queue, of one with both" /tmp/c
moves 0 "the online process" /tmp/on
reap $ON
within 30 is_offline OFF 0 || fail "its end resumes" "$(gpq sched --status)"
end_sched "by queues"

# ---- jobs that are held whole ------------------------------------------------------------------------------------------------

sched --offline pid=$A,$B,$C --job-by parent --max-hold 1h
within 30 members_are 3
hold 'begin gpu=0'
like "all of the job are off" "$(cat /tmp/hint)" '^ok off=3 missed=0 '
stands 0 "of the job, on the other GPU" /tmp/b
stands 1 "of the job, on the other GPU" /tmp/c
let_go
end_sched "a job"
# One that a debugger traces: the others would wait for it.
if ! command -v strace > /dev/null; then skip "a job that is refused" "no strace in this VM"; else
	strace -qq -o /dev/null -p $B &
	D=$!
	is_traced() { [ "$(tracer $B)" != 0 ]; }
	within 20 is_traced || fail "strace attaches"
	sched --offline pid=$A,$B,$C --job-by parent --max-hold 1h
	within 30 is_offline MISSED 1 || fail "one cannot be held" "$(gpq sched --status --table members)"
	usleep 600000
	hold 'begin gpu=0'
	like "none of the job is held" "$(cat /tmp/hint)" '^ok off=0 missed=3 '
	moves 0 "of a job that is refused" /tmp/a
	within 10 job_is '- refused' || fail "it is shown as refused" "$(gpq sched --status --table jobs)"
	kill $D
	wait $D 2> /dev/null
	within 60 is_offline OFF 3 || fail "it is held once the debugger has gone" "$(gpq sched --status --table members)"
	let_go
	end_sched "a job that is refused"
fi

# ---- hints that last ---------------------------------------------------------------------------------------------------------

sched --offline pid=$A --max-hold 1s --rest 200ms
within 30 members_are 1
hold 'begin 1 for=1h'
more_holds() { [ "$(of_offline HOLDS)" -ge 4 ]; }
within 60 more_holds || fail "holds and rests take turns" "$(gpq sched --status)"
is "the hint has not expired" "$(gpq sched --status --table scheduler -n -r -o EXPIRED,HINTS)" "0 1"
kill $H
wait $H 2> /dev/null
end_sched "a hint that lasts"
moves 0 "after it" /tmp/a
reap $A $B $C

# ---- control groups ----------------------------------------------------------------------------------------------------------

grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
for g in job on; do mkdir -p /sys/fs/cgroup/$g; done
worker /tmp/m -n 1
echo $W > /sys/fs/cgroup/job/cgroup.procs
sched --online cgroup=/on --offline cgroup=/job --max-hold 1h --no-activity
within 30 members_are 1 || fail "it is found in its group" "$(gpq sched --status)"
hold begin
bad=
for n in $(seq 25); do
	echo $W > /sys/fs/cgroup/on/cgroup.procs
	within 20 is_offline PROCS 0 || bad="$bad $n:on"
	look_at_rptr 0 /tmp/m
	within 20 has_moved 0 "$RPTR" /tmp/m || bad="$bad $n:still"
	echo $W > /sys/fs/cgroup/job/cgroup.procs
	within 20 is_offline OFF 1 || bad="$bad $n:job"
done
empty "50 moves between control groups: each is followed" "$bad"
stands 0 "in the offline group at last" /tmp/m
let_go
end_sched "moves"
moves 0 "after the moves" /tmp/m
reap $W
unload
kernel_is_content
finish
