# STATE and HOLDER of gpq queues and gpq ps, for every state that a queue can be brought into, and back.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

SOFTGPU=/sys/kernel/debug/softgpu
states() { gpq queues -p $P -r -n -o QID,STATE,HOLDER "$@" | tr '\n' ' ' | sed 's/ *$//'; }
# The GPU's own list of what is mapped says whether this may be believed.
mapped() { grep -c '^queue ' $SOFTGPU/0; }

one_model() {
	local h off=off-hardware evicted=evicted
	load $1 || return
	# With MES there is no runlist to look into.
	case $1 in gfx11*) off=unknown evicted=unknown ;; esac
	# A debugger may hold the queues without tracing: nothing tells its hold from an eviction.
	! driver_has untraced_debugger || evicted=$off
	target -q -n 2
	is "running" "$(states)" "0 running - 1 running -"
	gpq suspend -p $P > /dev/null
	h=$(tracer $P)
	is "suspended by gpq, and the holder" "$(states)" "0 suspended $h 1 suspended $h"
	is "indeed" "$(mapped)" 0
	gpq resume -p $P -Q 1 > /dev/null
	is "one of them resumed" "$(states)" "0 suspended $h 1 running -"
	is "which the process is then said to be" "$(gpq ps -p $P -r -n -o STATE,OFF,HOLDER)" "partly-suspended 1 $h"
	gpq resume -p $P --keep > /dev/null
	is "kept: nobody holds a queue" "$(states)" "0 running - 1 running -"
	echo $P > $SOFTGPU/evict
	is "evicted while gpq is attached: it cannot be told from a suspension by it" "$(states)" "0 $off - 1 $off -"
	gpq suspend -p $P > /dev/null
	is "suspended while evicted" "$(states)" "0 suspended $h 1 suspended $h"
	echo $P > $SOFTGPU/restore
	is "restored and still suspended" "$(states)" "0 suspended $h 1 suspended $h"
	still 0 "restored and still suspended" 200
	gpq resume -p $P > /dev/null
	is "resumed" "$(states)" "0 running - 1 running -"
	echo $P > $SOFTGPU/evict
	is "evicted" "$(states)" "0 $evicted - 1 $evicted -"
	is "indeed" "$(mapped)" 0
	echo $P > $SOFTGPU/restore
	is "restored" "$(states)" "0 running - 1 running -"
	dbg $P seize enable snap=$CLEAR_NEW susp=0,1 hold > /tmp/dbg.out 2>&1 & D=$!
	within 20 grep -q 'susp=0,1 -> 2' /tmp/dbg.out || fail "another debugger suspends" "$(cat /tmp/dbg.out)"
	is "suspended by another debugger" "$(states)" "0 $off - 1 $off -"
	kill -9 $D
	wait $D 2> /dev/null
	is_untouched "the debugger died"
	is "to another user" "$(su user -c "gpq queues -p $P -r -n -o QID,STATE,HOLDER" | tr '\n' ' ')" "0 unknown - 1 unknown - "
	reap $P
	target -q -n 2 --burst 10 --requests 1000 --pause 3600000
	within 20 eval '[ "$(rptr 0)" -ge 10 ] && [ "$(rptr 1)" -ge 10 ]' || fail "the first request is done" "$(cat $STATUS)"
	is "idle" "$(states)" "0 idle - 1 idle -"
	is "so is the process, with no packet in its queues" "$(gpq ps -p $P -r -n -o STATE,HOLDER,BACKLOG)" "idle - 0"
	gpq suspend -p $P -Q 0 > /dev/null
	is "idle and suspended" "$(states)" "0 suspended $(tracer $P) 1 idle -"
	gpq resume -p $P > /dev/null
	reap $P
	unload
}

for m in gfx942 gfx90a gfx1100; do one_model $m; done
kernel_is_content
finish
