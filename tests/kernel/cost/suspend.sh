# What suspending costs above the system calls that it takes: limits on ratios, which holdcost.c explains. The clock of
# this VM counts instructions, one a nanosecond, so the ratios are the same on every machine and under any load.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

# One of holdcost's lines: NAME RATIO (...)
at_most() { # NAME LIMIT DESCRIPTION
	local line=$(echo "$COSTS" | grep "^$1 ")
	if echo "$line" | awk -v limit="$2" '{ found = 1; exit !($2 > 0 && $2 <= limit) } END { if (!found) exit 1 }'; then
		pass "$3: $line"
	else
		fail "$3: at most $2" "$COSTS"
	fi
}

load gfx942
target -q -n 4
COSTS=$(holdcost first $P 100 2>&1)
note "$COSTS"
at_most first 1.5 "a first gpq suspend against a bare program"
# How much work the bare program is depends on where its pages come to lie, by some 8 %.
at_most work 1.6 "the same without waiting for the GPU"
COSTS=$(holdcost kept $P 400 2>&1)
note "$COSTS"
at_most suspend 1.2 "suspend through a kept holder against the bare call and a round trip"
at_most resume 1.2 "resume through a kept holder against the bare call and a round trip"
moves 0 "after all that"
reap $P
unload
kernel_is_content
finish
