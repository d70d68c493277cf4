# gpq sched with the rights that gpq-sched.service and the container example give it, and no others. Its holders
# have fewer. Judges: mkqueue's own account, /proc, the rights of the socket.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

GID=4711
export XDG_RUNTIME_DIR=/run/gpq-sched
members_off() { [ "$(gpq sched --status -n -r -o CLASS,OFF 2> /dev/null | sed -n 's/^offline //p' | head -n 1)" = "$1" ]; }

load gfx942
mkdir -p /run/gpq-sched
chmod 666 /dev/kfd /dev/dri/renderD*
mkqueue -q -n 2 -k /tmp/w1 & W1=$!
su user -c "exec mkqueue -q -n 1 -k /tmp/w2" & W2=$!
within 20 test -s /tmp/w1 -a -s /tmp/w2
is "workers of two users" "$(for p in $(pidof mkqueue); do sed -n 's/^Uid:.\([0-9]*\).*/\1/p' /proc/$p/status; done | sort -u | wc -l)" 2
conf() { printf '%s\n' 'offline = comm=^mkqueue$' "group = $GID" "$@" > /tmp/sched.conf; }
conf 'max-hold = 1m'
fewrights $GID gpq sched --config /tmp/sched.conf --socket /run/gpq-sched/socket > /tmp/sched.out 2> /tmp/sched.err & S=$!
within 20 members_are 2 || fail "gpq sched finds both" "$(cat /tmp/sched.err)"
is "it has two capabilities" "$(sed -n 's/^CapEff:.//p' /proc/$S/status)" 0000000000080004
is "the socket is its group's" "$(stat -c '%a %g' /run/gpq-sched/socket)" "660 $GID"
hint /run/gpq-sched/socket begin > /tmp/hinted & H=$!
within 10 test -s /tmp/hinted
note "$(gpq sched --status)"
like "all queues of both users go off" "$(cat /tmp/hinted)" '^ok off=2 missed=0 '
# Its options are read again: what is held stays held.
conf 'max-hold = 2m'
kill -HUP $S
reloaded() { [ "$(gpq sched --status --table scheduler -rno MAX_HOLD)" = 120000000000 ]; }
within 10 reloaded || fail "SIGHUP reads the file again" "$(cat /tmp/sched.err)"
is "which lets nothing go" "$(gpq sched --status --table classes -rno CLASS,OFF,HOLDS | sed -n 's/^offline //p')" "2 1"
like "why one is held" "$(gpq sched --explain $W1)" "held for .*online has work .hints of pid [0-9]+"
rights() { for p in $(pidof gpq-holder); do sed -n 's/^CapEff:.//p' /proc/$p/status; done | sort -u; }
few() { [ "$(rights)" = 0000000000080000 ]; }
within 10 few || fail "holders come to have CAP_SYS_PTRACE alone" "$(rights)"
kill $H
wait $H 2> /dev/null
within 10 members_off 0 || fail "and come back" "$(gpq sched --status)"
moves 0 "after the hint" /tmp/w1
moves 0 "after the hint, another user's" /tmp/w2
kill -TERM $S
wait $S
is "it ends with status 0" $? 0
reap $W1 $W2
within 10 sh -c '! pidof mkqueue' || fail "all workers have ended" "$(ps)"
unload
kernel_is_content
finish
