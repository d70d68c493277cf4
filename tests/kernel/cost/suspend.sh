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

# gpq's own time against a recorded one: the ratio also moves with what the bare program costs. Recorded on Debian 12 (gcc 12,
# glibc 2.36), in units of 1,000 instructions; a tenth more passes. A kernel without a record is skipped.
as_recorded() { # NAME US-ON-6.12 US-ON-7.3
	local want us
	case $(uname -r) in
	6.12.*) want=$2 ;;
	7.3.*) want=$3 ;;
	*) skip "$1: as recorded" "nothing is recorded for $(uname -r)" && return ;;
	esac
	us=$(echo "$COSTS" | sed -n "s/^$1 [0-9.]* (\([0-9]*\) us .*/\1/p")
	if [ "${us:-0}" -gt 0 ] && [ $((us * 10)) -le $((want * 11)) ]; then pass "$1: $us us, recorded are $want"; else
		fail "$1: at most a tenth more than the recorded $want us" "$COSTS"
	fi
}

load gfx942 waves=0 # what the software GPU saves is no cost of gpq, and is done when it pleases
target -q -n 4
COSTS=$(holdcost first $P 100 2>&1)
note "$COSTS"
at_most first 1.6 "a first gpq suspend against a bare program"
# How much work the bare program is depends on where its pages come to lie, by some 8 %.
at_most work 1.6 "the same without waiting for the GPU"
as_recorded first 2877 3088
as_recorded work 2756 2948
COSTS=$(holdcost kept $P 400 2>&1)
note "$COSTS"
at_most suspend 1.2 "suspend through a kept holder against the bare call and a round trip"
at_most resume 1.2 "resume through a kept holder against the bare call and a round trip"
as_recorded suspend 351 308
as_recorded resume 35 79
moves 0 "after all that"
reap $P
unload
kernel_is_content
finish
