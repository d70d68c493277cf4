# gpq killed after each step of its part of the protocol.
# shellcheck shell=dash disable=SC1091
. /t/lib.sh
. /t/gpq/suspend.inc
. /t/gpq/suspend-kill.inc

load gfx942
target -q -n 2
for n in 1 2 3 4 5; do # pinned, connected, asked, answered, shown
	for sig in KILL TERM INT; do killed gpq:$n $sig; done
	left_stopped gpq:$n
done
reap $P
unload
kernel_is_content
finish
