# Rings of every kind are executed packet by packet and suspended alike; the GPU's count, mkqueue's and the log's agree.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

ring() { awk -v q="$1" '$4 == q && /ring_base/ { print $12 }' /tmp/mkqueue.log; } # QUEUE

kind() { # WHAT MKQUEUE-ARGS...
	local what=$1
	shift
	target -n 2 "$@"
	hold_queues 0
	still 0 "suspended, $what"
	moves 1 "its neighbour, $what"
	kill_debugger
	moves 0 "resumed, $what"
	reap $P
}

counted() {
	mkqueue -n 2 -s -c 777 > /tmp/mkqueue.log 2>&1
	is "all packets are done, SDMA's too" "$(grep -c 'submitted 777 done 777' /tmp/mkqueue.log)" 3
	is "the GPU counts 777 barriers on ring 0" "$(completed "$(ring 0)" barrier_and)" 777
	is "the GPU counts 777 barriers on ring 1" "$(completed "$(ring 1)" barrier_and)" 777
	is "no packet named memory that is not there" "$(counter badsig)" 0
	is "the scheduler firmware understood everything" "$(counter bad)" 0
}

# The log's lines of a ring are the packets that the GPU has completed on it, suspended in between or not.
logged() { # RELEASE
	rm -f /tmp/hip.log /tmp/s
	mkqueue -n 2 -p 0,15 -R 200 -c 150 -L /tmp/hip.log --log-release $1 -k /tmp/s > /tmp/mkqueue.log 2>&1 &
	P=$!
	within 20 test -s /tmp/s
	calls "suspended in mid-run" "susp=0 -> 1" seize enable snap=$CLEAR_NEW susp=0 ms=300 res=0
	wait $P
	is "release $1: 150 dispatch lines on ring 0" "$(grep -c "HWq=$(ring 0), .*Dispatch Header" /tmp/hip.log)" 150
	is "release $1: the GPU's count" "$(completed "$(ring 0)" dispatch)" 150
	is "release $1: as many launches as dispatches" "$(grep -c 'hipModuleLaunchKernel (' /tmp/hip.log)" 300
}

load gfx942
kind "PM4" -P
kind "user memory" -u
kind "PM4 in user memory" -P -u
kind "a small ring" -r 4096
counted
logged 5.7
logged 6.4
unload
load gfx90a sdma_exec=0 irqs=0
counted
unload
kernel_is_content
finish
