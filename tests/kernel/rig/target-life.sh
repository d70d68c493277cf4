# A target lives on while it is held: destroys queues, forks, execs, exits, stops, is killed, gets signals, and starts
# or ends its runtime, which waits for the debugger's word.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/rig/rig.inc

destroys() {
	waiting_target -n 2 -d 1
	hold "susp=0,1 -> 2 .*susp=0,1 -> 2 " seize enable snap=$CLEAR_NEW susp=0,1 \
		sh=": > /tmp/go; until grep -q destroy_queue /proc/$P/wchan; do usleep 20000; done" susp=0,1
	held "a suspended queue that is being destroyed still counts" "susp=0,1 -> 2 .*susp=0,1 -> 2 .*00000000 .*00000001 "
	like "DESTROY_QUEUE of a suspended queue sleeps, interruptibly" "$(state_of $P)" "S in .*destroy_queue"
	unlike "it has not returned" "$(cat /tmp/mkqueue.log)" "DESTROY_QUEUE 0 ->"
	kill_debugger
	within 20 grep -q 'DESTROY_QUEUE 0 ->' /tmp/mkqueue.log
	like "it returns when the queue is resumed" "$(cat /tmp/mkqueue.log)" "DESTROY_QUEUE 0 -> 0"
	moves 1 "the other queue"
	is "sysfs lists what is left" "$(queues_of $P)" "1 "
	reap $P
}

# Between the target's call and the resume the queue cannot be suspended any more.
destroys_later() {
	target -n 2
	calls "a queue that does not exist any more is INVALID" "susp=0,7 -> 1 .*80000007 INVALID" seize enable snap=$CLEAR_NEW susp=0,7
	reap $P
}

killed() {
	target -n 2
	hold "res=0,1 -> " seize enable snap=$CLEAR_NEW susp=0,1 sh="kill -9 $P; while [ -d $KFD/proc/$P ]; do usleep 20000; done" \
		res=0,1 snap disable
	held "killed while suspended: every call answers ESRCH" "res=0,1 -> -1 ESRCH .*snap -> -1 ESRCH .*disable -> -1 ESRCH"
	empty "its directory is gone" "$(queues_of $P)"
	is "nothing of it is left on the GPU" "$(grep -c '^queue' $SOFT/0)" 0
	kill_debugger
	reap $P
}

exits() {
	waiting_target -n 1 --exit 1
	hold_queues 0
	go
	wait $P
	is "a target with a suspended queue can exit" $? 3
	within 20 test ! -d $KFD/proc/$P
	ok "the driver has forgotten it" test ! -d $KFD/proc/$P
	kill_debugger
}

stopped() {
	target -n 1 -r 1048576 # enough in the ring for all the time that it is stopped
	kill -STOP $P
	local before after
	before=$(completed "$(ring 0)" barrier_and)
	usleep 200000
	after=$(completed "$(ring 0)" barrier_and)
	if [ "$after" -gt "$before" ]; then pass "SIGSTOP does not stop queues"; else fail "SIGSTOP does not stop queues" "$before"; fi
	calls "a stopped target can be suspended and resumed" "susp=0 -> 1 .*res=0 -> 1" seize enable snap=$CLEAR_NEW susp=0 res=0 disable
	kill -CONT $P
	moves 0 "after SIGCONT"
	reap $P
}

forks() {
	waiting_target -n 1 --fork 1
	hold_queues 0
	go
	within 20 grep -q 'child:' /tmp/mkqueue.log
	like "a child's use of the inherited descriptor is EBADF" "$(cat /tmp/mkqueue.log)" "GET_VERSION -> EBADF"
	is "the child is no process of KFD's" "$(ls $KFD/proc | wc -l)" "$(echo "$P $W" | wc -w)"
	still 0 "the target forked"
	kill_debugger
	moves 0 "the debugger was killed"
	reap $P
}

# exec ends the session, not the tracing.
execs() {
	waiting_target -n 1 --exec 1
	hold "enable -> 0 .*susp=0 -> 1 .*enable -> 0 .*res=0 -> 1 .*susp=0 -> 1" seize enable snap=$CLEAR_NEW susp=0 \
		sh=": > /tmp/go; until [ \$(grep -c ring_base /tmp/mkqueue.log) = 2 ]; do usleep 20000; done" \
		snap enable snap=$CLEAR_NEW susp=0 res=0 susp=0
	held "after exec the session is over, a new one can begin" "snap -> -1 EINVAL .*enable -> 0 .*susp=0 -> 1"
	still 0 "the queue made after exec, suspended"
	kill_debugger
	moves 0 "the queue made after exec"
	reap $P
}

# The tracer gets every signal first and must hand it on.
signals() { # N
	target -n 1 --signals /tmp/signals
	hold_queues 0
	sendsig $P $1
	within 60 grep -q "received $1 " /tmp/signals
	is "$1 signals while held: none lost, none twice" "$(cat /tmp/signals)" "received $1 distinct $1 duplicate 0 usr1 0"
	still 0 "meanwhile"
	kill_debugger
	moves 0 "its debugger was killed"
	reap $P
}

no_queues_yet() { # MKQUEUE-ARGS...: a target that has opened KFD and not yet enabled its runtime
	rm -f $STATUS /tmp/go
	mkqueue "$@" -k $STATUS --trigger /tmp/go > /tmp/mkqueue.log 2>&1 &
	P=$!
	within 20 test -d $KFD/proc/$P
}

ENABLED='RUNTIME_ENABLE\(1\) -> '

# RUNTIME_ENABLE of a debugged process sleeps until the debugger says go.
runtime_starts() {
	no_queues_yet -n 1 -W 1
	hold "goruntime -> 0" seize enable=$RUNTIME_EVENT sh=": > /tmp/go" poll=10000 query=0 sh="usleep 200000; cat /proc/$P/wchan; cat /tmp/mkqueue.log" goruntime
	held "the event pipe tells of it" "poll=10000 -> 1 .*event queue 0 gpu 0 mask 800000000000"
	unlike "the target sleeps in RUNTIME_ENABLE meanwhile" "$(sed '/goruntime/,$d' $HELD)" "$ENABLED"
	within 20 test -s $STATUS
	like "and goes on when told" "$(cat /tmp/mkqueue.log)" "${ENABLED}0"
	kill_debugger
	reap $P
}

# Nothing else wakes it, but a signal does: SIGSTOP and SIGCONT make it try again, undebugged.
runtime_left_alone() { # HOW WORD
	no_queues_yet -n 1 -W 1
	hold "enable -> 0" seize enable sh=": > /tmp/go; until grep -q 'ENABLE(1) [.]' /tmp/mkqueue.log; do usleep 20000; done; usleep 100000" "$2" die
	wait $W 2> /dev/null
	usleep 300000
	unlike "a debugger that only $1 leaves it asleep" "$(cat /tmp/mkqueue.log)" "$ENABLED"
	kill -STOP $P
	usleep 100000
	kill -CONT $P
	within 20 test -s $STATUS
	like "SIGSTOP and SIGCONT get it out, the second try succeeds" "$(cat /tmp/mkqueue.log)" "${ENABLED}EINTR.*${ENABLED}0"
	reap $P
}

# Ending the runtime (hsa_shut_down) resumes the queues first and then sleeps the same way.
runtime_ends() {
	waiting_target -n 1 -E --finish 1
	hold "goruntime -> 0" seize enable snap=$CLEAR_NEW susp=0 \
		sh=": > /tmp/go; until grep -q 'ENABLE(0) \.\.\.' /tmp/mkqueue.log; do usleep 20000; done; usleep 200000; cat /tmp/mkqueue.log" \
		susp=0 goruntime
	unlike "RUNTIME_ENABLE(0) of a debugged process sleeps" "$(sed '/goruntime/,$d' $HELD)" 'ENABLE\(0\) ->'
	held "nothing can be suspended then" "ENABLE.0. \.\.\. .*susp=0 -> -1 EPERM"
	wait $P
	like "and ends when told" "$(cat /tmp/mkqueue.log)" 'RUNTIME_ENABLE\(0\) -> 0'
	kill_debugger
}

ring() { awk -v q="$1" '$4 == q { print $12 }' /tmp/mkqueue.log; } # QUEUE

for model in gfx942 gfx1100; do
	load $model || continue
	destroys
	destroys_later
	killed
	exits
	unload
done
load gfx942
stopped
forks
execs
signals 1000
runtime_starts
runtime_left_alone 'says DISABLE' disable
runtime_left_alone dies ms=0
runtime_ends
unload
kernel_is_content
finish
