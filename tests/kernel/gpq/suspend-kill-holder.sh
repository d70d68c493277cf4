# The holder killed after each step of its part of the protocol.
# shellcheck shell=dash disable=SC1091
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/suspend-kill.inc

load gfx942
target -q -n 2
for n in 1 2 3 4 5 6 7 8; do # opened, seized, probed, enabled, prepaid, before the suspension, behind it, answered
	for sig in KILL TERM INT; do killed holder:$n $sig; done
	left_stopped holder:$n
done
reap $P
unload
kernel_is_content
finish
