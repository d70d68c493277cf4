# Preemption that goes wrong: slow, refused by one queue, or never answered. The last two end in a reset of the GPU.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

slow() {
	load gfx942
	target -n 1
	echo 300000 > $PARAMETERS/preempt_us
	like "a preemption that takes 300 ms is waited for" "$(dbg $P seize enable snap=$CLEAR_NEW susp=0 res=0)" \
		"susp=0 -> 1 +\(([3-9]|[1-9][0-9])[0-9]{5} us"
	echo 0 > $PARAMETERS/preempt_us
	moves 0 "after it"
	reap $P
	unload
}

# After a reset the driver reports success, but nothing of that process runs any more.
reset_follows() {
	within 20 sh -c "dmesg | grep -q 'softgpu: reset end'"
	like "the GPU is reset" "$(dmesg)" "softgpu: reset begin.*softgpu: reset end"
	dmesg -c > /dev/null
	r=$(rptr 1)
	calls "later calls claim success" "susp=1 -> 1 .*resall -> 2" seize susp=1 resall
	usleep 500000
	is "but the process's queues run no more" "$(rptr 1)" "$r"
	kill_debugger
	reap $P
	target -n 1
	moves 0 "a new process after the reset"
	reap $P
	unload
}

# While a runlist is made anew no queue is on the GPU for a moment.
refused() {
	load gfx942
	target -n 2
	hold "susp=0 -> " seize enable snap=$CLEAR_NEW \
		sh="until awk '/^queue/ { print \$6; exit }' $SOFT/0 > /tmp/doorbell && test -s /tmp/doorbell; do usleep 10000; done; cat /tmp/doorbell > $PARAMETERS/preempt_fail_doorbell" susp=0 detach
	held "a queue that cannot be preempted: ERROR at once, not counted" "susp=0 -> 0 .*40000000 ERROR"
	reset_follows
}

hangs() {
	load $1 queue_preemption_timeout_ms=1000
	target -n 2
	hold "susp=0 -> " seize enable snap=$CLEAR_NEW sh="echo Y > $PARAMETERS/preempt_hang" susp=0 \
		sh="echo N > $PARAMETERS/preempt_hang" detach
	held "firmware that does not answer: ERROR after the driver's timeout, not counted" "susp=0 -> 0 .* ERROR"
	reset_follows
}

dmesg -c > /dev/null
slow
refused
hangs gfx942
finish
