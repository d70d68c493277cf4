# gpq core of living queues: the note against what the driver tells dbg, the saved waves against what waveq reads by itself, and the
# queues go on, whoever is killed meanwhile.
# shellcheck shell=dash disable=SC1091,SC2086,SC2016
. /t/lib.sh
. /t/gpq/suspend.inc

M=/sys/module/amdgpu/parameters
STOP="sh=echo 0 > $M/packet_rate"
SAME=PC,WAVES,GROUPS,DISPATCH,STATE,MISSING,MISSING_PLACE,LANES,EXEC,QID

number() { od -An -t u$2 -j $1 -N $2 /tmp/core | tr -d ' '; } # OFFSET BYTES: of the core
words() { od -An -v -t u4 -j $1 -N $2 /tmp/core | xargs; }

# Where the core has an address: sets AT, the offset in the file.
find_address() {
	local i=1 head address size
	AT=
	while [ $i -lt $(number 56 2) ]; do
		head=$((64 + 56 * i)) i=$((i + 1))
		address=$(number $((head + 16)) 8) size=$(number $((head + 32)) 8)
		[ $1 -lt $address ] || [ $1 -ge $((address + size)) ] || AT=$(($(number $((head + 8)) 8) + $1 - address))
	done
}

# waveq's 1000 work-items in groups of 256: nothing moves while gpq takes a core, and then waveq dumps the area itself.
waves() {
	local note queue area used
	rm -f /tmp/core /tmp/area
	echo 1000 > $M/packet_rate
	# Two dispatches, one place at a barrier, one that goes on.
	timeout 60 waveq skip=70 "$STOP" "sh=echo 0-2=barrier@0x50,5=run@0x60 > $M/wave_states" dispatch=1000,256 dispatch=64,64,0 \
		"sh=gpq why --waves --sample 1 -p \$PPID --max-hold 10s -rno $SAME > /tmp/standing 2> /tmp/standing.err" "sh=gpq core -p \$PPID --max-hold 10s -rno QUEUES,LEFT_OUT,WAVES /tmp/core > /tmp/said 2>&1" \
		enable look dump=/tmp/area > /tmp/waveq.log 2>&1 || fail "waveq" "$(cat /tmp/waveq.log /tmp/said)"
	is "one queue, and as many waves as waveq finds" "$(grep -v ^gpq: /tmp/said)" "1 0 $(grep -c '^wave ' /tmp/waveq.log)"
	empty "nothing is missing" "$(grep ^gpq: /tmp/said)"
	is "an ELF core of a GPU: magic, class and ABI, type, machine" "$(words 0 4) $(number 4 1) $(number 7 1) $(number 16 2) $(number 18 2)" \
		"1179403647 2 64 4 224"
	note=$((64 + 56 * $(number 56 2)))
	is "its note" "$(words $note 12) $(number $((note + 12)) 8)" "7 $(($(number $((64 + 32)) 8) - 20)) 33 93803281403201"
	is "layout, KFD 1.x, sizes" "$(words $((note + 20)) 8) $(number $((note + 28)) 4) $(words $((note + 36)) 24)" "1 0 1 16 0 1 120 1 64"
	is "the runtime: enabled, ttmps" "$(words $((note + 68)) 8)" "1 1"
	find_address $(number $((note + 60)) 8)
	is "r_debug: where waveq has it" "$(words ${AT:-0} 4)" 10
	queue=$((note + 76 + 120))
	area=$(number $((queue + 32)) 8)
	find_address $area
	is "the header of the save area: as waveq reads it" "$(words ${AT:-0} 16)" "$(od -An -v -t u4 -N 16 /tmp/area | xargs)"
	used=$(number $((AT + 4)) 4)
	find_address $((area + $(number $AT 4)))
	used=$((used + $(od -An -t u4 -j 12 -N 4 /tmp/area)))
	is "control stack and waves, byte for byte" "$(dd if=/tmp/core bs=1 skip=${AT:-0} count=$used 2> /dev/null | md5sum)" \
		"$(dd if=/tmp/area bs=1 skip=$(($(od -An -t u4 -N 4 /tmp/area))) count=$used 2> /dev/null | md5sum)"
	is "nobody else can read it" "$(stat -c %a /tmp/core)" 600
	like "two dispatches stand on the GPU" "$(cut -d' ' -f4 /tmp/standing | sort -u | xargs)" "^70 71\$"
	is "why says the same of the core and of the process" "$(gpq why --core /tmp/core -rno $SAME 2>&1)" "$(cat /tmp/standing)"
	echo > $M/wave_states
}

# The packets of mkqueue have no kernel: AMD's library would end at their waves.
runs_on() {
	target -q -n 3
	rm -f /tmp/core*
	gpq core --max-hold 10s -p $P -rno PID,QUEUES,LEFT_OUT /tmp/core > /tmp/said 2>&1
	like "mkqueue's queues are in the core, or it is said why not" "$(cat /tmp/said)" "$P [123] [012] |no queue that can be written"
	is_untouched "after a core"
	rm -f /tmp/core*
	gpq suspend -p $P -Q 1 > /dev/null
	gpq core --max-hold 10s -p $P /tmp/core > /tmp/said 2>&1
	still 1 "held before the core" 200
	moves 0 "not held before it"
	gpq resume -p $P > /dev/null
	is_whole "after all that"
}

# gpq or its holder is killed or stopped at any time; what is stopped holds no queue for longer than --max-hold.
kills() {
	local n bad=0 wrong hold
	for n in $(seq ${KILLS:-20}); do
		rm -f /tmp/core*
		hold=10s wrong=
		[ $((n % 5)) -lt 3 ] || hold=300ms
		gpq core --max-hold $hold -p $P /tmp/core > /tmp/said 2>&1 &
		G=$!
		usleep $((RANDOM % 80))000
		look_at_holders
		case $((n % 5)) in
		0) kill -9 $G ;;
		1) kill -9 $HOLDERS ;;
		2) kill -TERM $G ;;
		*)
			[ $((n % 5)) = 3 ] || G="$HOLDERS $G"
			kill -STOP ${G%% *}
			look_at_rptr 0
			within 10 has_moved 0 "$RPTR" || wrong="queue 0 is held by what is stopped;"
			kill -9 $G
			;;
		esac 2> /dev/null
		wait ${G##* }
		wrong=$wrong$(within 10 untraced $P || echo "traced by $(tracer $P)"
			within 10 no_holder || echo "holders: $(holders)"
			look_at_rptr 0
			within 10 has_moved 0 "$RPTR" || echo "queue 0 stands still")
		[ -z "$wrong" ] && continue
		bad=$((bad + 1))
		note "kill $n: $wrong; gpq said: $(cat /tmp/said)"
	done
	is "${KILLS:-20} kills: nothing stays suspended or traced" $bad 0
	is_whole "after the kills"
	reap $P
}

for model in $(mine gfx90a gfx1100 gfx1201 gfx942x4 gfx1030); do
	load $model packet_rate=1000 || continue
	waves
	unload
done
load gfx942 && runs_on && kills
unload
kernel_is_content
finish
