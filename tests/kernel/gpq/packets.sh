# gpq packets on living queues: what aqlq and mkqueue have put into them, nothing written, nothing stopped.
# shellcheck shell=dash disable=SC1091,SC2046,SC2086
. /t/lib.sh

aql() { # SCENARIO: P is the pid
	: > /tmp/aqlq.log
	aqlq "$1" > /tmp/aqlq.log 2>&1 &
	P=$!
	within 20 grep -q ready /tmp/aqlq.log || fail "aqlq $1 starts" "$(cat /tmp/aqlq.log)"
}

signal() { awk -v n="$1" '$3 == "signal" && $4 == n { print $5 }' /tmp/aqlq.log; }

rows() { gpq packets -p $P -rn "$@"; }

every_kind() {
	aql every
	D=$(signal "done") E=$(signal host)
	is "packets around the read index, as they were written" \
		"$(rows -o PACKET_ID,AHEAD,STATE,TYPE,BARRIER,RELEASE,GRID,WORKGROUP,KERNEL_OBJECT,SIGNAL,SIGNAL_VALUE)" \
"0 -1 taken dispatch - - 4096x1x1 64x1x1 0x123400 $D 0
1 0 next barrier-and yes system - - - - -
2 1 queued dispatch yes agent 1024x1x1 64x1x1 0x123400 $E 1
3 2 queued barrier-or no none - - - - -
4 3 queued barrier-value yes none - - - - -
5 4 queued vendor no none - - - - -
6 5 unpublished invalid - - - - - - -"
	is "signals that they wait for, with their values" "$(gpq packets -p $P --ndjson -o PACKET_ID,DEPS,DEP_VALUES,CONDITION --filter 'CONDITION =~ "."')" \
"{\"record\":\"packet\",\"packet_id\":1,\"deps\":[\"$E\",\"$D\"],\"dep_values\":[\"1\",\"0\"],\"condition\":\"all 0\"}
{\"record\":\"packet\",\"packet_id\":3,\"deps\":[\"$E\"],\"dep_values\":[\"1\"],\"condition\":\"any 0\"}
{\"record\":\"packet\",\"packet_id\":4,\"deps\":[\"$E\"],\"dep_values\":[\"1\"],\"condition\":\">= 5\"}"
	is "another user is not told, and what to do" "$(su user -c "gpq packets -p $P" 2>&1)" \
		"gpq: packets: where the rings are is in /sys/kernel/debug/kfd/mqds: Permission denied; as root; or, for a process of one's own, with --attach, whose help says what it costs"
	kill -USR1 $P
	within 10 sh -c "[ \"\$(gpq packets -p $P --around 0 -rno PACKET_ID,STATE)\" = '3 next' ]"
	is "the GPU goes on once the host has set the signal, to the next that waits: the dispatch took 1 off" \
		"$(rows --around 0 -o PACKET_ID,STATE,TYPE,DEP_VALUES)" "3 next barrier-or -1"
	reap $P
}

sdma_too() {
	aql sdma
	A=$(signal a) E=$(signal host)
	is "an SDMA queue" "$(rows -Q 1 -o PACKET_ID,STATE,TYPE,SIZE,DEPS,DEP_VALUES,CONDITION,WRITES)" \
		"$(printf '0 next sdma-poll 24 0x%x 1 ==\\x200 -\n24 queued sdma-atomic 32 - - - 0x%x' $((E + 8)) $((A + 8)))"
	reap $P
}

# As a debugger would read it, and the process itself says.
against_mkqueue() {
	target -n 2 -g 4096 "$@"
	I=$(gpq packets -p $P -Q 1 --around 0 -rno READ)
	within 10 sh -c "[ \"\$(gpq packets -p $P -Q 1 --around 0 -rno READ)\" != '$I' ]"
	is "indices move$WHERE" "$?" 0
	is "all that waits is mkqueue's dispatch$WHERE" "$(rows --around 300 --filter 'STATE == "next" || STATE == "queued"' -o TYPE,GRID,WORKGROUP,BARRIER | sort -u)" \
		"dispatch 4096x1x1 64x1x1 yes"
	set -- $(gpq queues -p $P -Q 0 -rno READ_NOW,WRITE_NOW) $(gpq packets -p $P -Q 0 --around 0 -rno READ,WRITE) $(gpq queues -p $P -Q 0 -rno READ_NOW,WRITE_NOW)
	is "indices are between those of two other looks$WHERE" "$(($1 <= $3 && $3 <= $5 && $2 <= $4 && $4 <= $6))" 1
}

attached() {
	chmod 666 /dev/kfd /dev/dri/renderD*
	: > /tmp/aqlq.log
	su user -c 'aqlq every' > /tmp/aqlq.log 2>&1 &
	S=$!
	within 20 grep -q ready /tmp/aqlq.log || fail "aqlq as a user starts" "$(cat /tmp/aqlq.log)"
	P=$(awk '$3 == "ready" { sub(":", "", $2); print $2 }' /tmp/aqlq.log)
	status_is "--attach, for the user's own process" 0 su user -c "gpq packets -p $P --attach --around 1 -rno PACKET_ID,TYPE"
	is "which is told what it costs" "$OUT" "gpq: packets: --attach: the driver takes all queues of the GPUs off the hardware once
0 dispatch
1 barrier-and
2 dispatch"
	empty "no holder stays" "$(gpq suspend --list -rn)"
	is "nobody traces it" "$(awk '$1 == "TracerPid:" { print $2 }' /proc/$P/status)" 0
	reap $P $S
}

# Queues that come and go, processes that exec and exit: no wrong packet, no crash, and an end.
coming_and_going() {
	local n=0 bad=0
	(while :; do mkqueue -n 2 -s -g 640 -l 30 -d 60 --exit 120 -q > /dev/null 2>&1; done) &
	C=$!
	target -n 1 -g 640 --churn 40
	while [ $n -lt 25 ]; do
		gpq packets --around 100 -rno TYPE,GRID --filter 'TYPE !~ "sdma" && TYPE != "invalid"' > /tmp/out 2> /tmp/err
		case $? in 0 | 3 | 5) ;; *) bad=$((bad + 1)) && note "status: $(cat /tmp/err)" ;; esac
		grep -vqE '^(dispatch 640x1x1|- -)$' /tmp/out && bad=$((bad + 1)) && note "$(sort /tmp/out | uniq -c)"
		n=$((n + 1))
	done
	kill -9 $C 2> /dev/null
	wait $C 2> /dev/null
	is "25 listings while queues and processes come and go" $bad 0
	reap $P
	killall -q -9 mkqueue
	within 20 sh -c "[ -z \"\$(ls $KFD/proc)\" ]"
}

# What can be written in its memory, how often it ran, by whom it was traced, what signals wait for it.
all_of() { # PID
	local range
	awk '$2 ~ /^rw/ { print $1 }' /proc/$1/maps | while read -r range; do
		echo "$range $(dd if=/proc/$1/mem bs=4096 skip=$((0x${range%-*} / 4096)) count=$(((0x${range#*-} - 0x${range%-*}) / 4096)) 2> /dev/null | md5sum)"
	done
	grep -E 'ctxt_switches|TracerPid|Pnd' /proc/$1/status
	awk '{ print $14, $15 }' /proc/$1/stat
}

# Reading leaves the program and its memory as they are.
without_a_trace() {
	aql chain
	local before
	before=$(all_of $P)
	like "it has memory" "$before" '( [0-9a-f]{32}  -.*){9}'
	gpq packets --around 60 -p $P > /dev/null
	gpq why -p $P > /dev/null
	gpq why --profile 200ms -p $P > /dev/null
	is "packets, why and a profile: the process neither ran nor changed" "$(all_of $P)" "$before"
	reap $P
}

load gfx90a
every_kind
sdma_too
WHERE=
against_mkqueue
reap $P
WHERE=", in memory of its own"
against_mkqueue -u
reap $P
WHERE=", in the GPU's memory"
against_mkqueue -V
reap $P
attached
without_a_trace
coming_and_going
unload
kernel_is_content
finish
