# What gpq trace --live costs a suspend and a resume, by a clock that counts instructions: with its probes on against without. One
# processor does all, the recorder's reading too, so this is the most that it can be.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

T=/sys/kernel/tracing
cost() { echo "$1" | sed -n "s/^$2 [0-9.]* (\([0-9]*\) us .*/\1/p"; } # COSTS suspend|resume: of gpq, in units of 1,000 instructions

at_most() { # NAME LIMIT-IN-PERCENT
	local off on
	off=$(cost "$OFF" $1) on=$(cost "$ON" $1)
	if [ "${off:-0}" -gt 0 ] && [ "${on:-0}" -gt 0 ] && [ $((on * 100)) -le $((off * $2)) ]; then
		pass "$1: $on us with tracing, $off us without ($((on * 100 / off)) %)"
	else
		fail "$1 with tracing: at most $2 %" "without: $OFF
with: $ON"
	fi
}

if [ ! -e $T/kprobe_events ]; then
	skip "gpq trace --live" "no tracefs with kprobes"
	finish
	exit
fi
load gfx942
target -q -n 4
OFF=$(holdcost kept $P 200 2>&1)
gpq trace --live --save /tmp/f > /tmp/out 2>&1 &
G=$!
ok "it records" within 60 test -s /tmp/f/kernel.trace # made when all probes are on
ON=$(holdcost kept $P 200 2>&1)
kill -TERM $G
wait $G
is "it ends well" $? 0
AFTER=$(holdcost kept $P 200 2>&1)
note "without: $OFF
with: $ON
afterwards: $AFTER
$(grep -E '^gpq' /tmp/out)"
# 200 of gpq, 200 of the bare caller.
ok "every suspension is in the record" test "$(gpq trace -q --list -rno KIND --filter 'NAME == "suspend_queues" && KIND == "return"' /tmp/f | grep -c .)" -ge 400
at_most suspend 150
at_most resume 200
ON=$AFTER
at_most suspend 105
is "nothing is left in tracefs" "$(ls $T/instances) $(cat $T/kprobe_events)" " "
reap $P
unload
kernel_is_content
finish
