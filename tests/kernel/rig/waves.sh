# What a suspended queue leaves in its save area, byte by byte, read by waveq: how many waves, of which registers, where, in
# which state; what a debugger writes there comes back. gpq takes no part in this.
# shellcheck shell=dash disable=SC1091,SC2086,SC2016
. /t/lib.sh
. /t/rig/rig.inc

M=$PARAMETERS
STOP="sh=echo 0 > $M/packet_rate"
FAST="sh=echo 1000 > $M/packet_rate"

waveq() {
	echo 1000 > $M/packet_rate
	timeout 60 waveq "$@" > /tmp/waveq.log 2>&1 || fail "waveq $*" "$(cat /tmp/waveq.log)"
}

# The lines of the Nth look, and columns of waves: sorted, each once, with how often it is there.
look() { awk -v n="$1" '/^look/ { at++ } at == n' /tmp/waveq.log; }
waves() { # LOOK WORD...: of each wave, the value behind each word
	local n=$1
	shift
	look $n | awk -v words="$*" '/^wave/ { for (k = split(words, w, " "), i = 1; i <= k; i++) for (j = 1; j < NF; j += 2)
		if ($j == w[i]) printf "%s%s", $(j + 1), i < k ? " " : "\n" }' | sort | uniq -c | sed 's/^ *//'
}
xccs() { look $1 | sed -n 's/^xcc //p'; }
sum() { xccs $1 | awk '{ n += $7; b += $5 } END { print n, b }'; } # LOOK: waves, bytes
pc_of() { of $1 $2 | awk '{ print substr($12, 2) }'; }
of() { look $1 | grep "^wave $2 "; } # LOOK WAVE

is_wave32() { case $GPU in gfx9*) return 1 ;; esac; }

# 1000 work-items in groups of 256 behind 70 packets of a ring of 64, and one more: packet 7; nothing moves. A group has 4 waves of 64, or
# 8 of 32; the last group has 232 work-items. A record: 16 vector registers (8 of wave64 beyond gfx9), 48 or 128 scalar
# ones, 128 bytes, 64 on gfx9; a group's first wave has 1024 bytes of LDS. A control stack: a packet of two words, an
# event, a state (two words beyond gfx9), a word for each wave.
counts() {
	local n=16
	waveq $1 skip=70 "$STOP" enable look resume barrier look resume "$FAST" drain "$STOP" dispatch=1000,256 look resume look
	is "an idle queue has no waves" "$(sum 1)" "0 0"
	is "nor one before a packet that is no dispatch" "$(sum 2)" "0 0"
	case $GPU$1 in
	gfx942x4) want="0 stack 32 bytes 18944 waves 4 lanes 64 regs 8+8,48 lds 1024 ends right" ;;
	gfx9*) want="0 stack 80 bytes 75776 waves 16 lanes 64 regs 8+8,48 lds 1024 ends right" ;;
	*-g) n=32 want="0 stack 148 bytes 90112 waves 32 lanes 32 regs 16+0,128 lds 1024 ends right" ;;
	*) want="0 stack 84 bytes 47104 waves 16 lanes 64 regs 8+0,128 lds 1024 ends right" ;;
	esac
	is "the area of the first XCC $1" "$(xccs 3 | head -1)" "$want"
	case $GPU in
	gfx942x4)
		is "the other XCCs have as much" "$(xccs 3 | sed 's/^. //' | uniq -c | sed 's/^ *//')" "4 ${want#0 }"
		is "four workgroups, each on one XCC" "$(waves 3 xcc | wc -l) $(waves 3 group | wc -l) $(waves 3 xcc group | wc -l)" "4 4 4"
		;;
	esac
	is "all waves $1" "$(sum 3 | cut -d' ' -f1)" $n
	is "each register says which it is $1" "$(waves 3 numbers)" "$n yes"
	is "the packet's index in the ring $1" "$(waves 3 packet)" "$n 7"
	is "the PC is the kernel's entry $1" "$(waves 3 pc)" "$n +0x0"
	is "wave N is in group N / $((n / 4)) $1" "$(look 3 | awk -v p=$((n / 4)) '/^wave/ { split($6, g, ","); print g[1] * p + $8 - $2, g[2], g[3] }' | sort -u)" "0 0 0"
	is "a group's first and last wave $1" "$(look 3 | awk -v p=$((n / 4)) '/^wave/ { print ($8 == 0) ($8 == p - 1) == $16 }' | sort -u)" 1
	case $n in
	32) want="31 0ffffffff
1 0000000ff" ;;
	*) want="15 ffffffffffffffff
1 ffffffffff" ;;
	esac
	is "EXEC $1" "$(waves 3 exec | sort -rn)" "$want"
	is "and the same once more $1" "$(look 4)" "$(look 3)"
}

shapes() {
	waveq "$STOP" dispatch=64,64 dispatch=128,64,0 dispatch=64,64 enable look
	is "a dispatch that need not wait has waves, too" "$(waves 1 packet group)" "1 0 0,0,0
1 1 0,0,0
1 1 1,0,0"
	waveq "$STOP" dispatch3 enable look
	is "three dimensions" "$(look 1 | awk '/^wave/ { print $2, $6 }' | sort -n | sed -n '1p;2p;4p;8p;12p' | xargs)" \
		"0 0,0,0 1 1,0,0 3 0,1,0 7 1,0,1 11 2,1,1"
	waveq -u "$STOP" dispatch=1000,256 enable look
	is "in user memory that is not pinned" "$(sum 1 | cut -d' ' -f1) $(waves 1 numbers)" "16 16 yes"
	echo 9 > $M/waves
	waveq "$STOP" dispatch=1000,256 enable look
	is "a limit: whole groups" "$(sum 1 | cut -d' ' -f1)" 8
	echo 32 > $M/waves
}

# Three waves of four at a barrier, and what a trap handler stops.
states() {
	local base=10840 stopped=52840 halt=12840 in=11840 violation=10000100 mark=0 pc='[+]0x60' parked='[+]0x60'
	case $GPU in gfx12*) base=0 stopped=4000 halt=4000 in=0 violation=1010 ;; esac
	case $GPU in gfx942* | gfx12*) mark=1 ;; esac
	case $GPU in gfx942* | gfx1030) parked= ;; *) pc=0x1000 ;; esac
	waveq "$STOP" dispatch=1000,256 enable look resume \
		"sh=echo 0-2=barrier@0x50,3=violation@0x60,4=assert@0x60,5=halt@0x5c,6=handler,7=run@0x40+8 > $M/wave_states" \
		look resume look poke=0x80 resume look resume look
	is "waves at a barrier" "$(waves 2 pc status | grep ' +0x50 ')" "3 +0x50 $in"
	like "a memory violation" "$(of 2 3)" "pc $pc .* status $stopped why $violation ttmp6 40000000 mark $mark parked $parked"
	like "an assert" "$(of 2 4)" "pc $pc .* status $stopped why 0 ttmp6 44000000 mark $mark parked $parked"
	like "one that has halted itself" "$(of 2 5)" "pc \+0x5c .* status $halt why 0 ttmp6 0 mark 0"
	like "one in the trap handler" "$(of 2 6)" "pc 0x1000 .* status $base why 0 ttmp6 0 mark 0"
	is "one that goes round within two instructions" "$(for i in 2 3; do of $i 7 | awk '{ print $12 }'; done | xargs)" "+0x44 +0x40"
	is "the others are where they were" "$(waves 2 pc status | grep '+0x0 ')" "8 +0x0 $base"
	is "what a debugger wrote: the PC" "$(waves 4 pc)" "16 +0x80"
	is "and that no wave of them runs" "$(waves 4 status | cut -d' ' -f2 | grep -vcE "^(12840|13840|52840|4000)$")" 0
	is "and in ttmp6" "$(waves 4 ttmp6 | grep -cvE ' [89c]')" 0
	is "and once more" "$(look 5)" "$(look 4)"
	echo > $M/wave_states
	ok "what is no state is refused" sh -c "! echo 0=nonsense > $M/wave_states 2> /dev/null && [ -z \"\$(cat $M/wave_states)\" ]"
}

# A kernel that runs, one that hangs and stands, one that hangs and loops; taken or not.
progress() {
	waveq "sh=echo 1 > $M/capacity; echo 1 > $M/capacity_items" dispatch=1000,256 enable ms=200 look resume ms=200 look resume ms=200 look
	is "it runs" "$(($(pc_of 2 0) - $(pc_of 1 0))) $(($(pc_of 3 0) - $(pc_of 2 0)))" "4 4"
	echo 0 > $M/capacity
	for taken in N Y; do
		waveq "sh=echo $taken > $M/hang_taken; echo \$KERNEL > $M/hang_object; echo 1000 > $M/packet_rate" skip=2 dispatch=1000,256 enable ms=200 \
			look resume ms=200 look resume "sh=echo 0-63=run@0x40+0x10 > $M/wave_states" ms=200 look resume look resume look \
			"sh=echo 0 > $M/hang_object; echo > $M/wave_states" resume ms=400 look
		is "taken $taken: the read pointer" "$(look 1 | head -1)" "look read $([ $taken = Y ] && echo 3 || echo 2)"
		is "taken $taken: it stands" "$(waves 1 pc packet) $(waves 2 pc packet)" "16 +0x0 2 16 +0x0 2"
		is "taken $taken: it loops" "$(for i in 3 4 5; do of $i 3 | awk '{ print $12 }'; done | xargs)" "+0x4c +0x40 +0x44"
		is "taken $taken: it has ended" "$(sum 6)" "0 0"
	done
}

# Where nobody asks for ttmps they hold what was there before, until a wave is launched during a session.
leftovers() {
	waveq -n "$STOP" dispatch=64,64 enable look resume "$FAST" drain "$STOP" dispatch=64,64 look
	is "ttmps are not set up" "$(head -n 20 /tmp/waveq.log | grep ttmp_setup)" "ttmp_setup 0"
	is "they hold something" "$(waves 1 group in packet ttmp6)" "1 3,0,0 1 7 46000007"
	is "of a wave of the session they do not" "$(waves 2 group in packet ttmp6)" "1 0,0,0 0 1 1"
}

for model in gfx90a gfx942x4 gfx1030 gfx1100 gfx1201; do
	load $model packet_rate=1000 || continue
	counts
	! is_wave32 || counts -g
	shapes
	states
	progress
	[ $model != gfx90a ] || leftovers
	unload
done
load gfx1100old && leftovers
unload
kernel_is_content
finish
