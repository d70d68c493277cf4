# Processes of an ordinary user that call themselves gpq-follower and do not end: nobody's queues wait for them, and their words are
# not taken for a selector. True followers end, whatever they are just doing, and what they took in last is resumed.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

load gfx942
echo 0 > /proc/sys/kernel/yama/ptrace_scope
chmod 666 /dev/kfd /dev/dri/renderD*
chmod 777 /tmp
as_user() { su user -c "$*"; }
followers() { grep -lx gpq-follower /proc/[0-9]*/comm 2> /dev/null | sed 's,/proc/,,; s,/comm,,'; }
no_follower() { [ -z "$(followers)" ]; }
off() { gpq queues -rno PID,QID,STATE | awk '$3 == "suspended" { print $1 ":" $2 }' | sort -t: -k1,1n -k2,2n | tr '\n' ' ' | sed 's/ $//'; }
fakes() { grep -c ready /tmp/fake.* | grep -c ':1$'; }
newcomer() { # whom a follower comes to take in, in N
	rm -f /tmp/s2
	mkqueue -n 1 -k /tmp/s2 > /tmp/mkqueue2.log 2>&1 & N=$!
	within 20 test -s /tmp/s2 || fail "a newcomer" "$(cat /tmp/mkqueue2.log)"
}

# ---- 12 fakes

for i in $(seq 12); do as_user "exec hostile follower '--comm ^mkqueue\$'" > /tmp/fake.$i 2>&1 & done
within 30 eval '[ "$(fakes)" = 12 ]' || fail "12 fakes" "$(cat /tmp/fake.*)"
FAKES=$(followers)
target -q -n 1
gpq suspend -p $P > /dev/null
status_is "12 fakes: resume --all does not wait for them" 0 timeout 20 gpq resume --all
like "and says that they are there" "$OUT" "12 of other users that call themselves gpq-follower did not end"
moves 0 "resumed by --all"
is "they were not killed" "$(followers)" "$FAKES"
is "their words are no selector" "$(gpq suspend --list -rno STATE,SELECTOR,OWNER | sort -u)" "claimed - user"
gpq suspend --comm '^mkqueue$' > /dev/null
is "a true one has its words" "$(gpq suspend --list -rno STATE,SELECTOR,OWNER | sort -u)" "claimed - user
following --comm\\x20^mkqueue\$ root
suspended - root"
status_is "a selector in the same words as the fakes" 0 timeout 20 gpq resume --comm '^mkqueue$'
moves 0 "resumed by the selector"
is "the true one has ended" "$(followers)" "$FAKES"
status_is "whom nobody holds is not found, whatever fakes say" 5 timeout 20 gpq resume --comm '^mkqueue$'
as_user mkqueue -q -n 1 -k /tmp/su > /dev/null 2>&1 & W=$!
within 20 test -s /tmp/su
is "a user sees his own fakes as his" "$(as_user 'gpq suspend --list -rno STATE,SELECTOR' | sort -u)" "following --comm\\x20^mkqueue\$"
kill -9 $FAKES
within 10 no_follower

# ---- a true one of another user

as_user "gpq suspend --user user" > /dev/null
like "a follower of a user" "$(gpq suspend --list -rno STATE,OWNER | sort -u)" "claimed user"
status_is "root's resume --all" 0 gpq resume --all
empty "ends it" "$(off)$(followers)"
moves 0 "resumed" /tmp/su
killall mkqueue
wait $W
within 20 eval '[ -z "$(ls $KFD/proc)" ]'

# ---- one that is just suspending a newcomer

# At a step of its own, stopped: gpq itself passes it first.
follower_at() { # STEP
	target -q -n 1
	GPQ_TEST_STOP=gpq:$1 gpq-testing suspend --comm '^mkqueue$' > /dev/null 2>&1 & G=$!
	within 20 is_stopped $G || fail "gpq stops at step $1" ""
	kill -CONT $G
	wait $G
	newcomer
	F=$(followers)
	within 20 is_stopped $F || fail "the follower stops at step $1" "$F"
}
told() { grep -q '^ShdPnd:.*4000$' /proc/$F/status; } # SIGTERM waits
for step in 2 4; do
	follower_at $step
	status_is "a follower that is stopped at step $step: resume --all" 0 timeout 30 gpq resume --all
	empty "it is gone, nothing is suspended" "$(followers)$(off)"
	moves 0 "the follower was killed"
	moves 0 "the follower was killed" /tmp/s2
	within 10 no_holder || fail "no holder is left" "$(holders)"
	reap $P $N

	follower_at $step
	gpq resume --all > /tmp/out 2>&1 & R=$!
	within 20 told
	kill -CONT $F
	wait $R
	is "one that goes on at step $step: resume --all" "$?" 0
	empty "it is gone, nothing is suspended" "$(followers)$(off)"
	moves 0 "the follower has ended" /tmp/s2
	within 10 no_holder || fail "no holder is left" "$(holders)"
	reap $P $N
done
follower_at 4
gpq resume --comm '^mkqueue$' > /tmp/out 2>&1 & R=$!
within 20 told
kill -CONT $F
wait $R
is "the same words" "$? $(followers)$(off)" "0 "
reap $P $N
unload
kernel_is_content
finish
