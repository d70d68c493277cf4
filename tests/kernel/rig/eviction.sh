# Eviction (memory pressure) and suspension are flags of their own: a queue runs when neither is set.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

evicted_ms() { cat $KFD/proc/$P/stats_*/evicted_ms; }

for model in gfx942 gfx1100; do
	load $model || continue
	target -n 2
	hold "susp=0 -> 1" seize enable snap=$CLEAR_NEW susp=0 sh="until [ -e /tmp/evicted ]; do usleep 20000; done" susp=1 res=0 \
		sh="until [ -e /tmp/restored ]; do usleep 20000; done" resall
	is "a suspension does not count as eviction" "$(evicted_ms)" 0
	echo $P > $SOFT/evict
	still 1 evicted
	: > /tmp/evicted
	held "an evicted queue can be suspended, a suspended one resumed" "susp=1 -> 1 .*res=0 -> 1"
	still 0 "resumed while evicted"
	echo $P > $SOFT/restore
	moves 0 "restored"
	still 1 "restored while suspended"
	if [ "$(evicted_ms)" -gt 0 ]; then pass "evicted_ms has grown"; else fail "evicted_ms has grown" "$(evicted_ms)"; fi
	: > /tmp/restored
	held "all resumed" "resall -> 2"
	moves 0 "resumed"
	moves 1 "resumed"
	rm /tmp/evicted /tmp/restored
	kill_debugger
	reap $P
	unload
done
finish
