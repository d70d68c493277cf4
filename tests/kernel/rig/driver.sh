# What differs between drivers [kernel.differences], each line of the table in lib.sh, against the driver that runs. gpq
# takes no part in this.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

# The software GPU's word for it: the PASID that the scheduler was given, here in decimal.
true_pasid() { printf '%d' 0x"$(awk '/^queue/ { print $4; exit }' $SOFT/0)"; }

pasids() {
	local shown true gpu
	load gfx942,gfx90a
	gpu=$(cat $KFD/topology/nodes/1/gpu_id)
	target -n 1 --few
	true=$(true_pasid)
	shown=$(cat $KFD/proc/$P/pasid)
	if driver_has pasid_per_gpu; then
		is "sysfs says PASID 0" "$shown" 0
		is "debugfs has that of the GPU" "$(cat $KFDEBUG/proc/$P/pasid_$gpu)" "$true"
		is "and 0 for a GPU that was not acquired" "$(cat $KFDEBUG/proc/$P/pasid_"$(cat $KFD/topology/nodes/2/gpu_id)")" 0
		is "mqds says the pid for it" "$(grep Process $KFDEBUG/mqds)" "Process $P PASID $P:"
	else
		is "sysfs has the PASID" "$shown" "$true"
		empty "debugfs has no processes" "$(ls -d $KFDEBUG/proc 2> /dev/null)"
		is "mqds has it, too, in hex" "$(grep Process $KFDEBUG/mqds)" "Process $P PASID 0x$(printf %x $true):"
	fi
	reap $P
	unload
}

# Queues 0 to 3 have priorities 0, 7, 11 and 15; mqds has the newest first. The pipe priority knows three levels.
priorities() {
	local q values='' levels=''
	target -n 4 -p 0,7,11,15
	for q in 3 2 1 0; do
		levels="$levels$((0x$(mqd_word $q 133))) "
		values="$values$((0x$(mqd_word $q 134))) "
	done
	is "the pipe priority is the level" "$levels" "0 1 2 2 "
	if driver_has level_only; then
		is "the queue priority is not written" "$values" "0 0 0 0 "
	else
		is "the queue priority is the number" "$values" "0 7 11 15 "
	fi
	reap $P
}

# A debugger that has detached from ptrace.
untraced() {
	target -n 2
	hold "snap -> " seize enable snap=$CLEAR_NEW susp=0 detach susp=1 snap sh="until [ -e /tmp/go ]; do usleep 20000; done" resall
	like "nobody traces it" "$(cat /proc/$P/status)" "TracerPid:.0 "
	still 0 "suspended before its debugger detached"
	if driver_has untraced_debugger; then
		held "it suspends another, and looks" "detach -> 0 .*susp=1 -> 1 .*snap -> 0 "
		still 1 "suspended after its debugger detached"
		calls "a stranger may neither look, resume nor end the session" "snap -> -1 EPERM .*res=0 -> -1 EPERM .*disable -> -1 EPERM" snap res=0 disable
		calls "another tracer can come and go" "seize -> 0 .*detach -> 0 " seize detach
		still 0 "another tracer came and went"
		go
		held "it resumes" "resall -> 2"
		moves 0 "resumed by its detached debugger"
	else
		held "it may not suspend another, nor look" "detach -> 0 .*susp=1 -> -1 EPERM .*snap -> -1 EPERM "
		moves 1 "not suspended"
		go
		held "nor resume" "resall -> -1 EPERM"
		still 0 "not resumed"
	fi
	kill_debugger
	rm -f /tmp/go
	moves 0 "its debugger was killed"
	moves 1 "its debugger was killed"
	reap $P
}

# Held without a tracer, and the debugger is killed: as with one.
untraced_killed() {
	driver_has untraced_debugger || return 0
	target -n 2 --signals /tmp/signals
	hold "susp=1 -> 1" seize enable snap=$CLEAR_NEW susp=0 detach susp=1
	sendsig $P 100
	within 60 grep -q "received 100 " /tmp/signals
	is "signals pass by the debugger" "$(cat /tmp/signals)" "received 100 distinct 100 duplicate 0 usr1 0"
	still 0 "after the signals"
	kill_debugger
	moves 0 "its detached debugger was killed"
	moves 1 "its detached debugger was killed"
	calls "a new session can begin" "enable -> 0 .*susp=0,1 -> 2 " seize enable snap=$CLEAR_NEW susp=0,1
	reap $P
}

# An event is its number in hex and what it tells, here the pid in hex and the name.
events() {
	local pid
	smi 30 > /tmp/smi 2>&1 &
	W=$!
	within 10 test -d $KFD/proc/$W
	usleep 500000 # until it has told the driver what it wants to hear
	target -n 1
	pid=$(printf %x $P)
	echo $P > $SOFT/evict
	within 20 grep -qE "^9 [0-9]+ -$P " /tmp/smi
	echo $P > $SOFT/restore
	moves 0 "restored"
	like "an eviction is told" "$(cat /tmp/smi)" "9 [0-9]+ -$P "
	reap $P
	if driver_has process_events; then
		within 10 grep -q '^d ' /tmp/smi
		like "a process's begin and end are told" "$(cat /tmp/smi)" "c $pid mkqueue .*d $pid mkqueue "
	else
		usleep 500000
		unlike "a process's begin and end are not told" "$(cat /tmp/smi)" "(^| )[cd] $pid "
	fi
	unshare -p -f --mount-proc mkqueue -q -n 1 -k /tmp/inside > /dev/null 2>&1 &
	within 20 test -s /tmp/inside
	P=$(pidof mkqueue)
	echo $P > $SOFT/evict
	echo $P > $SOFT/restore
	driver_has events_ns_pid && pid=1 || pid=$P
	within 20 grep -qE "^a [0-9]+ -$pid " /tmp/smi
	like "of a process in a PID namespace, by its number there or the host's" "$(cat /tmp/smi)" "9 [0-9]+ -$pid .*a [0-9]+ -$pid "
	reap $P
	kill_debugger
}

gfx950() {
	dmesg -c > /dev/null
	load gfx950
	if driver_has gfx950; then
		is "GC 9.5.0 is a node" "$(topology 1 gfx_target_version)" 90500
	else
		is "GC 9.5.0 is no node" "$(ls $KFD/topology/nodes)" 0
		like "the log says why" "$(dmesg)" "GC IP [0-9]+ .*not supported in kfd .*does not know gfx950"
	fi
	unload
}

pasids
for model in gfx942 gfx1100; do
	load $model || continue
	priorities
	untraced
	unload
done
load gfx942
untraced_killed
events
unload
kernel_is_content
gfx950
finish
