# The debug interface of the driver itself on every model: what may be suspended and when, what it looks like, what
# undoes it. gpq takes no part in this.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/rig/rig.inc

fresh_queues() {
	target -n 2 -s
	is "sysfs lists 3 queues" "$(queues_of $P)" "0 1 2 "
	moves 0 "no debugger"
	calls "a process that is not traced: ENABLE is refused" "enable -> -1 EPERM" enable
	calls "new queues cannot be suspended" "susp=0,1 -> 0 .*80000000 INVALID.*80000001 INVALID" \
		seize enable susp=0,1 disable
	calls "DISABLE forgets that queues are new" "exception_status 0 .*susp=0 -> 1 .*00000000" \
		seize enable snap susp=0 disable
	reap $P
}

suspended() {
	target -n 2
	hold_queues 0
	held "a snapshot that clears QUEUE_NEW allows the suspension" "susp=0 -> 1"
	still 0 suspended
	moves 1 "not suspended"
	is "sysfs does not show the suspension" "$(queues_of $P)" "0 1 "
	is_mes || is "the run list holds one queue less" "$(grep -c '^  *[0-9a-f]*:.*c005a200' $KFDEBUG/rls)" 1
	kill_debugger
	moves 0 "its debugger was killed"
}

repeated() {
	calls "suspended twice, resumed twice: each counts 1" \
		"susp=0 -> 1 .*susp=0 -> 1 .*res=0 -> 1 .*res=0 -> 1 " seize enable susp=0 susp=0 res=0 res=0
	calls "an unknown queue id is INVALID, the others are done" "susp=9,1 -> 1 .*80000009 INVALID .*00000001 " \
		seize enable susp=9,1
	moves 1 "its debugger exited"
}

# 6.12.95 lets anybody DISABLE anybody's session; 6.12.107 answers EPERM.
stranger() {
	local out
	hold "susp=0,1 -> 2" seize enable susp=0,1
	out=$(dbg $P disable)
	like "DISABLE by a stranger is either refused or done" "$out" "disable -> (0|-1 EPERM)"
	case $out in
	*EPERM*) still 0 "the stranger was refused" ;;
	*) moves 0 "a stranger said DISABLE" ;;
	esac
	kill_debugger
}

occupancy() {
	calls "cu_occupancy is 0 when all are suspended" "susp=0,1 -> 2.* 0 " \
		seize enable susp=0,1 ms=50 sh="cat $KFD/proc/$P/stats_*/cu_occupancy | sort -u"
	reap $P
}

no_runtime() {
	target -n 1 -x
	calls "without RUNTIME_ENABLE a suspension is refused" "runtime_state 0 .*susp=0 -> -1 EPERM" seize enable susp=0
	reap $P
}

born_meanwhile() {
	waiting_target -n 2 -l 1
	hold "susp=0,1,2 -> 2 " seize enable snap=$CLEAR_NEW susp=0,1 sh="$ONE_MORE" susp=0,1,2
	held "a queue created during a suspension is new" "susp=0,1,2 -> 2 .*80000002 INVALID"
	still 0 "meanwhile"
	moves 2 "born while others are suspended"
	kill_debugger
	reap $P
}

for model in ${MODELS:-$ALL_MODELS}; do
	load $model || continue
	fresh_queues
	suspended
	repeated
	stranger
	occupancy
	no_runtime
	born_meanwhile
	empty "the driver has forgotten the processes" "$(ls $KFD/proc)"
	unload
done
kernel_is_content
finish
