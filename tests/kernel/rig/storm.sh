# Targets and debuggers at random, killed at any moment, while the views are read: nothing may be left behind.
# STORM_SECONDS makes it longer; with the kernel argument slub_debug=FZPU it also finds misuse of memory.
# shellcheck shell=dash disable=SC1091,SC2012,SC2046,SC2086
. /t/lib.sh
. /t/rig/rig.inc

random() { awk -v n="$1" 'BEGIN { srand(); "od -An -N2 -tu2 /dev/urandom" | getline r; print r % n }'; }

# What a debugger may do to a target that may die meanwhile.
debug() { # PID
	case $(random 5) in
	0) dbg $1 seize enable snap=$CLEAR_NEW susp=0,1,2,3 ms=50 res=1 die ;;
	1) dbg $1 seize enable snap=$CLEAR_NEW susp=0,1 sh="kill -9 $1" ms=30 ;;
	2) dbg $1 seize enable snap=$CLEAR_NEW susp=0,1,2,3,4,5 ms=50 resall susp=2 disable detach ;;
	3) dbg $1 seize enable snap=$CLEAR_NEW susp=3,4 detach ms=50 ;;
	4) dbg $1 seize enable snap=$CLEAR_NEW cycles=0,1/20 ;;
	esac >> /tmp/storm.log 2>&1
}

round() {
	local targets='' i
	for i in 1 2 3; do
		mkqueue -q -n $(($(random 4) + 1)) -G $(($(random 3) + 1)) -s -t 30 2>> /tmp/storm.err &
		targets="$targets $!"
	done
	usleep $(($(random 300) * 1000 + 100000))
	for i in $targets; do debug $i & done
	cat $KFDEBUG/mqds $KFDEBUG/hqds $KFDEBUG/rls $SOFT/[0-9]* > /dev/null
	usleep $(($(random 300) * 1000))
	kill -9 $targets 2> /dev/null
	wait
}

# With what the processors keep for themselves of what was given back (in pages); that can be 10 MiB and more.
free_mib() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk '/MemAvailable/ { n = $2 } $1 == "count:" { n += 4 * $2 } END { print int(n / 1024) }' /proc/meminfo /proc/zoneinfo
}

# When no more of it comes back.
settled_mib() {
	local now last
	now=$(free_mib)
	while last=$now; usleep 500000; now=$(free_mib); [ $now -gt $last ]; do :; done
	echo $now
}

GPUS=gfx942,gfx1100,gfx90a
load $GPUS # once before, so that what only grows at the first time does not count
unload
before=$(settled_mib)
load $GPUS
: > /tmp/storm.log
end=$(($(uptime_ms) + ${STORM_SECONDS:-8} * 1000))
rounds=0
while [ "$(uptime_ms)" -lt $end ]; do
	round
	rounds=$((rounds + 1))
done
note "$rounds rounds, $(grep -c 'susp=.* -> [1-9]' /tmp/storm.log) suspensions"
like "queues were suspended in the storm" "$(cat /tmp/storm.log)" 'susp=[0-9,]+ -> [1-9]'
ok "the driver forgets all of them" within 20 sh -c "[ -z \"\$(ls $KFD/proc)\" ]"
empty "nothing is left on the GPUs" "$(grep -h '^queue' $SOFT/[0-9]*)"
is "the scheduler firmware understood everything" "$(counter bad 0) $(counter bad 1) $(counter bad 2)" "0 0 0"
target -n 2
moves 0 "after the storm"
reap $P
unload
rm /tmp/storm.log # it lies in memory, too
given_back() { [ "$(free_mib)" -ge $((before - 8)) ]; }
if within 20 given_back; then pass "memory is given back"; else
	fail "memory is given back" "$before MiB were free before, $(free_mib) MiB after"
fi
kernel_is_content
finish
