# A process with secondary contexts (KFD 1.19, Linux 7.x): their queues have ids, counters, PASIDs and evictions of their own, in
# gpq queues, hqd and snapshot. Expected: what ctxq says that it created, and the driver's own files.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/prio.inc

SOFTGPU=/sys/kernel/debug/softgpu

contexts() { # CTXQ-ARGS...
	rm -f $STATUS $STATUS.new
	ctxq "$@" -k $STATUS > /tmp/ctxq.log 2>&1 &
	P=$!
	within 30 test -s $STATUS || fail "ctxq $* starts" "$(cat /tmp/ctxq.log)"
}

# "ctxq PID: queue ID gpu_id G type T doorbell_offset D ring_base R ring_size S priority P" and then "ctxq PID: context C has
# queue ID"; "context C has destroyed queue ID" takes it back. Types: 1 SDMA, 2 AQL.
truth() {
	awk '$3 == "queue" { line = $8 == 1 ? "sdma " $12 " " $14 " -" : "compute " $12 " " $14 " " $16 }
		$5 == "has" && $6 == "queue" { q[$4 " " $7] = line }
		$6 == "destroyed" { delete q[$4 " " $8] }
		END { for (k in q) { split(k, id); print id[1] < 0 ? "-" : id[1], id[2], q[k] } }' /tmp/ctxq.log | with_level 6 | sort
}

listed() { gpq queues -p $P -rno CONTEXT_ID,QID,TYPE,RING_ADDR,RING,PRIO,LEVEL "$@" | sort; }

# Whether there is work left at the moment is all the same.
states() { gpq "$@" queues -p $P -rno CONTEXT_ID,STATE | sed -E 's/ (idle|mapped)$/ running/' | sort -u; }

# "-" and the number of each context, as sysfs has them, with the driver's word on a file of each.
per_context() { # FILE
	local d
	for d in $KFD/proc/$P $KFD/proc/$P/context_*; do
		case $d in *context_*) echo "${d##*context_} $(cat $d/$1)" ;; *) echo "- $(cat $d/$1)" ;; esac
	done | sort
}

pasids() {
	local d
	for d in /sys/kernel/debug/kfd/proc/$P /sys/kernel/debug/kfd/proc/$P/context_*; do
		case $d in *context_*) echo "${d##*context_} $(cat $d/pasid_$G)" ;; *) echo "- $(cat $d/pasid_$G)" ;; esac
	done | sort
}

# They change from one moment to the next.
same_cus() { [ "$(gpq queues -p $P -rno CONTEXT_ID,CUS | sort -u)" = "$(per_context stats_$G/cu_occupancy)" ]; }

as_created() {
	see_driver
	is "all queues of all contexts, each with its MQD" "$(listed)" "$(truth)"
	empty "none of them by guess" "$(gpq queues -p $P -rno MATCH | sort -u | grep -v -x -e order -e only)"
	G=$(gpq queues -p $P -rno GPU | sort -u)
	is "each context has its PASID" "$(gpq queues -p $P -rno CONTEXT_ID,PASID | sort -u)" "$(pasids)"
	like "the table has CONTEXT_ID" "$(gpq queues -p $P | head -n 1)" " QID CONTEXT_ID TYPE "
	is "slots have their owners" "$(gpq hqd --active -p $P -rno CONTEXT_ID,QID,TYPE,RING_ADDR,RING,PRIO,LEVEL | sort -u)" "$(truth)"
	[ $mes ] && return
	is "runlist: a packet for each context, and none is missing" "$(gpq hqd --runlist -p $P -rno PACKET,CONTEXT_ID | sort | uniq -c | awk '{ print $2, $3, $1 }')" \
		"MAP_PROCESS - 1
MAP_PROCESS 0 1
MAP_PROCESS 1 1
MAP_QUEUES - 4
MAP_QUEUES 0 3
MAP_QUEUES 1 3"
}

# Memory pressure evicts one context; gpq suspend reaches the primary one alone.
off() {
	echo "$P 1" > $SOFTGPU/evict
	is "the evicted context is, the others run" "$(states)" "- running
0 running
1 evicted"
	[ $mes ] || is "its queues are not in the runlist" "$(gpq hqd --runlist -p $P -rno PACKET,CONTEXT_ID | sed -n 's/^none //p' | sort -u)" 1
	usleep 300000
	echo "$P 1" > $SOFTGPU/restore
	within 10 sh -c "[ \$(cat $KFD/proc/$P/context_1/stats_$G/evicted_ms) -gt 0 ]"
	is "time evicted is each context's own" "$(gpq queues -p $P -rno CONTEXT_ID,EVICTED | sort -u | awk '{ print $1, ($2 > 0) }')" "- 0
0 0
1 1"
	is "as the driver counts it" "$(gpq queues -p $P -rno CONTEXT_ID,EVICTED | sort -u)" \
		"$(per_context stats_$G/evicted_ms | awk '{ print $1, $2 * 1000000 }')"
	[ ! -e $KFD/proc/$P/stats_$G/cu_occupancy ] || ok "so are CUs" within 20 same_cus
	gpq suspend -p $P -q > /tmp/out 2>&1
	# A listing waits for an answer of the holder, but not for long.
	within 20 sh -c "gpq queues -p $P -rno STATE | grep -q suspended"
	is "gpq suspend holds the primary context's queues" "$(states)" "- suspended
0 running
1 running"
	empty "and has no other" "$(gpq queues -p $P -rno CONTEXT_ID,HOLDER | awk '$1 != "-" && $2 != "-"')"
	round_trip held
	gpq resume -p $P -q > /dev/null 2>&1
}

# A stopped program submits nothing; what the GPU still has to do changes indices alone.
round_trip() { # NAME
	kill -STOP $P
	rm -rf /tmp/snap
	gpq snapshot /tmp/snap -q > /dev/null || fail "gpq snapshot" "status $?"
	is "$1: a snapshot has the same queues" "$(listed --sysroot /tmp/snap)" "$(truth)"
	is "$1: their states" "$(states --sysroot /tmp/snap)" \
		"$(states)"
	is "$1: and PASIDs" "$(gpq --sysroot /tmp/snap queues -p $P -rno CONTEXT_ID,PASID | sort -u)" "$(pasids)"
	is "$1: the order in which contexts were created" "$(cat /tmp/snap/$KFD/proc/$P/.contexts)" "0 1"
	rm -rf /tmp/snap
	kill -CONT $P
}

one_model() {
	mes=
	case $1 in gfx11* | gfx12*) mes=1 ;; esac
	load $1 || return
	# Whether SDMA queues are on hardware nothing tells with MES.
	contexts -q 3 -c 2 -n 2 $([ $mes ] || echo -s) -d -p 3,9,15 -r 65536,4096
	as_created
	round_trip running
	off
	reap $P
	# All alike: only the order tells.
	contexts -q 2 -c 3 -n 2
	is "queues that look alike" "$(listed)" "$(truth)"
	reap $P
	target -n 1
	unlike "without contexts the table has no CONTEXT_ID" "$(gpq queues -p $P | head -n 1)" CONTEXT_ID
	reap $P
	unload
}

load gfx942
ctxq -t 0 > /tmp/out 2>&1 || {
	skip "secondary contexts" "this driver has none: $(cat /tmp/out)"
	unload
	finish
	exit
}
unload
for m in ${MODELS:-gfx942 gfx942x8 gfx90a gfx1100}; do one_model $m; done
kernel_is_content
finish
