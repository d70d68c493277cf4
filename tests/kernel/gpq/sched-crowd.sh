# gpq sched against numbers: online processes that are killed at any moment, hundreds that only open /dev/kfd, a user with more
# processes than one may have. Judges: mkqueue's own account, /proc.
# shellcheck shell=dash disable=SC1091,SC2086,SC3028,SC3045
. /t/lib.sh

KILLS=${KILLS:-20} OPENERS=${OPENERS:-400}
total() { gpq sched --status -J | tr -d ' \n' | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
states() { gpq sched --status --table members -n -r -o CLASS,STATE 2> /dev/null | grep -c "^offline $1"; }
has() { [ "$(states $1)" = "$2" ]; } # STATE COUNT
descriptors() { ls /proc/$S/fd 2> /dev/null | wc -l; }
as_user() { # FILE: a worker of the ordinary user
	su user -c "exec mkqueue -q -n 1 -k $1" &
	U="$U $!"
}

load gfx942
chmod 666 /dev/kfd /dev/dri/renderD*

# ---- online work is killed --------------------------------------------------------------------------------------------------

ln -s "$(command -v mkqueue)" /tmp/urgent
mkqueue -q -n 1 -R 300 -k /tmp/w &
W=$!
within 20 test -s /tmp/w
sched --online comm=urgent --offline pid=$W --idle 5ms --max-hold 1h
within 20 has runs 1
held=0 stuck=0
for n in $(seq $KILLS); do
	/tmp/urgent -q -n 1 -R 100 -b 50 &
	K=$!
	within 20 has off 1 && held=$((held + 1))
	usleep $((RANDOM % 60))000
	kill -9 $K
	wait $K 2> /dev/null
	within 60 has runs 1 && continue
	note "kill $n: $(gpq sched --status 2>&1)"
	stuck=$((stuck + 1))
done
is "online work held offline work, of $KILLS times" $held $KILLS
is "and after none of its kills is offline work held on" $stuck 0
moves 0 "after $KILLS kills" /tmp/w
end_sched "kills"

# ---- openers of /dev/kfd ----------------------------------------------------------------------------------------------------

mkfifo /tmp/never
cat > /tmp/opener << 'X'
exec 3<> /dev/kfd && read -r x < /tmp/never
X
openers=
open_kfd() { ls /sys/class/kfd/kfd/proc | wc -l; }
su user -c 'for n in $(seq '$OPENERS'); do sh /tmp/opener & done; wait' &
X=$!
many() { [ "$(open_kfd)" -gt $OPENERS ]; }
within 120 many || fail "$OPENERS processes open /dev/kfd" "$(open_kfd)"
U=
as_user /tmp/u1
within 20 test -s /tmp/u1
sched --offline user=user --offline pid=$W --max-hold 1h
within 60 has runs 2 || fail "who owns queues is found among $OPENERS" "$(gpq sched --status)"
few() { [ "$(descriptors)" -lt 100 ]; }
within 20 few || fail "the others take no descriptors" "$(descriptors)"
is "and are no members" "$(of_offline PROCS)" 2
hint $SOCKET begin > /tmp/hint &
H=$!
within 20 test -s /tmp/hint
like "a hint is answered" "$(cat /tmp/hint)" '^ok off=2 missed=0'
as_user /tmp/u2
within 20 has off 3 || fail "a newcomer is held when it owns its first queue" "$(gpq sched --status)"
kill $H
wait $H 2> /dev/null
within 20 has runs 3
kill $(ps -o pid,args | awk '/[s]h .tmp.opener/ { print $1 }')
wait $X 2> /dev/null
end_sched "openers"
for n in 1 2; do moves 0 "after it" /tmp/u$n; done

# ---- more of one user than there may be -------------------------------------------------------------------------------------

for n in 3 4 5 6; do as_user /tmp/u$n; done
within 20 test -s /tmp/u6
(
	ulimit -n 200
	exec gpq sched --offline comm=mkqueue --max-hold 1h > /dev/null 2> /tmp/sched.err
) &
S=$!
within 20 gpq sched --status > /dev/null || fail "it starts with 200 descriptors" "$(cat /tmp/sched.err)"
within 20 has runs 5 || fail "four of a user and one of root are members" "$(gpq sched --status; cat /tmp/sched.err)"
is "two are left out" "$(total left_out)" 2
is "which is said once" "$(grep -c '4 processes of user user are as many as can be held' /tmp/sched.err)" 1
one=$(gpq sched --status --table members -n -r -o PID | grep -v "^$W\$" | head -n 1)
kill -9 $one
left() { [ "$(total left_out)" = 1 ]; }
within 20 left || fail "one that ends makes room" "$(gpq sched --status)"
within 20 has runs 5
is "and it is still said once" "$(grep -c 'as many as can be held' /tmp/sched.err)" 1
end_sched "a user with many"
reap $W
kill $U 2> /dev/null
killall -q -9 mkqueue
within 20 sh -c '! pidof mkqueue'
unload
kernel_is_content
finish
