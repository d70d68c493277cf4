# A process with secondary contexts (since 7.0): what sysfs, debugfs and the debug interface know of them. ctxq has a primary
# context and two secondary ones; its status lines are "context queue rptr wptr", context -1 being the primary.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/rig/rig.inc

start() { # CTXQ-ARGS...
	rm -f $STATUS $STATUS.new
	ctxq "$@" -k $STATUS > /tmp/ctxq.log 2>&1 &
	P=$!
	within 20 test -s $STATUS || fail "ctxq $* starts" "$(cat /tmp/ctxq.log)"
}

pointer() { awk -v c=$1 -v q=$2 '$1 == c && $2 == q { print $3 }' $STATUS; } # CONTEXT QUEUE
goes_on() { [ "$(pointer $1 $2)" != "$3" ]; }

runs() { # CONTEXT QUEUE WHEN
	local r
	r=$(pointer $1 $2)
	if [ -n "$r" ] && within 10 goes_on $1 $2 $r; then pass "queue $2 of context $1 runs ($3)"; else
		fail "queue $2 of context $1 runs ($3)" "read pointer stays at ${r:-nothing}"
	fi
}

stands() { # CONTEXT QUEUE WHEN
	local r
	usleep 60000
	r=$(pointer $1 $2)
	usleep 500000
	is "queue $2 of context $1 stands still ($3)" "$(pointer $1 $2)" "${r:-no such queue}"
}

listed() { ls $KFD/proc/$P/$1 | sort -n | tr '\n' ' '; } # FOLDER
gpu() { cat $KFD/topology/nodes/1/gpu_id; }

unknown() {
	like "CREATE_PROCESS is unknown" "$(ctxq -c 1 -t 1 2>&1)" "CREATE_PROCESS: Inappropriate ioctl for device"
}

views() {
	start -q 2 -c 2 -n 1 -s -d
	is "ids begin at 0 in the primary context" "$(listed queues)" "0 1 2 "
	is "and in each other" "$(listed context_0/queues)$(listed context_1/queues)" "0 1 0 1 "
	is "an id that was used before is given again: older ones first" "$(ls -i $KFD/proc/$P/queues | sort -n | awk '{ print $2 }' | xargs)" "1 2 0"
	is "each context has a PASID of its own" \
		"$(cat $KFDEBUG/proc/$P/pasid_"$(gpu)" $KFDEBUG/proc/$P/context_*/pasid_"$(gpu)" | sort -u | wc -l)" 3
	is "mqds: a block for each" "$(grep -c "^Process $P " $KFDEBUG/mqds)" 3
	# The primary's is the only one with two compute queues.
	is "mqds: the primary's is the last" "$(awk '/^Process/ { n = 0 } /Compute/ { n++ } END { print n }' $KFDEBUG/mqds)" 2
	is "rls: a process each" "$(grep -o 'c013a100' $KFDEBUG/rls | wc -l)" 3
	echo "$P 1" > $SOFT/evict
	stands 1 0 "it was evicted"
	runs 0 0 "another context was evicted"
	runs -1 0 "another context was evicted"
	echo "$P 1" > $SOFT/restore
	runs 1 0 "restored"
	is "eviction is counted for that one alone" "$(for d in . context_0 context_1; do
		[ "$(cat $KFD/proc/$P/$d/stats_*/evicted_ms)" -eq 0 ] && echo none || echo some; done | xargs)" "none none some"
	reap $P
	empty "nothing is left of it" "$(ls $KFD/proc)$(ls $KFDEBUG/proc)"
}

# The debug interface reaches the primary's queues alone.
debugger() {
	start -q 2 -c 2 -n 3
	hold "susp=0,1,2 -> " seize enable snap=$CLEAR_NEW susp=0,1,2
	held "the snapshot has the primary's queues" "snap=$CLEAR_NEW -> 0 .* queue 1 .* queue 0 "
	unlike "and no others" "$(cat $HELD)" " queue 2 "
	held "an id of another context is INVALID" "susp=0,1,2 -> 2 .*80000002 INVALID"
	stands -1 0 "suspended"
	runs 0 0 "the primary's queue of that id is suspended"
	runs 1 0 "the primary's queue of that id is suspended"
	runs 0 2 "the primary has no queue of that id"
	kill_debugger
	runs -1 0 "its debugger was killed"
	like "a secondary context cannot be the debugger" "$(ctxdbg $P)" "CREATE_PROCESS -> 0 .*again -> EINVAL .*secondary context -> EOPNOTSUPP"
	reap $P
	start -q 0 -c 1 -n 1
	calls "a process with queues in another context only: none to suspend" "snap=$CLEAR_NEW -> 0 .*susp=0 -> 0 .*80000000 INVALID" \
		seize enable snap=$CLEAR_NEW susp=0
	runs 0 0 "after that"
	reap $P
}

for model in gfx942 gfx1100; do
	load $model || continue
	if driver_has contexts; then
		[ $model != gfx942 ] || views
		debugger
	else
		unknown
	fi
	unload
done
kernel_is_content
finish
