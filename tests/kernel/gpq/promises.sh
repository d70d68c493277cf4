# One look at each promise about living queues, in one boot: what .ci/run asks of the driver. The other scripts of this folder ask
# for each of them in full.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/suspend-kill.inc

load gfx942x4

# ---- queues and hqd agree with who made the queues -----------------------------------------------------------------------

# mkqueue's words: "mkqueue PID: queue ID gpu_id G type T doorbell_offset D ring_base R ring_size S priority P"; type 1 is SDMA.
target -n 2 -s
is "queues: each that was created, and no other" "$(gpq queues -rno PID,QID,GPU,TYPE,RING | sort)" \
	"$(awk '$3 == "queue" { sub(":", "", $2); print $2, $4, $6, $8 == 1 ? "sdma" : "compute", $14 }' /tmp/mkqueue.log | sort)"
xccs=$(awk '$1 == "num_xcc" && $2 { print $2 }' $KFD/topology/nodes/*/properties)
is "hqd: compute queues in a slot of each XCC, the SDMA queue in one" "$(gpq hqd --active -p $P -rno RING_ADDR | sort | uniq -c | awk '{ print $2, $1 }')" \
	"$(awk -v xccs="$xccs" '$3 == "queue" { print $12, $8 == 1 ? 1 : xccs }' /tmp/mkqueue.log | sort)"
is "ps: the process, with its queues" "$(gpq ps -rno PID,COMPUTE,SDMA)" "$P 2 1"

# ---- suspend and resume --------------------------------------------------------------------------------------------------

is "suspend: each queue" "$(gpq suspend -p $P -rno QID,TYPE,RESULT)" "0 compute suspended
1 compute suspended
2 sdma suspended"
for q in 0 1 2; do still $q "suspended" 200; done
empty "suspended: in no slot" "$(gpq hqd --active -p $P -rno SLOT 2> /dev/null)"
is "resume: each queue" "$(gpq resume -p $P -rno QID,RESULT)" "0 resumed
1 resumed
2 resumed"
within 10 no_holder || fail "resumed: no holder is left" "$(holders)"
is_untouched "resumed"
status_is "a deadline: --for 300ms" 0 gpq suspend -p $P --for 300ms
is_untouched "behind the deadline"

# ---- whatever dies, the queues come back ---------------------------------------------------------------------------------

killed gpq:4 KILL    # the holder has answered
killed holder:4 KILL # the debug session is enabled
killed holder:7 KILL # the queues are off
gpq suspend -p $P -q > /dev/null || fail "suspend" "status $?"
kill -9 "$(tracer $P)"
is_whole "the holder is killed while it holds"
reap $P

# ---- why names the barrier that a queue stands at ------------------------------------------------------------------------

: > /tmp/aqlq.log
aqlq deadlock > /tmp/aqlq.log 2>&1 &
P=$!
within 20 grep -q ready /tmp/aqlq.log || fail "aqlq starts" "$(cat /tmp/aqlq.log)"
deadlocked() { gpq why -p $P -rno STATE 2> /dev/null | grep -qx deadlock; }
within 10 deadlocked
is "why: two queues that wait for each other" "$(gpq why -p $P -rno QID,STATE,NEXT,BY_QID,BY_INDEX)" "0 deadlock barrier-and 1 1
1 deadlock barrier-and 0 1"
status_is "why: stuck is a status of its own" 7 gpq why -p $P
reap $P

# ---- sched holds for a hint, and releases --------------------------------------------------------------------------------

off() { [ "$(gpq sched --status -rno CLASS,OFF | sed -n 's/^offline //p')" = "$1" ]; }
target -q -n 2
gpq sched --offline pid=$P --max-hold 10m > /tmp/sched.out 2> /tmp/sched.err &
S=$!
within 60 members_are 1 || fail "sched has found the process" "$(cat /tmp/sched.err)"
moves 0 "nobody hints"
hint /run/gpq-sched/socket begin > /tmp/hint &
H=$!
within 60 test -s /tmp/hint
like "begin is answered once all is off" "$(cat /tmp/hint)" '^ok off=1 missed=0 '
still 0 "a hint" 200
kill -9 $H
within 60 off 0 || fail "the end of a client ends its hint" "$(gpq sched --status)"
moves 1 "behind the hint"
kill -9 $S
within 60 no_holder || fail "no holder outlives a killed scheduler" "$(holders)"
is_untouched "the scheduler was killed"
reap $P

unload
kernel_is_content
finish
