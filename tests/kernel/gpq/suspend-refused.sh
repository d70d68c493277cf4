# Everything that can stand in the way: the sentence, the exit status, and that the target is left alone.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

PARAMETERS=/sys/module/amdgpu/parameters
refused() { # DESCRIPTION STATUS ERE ARGS...
	local d=$1 status=$2 re=$3
	shift 3
	status_is "$d: exit status" $status gpq suspend "$@"
	like "$d: the sentence" "$OUT" "$re"
	within 5 no_holder || fail "$d: no holder is left" "$(holders)"
}
as_user() { su user -c "$*"; }

sleep 1000 & SLEEPER=$!
refused "no driver" 6 "pid $SLEEPER: no /dev/kfd here; load the amdgpu driver" -p $SLEEPER
refused "no driver, and a GPU named" 6 "no /dev/kfd here; load the amdgpu driver" -p $SLEEPER --gpu 0

load gfx942
refused "not a KFD process" 5 "not a KFD process" -p $SLEEPER
ok "and none was made of it" test ! -d $KFD/proc/$SLEEPER
refused "init" 5 "not a KFD process" -p 1
refused "a kernel thread" 5 "not a KFD process" -p 2

target -q -n 1 -x
refused "runtime not enabled" 6 "runtime is not enabled" -p $P
is "it is untraced" "$(tracer $P)" 0
moves 0 "runtime not enabled"
reap $P

target -q -n 1
dbg $P seize hold > /tmp/dbg.out & D=$!
within 10 traced $P
refused "traced by another program" 4 "already traced by pid $D \(dbg\)" -p $P
kill -9 $D
within 10 untraced $P
# A debugger that has let go of the target but not of its session: ENABLE would steal it.
dbg $P seize enable snap=0x40000000 susp=0 detach hold > /tmp/dbg.out & D=$!
within 10 grep -q "detach -> 0" /tmp/dbg.out
still 0 "suspended by a debugger" 200
refused "somebody else's session" 4 "somebody else has a debug session" -p $P
still 0 "its session was left alone" 200
kill -9 $D
moves 0 "its owner's death still resumes"
is_free "the debugger is gone"

# Two and eight gpq at once: one holder, everybody is served.
for n in 1 2 3 4 5 6 7 8; do gpq suspend -p $P -r -n -o RESULT > /tmp/o$n 2>&1 & eval "G$n=$!"; done
bad=
for n in 1 2 3 4 5 6 7 8; do eval "wait \$G$n" || bad="$bad $n"; done
empty "eight gpq at once: all succeed" "$bad"
is "one of them did it, or several in turn" "$(cat /tmp/o? | sort -u | tr '\n' ' ' | sed 's/already suspended/ok/; s/suspended/ok/')" "ok "
is "one holder" "$(holders)" 1
gpq resume -p $P > /dev/null
jobs=
for n in 1 2 3 4; do
	gpq suspend -p $P > /dev/null 2>&1 &
	jobs="$jobs $!"
	gpq resume -p $P > /dev/null 2>&1 &
	jobs="$jobs $!"
done
wait $jobs
gpq resume -p $P > /dev/null 2>&1
is_free "suspend and resume against each other"

# A recycled pid: the new process is not held, and is not taken for the old one.
gpq suspend -p $P > /dev/null
OLD=$P
reap $P
within 10 no_holder
echo $((OLD - 1)) > /proc/sys/kernel/ns_last_pid
sleep 1000 & NEW=$!
if [ $NEW = $OLD ]; then
	status_is "resume of a recycled pid" 5 gpq resume -p $OLD
	like "says so" "$OUT" "not suspended by gpq"
else
	skip "a recycled pid" "another process took it"
fi
kill $NEW

# Other users.
chmod 666 /dev/kfd /dev/dri/renderD*
target -q -n 1
status_is "another user's process: exit status" 4 as_user gpq suspend -p $P
like "another user's process: the sentence" "$OUT" "belongs to another user \(uid 0\)"
gpq suspend -p $P > /dev/null
status_is "held by root: exit status" 4 as_user gpq suspend -p $P
like "held by root: the sentence" "$OUT" "held by the gpq holder [0-9]+ of another user"
status_is "resume of what root holds" 4 as_user gpq resume -p $P
like "resume of what root holds: the sentence" "$OUT" "held by the gpq holder [0-9]+ of another user"
empty "a user does not see root's holders" "$(as_user gpq suspend --list -r -n)"
gpq resume -p $P > /dev/null
reap $P
echo 0 > /proc/sys/kernel/yama/ptrace_scope
rm -f /tmp/su; as_user mkqueue -q -n 1 -k /tmp/su & W=$!
within 20 test -s /tmp/su
U=$(pidof mkqueue)
status_is "a user's own process, ptrace_scope 0" 0 as_user gpq suspend -p $U
H=$(tracer $U)
is "the holder is the user's" "$(stat -c %u /proc/$H)" 1000
like "root sees it" "$(gpq suspend --list -r -n -o PID,OWNER)" "$U user"
status_is "and may resume it" 0 gpq resume -p $U
within 5 untraced $U
echo 1 > /proc/sys/kernel/yama/ptrace_scope
status_is "ptrace_scope 1: exit status" 4 as_user gpq suspend -p $U
like "ptrace_scope 1: the sentence" "$OUT" "kernel.yama.ptrace_scope is 1 and the process is not a child; run as root"
echo 2 > /proc/sys/kernel/yama/ptrace_scope
status_is "ptrace_scope 2: exit status" 4 as_user gpq suspend -p $U
like "ptrace_scope 2: the sentence" "$OUT" "ptrace_scope is 2"
status_is "root may all the same" 0 gpq suspend -p $U
gpq resume -p $U > /dev/null
kill $U
wait $W

# Another PID namespace, seen from outside.
rm -f /tmp/sn; unshare -p -f mkqueue -q -n 1 -k /tmp/sn & W=$!
within 20 test -s /tmp/sn
U=$(pidof mkqueue)
status_is "a target in another PID namespace" 0 gpq suspend -p $U
is "it is held" "$(holders)" 1
gpq resume -p $U > /dev/null
moves 0 "in another PID namespace" /tmp/sn
kill -9 $U
wait $W 2> /dev/null

# The GPU does not obey.
target -q -n 2
status_is "--method criu" 0 gpq suspend -p $P --method criu
like "--method criu: the hazards" "$OUT" "nothing resumes a process paused by this method but gpq resume"
still 0 "paused by criu"
status_is "--method criu again" 0 gpq suspend -p $P --method criu -q -r -n -o RESULT
is "does not pause twice" "$OUT" already
like "--list shows it" "$(gpq suspend --list -r -n -o PID,STATE)" "$P paused"
status_is "resume" 0 gpq resume -p $P
moves 0 "paused once, resumed once"
status_is "resume again: not found" 5 gpq resume -p $P
is "untraced" "$(tracer $P)" 0
is_free "paused by criu"
gpq suspend -p $P > /dev/null
gpq resume -p $P --keep > /dev/null
echo 2500 > $PARAMETERS/queue_preemption_timeout_ms
echo 1 > $PARAMETERS/preempt_hang
status_is "the GPU does not answer: exit status" 1 gpq suspend -p $P -r -o RESULT
like "the GPU does not answer: the sentence" "$OUT" "queue 0: the GPU did not answer within [0-9]+ s; the driver resets it.*timeout"
echo 0 > $PARAMETERS/preempt_hang
reap $P
within 10 no_holder
unload
load gfx906
target -q -n 1
mkqueue -q -n 1 -k /tmp/s2 & P2=$!
within 20 test -s /tmp/s2
gpq suspend -p $P > /dev/null
status_is "one debug VMID for all: exit status" 1 gpq suspend -p $P2
like "one debug VMID for all: the sentence" "$OUT" "one debug session only, and another process has it"
is "the other one is untraced" "$(tracer $P2)" 0
moves 0 "the other one" /tmp/s2
gpq resume -p $P > /dev/null
status_is "now it is its turn" 0 gpq suspend -p $P2
gpq resume -p $P2 > /dev/null
reap $P $P2
unload
load gfx942 sched_policy=2
mkqueue -q -n 1 -W 600000 & P=$!
within 10 test -d $KFD/proc/$P
refused "no hardware scheduler" 6 "sched_policy=2" -p $P
reap $P
unload
kill $SLEEPER
finish
