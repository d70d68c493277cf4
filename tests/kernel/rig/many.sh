# More than one: GPUs in a process, partitions of a GPU, queues than slots, suspensions than one wants to count.
# shellcheck shell=dash disable=SC1091,SC2005,SC2046,SC2086,SC2231 # sysfs files lack the newline; no blanks in names
. /t/lib.sh
. /t/rig/rig.inc

ids() { seq -s, $1 $2; } # FROM TO

two_gpus() {
	load gfx942,gfx1100
	target -n 2 -G 2 -s
	is "one process has queues on two GPUs" "$(for q in $KFD/proc/$P/queues/*; do echo "$(cat $q/gpuid)"; done | sort -u | wc -l)" 2
	hold "susp=0,1,2,3,4,5 -> 6" seize enable snap=$CLEAR_NEW dev susp=$(ids 0 5) \
		sh="until [ -e /tmp/go ]; do usleep 20000; done" res=0,3
	held "the device snapshot names both" "dev -> 0 .*gfx 90402 .*gfx 110000 "
	still 0 "all suspended in one call, first GPU"
	still 3 "all suspended in one call, second GPU"
	empty "nothing is left on either" "$(grep -h '^queue' $SOFT/[01])"
	: > /tmp/go
	held "one queue of each resumed in one call" "res=0,3 -> 2"
	moves 0 "resumed"
	moves 3 "resumed"
	still 1 "not resumed"
	rm /tmp/go
	kill_debugger
	moves 1 "its debugger was killed"
	reap $P
	unload
}

# MI300X in CPX mode: eight nodes behind one PCI device.
partitions() {
	load gfx942cpx
	is "a GPU in CPX mode has eight nodes" "$(cat $KFD/topology/nodes/*/gpu_id | grep -vc '^0$')" 8
	target -n 1 -G 8
	hold "susp=0,1,2,3,4,5,6,7 -> 8" seize enable snap=$CLEAR_NEW susp=$(ids 0 7) res=7
	held "the queues of all eight are suspended in one call" "susp=0,1,2,3,4,5,6,7 -> 8 .*res=7 -> 1"
	moves 7 "resumed"
	still 0 "not resumed"
	kill_debugger
	moves 0 "its debugger was killed"
	reap $P
	unload
}

# KFD chains the run list to itself; the hardware lets queues take turns.
oversubscribed() {
	load gfx942
	target -n 40
	within 10 sh -c "[ \$(grep -c '^queue aql' $SOFT/0) = 40 ]"
	is "16 of 40 queues wait for one of the 24 slots" "$(grep -c 'waiting$' $SOFT/0)" 16
	like "the run list chains to itself" "$(cat $KFDEBUG/rls)" " c002a500 "
	moves 0 "taking turns"
	moves 39 "taking turns"
	hold "susp=.* -> 20 " seize enable snap=$CLEAR_NEW susp=$(ids 0 19)
	still 0 "20 of 40 suspended"
	moves 39 "20 of 40 suspended"
	is "the others have slots of their own" "$(grep -c 'waiting$' $SOFT/0)" 0
	kill_debugger
	reap $P
}

# Not nested: one RESUME is enough, and RESUME without a list counts all queues, suspended or not.
counting() {
	target -n 3
	calls "resume all counts all queues, also when none was suspended" "resall -> 3" seize enable snap=$CLEAR_NEW resall
	calls "100 suspensions and resumptions" "cycles=0,1,2/100 -> 100 " seize enable cycles=0,1,2/100
	moves 0 "after 100 cycles"
	moves 2 "after 100 cycles"
	reap $P
}

two_gpus
partitions
oversubscribed
counting
unload
load gfx1100
counting
unload
kernel_is_content
finish
