# gpq bench preempt --breakdown on the real driver: the steps are within the call, saving takes at least what the software GPU takes,
# nothing of gpq is left in tracefs after any end, and the user's own tracing stays.
# shellcheck shell=dash disable=SC1091,SC2086,SC2154
. /t/lib.sh
T=/sys/kernel/tracing
PARAMETERS=/sys/module/amdgpu/parameters

left() { # what gpq made
	find $T/instances -maxdepth 1 -name 'gpq*'
	grep -c gpq_ $T/kprobe_events | grep -v '^0'
}
nothing_left() { [ -z "$(left)" ]; }
of() { grep -o "\"$1\":[0-9]*" /tmp/raw | cut -d: -f2; }

if [ ! -e $T/kprobe_events ]; then
	skip "the kernel's trace" "no tracefs with kprobes"
	finish
	exit
fi
# As in trace-live.sh: code that one processor changes may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load gfx942 || { finish; exit; }
echo 'p:mine/open kfd_open' >> $T/kprobe_events
mine=$(cat $T/kprobe_events)
target -n 3
echo 5000 > $PARAMETERS/preempt_us
status_is "cycles with a breakdown" 0 gpq bench preempt -p $P --cycles 5 --warmup 1 --hold 1ms --breakdown --sweep queues=1,3 --samples /tmp/raw
like "the report ends with what grows" "$(echo "$OUT" | grep '^With 1 to 3 queues: ')" 'unmap .*save .*map .*rest '
for step in unmap save map rest; do
	is "$step of each cycle" "$(of ${step}_ns | wc -l)" 12
done
is "the steps are within the call" "$(
	of suspend_ioctl_ns > /tmp/call
	for step in unmap save map rest; do of ${step}_ns > /tmp/$step; done
	paste /tmp/call /tmp/unmap /tmp/save /tmp/map /tmp/rest | awk '$2 + $3 + $4 + $5 > $1' | wc -l)" 0
is "saving takes what the software GPU takes" "$(awk '$1 < 5000000' /tmp/save | wc -l)" 0
empty "nothing is left in tracefs" "$(left)"
gpq bench preempt -p $P --for 100 --hold 10ms --breakdown > /dev/null 2>&1 &
B=$!
within 20 sh -c "grep -qs 1 $T/instances/gpq-*/events/gpq_*/enable" || fail "it traces"
kill -KILL $B
within 20 nothing_left || fail "nothing is left after SIGKILL" "$(left)"
pass "nothing is left after SIGKILL"
is "the user's own is as it was" "$(cat $T/kprobe_events)" "$mine"
finish
