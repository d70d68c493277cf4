# gpq suspend where processes live apart (PID namespaces, containers), next to strace and gdb, on a GPU that is too old, with
# one GPU of two that refuses, and on queues without work.
# shellcheck shell=dash disable=SC1091,SC2086,SC2016
. /t/lib.sh
. /t/gpq/suspend.inc

# gpq itself in a PID namespace, with the target: the host numbers both otherwise.
cat > /tmp/inside.sh << 'E'
. /t/lib.sh
. /t/gpq/suspend.inc
target -q -n 2
status_is "suspend inside" 0 gpq suspend -p $P -r -n -o PID,RESULT
is "by the numbers of the inside" "$(echo "$OUT" | sort -u)" "$P suspended"
like "--list inside" "$(gpq suspend --list -r -n -o PID,STATE,QUEUES)" "^$P suspended 2"
still 0 "suspended inside"
touch /tmp/held
within 60 test -e /tmp/go || fail "the outside is done" ""
status_is "resume inside" 0 gpq resume -p $P
moves 0 "resumed inside"
gpq suspend -p $P > /dev/null
touch /tmp/held-again
within 60 test -e /tmp/go-again || fail "the outside is done" ""
moves 0 "resumed from outside"
status_is "it can be suspended again" 0 gpq suspend -p $P
echo $TAP_N $TAP_BAD > /tmp/inside
E

namespace() {
	local u
	unshare -p -f --mount-proc sh /tmp/inside.sh > /tmp/inside.out 2>&1 & u=$!
	within 60 test -e /tmp/held || fail "it is held inside" ""
	P=$(pidof mkqueue)
	# shellcheck disable=SC2154
	H=$(tracer $P)
	status_is "suspend from outside of what is held inside" 4 gpq suspend -p $P
	like "says who and what to do" "$OUT" "pid $P: held by the gpq holder $H, which cannot be talked to from here.*; gpq resume ends it, which resumes the queues"
	touch /tmp/go
	within 60 test -e /tmp/held-again || fail "it is held again inside" ""
	status_is "resume from outside: root ends the holder" 0 gpq resume -p $P
	like "says so" "$OUT" "pid $P: its holder did not answer and was killed; the queues run"
	is "it is untraced when resume returns" "$(tracer $P)" 0
	touch /tmp/go-again
	wait $u
	# Its first process has ended, so the kernel has killed all others: nothing is left anywhere.
	within 10 no_holder || fail "no holder outlives its namespace" "$(holders)"
	within 10 eval '! pidof mkqueue' || fail "no target outlives its namespace" ""
	note "$(cat /tmp/inside.out)"
	is "inside, nothing failed" "$(cut -d' ' -f2 /tmp/inside)" 0
	# Without a /proc of its own, numbers mean different processes to the kernel and in /proc.
	status_is "a namespace with the /proc of another" 6 unshare -p -f sh -c 'sleep 5 & gpq suspend -p $!'
	like "says so" "$OUT" "/proc shows another PID namespace.*mount -t proc proc /proc"
}

ID=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

container() { # CGROUP, below the mount
	local c=/sys/fs/cgroup/$1
	mkdir -p $c
	target -q -n 1
	mkqueue -q -n 1 -k /tmp/s2 & P2=$!
	within 20 test -s /tmp/s2
	echo $P > $c/cgroup.procs
	status_is "$1: suspend --container" 0 gpq suspend --container 0123456789ab -r -n -o PID,RESULT
	is "its process, and no other" "$OUT" "$P suspended"
	still 0 "in the container"
	moves 0 "beside the container" /tmp/s2
	status_is "resume --container" 0 gpq resume --container $ID
	moves 0 "in the container"
	status_is "a container that does not exist: not found" 5 gpq suspend --container ffffffffffff
	like "says so" "$OUT" "container ffffffffffff: no process in it has opened /dev/kfd"
	reap $P $P2
	rmdir $c
}

by_name() {
	local c=/sys/fs/cgroup/docker-$ID.scope
	mkdir -p $c /var/lib/docker/containers/$ID
	echo '{"ID":"'$ID'","Name":"/trainer"}' > /var/lib/docker/containers/$ID/config.v2.json
	target -q -n 1
	echo $P > $c/cgroup.procs
	status_is "suspend --container NAME" 0 gpq suspend --container trainer
	still 0 "by name"
	gpq resume --container trainer > /dev/null
	moves 0 "resumed by name"
	reap $P
	rmdir $c
}

containers() {
	grep -q " /sys/fs/cgroup cgroup2" /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup || { skip "--container" "no cgroup2 here"; return; }
	container docker-$ID.scope
	container kubepods.slice/kubepods-pod1.slice/cri-containerd-$ID.scope
	by_name
}

debuggers() {
	target -q -n 1
	if ! command -v strace > /dev/null || ! command -v gdb > /dev/null; then
		skip "strace and gdb" "not in this VM"
		reap $P
		return
	fi
	strace -f -o /tmp/strace.out -p $P 2> /dev/null & D=$!
	within 20 traced $P || fail "strace attaches" ""
	status_is "suspend under strace: exit status" 4 gpq suspend -p $P
	like "suspend under strace: the sentence" "$OUT" "already traced by pid $D \(strace\)"
	moves 0 "under strace"
	kill $D
	wait $D 2> /dev/null
	is_free "strace has gone"
	mkfifo /tmp/gdb.in
	gdb -q -nx -p $P < /tmp/gdb.in > /tmp/gdb.out 2>&1 & D=$!
	exec 8> /tmp/gdb.in
	within 60 traced $P || fail "gdb attaches" "$(cat /tmp/gdb.out)"
	status_is "suspend under gdb: exit status" 4 gpq suspend -p $P
	like "suspend under gdb: the sentence" "$OUT" "already traced by pid [0-9]+ \(gdb\)"
	printf 'detach\nquit\n' >&8
	exec 8>&-
	wait $D
	is_free "gdb has gone"
	# And the other way round: a debugger is told that somebody traces, and does no harm.
	gpq suspend -p $P > /dev/null
	like "strace while it is held" "$(strace -p $P 2>&1)" "Operation not permitted"
	like "gdb while it is held" "$(gdb -q -nx -batch -p $P 2>&1)" "(already traced|Operation not permitted)"
	still 0 "held all along" 200
	gpq resume -p $P > /dev/null
	is_untouched "debuggers were refused"
	reap $P
	rm /tmp/gdb.in
}

idle() {
	target -q -n 2 --burst 10 --requests 1000 --pause 3600000
	within 20 eval '[ "$(rptr 0)" -ge 10 ] && [ "$(rptr 1)" -ge 10 ]' || fail "the first request is done" "$(cat $STATUS)"
	status_is "--if-idle on queues without work" 0 gpq suspend -p $P --if-idle -r -n -o QID,RESULT
	is "suspends them" "$(echo $OUT)" "0 suspended 1 suspended"
	like "what appears later is left alone" "$(gpq suspend --list -r -n -o FOLLOWS)" "^no"
	status_is "resume" 0 gpq resume -p $P -r -n -o RESULT
	is "both" "$(echo $OUT)" "resumed resumed"
	reap $P
	target -q -n 2
	status_is "--if-idle on busy queues: failed" 1 gpq suspend -p $P --if-idle -r -n -o QID,RESULT
	is "they are named busy" "$(echo $OUT)" "0 busy 1 busy"
	is_untouched "busy"
	reap $P
}

too_old() {
	load gfx942,gfx803 || return
	target -q -n 1
	status_is "a GPU older than gfx9: exit status" 6 gpq suspend -p $P
	like "a GPU older than gfx9: the sentence" "$OUT" "pid $P: one of its GPUs is older than gfx9: its queues cannot be suspended"
	is "gpq gpus says it beforehand" "$(gpq gpus -r -n -o GFX,SUSPEND | tail -n 1)" "gfx803 no"
	is_untouched "on an old GPU"
	within 5 no_holder || fail "no holder is left" "$(holders)"
	reap $P
	unload
}

# Queue 0 is on the GPU that says it could not preempt, queue 1 on the other one.
refusal() {
	load gfx942,gfx90a || return
	target -q -G 2 -n 1
	gpq suspend -p $P > /dev/null
	gpq resume -p $P --keep > /dev/null
	echo 8 > /sys/module/amdgpu/parameters/preempt_fail_doorbell
	status_is "one GPU of two refuses: done in part" 3 gpq suspend -p $P -r -n -o QID,RESULT
	like "which and why" "$OUT" "queue 0: the hardware did not let go of it; it was resumed.*0 refused 1 suspended"
	still 1 "on the GPU that obeyed"
	status_is "resume" 0 gpq resume -p $P
	is "resumes what obeyed, and does not know the other as held" "$(echo "$OUT" | awk 'NR > 1 { print $3, $5 }' | tr '\n' ' ')" "0 running 1 resumed "
	# The driver now resets that GPU, and with it evicts every process of the host for good.
	reap $P
	within 10 no_holder || fail "no holder is left" "$(holders)"
	within 20 rmmod amdgpu || fail "amdgpu.ko unloads" "$(dmesg | tail)"
}

load gfx942
namespace
containers
debuggers
idle
unload
too_old
kernel_is_content
refusal
finish
