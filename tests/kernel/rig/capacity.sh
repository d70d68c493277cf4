# The software GPU's shared capacity: queues that have work share it equally, a large grid takes proportionally longer, and
# what is suspended leaves its share to the others. Packets are compared, nothing is timed.
# shellcheck shell=dash disable=SC1091,SC2034,SC2086
. /t/lib.sh
. /t/rig/rig.inc

load gfx942 capacity=2000 capacity_items=65536 || { finish; exit; }

# Two workloads at once, and how many packets each took until the first had taken $WANT.
race() { # MKQUEUE-ARGS-A -- MKQUEUE-ARGS-B
	local a=
	rm -f /tmp/a /tmp/b
	while [ "$1" != -- ]; do a="$a $1"; shift; done
	shift
	mkqueue $a -k /tmp/a > /dev/null 2>&1 &
	A=$!
	mkqueue "$@" -k /tmp/b > /dev/null 2>&1 &
	B=$!
	within 20 test -s /tmp/a -a -s /tmp/b
	A0=$(sum /tmp/a) B0=$(sum /tmp/b)
	within 60 took_enough
	DA=$(($(sum /tmp/a) - A0)) DB=$(($(sum /tmp/b) - B0))
}
sum() { awk '{ n += $2 } END { print n + 0 }' $1; }
b_took() { [ $(($(sum /tmp/b) - B0)) -ge 2000 ]; }
took_enough() { [ $(($(sum /tmp/a) - A0)) -ge $WANT ]; }

# A share in per mille, within a quarter of what it should be: the two are not read at the same moment.
about() { # DESCRIPTION GOT WANTED
	if [ "$2" -ge $(($3 * 3 / 4)) ] && [ "$2" -le $(($3 * 5 / 4)) ]; then pass "$1"; else fail "$1" "got $2, wanted about $3"; fi
}

WANT=1500
race -n 1 -- -n 1
about "two queues take as much (per mille)" $((1000 * DB / DA)) 1000
reap $A $B
race -n 3 -- -n 1
about "four queues, a quarter each" $((1000 * DB / DA)) 333
reap $A $B
WANT=800
race -n 1 -g 1000 -- -n 1 -g 262144
about "a grid of four units takes four times as long" $((1000 * DB / DA)) 250
reap $A $B

race -n 1 -- -n 1
dbg $A seize enable snap=$CLEAR_NEW susp=0 ms=30000 > $HELD 2>&1 &
W=$!
within 20 held_matches 'susp'
B0=$(sum /tmp/b) S0=$(sum /tmp/a)
ok "the other goes on" within 60 b_took
is "a suspended queue takes nothing" "$(sum /tmp/a)" "$S0"
kill_debugger
A0=$(sum /tmp/a) B0=$(sum /tmp/b)
within 60 b_took
about "then both have their share (per mille)" $((1000 * ($(sum /tmp/b) - B0) / ($(sum /tmp/a) - A0 + 1))) 1000
reap $A $B
kernel_is_content
unload
finish
