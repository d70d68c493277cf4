# gpq hqd on the living driver, on every model: slots, MQDs and runlist against what the software GPU says it runs and what
# mkqueue says it created; suspended, evicted and over-subscribed queues; a snapshot replays what the host printed.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/prio.inc

SOFTGPU=/sys/kernel/debug/softgpu

# mkqueue's words: "mkqueue PID: queue ID gpu_id G type T doorbell_offset D ring_base R ring_size S priority P".
created() { # LOG...
	awk '$3 == "queue" { sub(":", "", $2); print $2, $4, $6, $8 == 1 ? "sdma" : "compute", $12, $14, $8 == 1 ? "-" : $16 }' "$@" | with_level 7 | sort
}

# What the software GPU has resident: "queue aql pasid P doorbell N mqd A size S rptr R wptr W", doorbells in dwords, positions
# in AQL packets, PM4 dwords or SDMA bytes. Printed as slots show them.
resident() {
	cat $SOFTGPU/[0-9]* | awk '$1 == "queue" && $NF != "waiting" {
		n = $2 == "aql" ? 16 : 1
		r = $12 * n; w = $14 * n
		if ($2 != "sdma") r %= $10 / 4
		printf "%s 0x%x %s %s %.0f %.0f\n", $2, $6 * 4, $2 == "sdma" ? "-" : "0x" $8, $10, r, w }' | sort
}

in_slots() { # one line for each queue, by its first XCC
	{
		gpq hqd --active --xcc 0 -rno TYPE,PACKET_FORMAT,DOORBELL,MQD_ADDR,RING,RPTR,WPTR "$@" | sed -n 's/^compute //p'
		gpq hqd --active --sdma -rno TYPE,DOORBELL,MQD_ADDR,RING,RPTR,WPTR "$@"
	} | sort
}

owners() { gpq hqd --active -rno PID,QID,GPU,TYPE,RING_ADDR,RING,PRIO,LEVEL,TYPE "$@" | grep -v '^-' | sed 's/ [a-z]*$//' | sort -u; }

second() { # MKQUEUE-ARGS...
	rm -f /tmp/s2
	mkqueue "$@" -k /tmp/s2 > /tmp/mk2.log 2>&1 &
	P2=$!
	within 20 test -s /tmp/s2 || fail "mkqueue $* starts" "$(cat /tmp/mk2.log)"
}

drained() { cat $SOFTGPU/[0-9]* | awk '$1 == "queue" && $12 != $14 { bad = 1 } END { exit bad }'; }

# Fields that gpq cannot know are "-"; whatever it does say must be true. Lines are matched by their first field.
no_lie() { # DESCRIPTION TRUTH GOT
	echo "$2" > /tmp/want
	bad=$(echo "$3" | awk 'NR == FNR { for (i = 1; i <= NF; i++) want[$5, i] = $i; known[$5] = 1; next }
		!($5 in known) { print "no such queue: " $0; next }
		{ for (i = 1; i <= NF; i++) if ($i != "-" && $i != want[$5, i]) print "got " $0 ", wanted " want[$5, i] }' /tmp/want -)
	empty "$1" "$bad"
	is "$1: all of them" "$(echo "$3" | awk '{ print $5 }' | sort)" "$(echo "$2" | awk '{ print $5 }' | sort)"
}

# As many words as debugfs has, the same ones, and at the address it gives for the first of each line.
all_registers() {
	gpq hqd --raw-regs -rno ADDRESS,VALUE > /tmp/regs
	awk 'function hex(s) { sub(/^0+/, "", s); return "0x" (s == "" ? "0" : s) }
		/^    [0-9a-f]*:/ { for (i = 2; i <= NF; i++) print i == 2 ? hex(substr($1, 1, 8)) : "-", hex($i) }' /sys/kernel/debug/kfd/hqds > /tmp/words
	is "all registers, as debugfs has them" "$(awk 'NR == FNR { want[NR] = $1 " " $2; next }
		{ split(want[FNR], w); if ((w[1] != "-" && w[1] != $1) || w[2] != $2) n++ } END { print n + 0, FNR }' /tmp/words /tmp/regs)" \
		"0 $(wc -l < /tmp/words)"
}

# A stopped program submits nothing: when its queues are drained nothing moves.
as_programmed() {
	local slots
	target -n 2 -s -p 3,9 -b 64
	second -n 1 -P -r 32768 -b 64
	see_driver
	no_lie "each queue that was created is in a slot, with its owner" "$(created /tmp/mkqueue.log /tmp/mk2.log)" "$(owners)"
	is "priorities of compute queues are what the driver writes" "$(gpq hqd --active -rno TYPE,PRIO,LEVEL | sed -n 's/^compute //p' | sort -u)" \
		"$(printf '%s\n' "$(shown_prio 3) low" "$(shown_prio 7) medium" "$(shown_prio 9) medium" | sort -u)"
	is "pids are known for all" "$(gpq hqd --active -rno TYPE,PID | grep -v '^hiq' | grep -c ' -')" 0
	kill -STOP $P $P2
	within 20 drained || fail "the queues drain" "$(cat $SOFTGPU/[0-9]*)"
	is "doorbell, MQD, ring and positions are what the GPU has" "$(in_slots)" "$(resident)"
	is "a drained queue is idle" "$(gpq hqd --active -rno TYPE,IDLE,BACKLOG | grep compute | sort -u)" "compute yes 0"
	slots=$(cat $KFD/topology/nodes/*/properties | awk '$1 == "num_cp_queues" && $2 { print $2 }' | sort -u)
	is "as many slots as the driver says" "$(gpq hqd --summary --by xcc -rno TYPE,SLOTS | sed -n 's/^compute //p' | sort -u)" "$slots"
	is "every AQL queue on every XCC" \
		"$(gpq hqd --active -rno RING_ADDR,XCC,PACKET_FORMAT -p $P | grep aql | cut -d' ' -f1 | sort | uniq -c | awk '{ print $1 }' | sort -u)" \
		"$(awk '$1 == "num_xcc" && $2 { print $2 }' $KFD/topology/nodes/*/properties | sort -u)"
	is "the ring's size is what the bits say" "$(gpq hqd --active --fields -p $P2 -rno FIELD,NUMBER | sed -n 's/^QUEUE_SIZE //p' | sort -u)" 32768
	all_registers
}

suspended() {
	: > /tmp/dbg.log
	kill -CONT $P
	dbg $P seize enable snap=$CLEAR_NEW susp=0,2 hold > /tmp/dbg.log 2>&1 &
	W=$!
	within 20 grep -q 'susp=0,2 -> 2' /tmp/dbg.log || fail "queues 0 and 2 are suspended" "$(cat /tmp/dbg.log)"
	off=$(created /tmp/mkqueue.log | awk '$2 != 1 { print $5 }')
	on=$(created /tmp/mkqueue.log /tmp/mk2.log | awk -v p=$P '$1 != p || $2 == 1 { print $5 }' | sort)
	is "suspended queues are in no slot, the others are" "$(owners | awk '{ print $5 }' | sort)" "$on"
	is "--summary names them" "$(gpq hqd --summary --table waiting -rno RING_ADDR | sort)" "$(echo "$off" | sort)"
	if [ $mes ]; then
		empty "MES has no runlist" "$(gpq hqd --runlist -rn)"
		# Of compute queues dword 130 tells, which the rig's firmware writes.
		is "MQDs say off hardware" "$(gpq hqd --summary --table waiting -rno TYPE,WHY | sort)" "compute off
sdma unknown"
	else
		is "and says that they are not to run" "$(gpq hqd --summary --table waiting -rno WHY | sort -u)" off
		is "they are not in the runlist" "$(gpq hqd --runlist -rno PACKET,RING_ADDR | sed -n 's/^none //p' | sort)" "$(echo "$off" | sort)"
		is "the others are" "$(gpq hqd --runlist -rno PACKET,RING_ADDR | sed -n 's/^MAP_QUEUES //p' | sort)" "$on"
		is "of 3 queues 1 is mapped" "$(gpq hqd --runlist -p $P -rno PACKET,QUEUES,MAPPED | grep PROCESS)" "MAP_PROCESS 3 1"
		is "MQDs say off hardware" "$(gpq hqd --mqd -p $P -rno RING_ADDR,ACTIVE,TYPE | sed -n 's/ no compute//p' | sort -u)" \
			"$(created /tmp/mkqueue.log | awk '$2 == 0 { print $5 }')"
	fi
	status_is "a process of which no chosen queue is in a slot: not found" 5 gpq hqd -p $P --sdma
	reap $W
}

suspended_by_gpq() {
	gpq suspend -p $P -q > /dev/null || fail "gpq suspend" "status $?"
	is "who gpq holds off is said to be" "$(gpq hqd --summary --table waiting -p $P -rno QID,WHY | sort)" "0 suspended
1 suspended
2 suspended"
	is "and is in no slot" "$(gpq hqd --active -rno PID | grep -c $P)" 0
	gpq resume -p $P -q > /dev/null || fail "gpq resume" "status $?"
	within 10 sh -c "[ \$(gpq hqd --active -p $P -rno SLOT 2>/dev/null | wc -l) -gt 0 ]" || fail "resumed queues are in slots again" ""
}

evicted() {
	echo $P > $SOFTGPU/evict
	is "evicted queues are in no slot" "$(gpq hqd --active -rno PID | grep -c $P)" 0
	echo $P > $SOFTGPU/restore
	within 10 sh -c "gpq hqd -p $P --active -rn | grep -q ." || fail "restored queues are in slots again" "$(gpq hqd --active)"
}

# Everything is stopped and drained, so a replay is the same as what was read before the snapshot.
show() { # GPQ-OPTIONS
	for form in -a --regs --fields "--active --raw-regs" --mqd --summary --runlist; do
		echo "== $form"
		gpq "$@" hqd $form -J --output-all 2>&1
	done
	gpq "$@" hqd -v --likely 2>&1
}

round_trip() {
	kill -STOP $P
	within 20 drained || fail "the queues drain" "$(cat $SOFTGPU/[0-9]*)"
	# A snapshot opens the driver, for its version: that rewrites MQDs of mapped queues once.
	gpq snapshot /tmp/snap -q > /dev/null || fail "gpq snapshot" "status $?"
	rm -rf /tmp/snap
	show > /tmp/live
	gpq snapshot /tmp/snap -q > /dev/null || fail "gpq snapshot" "status $?"
	show --sysroot /tmp/snap > /tmp/replay
	empty "a snapshot replays what the host printed" "$(diff /tmp/live /tmp/replay | head -5)"
	gpq hqd --hqds /tmp/snap/sys/kernel/debug/kfd/hqds --mqds /tmp/snap/sys/kernel/debug/kfd/mqds --active -rno TYPE,XCC,SLOT,PID,RING_ADDR > /tmp/captured
	is "and its files alone say the same" "$(cat /tmp/captured)" "$(gpq hqd --active -rno TYPE,XCC,SLOT,PID,RING_ADDR)"
	rm -rf /tmp/snap
}

one_model() {
	mes=
	case $1 in gfx11* | gfx12*) mes=1 ;; esac
	load $1 || return
	as_programmed
	suspended
	suspended_by_gpq
	evicted
	case $1 in gfx942 | gfx1*) round_trip ;; esac # elsewhere it would show nothing new
	reap $P $P2
	empty "nothing is in a slot when all are gone" "$(gpq hqd --active -rno TYPE | grep -v hiq)"
	unload
}

# More queues than slots: they take turns.
over_subscribed() { # MODEL SLOTS
	load $1 || return
	target -n $(($2 + 4))
	second -n 1 -B 1 --pause 600000
	like "the GPU is over-subscribed" "$(gpq hqd --summary --by xcc -rno TYPE,SLOTS,USED,QUEUES,OVERSUB,BY | grep compute)" \
		"^compute $2 $2 $(($2 + 5)) yes compute"
	is "by whom" "$(gpq hqd --summary --table sharers -rno PID,MAPPED | sort)" "$(printf '%s\n' "$P $(($2 + 4))" "$P2 1" | sort)"
	is "who waits takes turns" "$(gpq hqd --summary --table waiting -rno WHY | sort -u)" takes-turns
	[ $1 = gfx90a ] && is "the runlist is chained" "$(gpq hqd --runlist -rno PACKET | grep -c RUN_LIST)" 1
	within 60 sh -c "[ \$(gpq hqd --sample 200 --interval 5ms -p $P -rno RING_ADDR | sort -u | wc -l) = $(($2 + 4)) ]" ||
		fail "in time all of them are seen in a slot" "$(gpq hqd --sample 200 -p $P)"
	pass "in time all of them are seen in a slot"
	unload_all
}

unload_all() {
	reap $P $P2
	unload
}

sampling() {
	load gfx942 || return
	target -n 1
	second -n 1 -B 1 --pause 600000
	out=$(gpq hqd --sample 20 -rno PID,IN_SLOT_SHARE,MOVED_SHARE,SAMPLES)
	like "a queue that runs was in its slot all the time and moved" "$(echo "$out" | grep "^$P ")" "^$P 1 (1|0\.[0-9]+) 20"
	is "one that does nothing was there and did not" "$(echo "$out" | grep "^$P2 ")" "$P2 1 0 20"
	is "who moves comes first" "$(echo "$out" | head -n 1 | cut -d' ' -f1)" $P
	status_is "nothing of this process" 5 gpq hqd --sample 2 -p 1
	# At most a line a second, and none in the first half.
	like "--progress tells how far it is" "$(gpq hqd --sample 30 --interval 100ms --progress 2>&1 > /dev/null)" "sample [0-9]+ of 30, .* left"
	gpq hqd --sample 100000 -rno PID > /tmp/out 2> /tmp/err &
	W=$!
	sleep 1
	kill -INT $W 2> /dev/null
	kill -TERM $W
	wait $W
	is "a signal ends it with what is known" "$? $(grep -c . /tmp/err)" "143 1"
	like "which is shown" "$(cat /tmp/out)" "$P"
	gpq hqd --watch 0.1 --active -rno PID > /tmp/out &
	W=$!
	within 10 sh -c "[ \$(grep -c $P /tmp/out) -ge 3 ]" || fail "--watch repeats" "$(cat /tmp/out)"
	kill $W
	wait $W
	status_is "another user may not" 4 su user -c 'gpq hqd'
	like "and is told why" "$OUT" '^gpq: hqd: .*debug'
	umount /sys/kernel/debug
	status_is "without debugfs: not supported here" 6 gpq hqd
	like "with what to do" "$OUT" 'mount -t debugfs'
	mount -t debugfs none /sys/kernel/debug
	unload_all
}

for m in ${MODELS:-gfx942 $(mine gfx942x8 gfx942cpx gfx1100 gfx90a gfx908 gfx1201 gfx1030 gfx906)}; do one_model $m; done
over_subscribed gfx90a 24
over_subscribed gfx1100 24
sampling
kernel_is_content
finish
