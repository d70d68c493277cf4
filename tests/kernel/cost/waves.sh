# What a look at waves costs between hold and resume, by a clock that counts instructions: of a queue with 1, 100 and 2,000 waves,
# against the suspend and resume of the same queue that reads nothing.
# shellcheck shell=dash disable=SC1091,SC2034,SC2046,SC2086,SC2154
. /t/lib.sh

between() { # DESCRIPTION GOT LOW HIGH
	if [ -n "$2" ] && [ $2 -ge $3 ] && [ $2 -le $4 ]; then pass "$1: $2"; else fail "$1" "got '$2', wanted $3 to $4"; fi
}

# The median of five looks with so many waves: from the answer that queues are off to the one that they are back.
look() { # WAVES
	local i
	for i in 1 2 3 4 5; do gpq why --waves --sample 1 --max-hold 10s -p $P -rno WAVES,OFF_FOR 2> /dev/null; done |
		awk -v n=$1 '$1 == n { print $2 }' | sort -n | sed -n 3p
}

load gfx90a packet_rate=0 waves=2048
for n in 0 1 100 2000; do
	rm -f /tmp/waveq.log
	waveq $([ $n = 0 ] || echo dispatch=$((n * 64)),$([ $n = 1 ] && echo 64 || echo 256)) 'sh=echo ready >&2' ms=900000 > /tmp/waveq.log 2>&1 &
	P=$!
	within 20 grep -q ready /tmp/waveq.log || fail "waveq starts" "$(cat /tmp/waveq.log)"
	eval "look$n=$(look $n)"
	# gpq's own suspend and resume, through its holder, and the bare calls.
	[ $n = 0 ] || note "$n waves: $(holdcost kept $P 8)"
	[ $n != 1 ] || RESUME=$(holdcost kept $P 40 | sed -n 's/^resume [0-9.]* (\([0-9]*\) us.*/\1/p')000
	reap $P
done
unload
note "hold to resume with 0, 1, 100, 2000 waves: $look0 $look1 $look100 $look2000; a resume alone: $RESUME"
# What a child that reads costs when it is started within the hold, or registers that are read one by one, is far above these.
between "a look at no waves, hold to resume, less the resume alone" $((look0 - RESUME)) 1 250000
between "what the first wave adds" $((look1 - look0)) 1 120000
FEW=$(((look100 - look1) / 99)) MANY=$(((look2000 - look100) / 1900))
between "what each of the next 99 adds" $FEW 1 7500
between "and each of 1,900 more: as much, no more" $MANY 1 $((FEW * 5 / 4))
kernel_is_content
finish
