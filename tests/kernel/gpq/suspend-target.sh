# What a target can do while it is held: end, exec, fork, stop, create and destroy queues, start and end its runtime, and
# get ten thousand signals. Nothing is lost and nothing hangs for good.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

SIGNALS=/tmp/signals
gone() { ! kill -0 $1 2> /dev/null; }
state() { sed 's/.*) //; s/ .*//' "/proc/$P/stat"; }
received() { grep -q "^received $1 " $SIGNALS; }
stopped() { [ "$(state)" = T ] || [ "$(state)" = t ]; }

ends() {
	target -q -n 2
	gpq suspend -p $P > /dev/null
	kill -9 $P
	wait $P
	is "killed while suspended: its parent learns how" $? 137
	within 10 no_holder || fail "the holder ends with the target" "$(holders)"
	status_is "resume of a dead process: not found" 5 gpq resume -p $P
	target -q -n 1 --exit 1500
	gpq suspend -p $P > /dev/null
	wait $P
	is "it exits while suspended: its parent learns how" $? 3
	within 10 no_holder || fail "the holder ends with the target" "$(holders)"
	target -q -n 1 -t 3
	gpq suspend -p $P > /dev/null
	wait $P
	is "it ends by itself while suspended" $? 0
	within 10 no_holder || fail "the holder ends with the target" "$(holders)"
}

execs() {
	target -q -n 1 --exec 2000
	gpq suspend -p $P > /dev/null
	H=$(tracer $P)
	within 10 no_holder || fail "the holder ends when the target calls exec" "$(holders)"
	is "the new program is untraced" "$(tracer $P)" 0
	within 10 test -d "$KFD/proc/$P/queues/0"
	usleep 200000
	is_free "after exec"
	reap $P
}

forks() {
	target -q -n 1 --fork 1000
	gpq suspend -p $P > /dev/null
	usleep 1500000
	C=$(cat /proc/$P/task/$P/children)
	ok "the target could fork" test -n "$C"
	is "the child is untraced" "$(tracer ${C:-1})" 0
	still 0 "the child lives" 200
	gpq resume -p $P > /dev/null
	moves 0 resumed
	for c in $C; do kill $c; done
	reap $P
}

queues_come_and_go() {
	target -q -n 2 -d 1500
	gpq suspend -p $P > /dev/null
	usleep 1800000
	ok "DESTROY_QUEUE waits while the queue is suspended" test -d "$KFD/proc/$P/queues/0"
	status_is "resume" 0 gpq resume -p $P
	within 10 test ! -d "$KFD/proc/$P/queues/0" || fail "and goes on when it is resumed" ""
	moves 1 "the other one"
	reap $P
}

stops() {
	target -q -n 1
	gpq suspend -p $P > /dev/null
	kill -STOP $P
	within 10 stopped || fail "SIGSTOP stops a held target" "$(state)"
	usleep 300000
	ok "and it stays stopped" stopped
	status_is "resume of a stopped target" 0 gpq resume -p $P
	is "it is still stopped, and untraced" "$(state) $(tracer $P)" "T 0"
	status_is "suspend of a stopped target" 0 gpq suspend -p $P
	kill -CONT $P
	within 10 eval '! stopped' || fail "SIGCONT continues a held target" "$(state)"
	gpq resume -p $P > /dev/null
	moves 0 "stopped, continued, resumed"
	kill -STOP $P
	gpq suspend -p $P > /dev/null
	kill -9 "$(tracer $P)"
	within 10 untraced $P
	is "its holder was killed: still stopped" "$(state)" T
	kill -CONT $P
	moves 0 "continued"
	reap $P
}

signals() {
	target -q -n 1 --signals $SIGNALS
	gpq suspend -p $P > /dev/null
	sendsig $P 10000
	within 60 received 10000 || :
	like "10,000 signals while held: none lost, none twice" "$(cat $SIGNALS)" \
		"^received 10000 distinct 10000 duplicate 0 "
	still 0 "still suspended"
	# The holder comes, goes and dies while they arrive.
	sendsig $P 10000 & S=$!
	for _ in 1 2 3 4 5; do
		gpq resume -p $P > /dev/null
		gpq suspend -p $P > /dev/null
		kill -9 "$(tracer $P)"
		within 5 untraced $P
		gpq suspend -p $P > /dev/null
	done
	wait $S
	within 60 received 20000 || :
	like "10,000 more while holders come and die" "$(cat $SIGNALS)" "^received 20000 distinct 10000 duplicate 10000 "
	gpq resume -p $P > /dev/null
	reap $P
}

# hsa_init and hsa_shut_down: the driver makes the target wait for its debugger.
runtime() {
	mkqueue -q -n 1 -W 2500 -k $STATUS & P=$!
	within 10 test -d "$KFD/proc/$P"
	rm -f $STATUS $STATUS.new
	status_is "suspend before the runtime is enabled" 0 gpq suspend -p $P
	within 20 test -d "$KFD/proc/$P/queues/0" || fail "the target starts while it is held" "$(cat /proc/$P/wchan)"
	within 10 test -s $STATUS
	still 0 "its first queue was caught"
	gpq resume -p $P > /dev/null
	moves 0 resumed
	reap $P
	mkqueue -q -n 1 -W 2500 -k $STATUS & P=$!
	within 10 test -d "$KFD/proc/$P"
	gpq suspend -p $P > /dev/null
	kill -STOP "$(tracer $P)"
	H=$(tracer $P)
	within 20 test -d "$KFD/proc/$P/queues/0" || fail "it starts although its holder sleeps" "$(cat /proc/$P/wchan)"
	kill -9 $H
	is_free "its holder was killed during the start"
	reap $P
	target -q -n 1 -E -t 2
	gpq suspend -p $P > /dev/null
	wait $P
	is "the runtime is disabled while held: the target ends" $? 0
	within 10 no_holder || fail "the holder ends with it" "$(holders)"
	target -q -n 1 -E -t 3
	gpq suspend -p $P > /dev/null
	kill -STOP "$(tracer $P)"
	H=$(tracer $P)
	usleep 3500000
	kill -9 $H
	wait $P
	is "... also when its holder sleeps and is killed" $? 0
}

load gfx942
ends
execs
forks
queues_come_and_go
stops
signals
runtime
unload
kernel_is_content
finish
