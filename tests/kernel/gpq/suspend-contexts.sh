# Secondary KFD contexts (AMDKFD_IOC_CREATE_PROCESS): the debug interface does not reach their queues. gpq must say so, with
# their number, and must not call them suspended. ctxq's own account of each queue is the judge.
# shellcheck shell=dash disable=SC1091,SC2086,SC2034
. /t/lib.sh
. /t/gpq/suspend.inc

# One line of ctxq's status file: "context queue rptr wptr"; context -1 is the primary one.
index_of() { awk -v c="$1" -v q="$2" '$1 == c && $2 == q { print $3 }' $STATUS; } # CONTEXT QUEUE
goes_on() { [ "$(index_of $1 $2)" != "$3" ]; }
context_moves() { # CONTEXT QUEUE WHEN
	local r=$(index_of $1 $2)
	if [ -n "$r" ] && within 10 goes_on $1 $2 $r; then pass "queue $2 of context $1 runs ($3)"; else
		fail "queue $2 of context $1 runs ($3)" "read index stays at ${r:-nothing}"
	fi
}
context_still() { # CONTEXT QUEUE WHEN
	usleep 60000
	local r=$(index_of $1 $2)
	usleep 300000
	is "queue $2 of context $1 stands still ($3)" "$(index_of $1 $2)" "$r"
}
contexts() { # CTXQ-ARGS...
	rm -f $STATUS $STATUS.new
	ctxq "$@" -k $STATUS > /tmp/ctxq.log 2>&1 &
	P=$!
	within 20 test -s $STATUS || fail "ctxq $* starts" "$(cat /tmp/ctxq.log)"
	set -- $KFD/proc/$P/context_*
	FIRST=${1##*_} SECOND=${2##*_}
}
rows() { gpq suspend -p $P -r -n -o CONTEXT_ID,QID,RESULT "$@" 2> /tmp/err; RC=$?; }

load gfx942
if ! ctxq -t 0 > /dev/null 2>&1; then
	skip "secondary contexts" "this driver has none"
	unload
	finish
	exit
fi

contexts -q 2 -c 2 -n 2
like "CONTEXT_ID is a column of people's table where a queue has one" "$(gpq suspend -p $P 2> /dev/null | head -n 1)" "^PID +GPU QID TYPE +RESULT +LATENCY CONTEXT_ID"
gpq resume -p $P > /dev/null
within 5 no_holder || fail "no holder is left" "$(holders)"
rows > /tmp/out
is "some queues are held, some cannot be: exit status" $RC 3
is "every queue has its row" "$(sort /tmp/out | tr '\n' ';')" \
	"$(printf '%s\n' "- 0 suspended" "- 1 suspended" "$FIRST 0 unreachable" "$FIRST 1 unreachable" "$SECOND 0 unreachable" "$SECOND 1 unreachable" | sort | tr '\n' ';')"
like "their number is said" "$(cat /tmp/err)" "pid $P: 4 queues of 2 secondary contexts run on: the debug interface does not reach them"
context_still -1 0 "held"
for c in $FIRST $SECOND; do for q in 0 1; do context_moves $c $q "the primary is held"; done; done
is "--list counts them" "$(gpq suspend --list -r -n -o PID,QUEUES,UNREACHED)" "$P 2 4"
is "gpq queues calls the primary's alone suspended" \
	"$(gpq queues -p $P -r -n -o CONTEXT_ID,QID,STATE,HOLDER | awk '$3 == "suspended" || $4 != "-" { print $1, $2 }' | tr '\n' ';')" "- 0;- 1;"
status_is "resume" 0 gpq resume -p $P
context_moves -1 0 "resumed"
within 5 no_holder || fail "no holder is left" "$(holders)"

rows -Q 1 > /tmp/out
is "-Q: ids of the contexts are meant, too" "$RC $(sort /tmp/out | tr '\n' ';')" \
	"3 $(printf '%s\n' "- 1 suspended" "$FIRST 1 unreachable" "$SECOND 1 unreachable" | sort | tr '\n' ';')"
context_moves -1 0 "only queue 1 is held"
context_still -1 1 "held by id"
gpq resume -p $P > /dev/null
status_is "--verify" 3 gpq suspend -p $P --verify
like "proves what is held" "$OUT" "suspended .*stopped"
unlike "and nothing of the others" "$OUT" "unreachable .*stopped"
gpq resume -p $P > /dev/null
status_is "a command is not run" 3 gpq suspend -p $P -- touch /tmp/ran
ok "it was not" test ! -e /tmp/ran
within 5 no_holder || fail "no holder is left after it" "$(holders)"
status_is "bench preempt measures the others" 0 gpq bench preempt -p $P --cycles 3 --warmup 0
like "and says what runs on" "$OUT" "pid $P: 4 queues of secondary contexts run on in all cycles"
reap $P

contexts -q 1 -c 1 -n 2
status_is "an id that only a context has" 6 gpq suspend -p $P -Q 1
like "is unreachable" "$OUT" "pid $P: 1 queue of 1 secondary context runs on"
within 5 no_holder || fail "no holder is left" "$(holders)"
gpq suspend -p $P > /dev/null 2>&1
status_is "resume of an id that only a context has" 6 gpq resume -p $P -Q 1
like "says so" "$OUT" "pid $P: queue 1: only a secondary context has one of this id"
context_still -1 0 "the primary's stays off"
gpq resume -p $P > /dev/null
reap $P

contexts -q 0 -c 1 -n 2
status_is "no queue but those of contexts" 6 gpq suspend -p $P
like "is said" "$OUT" "pid $P: 2 queues of 1 secondary context run on"
within 5 no_holder || fail "and nobody stays to wait" "$(holders)"
for q in 0 1; do context_moves $FIRST $q "after that"; done
reap $P
unload
kernel_is_content
finish
