# gpq snapshot on the living driver: what a snapshot replays is what the host printed, on every kind of model; what --diff
# says happened is what the debugger did; the experiment that --compare is for, with real processes.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/prio.inc

SNAPS=/tmp/snaps
SOURCES="gpus queues"

# All that the commands print, in a form that two hosts can be compared in. SDMA busy time is left to the driver's mood.
show() { # GPQ-OPTIONS
	local c
	for c in $SOURCES; do
		echo "== $c"
		gpq "$@" $c -J --output-all 2>&1 | sed 's/"sdma_ns": *[^,}]*//'
	done
	echo "== queues -a -v"
	gpq "$@" queues -a -v 2>&1
	# What only a running host knows is "unknown" in a replay.
	echo "== check"
	gpq "$@" gpus --check -rno CHECK,STATUS 2>&1
}

snap() { # NAME OPTIONS...
	local name=$1
	shift
	rm -rf "${SNAPS:?}/$name"
	gpq snapshot "$SNAPS/$name" "$@"
}

hold() { # PID IDS
	: > /tmp/dbg.log
	dbg $1 seize enable snap=$CLEAR_NEW susp=$2 hold > /tmp/dbg.log 2>&1 &
	W=$!
	within 20 grep -q 'susp=.* -> [1-9]' /tmp/dbg.log || fail "queues $2 are suspended" "$(cat /tmp/dbg.log)"
}

# All queues of the only process are off, so nothing moves while one looks.
round_trip() {
	target -n 2 -s -p 3,9
	hold $P 0,1,2
	show > /tmp/live1
	status_is "a snapshot is taken" 0 snap still
	show > /tmp/live2
	empty "nothing moved meanwhile" "$(diff /tmp/live1 /tmp/live2)"
	show --sysroot $SNAPS/still > /tmp/replay
	empty "the replay prints what the host printed, but for what only a running host knows" \
		"$(diff /tmp/live1 /tmp/replay | grep '^[<>]' | grep -v -E '^< [a-z-]+ (ok|no)$|^> [a-z-]+ unknown$')"
	empty "debugfs is there byte for byte" \
		"$(for f in mqds hqds rls; do cmp /sys/kernel/debug/kfd/$f $SNAPS/still/sys/kernel/debug/kfd/$f; done 2>&1)"
	is "so are the queues in sysfs" "$(cd $KFD/proc/$P/queues && grep -r . [0-9]* | sort)" \
		"$(cd $SNAPS/still/$KFD/proc/$P/queues && grep -r . [0-9]* | grep -v '/\.now:' | sort)"
	is "and the order in which they were created" "$(cat $SNAPS/still/$KFD/proc/$P/queues/.order)" "0 1 2"
	is "gpq itself is no process of KFD in it" "$(ls $SNAPS/still/$KFD/proc)" "$(ls $KFD/proc)"
	is "its ancestors are there" "$(test -d $SNAPS/still/proc/1 && echo yes)" yes
	like "the interface version is noted" "$(cat $SNAPS/still/MANIFEST)" "kfd 1\.[0-9]+ "
	reap $W
	moves 0 "the snapshot is taken, the debugger gone"
}

# What only the living process and the holder tell is in it, too.
held_by_gpq() {
	local live
	snap free -q > /dev/null
	gpq suspend -p $P -q > /dev/null || fail "gpq suspend" "status $?"
	kill -STOP $P # it would go on submitting until its rings are full
	within 10 grep -q '^State:.[Tt]' /proc/$P/status
	live=$(gpq queues -p $P -rno QID,STATE,HOLDER,READ_NOW,WRITE_NOW)
	like "the queues are held" "$live" "0 suspended [0-9]+ [0-9]+ [0-9]+ "
	snap held -q > /dev/null
	is "state, holder and indices are replayed" "$(gpq --sysroot $SNAPS/held queues -p $P -rno QID,STATE,HOLDER,READ_NOW,WRITE_NOW)" "$live"
	is "--diff names the suspended ones" "$(gpq snapshot --diff $SNAPS/free $SNAPS/held -rno QID,CHANGE -q | grep suspended | cut -d' ' -f1 | tr '\n' ' ')" "0 1 2 "
	kill -CONT $P
	gpq resume -p $P -q > /dev/null || fail "gpq resume" "status $?"
	moves 0 "gpq resume"
}

# The same process runs on.
changes() {
	snap running -q > /dev/null
	status_is "--diff with the live host" 0 gpq snapshot --diff $SNAPS/running / -q
	hold $P 0,2
	snap suspended -q > /dev/null
	local off r out
	off=$(gpq snapshot --diff $SNAPS/running $SNAPS/suspended -rno QID,CHANGE -q | grep -w off | cut -d' ' -f1 | tr '\n' ' ')
	case $GPU in
	gfx11* | gfx12*) is "the suspended queue is in no slot any more" \
		"$(gpq snapshot --diff $SNAPS/running $SNAPS/suspended -a -rno QID,SLOTS_AFTER -q | grep '^0 ')" "0 none" ;;
	*) is "off are the two that were suspended" "$off" "0 2 " ;;
	esac
	r=$(rptr 1)
	within 20 has_moved 1 "$r"
	snap later -q > /dev/null
	out=$(gpq snapshot --diff $SNAPS/suspended $SNAPS/later -a -rno QID,TYPE,CHANGE,CONSUMED,POINTERS_BEFORE,POINTERS_AFTER -q)
	is "a suspended queue makes no progress, the other does" "$(echo "$out" | grep compute | grep progress | cut -d' ' -f1)" 1
	note "$out"
	reap $W
	reap $P
	is "the process went" "$(gpq snapshot --diff $SNAPS/later / -q -rno CHANGE | sort -u)" went
}

# Progress against the program's own count of packets.
progress() {
	target -n 1 -R 400
	local a b got
	snap p1 -q > /dev/null
	a=$(rptr 0)
	usleep 1500000
	b=$(rptr 0)
	snap p2 -q > /dev/null
	got=$(gpq snapshot --diff $SNAPS/p1 $SNAPS/p2 -rno CONSUMED -q)
	if [ "${got:-0}" -ge $((b - a)) ] 2> /dev/null; then pass "progress is at least that of the program meanwhile"; else
		fail "progress is at least that of the program meanwhile" "got $got, the program counted $((b - a))"
	fi
	reap $P
}

# Two programs, three runs, the same each time.
experiment() {
	local i
	for i in 1 2 3; do
		target -n 2 -p 3
		rm -f /tmp/s2
		mkqueue -n 1 -P -p 9 -k /tmp/s2 > /tmp/mk2.log 2>&1 &
		P2=$!
		within 20 test -s /tmp/s2
		[ $i -gt 1 ] || see_driver
		snap run$i -q > /dev/null
		reap $P $P2
	done
	is "two programs in three runs" "$(gpq snapshot --compare $SNAPS/run1 $SNAPS/run2 $SNAPS/run3 --table programs -rno RUNS,EVER,PRIOS,SAME_IDS,SAME_COUNT,SAME_PRIOS | sort)" \
		"3 0 $(prio_or_level 9) yes yes yes
3 0-1 $(prio_or_level 3) yes yes yes"
	is "they share an id but no priority" "$(gpq snapshot --compare $SNAPS/run1 $SNAPS/run2 $SNAPS/run3 --table strategies -rno STRATEGY,WORKS,USE)" \
		"fixed-ids no no
priority yes yes
pid yes no"
}

# Queues that come and go while it reads: whatever comes out replays.
restless() {
	local n=0 rc bad=
	(while :; do mkqueue -n 3 -s -l 40 -d 60 --exit 120 -q > /dev/null 2>&1; done) &
	C=$!
	while [ $n -lt 8 ]; do
		snap r$n -q > /dev/null 2> /tmp/said || bad="$bad; saved: $? $(cat /tmp/said)"
		gpq --sysroot $SNAPS/r$n queues -a -J > /dev/null 2> /tmp/said
		rc=$?
		[ $rc -eq 0 ] || [ $rc -eq 5 ] || bad="$bad; replayed: $rc $(cat /tmp/said)"
		n=$((n + 1))
	done
	kill -9 $C
	wait $C 2> /dev/null
	killall -q -9 mkqueue
	empty "8 snapshots of a restless host are taken and replayed" "$bad"
	within 20 sh -c "[ -z \"\$(ls $KFD/proc)\" ]"
}

# A selector on the living host, and a series while programs come and go.
chosen() {
	target -n 2
	rm -f /tmp/s2
	mkqueue -n 1 -P -p 9 -k /tmp/s2 > /tmp/mk2.log 2>&1 & P2=$!
	within 20 test -s /tmp/s2
	snap one -q -p $P2 > /dev/null
	is "a chosen process, and nothing of the other" "$(ls $SNAPS/one/$KFD/proc; find $SNAPS/one -name $P)" $P2
	is "its queues are what the host says of them" "$(gpq --sysroot $SNAPS/one queues -rno PID,QID,RING_ADDR,PRIO)" "$(gpq queues -p $P2 -rno PID,QID,RING_ADDR,PRIO)"
	rm -rf $SNAPS/series
	gpq snapshot --every 200ms --type compute -q $SNAPS/series --ndjson > /tmp/series.out 2>&1 & S=$!
	within 20 grep -q '"queues":4' /tmp/series.out || within 20 grep -q '"processes":2' /tmp/series.out || fail "both are in the series" "$(cat /tmp/series.out)"
	reap $P2
	within 20 grep -q '"processes":1,' /tmp/series.out || fail "the one that ended is not" "$(cat /tmp/series.out)"
	kill -TERM $S
	wait $S
	is "it ends by its status" $? 143
	is "and went in the series" "$(gpq snapshot --diff $SNAPS/series -q -p $P2 -rno CHANGE | sort -u | grep went)" went
	is "all that is in the index is there" "$(ls $SNAPS/series | grep -vc index)" "$(grep -c '"result":"saved"' $SNAPS/series/index.ndjson)"
	is "the topology was read once" "$(find $SNAPS/series -path '*nodes/1/properties' -exec stat -c %h {} + | sort -u)" "$(grep -c saved $SNAPS/series/index.ndjson)"
	is "the other's ids are the same all along" "$(gpq snapshot --compare $SNAPS/series -q -p $P --table programs -rno SAME_IDS,EVER)" "yes 0-1"
	reap $P
}

# Two looks at a queue that runs never say that it stands; at one that stands they do.
running() {
	local rate=/sys/module/amdgpu/parameters/packet_rate
	target -n 2
	rm -rf $SNAPS/run $SNAPS/stand
	gpq snapshot --every 50ms --count 51 -p $P -q $SNAPS/run > /dev/null 2> /tmp/run.err
	is "50 pairs of looks at a program that runs" "$(ls $SNAPS/run | grep -vc index)" 51
	is "none of its queues stands" "$(gpq snapshot --diff $SNAPS/run -q -rno CHANGE | grep -c stalled)" 0
	echo 0 > $rate
	gpq snapshot --every 300ms --count 3 -p $P -q $SNAPS/stand > /dev/null 2> /tmp/run.err
	is "nor does one that does not take its packets run" "$(gpq snapshot --diff $SNAPS/stand/000001 $SNAPS/stand/000002 -q -rno QID,CHANGE)" "0 stalled
1 stalled"
	echo 1000 > $rate
	reap $P
}

# The VM has no libarchive: gpq does without it until an archive is asked for.
no_library() {
	[ -z "$(find /lib /usr/lib -name 'libarchive.so.13*' 2> /dev/null)" ] || { skip "without libarchive" "it is here"; return; }
	status_is "without libarchive an archive is refused" 6 gpq snapshot $SNAPS/x.tar
	like "with the way out" "$OUT" "libarchive.so.13 is missing; install libarchive13, or name a directory"
	empty "and nothing is left of it" "$(ls -A $SNAPS | grep x.tar)"
}

mkdir -p $SNAPS
gpq --list | grep -qx hqd && SOURCES="$SOURCES hqd"
for m in gfx90a $(mine gfx1100 gfx942x8); do
	load $m || continue
	round_trip
	held_by_gpq
	changes
	unload
done
load gfx942
no_library
progress
experiment
chosen
running
restless
unload
kernel_is_content
finish
