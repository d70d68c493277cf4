# EC_QUEUE_NEW: every queue is born with it and cannot be suspended until somebody takes notice of it.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

NEW=40000000

# A queue that comes while others are suspended runs, and is caught only after its flag is cleared.
caught_later() {
	waiting_target -n 2 -l 1
	hold "susp=0,1,2 -> 3" seize enable snap=$CLEAR_NEW susp=0,1 \
		sh="$ONE_MORE" snap susp=0,1,2 snap=$CLEAR_NEW susp=0,1,2
	held "the snapshot shows it as new, and only it" \
		"snap -> 0 .*queue 2 [^q]*exception_status $NEW.*queue 1 [^q]*exception_status 0 .*queue 0 [^q]*exception_status 0 "
	held "uncleared it is skipped" "susp=0,1,2 -> 2 .*80000002 INVALID"
	still 2 "caught after clearing"
	kill_debugger
	moves 2 "its debugger was killed"
	reap $P
}

# The mask in SUSPEND itself does not help that very call. HWS clears it for all listed queues of a batch of which one
# was suspended, MES only for those suspended.
mask_in_suspend() {
	waiting_target -n 2 -l 1
	hold "susp=2 -> [01]" seize enable susp=0,1/$CLEAR_NEW snap snap=$CLEAR_NEW \
		sh="$ONE_MORE" susp=0,2/$CLEAR_NEW snap susp=2
	held "a mask in SUSPEND does not help the same call" "susp=0,1/$CLEAR_NEW -> 0 .*80000000 INVALID.*80000001 INVALID"
	held "nor a later one, when nothing was suspended" \
		"snap -> 0 .*queue 1 [^q]*exception_status $NEW.*queue 0 [^q]*exception_status $NEW"
	if is_mes; then
		held "MES: a skipped queue stays new" "susp=0,2/$CLEAR_NEW -> 1 .*queue 2 [^q]*exception_status $NEW.*susp=2 -> 0"
	else
		held "HWS: one suspended queue clears it for the whole batch" \
			"susp=0,2/$CLEAR_NEW -> 1 .*80000002 INVALID.*queue 2 [^q]*exception_status 0 .*susp=2 -> 1"
	fi
	kill_debugger
	reap $P
}

# The event pipe: a byte when a queue is new, then QUERY_DEBUG_EVENT names them, newest first.
event_pipe() {
	waiting_target -n 2 -l 1
	hold "susp=2 -> 1" seize enable poll=0 excmask=$CLEAR_NEW poll=100 query=$CLEAR_NEW query=$CLEAR_NEW query=$CLEAR_NEW \
		susp=0,1 sh="$ONE_MORE" poll=10000 query=$CLEAR_NEW query=$CLEAR_NEW susp=2
	held "no event before it is asked for" "poll=0 -> 0 "
	held "enabling the exception tells of the old queues" "poll=100 -> 1 .*1 byte"
	held "newest first, one a query, then EAGAIN" \
		"event queue 1 gpu [0-9]+ mask $NEW .*event queue 0 gpu [0-9]+ mask $NEW .*query=$CLEAR_NEW -> -1 EAGAIN"
	held "a query that clears allows the suspension" "susp=0,1 -> 2"
	held "the pipe tells of a new queue" "poll=10000 -> 1 .*event queue 2 gpu [0-9]+ mask $NEW .*-1 EAGAIN"
	kill_debugger
	reap $P
}

for model in gfx942 gfx1100; do
	load $model || continue
	caught_later
	mask_in_suspend
	event_pipe
	unload
done
finish
