# gpq why --waves and real HIP programs: function, offset and line of the kernel that hangs; the same waves as AMD's own
# library lists of the same program; and the program goes on.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip

waves() { gpq why --waves -p $P --max-hold 5s --every 50ms -rno "$@"; } # COLUMNS [OPTION...]
verdict() { gpq why --waves -p $P --max-hold 5s --demangle 2>/dev/null; } # a warning of a long rest would stand in front of it

# Waves and PCs, and where the library knows them, packets, groups and numbers.
of_gpq() { waves WAVES,PC --sample 1 --filter 'WAVES > 0' | awk '{ for (i = 0; i < $1; i++) print $2 }' | sort; }
of_judge() { judged_waves $P | awk '{ for (i = 1; i < NF; i++) if ($i == "pc") print $(i + 1) }' | sort; }

# ROCr 5.7 has a kernel of the GPU copy code to its memory, and the software GPU runs none: there is no code, and a PC is at the descriptor.
case $SUITE in
sid) PLACE='vector_add\+0x[0-9a-f]+ \(kernels.hip:6\)' VIOLATION='vector_add\+0x8 kernels.hip:6' ;;
*) PLACE='memory\+0x[0-9a-f]+' VIOLATION='memory\+0x[0-9a-f]+ -' ;;
esac

for debug in 0 1; do
	export HSA_ENABLE_DEBUG=$debug
	hip_start d$debug -s 1 -n 100 -k vector_add -u 50000 -y 1 -H 300
	within 60 launched
	object > $PARAMS/hang_object
	ok "debug $debug: the kernel hangs" within 60 hangs
	status_is "debug $debug: its waves stand" 7 verdict
	like "debug $debug: where" "$(echo $OUT)" "^pid $P hipq: queue [0-9]+: ([0-9]+) of \1 waves stand still at $PLACE"
	is "debug $debug: each of them is in a workgroup, if that is known" "$(waves WORKGROUP --sample 1 --filter 'WAVES > 0' | grep -c ,)" $debug
	if has_judge; then
		of_gpq > /tmp/ours
		of_judge > /tmp/theirs
		ok "debug $debug: waves are seen" test -s /tmp/ours
		is "debug $debug: AMD's library lists the same" "$(cat /tmp/ours)" "$(cat /tmp/theirs)"
	else
		skip "debug $debug: the judge" "AMD's debugger library cannot be had, or is another release's"
	fi
	echo "0-63=run@0x0+0x14" > $PARAMS/wave_states # of 32 waves not as many at each of five places
	is "debug $debug: a loop" "$(waves PROGRESS,STATE --sample 5 --filter 'WAVES > 0' | sort -u)" "$([ $debug = 1 ] && echo loops || echo goes-on) runs"
	echo "0=violation@0x8" > $PARAMS/wave_states
	[ $debug = 0 ] || like "debug $debug: a memory violation" "$(waves STATE,PLACE,SOURCE | grep violation)" "^memory-violation $VIOLATION$"
	echo > $PARAMS/wave_states
	echo 0 > $PARAMS/hang_object
	hip_done d$debug
	is "debug $debug: nothing is on the GPU any more" "$(waves STATE --sample 1 | sort -u)" no-waves
	hip_end d$debug
done
unload
kernel_is_content
finish
