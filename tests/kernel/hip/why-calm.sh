# gpq why and a real HIP program that goes on, though slowly: its queues take turns on a GPU with two slots, and then it has a fifth
# of a processor. It is not called stuck (stopped at random: why.sh).
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
BOX=/sys/fs/cgroup/slow
echo +cpu > /sys/fs/cgroup/cgroup.subtree_control
mkdir $BOX
echo '20000 100000' > $BOX/cpu.max

calm() { # NAME
	local n=0 bad=0
	slots=0
	hip_start $1 -s 6 -P -T 4 -n 400000 -p rand -k k -k vector_add -w 20 -e 20 -y 100 -u 3000 -H 300
	[ $1 != throttled ] || echo $P > $BOX/cgroup.procs
	while [ $n -lt 200 ] && ! dead $P; do
		gpq why -p $P --over 10ms -rno PID,QID,STATE,DETAIL > /tmp/why 2> /tmp/why.err
		[ $? -ne 7 ] || { bad=$((bad + 1)) && note "$(cat /tmp/why /tmp/why.err)"; }
		! grep -q ' waits-slot ' /tmp/why || slots=$((slots + 1))
		n=$((n + 1))
	done
	is "$1: looks at a program that goes on" $n 200
	is "$1: of them say that it is stuck" $bad 0
	reap $P
}
echo 2 > $PARAMS/hqd_slots
calm over-subscribed
note "over-subscribed: $slots of 200 looks say that a queue waits for a slot"
echo 24 > $PARAMS/hqd_slots
calm throttled
ok "throttled: it was" grep -q '^nr_throttled [1-9]' $BOX/cpu.stat
rmdir $BOX
unload
kernel_is_content
finish
