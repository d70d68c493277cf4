# The selector of gpq suspend and resume on two processes with two queues each, and --all-or-none.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

# Queues that are off: PID:ID, in order. The read pointers of both processes say whether that is so.
off() { gpq queues -rno PID,QID,STATE | awk '$3 == "suspended" { print $1 ":" $2 }' | sort -t: -k1,1n -k2,2n | tr '\n' ' ' | sed 's/ $//'; }
pidof_follower() { grep -lx gpq-follower /proc/[0-9]*/comm 2> /dev/null | sed 's,/proc/,,; s,/comm,,'; }
follower() { for f in $(pidof_follower); do tr '\0' ' ' < /proc/$f/cmdline | sed 's/ *$//'; done; }
both_run() { # WHEN
	gpq resume --all > /dev/null
	empty "nothing is suspended ($1)" "$(off)"
	moves 0 "$1" /tmp/s1
	moves 0 "$1" /tmp/s2
}
holds() { # DESCRIPTION WANTED OPTIONS...
	local what=$1 wanted=$2
	shift 2
	is "--dry-run of $what" "$(gpq suspend --dry-run "$@" -rno PID,QID,RESULT | awk '$3 == "chosen" { print $1 ":" $2 }' | sort | tr '\n' ' ' | sed 's/ $//')" "$wanted"
	empty "which holds nothing" "$(off)"
	gpq suspend "$@" > /tmp/out 2>&1
	is "suspend $what" "$(off)" "$wanted"
	gpq resume "$@" > /dev/null 2>&1
	empty "resume $what" "$(off)"
}

load gfx942 || exit
grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
POD=3f2c1a9e-0d1b-4c6e-9a57-aa01d2b7c9e4
target -n 2
P1=$P
mkqueue -n 2 -k /tmp/s2 > /tmp/mkqueue2.log 2>&1 & P2=$!
within 20 test -s /tmp/s2 || fail "a second process" "$(cat /tmp/mkqueue2.log)"
ln -sf $STATUS /tmp/s1
C=/sys/fs/cgroup/kubepods.slice/kubepods-pod$(echo $POD | tr - _).slice
J=/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/job_77/step_0/user/task_0
mkdir -p $C $J && echo $P2 > $C/cgroup.procs && echo $P1 > $J/cgroup.procs
both_run "at first"

holds "-p PID" "$P1:0 $P1:1" -p $P1
holds "--cmdline" "$P2:0 $P2:1" --cmdline '^mkqueue.*/tmp/s2'
holds "--comm" "$P1:0 $P1:1 $P2:0 $P2:1" --comm '^mkqueue$'
holds "--pod" "$P2:0 $P2:1" --pod $POD
holds "--job" "$P1:0 $P1:1" --job 77
holds "--job with a step" "$P1:0 $P1:1" --job 78,77.0
holds "--cgroup" "$P2:0 $P2:1" --cgroup /sys/fs/cgroup/kubepods.slice
holds "--user" "$P1:0 $P1:1 $P2:0 $P2:1" --user root
holds "-Q PID:ID" "$P1:1 $P2:0" --comm mkqueue -Q $P1:1,$P2:0
holds "-Q PID:ID of one of them" "$P2:1" -p $P1,$P2 -Q $P2:1
holds "--type" "$P1:0 $P1:1" -p $P1 --type compute
status_is "no queue of this type" 5 gpq suspend -p $P1 --type sdma-xgmi
status_is "ids of two processes without PIDs" 2 gpq suspend --comm mkqueue -Q 0
empty "and nothing is held" "$(off)"
# The shell that runs gpq has the words of the pattern in its own command line.
sh -c "gpq suspend --cmdline 'mkqueue|gpq suspend' -rno PID" > /tmp/out 2>&1
is "neither gpq nor its shell is chosen" "$(sort -u /tmp/out | tr '\n' ' ')" "$P1 $P2 "
gpq suspend --comm gpq-holder > /tmp/out 2>&1
like "nor a holder" "$(cat /tmp/out)" "no process that the options choose has opened"
both_run "after patterns"

# Who comes later belongs to the hold: one follower, which says what it follows, and ends with the hold.
empty "no follower is left" "$(follower)"
gpq suspend --cmdline '^mkqueue.*/tmp/s3' > /tmp/out 2>&1
is "nobody fits, nobody is followed" "$?$(follower)" 5
gpq suspend --comm '^mkqueue$' > /dev/null
is "a follower, and what it follows" "$(follower)" "gpq-follower: --comm ^mkqueue$"
like "it is listed" "$(gpq suspend --list -rno STATE,SELECTOR,HOLDER)" "following --comm.x20.mkqueue. "
rm -f /tmp/s3
mkqueue -n 2 -k /tmp/s3 > /tmp/mkqueue3.log 2>&1 & P3=$!
within 20 test -s /tmp/s3 || fail "a newcomer" "$(cat /tmp/mkqueue3.log)"
within 5 eval '[ "$(off)" = "'"$P1:0 $P1:1 $P2:0 $P2:1 $P3:0 $P3:1"'" ]'
is "a newcomer is taken in" "$(off)" "$P1:0 $P1:1 $P2:0 $P2:1 $P3:0 $P3:1"
gpq resume -p $P3 > /dev/null
usleep 1500000
is "who is resumed by name stays so" "$(off)" "$P1:0 $P1:1 $P2:0 $P2:1"
status_is "the same words end it" 0 gpq resume --comm '^mkqueue$'
empty "and the follower" "$(off)$(follower)"
gpq suspend --cmdline '/tmp/s3' > /dev/null
gpq resume -p $P3 > /dev/null
within 5 eval '[ -z "$(follower)" ]'
empty "a follower ends when all was resumed in other words" "$(follower)"
gpq suspend --tree -p $P3 > /dev/null
like "one of a tree" "$(follower)" "^gpq-follower: -p $P3 --tree"
gpq suspend --cmdline '/tmp/s3' > /dev/null
kill -9 $P3 && wait $P3 2> /dev/null
within 5 eval '[ "$(follower)" = "gpq-follower: --cmdline /tmp/s3" ]'
is "its end ends that of the tree alone" "$(follower)" "gpq-follower: --cmdline /tmp/s3"
rm -f /tmp/s3
mkqueue -n 2 -k /tmp/s3 > /tmp/mkqueue3.log 2>&1 & P3=$!
within 20 test -s /tmp/s3
within 5 eval '[ "$(off)" = "'"$P3:0 $P3:1"'" ]'
is "it is held when it comes again" "$(off)" "$P3:0 $P3:1"
gpq resume --all > /dev/null
gpq suspend --comm '^mkqueue$' --once > /dev/null
empty "--once: none" "$(follower)"
gpq resume --all > /dev/null
gpq suspend --comm '^mkqueue$' --for 2s > /dev/null
within 10 eval '[ -z "$(follower)" ]'
empty "the follower ends at the deadline" "$(follower)$(off)"
gpq suspend --comm '^mkqueue$' > /dev/null
kill -9 $(pidof_follower)
is "a killed follower leaves the holds" "$(off)" "$P1:0 $P1:1 $P2:0 $P2:1 $P3:0 $P3:1"
gpq resume --all > /dev/null
reap $P3

# With COMMAND: who comes meanwhile, too, but not what COMMAND starts.
rm -f /tmp/s3 /tmp/s4
gpq suspend --comm '^mkqueue$' -- sh -c '
	mkqueue -n 1 -k /tmp/s4 > /tmp/mkqueue4.log 2>&1 & echo $! > /tmp/p4
	gpq queues --comm mkqueue --filter "STATE == \"suspended\"" --wait 5 --timeout 20s -q > /dev/null || exit 1
	r=$(cut -d" " -f2 /tmp/s4)
	sleep 1
	[ $(cut -d" " -f2 /tmp/s4) -gt $r ] || exit 2
	kill -9 $(cat /tmp/p4)
	exit 42' & G=$!
within 10 eval '[ -n "$(follower)" ]'
mkqueue -n 1 -k /tmp/s3 > /tmp/mkqueue3.log 2>&1 & P3=$!
wait $G
is "a newcomer is held while COMMAND runs, and what COMMAND started is not" $? 42
empty "it is released behind it" "$(off)$(follower)"
moves 0 "COMMAND has ended" /tmp/s3
gpq suspend --comm '^mkqueue$' -- sleep 100 & G=$!
within 10 eval '[ -n "$(follower)" ]'
kill -9 $G && wait $G 2> /dev/null
within 10 eval '[ -z "$(follower)$(off)" ]'
empty "gpq killed: the follower is gone, everything runs" "$(follower)$(off)"
kill -9 $P3
within 10 no_holder || fail "no holder is left" "$(holders)"

# A process that another debugger holds cannot be held.
dbg $P2 seize enable hold > /tmp/dbg.out 2>&1 & D=$!
within 20 grep -q 'enable -> 0' /tmp/dbg.out || fail "another debugger" "$(cat /tmp/dbg.out)"
status_is "without --all-or-none: in part" 3 gpq suspend -p $P1,$P2
is "one of them is held" "$(off)" "$P1:0 $P1:1"
gpq resume --all > /dev/null
gpq suspend -p $P1,$P2 --all-or-none > /tmp/out 2> /tmp/err
S=$?
empty "--all-or-none: nothing is held" "$(off)"
like "it says which" "$(cat /tmp/err)" "pid $P2: "
like "and so" "$(cat /tmp/err)" "nothing stays suspended"
ok "its status is that of the process ($S)" test $S -ne 0 -a $S -ne 3
within 10 no_holder || fail "no holder is left" "$(holders)"
moves 0 "--all-or-none failed" /tmp/s1
kill -9 $D && wait $D 2> /dev/null
status_is "--all-or-none of both" 0 gpq suspend -p $P1,$P2 --all-or-none
is "both are held" "$(off)" "$P1:0 $P1:1 $P2:0 $P2:1"
gpq suspend -p $P1,$P2 -Q $P1:0,$P2:9 --all-or-none > /dev/null 2> /tmp/err
like "a queue that does not exist" "$(cat /tmp/err)" "pid $P2: queue 9"
both_run "at the end"
reap $P1 $P2
unload
kernel_is_content
finish
