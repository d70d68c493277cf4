# Whom gpq sched holds: a control group, storms of fork and exec beside a hold, GPUs with one debug session.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

hold() { # a hint that lasts; H
	rm -f /tmp/hint
	hint $SOCKET begin > /tmp/hint &
	H=$!
	within 20 test -s /tmp/hint
}
end_all() {
	kill $H
	wait $H 2> /dev/null
	end_sched "$1"
}
# Every queue of these status files stands still.
all_still() { # WHEN FILE...
	local f r bad=
	for f in $2; do
		look_at_rptr 0 $f
		eval "R_${f##*/}=$RPTR"
	done
	usleep 500000
	for f in $2; do
		look_at_rptr 0 $f
		eval "r=\$R_${f##*/}"
		[ "$RPTR" = "$r" ] || bad="$bad $f: $r to $RPTR;"
	done
	empty "all stand still ($1)" "$bad"
}

# ---- a control group, storms ------------------------------------------------------------------------------------------------

load gfx942
grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
JOB=/sys/fs/cgroup/job
mkdir -p $JOB
in_job() { # STATUSFILE MKQUEUE-ARGS...
	local f=$1
	shift
	sh -c 'echo $$ > '$JOB'/cgroup.procs; exec mkqueue "$@"' sh -q -k $f "$@" &
	LAST=$!
	ALL="$ALL $LAST"
}
ALL=
target -n 1 -q
OUTSIDE=$P
sched --offline cgroup=/job --max-hold 1h
in_job /tmp/a -n 1
within 20 members_are 1 || fail "a process of the group is found" "$(gpq sched --status)"
hold
is "it is held" "$(of_offline OFF)" 1
files=
for n in 1 2 3 4 5 6; do
	in_job /tmp/b$n -n 1 --fork 20
	files="$files /tmp/b$n"
done
in_job /tmp/c -n 1 --exec 150
within 30 is_offline OFF 8 || fail "a storm of newcomers is held" "$(gpq sched --status)"
usleep 500000
within 30 is_offline OFF 8 || fail "and one that calls exec" "$(gpq sched --status)"
within 10 test -s /tmp/c
all_still "newcomers" "/tmp/a $files /tmp/c"
moves 0 "outside of the group"
is "nobody was missed" "$(of_offline MISSED)" 0
end_all "control group"
for f in /tmp/a $files /tmp/c; do moves 0 "afterwards" $f; done
reap $ALL $OUTSIDE
within 10 rmdir $JOB
unload

# ---- one debug session a GPU ------------------------------------------------------------------------------------------------

load gfx906
mkqueue -q -n 1 -k /tmp/o1 &
A=$!
mkqueue -q -n 1 -k /tmp/o2 &
B=$!
within 20 test -s /tmp/o2
sched --offline pid=$A,$B --max-hold 1h
within 20 members_are 2
hold
like "one is held, the other missed" "$(cat /tmp/hint)" '^ok off=1 missed=1'
like "which is said with the reason" "$(gpq sched --status --table members -r -n -o STATE,REASON)" 'missed a.*GPU.*one.*debug.*session'
within 10 grep -q 'is not held: a GPU of this host allows one debug session only' /tmp/sched.err || fail "and as a warning" "$(cat /tmp/sched.err)"
end_all "gfx906"
moves 0 "afterwards" /tmp/o1
moves 0 "afterwards" /tmp/o2
reap $A $B
unload
kernel_is_content
finish
