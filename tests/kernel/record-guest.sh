# Runs in the VM for tests/kernel/record: bring each model into each state and write the tree of what a host shows.
# The trees are rooted like /, as gpq --sysroot reads them. Ends with all of them as a tar on standard output.
# HOSTS is a list of MODEL:WHAT; WHAT is one of the record_ functions below. PREFIX begins the trees' names.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
exec 3>&1 1>&2
TREES=/tmp/trees
CONTAINER=/sys/fs/cgroup/docker-$(printf 'recorded' | sha256sum | cut -d' ' -f1).scope
mkdir -p "$CONTAINER"
echo 2 > /proc/sys/kernel/randomize_va_space # two programs with the same addresses would be a rare host
SOFT=/sys/kernel/debug/softgpu

# Folders of sysfs as plain folders. busybox cp reads to the end of a file, whatever size sysfs claims for it.
copy() { # ROOT PATH...
	local root=$1 p
	shift
	for p; do
		mkdir -p "$root$p"
		cp -r "$p/." "$root$p/" 2> /dev/null
	done
}

copy_files() { # ROOT FILE...
	local root=$1 f
	shift
	for f; do
		[ -d "$root${f%/*}" ] || mkdir -p "$root${f%/*}"
		cp "$f" "$root$f" 2> /dev/null
	done
}

# Which queues are older than which: kernfs numbers what it makes one after the other.
copy_order() { # ROOT
	local d
	for d in $KFD/proc/*/queues $KFD/proc/*/context_*/queues; do
		[ -d "$1$d" ] || continue
		ls -i $d | sort -n | awk '{ printf "%s%s", n++ ? " " : "", $2 } END { if (n) print "" }' > "$1$d/.order"
		[ -s "$1$d/.order" ] || rm "$1$d/.order"
	done
}

copy_driver() { # ROOT
	local d f
	copy "$1" $KFD/topology $KFD/proc
	copy_order "$1"
	[ ! -d /sys/kernel/debug/kfd/proc ] || copy "$1" /sys/kernel/debug/kfd/proc
	for f in sched_policy cwsr_enable hws_max_conc_proc max_num_of_queues_per_device no_system_mem_limit \
		queue_preemption_timeout_ms; do
		copy_files "$1" /sys/module/amdgpu/parameters/$f
	done
	rm -rf "$1"$KFD/topology/nodes/*/caches # hundreds of files that nothing reads
	copy_files "$1" /sys/kernel/debug/kfd/mqds /sys/kernel/debug/kfd/hqds /sys/kernel/debug/kfd/rls \
		/sys/kernel/debug/kfd/mem_limit /sys/module/amdgpu/initstate
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/vendor")" = 0x1002 ] || continue
		for f in vendor device class revision subsystem_vendor subsystem_device config resource irq numa_node; do
			copy_files "$1" "$d/$f"
		done
	done
	for d in /sys/class/drm/renderD*; do copy_files "$1" "$d/dev" "$d/uevent" "$d/device/vendor" "$d/device/device"; done
}

copy_processes() { # ROOT PID...
	local root=$1 p
	shift
	copy_files "$root" /proc/version /proc/uptime /proc/sys/kernel/osrelease /proc/sys/kernel/hostname \
		/proc/sys/kernel/random/boot_id /proc/sys/kernel/yama/ptrace_scope
	grep btime /proc/stat > "$root/proc/stat"
	for p in 1 "$@"; do
		copy_files "$root" "/proc/$p/status" "/proc/$p/stat" "/proc/$p/comm" "/proc/$p/cmdline" "/proc/$p/cgroup"
	done
}

# One tree: HOW says how it was made, TRUTH what the programs say they did and, a little later, the software GPU what it
# runs.
tree() { # STATE HOW
	local root=$TREES/$PREFIX-$GPU-$1
	mkdir -p "$root"
	copy_driver "$root"
	# shellcheck disable=SC2046
	copy_processes "$root" $(ls $KFD/proc)
	describe "$@"
}

describe() { # STATE HOW
	local root=$TREES/$PREFIX-$GPU-$1
	echo "tests/kernel/record: amdkfd $(uname -r) over the software GPU $GPU in a VM; $2. Left out: topology/nodes/*/caches." > "$root/HOW"
	{ cat /tmp/mk* /tmp/dbg; read_pointers; sed -n 's/^queue/softgpu: &/p' $SOFT/[0-9]*; } > "$root/TRUTH" 2> /dev/null
}

# Where the queues' read pointers stood before and after: "PID [CONTEXT] QUEUE FROM TO" of those that move.
read_pointers() {
	local f
	for f in /tmp/s*.then; do
		[ -e $f ] || continue
		paste $f ${f%.then} | awk -v p=$(cat ${f%.then}.pid) '
			{ k = NF / 2; print "read pointer: " p, (k == 4 ? "context " $1 " queue " $2 : "queue " $1), $(k - 1), $(2 * k - 1) }'
	done
}

# The first process has two AQL queues and an SDMA queue, the second, which is in a container, one PM4 queue.
start() { # MKQUEUE-ARGS...
	rm -f /tmp/s1 /tmp/s2 /tmp/dbg
	mkqueue -n 2 -s -t 600 -k /tmp/s1 "$@" > /tmp/mk1 2>&1 &
	P1=$!
	mkqueue -n 1 -P -t 600 -k /tmp/s2 > /tmp/mk2 2>&1 &
	P2=$!
	echo $P2 > "$CONTAINER/cgroup.procs"
	within 20 test -s /tmp/s1 -a -s /tmp/s2 || fail "targets start" "$(cat /tmp/mk1 /tmp/mk2)"
	settle /tmp/s1 0
	settle /tmp/s2 0
}

settle() { within 20 has_moved "$2" "$(rptr "$2" "$1")" "$1"; } # STATUSFILE QUEUE

hold() { # PID QUEUES
	dbg "$1" seize enable snap=$CLEAR_NEW "susp=$2" hold > /tmp/dbg 2>&1 &
	W=$!
	within 20 grep -q 'susp=.*->' /tmp/dbg || fail "queues $2 are held" "$(cat /tmp/dbg)"
}

record_states() {
	start
	tree running "two processes run four queues"
	hold $P1 0,2
	tree suspended "queues 0 and 2 of process $P1 are suspended by $W through the debug interface"
	reap $W
	echo $P1 > $SOFT/evict
	tree evicted "process $P1 is evicted (its queues are off the GPU), process $P2 runs"
	echo $P1 > $SOFT/restore
	copy_driver "$TREES/$PREFIX-$GPU-gone"
	kill -9 $P1
	within 20 test ! -d /proc/$P1
	copy_processes "$TREES/$PREFIX-$GPU-gone" $P2
	describe gone "process $P1 was killed after sysfs and debugfs were read and before /proc was"
	reap $P1 $P2
	start -l 1000 # one more queue after a second
	hold $P1 0,1
	within 20 sh -c '[ $(wc -l < /tmp/s1) -eq 4 ]' || fail "a late queue is created" "$(cat /tmp/mk1)"
	tree new "queues 0 and 1 of process $P1 are suspended by $W, its last queue was created after that and runs"
	reap $W $P1 $P2
}

# A workload of its own, which must come to run; NAME is that of its log /tmp/mkNAME and of its status file /tmp/sNAME.
run() { # NAME PROGRAM ARGUMENTS...
	local n=$1
	shift
	"$@" -t 600 -k /tmp/s$n > /tmp/mk$n 2>&1 &
	PID=$!
	PIDS="$PIDS $PID"
	echo $PID > /tmp/s$n.pid
	within 20 test -s /tmp/s$n || fail "$* starts" "$(cat /tmp/mk$n)"
}

begin() {
	PIDS=
	rm -f /tmp/s* /tmp/mk* /tmp/dbg
}

then_and_now() {
	local f
	for f in /tmp/s*.pid; do cp ${f%.pid} ${f%.pid}.then; done
	usleep 1500000
}

record_priorities() {
	begin
	run 1 mkqueue -n 4 -p 0,7,11,15 -s
	then_and_now
	tree running "four compute queues of priorities 0, 7, 11, 15 and an SDMA queue run"
	reap $PIDS
}

record_contexts() {
	begin
	run 1 ctxq -q 3 -c 2 -n 2 -s -d -r 65536,4096,1048576 -p 0,7,11,15
	run 2 mkqueue -n 1
	echo "${PIDS% *} 1" > $SOFT/evict
	then_and_now
	tree contexts "process$(echo "${PIDS% *}") has its primary context and two secondary ones, of which 1 is evicted; the primary's queue 0 was destroyed and made anew"
	reap $PIDS
}

record_oversubscribed() {
	local n
	begin
	for n in 1 2 3 4 5 6 7 8 9 10; do run $n mkqueue -n $((n % 2 + 1)); done
	then_and_now
	tree oversubscribed "ten processes, more than the VMIDs that amdkfd has, take turns; all run"
	reap $PIDS
}

for h in $HOSTS; do
	load ${h%:*} || continue
	record_${h#*:}
	unload
done
[ $TAP_BAD -eq 0 ] || exit 1
tar -C $TREES -cf - . >&3
