# gpq queues against what mkqueue says it created, on every model, with queues and processes coming and going.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/prio.inc

listing() { gpq queues -r -n -o PID,QID,GPU,TYPE,RING "$@"; }

# The same from mkqueue's own words: "mkqueue PID: queue ID gpu_id G type T doorbell_offset D ring_base R ring_size S ...".
# Its types are the ioctl's: 0 PM4, 1 SDMA, 2 AQL.
truth() { # LOG...
	awk '$3 == "queue" { sub(":", "", $2); print $2, $4, $6, $8 == 1 ? "sdma" : "compute", $14 }' "$@"
}

# The truth about the MQDs of these logs: pid, queue, address of the ring, priority, level. SDMA MQDs hold no priority.
mqd_truth() {
	awk '$3 == "queue" { sub(":", "", $2); print $2, $4, $12, $8 == 1 ? "-" : $16 }' "$@" | with_level 4
}

second() { # MKQUEUE-ARGS...
	rm -f /tmp/s2
	mkqueue "$@" -k /tmp/s2 > /tmp/mk2.log 2>&1 &
	P2=$!
	within 20 test -s /tmp/s2 || fail "mkqueue $* starts" "$(cat /tmp/mk2.log)"
}

# Fields that gpq cannot know are "-"; whatever it does say must be true.
no_lie() { # DESCRIPTION TRUTH GOT
	local bad
	echo "$2" > /tmp/want
	bad=$(echo "$3" | awk 'NR == FNR { want[$1 " " $2] = $0; next }
		{ split(want[$1 " " $2], w); for (i = 3; i <= NF; i++) if ($i != "-" && $i != w[i]) print "got " $0 ", wanted " want[$1 " " $2] }' /tmp/want -)
	empty "$1" "$bad"
}

as_created() {
	target -n 2 -s -p 3,9
	second -n 1 -P -r 32768
	see_driver
	is "each queue that was created is listed, and no other" "$(listing | sort -n)" "$(truth /tmp/mkqueue.log /tmp/mk2.log | sort -n)"
	is "and each process has as many of each type" "$(gpq ps -r -n -o PID,COMPUTE,SDMA | sort -n)" \
		"$(truth /tmp/mkqueue.log /tmp/mk2.log | awk '{ n[$1 " " $4]++; p[$1] } END { for (i in p) print i, n[i " compute"] + 0, n[i " sdma"] + 0 }' | sort -n)"
	no_lie "ring addresses, priorities and levels are those of the MQDs" "$(mqd_truth /tmp/mkqueue.log /tmp/mk2.log)" \
		"$(gpq queues -r -n -o PID,QID,RING_ADDR,PRIO,LEVEL)"
	is "a PM4 queue alone is known for sure" "$(gpq queues -p $P2 -r -n -o QID,RING_ADDR,PRIO,LEVEL,PACKET_FORMAT)" \
		"0 $(mqd_truth /tmp/mk2.log | cut -d' ' -f3) $(shown_prio 7) medium pm4"
	is "-p limits it to a process" "$(listing -p $P2)" "$(truth /tmp/mk2.log)"
}

suspended() {
	: > /tmp/dbg.log
	dbg $P seize enable snap=$CLEAR_NEW susp=0 hold > /tmp/dbg.log 2>&1 &
	W=$!
	within 20 grep -q 'susp=0 -> 1' /tmp/dbg.log || fail "queue 0 is suspended" "$(cat /tmp/dbg.log)"
	unlike "a suspended queue is not said to run" "$(gpq queues -p $P -r -n -o QID,ON_HW)" '(^| )0 yes'
	is "the other process's queue is not said to be off" "$(gpq queues -p $P2 -r -n -o ON_HW | grep -c no)" 0
	is "the list is the same" "$(listing | sort -n)" "$(truth /tmp/mkqueue.log /tmp/mk2.log | sort -n)"
	reap $W
}

# Processes start, create, destroy, and end; the one that stays must be right in every single listing. None of them
# execs: 6.12.95 crashes when a program execs and opens the driver again before the old address space's entry in sysfs
# is gone (the second entry cannot be made, kfd_process_remove_sysfs later follows its null pointers).
coming_and_going() {
	local n=0 bad=0 want out
	want=$(truth /tmp/mk2.log)
	(while :; do mkqueue -n 2 -s -l 60 -d 90 --exit 150 -q > /dev/null 2>&1; done) &
	C=$!
	(while :; do mkqueue -n 1 --fork 20 -c 100 -q > /dev/null 2>&1; done) &
	D=$!
	while [ $n -lt 6 ]; do
		out=$(listing 2> /tmp/err) || { bad=$((bad + 1)) && note "status $?: $(cat /tmp/err)"; }
		[ "$(echo "$out" | grep "^$P2 ")" = "$want" ] || { bad=$((bad + 1)) && note "$out"; }
		n=$((n + 1))
	done
	kill -9 $C $D 2> /dev/null
	wait $C $D 2> /dev/null
	killall -q -9 mkqueue
	is "6 listings while processes come and go are right" $bad 0
	within 20 sh -c "[ -z \"\$(ls $KFD/proc)\" ]"
	empty "nothing is listed when all are gone" "$(gpq queues -r -n)"
}

one_model() {
	load $1 || return
	as_created
	suspended
	reap $P
	is "a process that has gone is not listed" "$(listing)" "$(truth /tmp/mk2.log)"
	coming_and_going
	unload
}

# Queues 0 to 3 with a priority of each level's end and a low one within its level.
by_priority() {
	load gfx942
	target -q -n 4 -p 0,3,10,11
	see_driver
	is "--prio LEVEL" "$(gpq queues --prio medium,high -r -n -o QID | tr '\n' ' ')" "2 3 "
	is "--prio with whole levels" "$(gpq queues --prio 0:10 -r -n -o QID | tr '\n' ' ')" "0 1 2 "
	is "--prio with the highest level" "$(gpq queues --prio 11 -r -n -o QID)" 3
	if [ $WRITES = yes ]; then
		is "--prio within a level" "$(gpq queues --prio 3:10 -r -n -o QID | tr '\n' ' ')" "1 2 "
	else
		status_is "--prio within a level: refused" 6 gpq queues --prio 3:10 -r -n -o QID
		like "with the reason and the levels" "$OUT" '^gpq: queues: --prio 3:10: the driver does not write .*0:6 is low, 7:10 medium, 11:15 high'
	fi
	reap $P
	target -q -n 1 -p 0
	is "a queue of priority 0 alone: what the driver does is known by its release" "$(gpq queues -r -n -o PRIO,LEVEL)" "$(shown_prio 0) low"
	cp /sys/kernel/debug/kfd/mqds /tmp/mqds
	is "of a file it is not" "$(gpq queues --mqds /tmp/mqds -r -n -o PRIO,LEVEL)" "- low"
	reap $P
	unload
}

by_others() {
	load gfx942
	target -n 1
	second -n 2
	is "another user sees the same queues" "$(su user -c 'gpq queues -r -n -o PID,QID,GPU,TYPE,RING' | sort -n)" \
		"$(truth /tmp/mkqueue.log /tmp/mk2.log | sort -n)"
	is "without what only root can read" "$(su user -c "gpq queues -p $P -r -n -o QID,RING_ADDR")" "0 -"
	is "and is told so" "$(su user -c "gpq queues -p $P" 2>&1 >/dev/null)" \
		"gpq: queues: PRIO, STATE, BACKLOG: unknown: debugfs is for root; use sudo"
	status_is "a pid that does not exist: not found" 5 gpq queues -p 999999
	like "with one line that says so" "$OUT" '^gpq: queues: [^ ].*999999'
	(exec 9<> /dev/kfd && read -r _ < /tmp/never) &
	W=$!
	within 10 test -d $KFD/proc/$W
	is "who only opened the driver is left out" "$(gpq queues -r -n -o PID | sort -u | grep -c "^$W$")" 0
	is "unless all are asked for" "$(gpq queues -a -r -n -o PID | sort -u | grep -c "^$W$")" 1
	reap $W $P $P2
	unload
}

mkfifo /tmp/never
for m in ${MODELS:-gfx942 gfx1100 $(mine gfx942x8 gfx942cpx gfx908 gfx90a gfx1030 gfx906 gfx1201)}; do one_model $m; done
by_priority
by_others
kernel_is_content
finish
