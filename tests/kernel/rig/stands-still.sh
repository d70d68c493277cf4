# What gpq suspend is built on, shown without gpq: a suspended queue makes no progress over 2 s while its neighbour in
# the same process does; after the resume it goes on; the debugger's death resumes it. One model of each scheduler.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

for model in gfx942x8 gfx1100; do
	load $model || continue
	target -n 2 -s
	hold "susp=0 -> 1" seize enable snap=$CLEAR_NEW susp=0 sh="until [ -e /tmp/go ]; do usleep 20000; done" res=0 \
		sh="while [ -e /tmp/go ]; do usleep 20000; done" susp=0
	is "queue 0 is not on the GPU" "$(grep -c '^queue aql' $SOFT/0)" 1
	r=$(rptr 1)
	still 0 "suspended, for 2 s" 2000
	if has_moved 1 $r; then pass "queue 1 went on meanwhile"; else fail "queue 1 went on meanwhile" "rptr $r"; fi
	moves 2 "the SDMA queue beside it"
	: > /tmp/go
	held "resumed" "res=0 -> 1"
	moves 0 "after the resume"
	rm /tmp/go
	held "suspended once more" "res=0 -> 1 .*susp=0 -> 1"
	still 0 "suspended once more"
	kill_debugger
	moves 0 "after the debugger's death"
	is "nobody traces the target" "$(awk '/TracerPid/ { print $2 }' /proc/$P/status)" 0
	reap $P
	unload
done
finish
