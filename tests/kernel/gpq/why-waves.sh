# gpq why --waves on living queues: what it says of the waves that the software GPU saves, which waveq reads by hand in
# rig/waves.sh; and that the queue is back.
# shellcheck shell=dash disable=SC1091,SC2086,SC2016
. /t/lib.sh

M=/sys/module/amdgpu/parameters

# 1000 work-items in groups of 256, of a kernel that hangs: 16 waves, or 32 of wave32. P is the pid.
hang() { # [OPTION]
	echo > $M/wave_states
	echo 1000 > $M/packet_rate
	waveq $1 'sh=echo $KERNEL > '$M/hang_object skip=2 dispatch=1000,256 sh=true 'sh=echo ready >&2' ms=900000 > /tmp/waveq.log 2>&1 &
	P=$!
	within 20 grep -q ready /tmp/waveq.log || fail "waveq starts" "$(cat /tmp/waveq.log)"
	within 20 sh -c "[ \$(gpq why --waves --sample 1 -p $P -rno WAVES | head -1) -gt 0 ]" || fail "the kernel begins" "$(gpq why --waves -p $P 2>&1)"
}

unhang() {
	echo 0 > $M/hang_object
	kill $P
	reap $P
}

rows() { gpq why --waves -p $P --max-hold 5s --every 50ms -rno "$@"; } # COLUMNS [OPTION...]
runs() { gpq queues -p $P -rno STATE | grep -qvx suspended; }
is_back() { runs && grep -q '^TracerPid:.0$' /proc/$P/status; }

for model in gfx90a gfx942x4 gfx1030 gfx1100 gfx1201; do
	load $model || continue
	hang
	status_is "a kernel that hangs stands: 7" 7 gpq why --waves --max-hold 5s -p $P
	# A machine that has other work to do lets go of queues late, which is said before.
	like "in a sentence" "$(echo "$OUT" | grep -v 'to let go of queues' | tr '\n' ' ')" "^pid $P waveq: queue 0: 16 of 16 waves stand still at 0x[0-9a-f]*: "
	ok "the queue is back" within 5 is_back
	found=$(rows WAVES,GROUPS,PROGRESS,STATE,DISPATCH,LANES,PC)
	pc=${found##* }
	is "all waves at one place, of the third dispatch" "$found" "16 4 stands runs 2 64 $pc"
	echo "0-63=run@0x40+0x10" > $M/wave_states
	is "a loop, and from where to where" "$(rows PROGRESS,LOW,HIGH --sample 7 | sort -u)" "$(printf 'loops 0x%x 0x%x' $((pc + 0x40)) $((pc + 0x4c)))"
	echo "0-2=barrier@0x50,3=run@0x60" > $M/wave_states
	case $GPU in gfx12*) ;; *)
		is "a barrier that one wave of four does not reach" "$(rows WAVES,STATE,MISSING,MISSING_PLACE | head -1)" "3 at-barrier 1 $(printf '0x%x' $((pc + 0x60)))" ;;
	esac
	echo "3=violation@0x60,4=assert@0x64,5=illegal@0x68,6=address@0x6c,7=halt@0x70" > $M/wave_states
	is "what stopped waves, and where" "$(rows STATE,PROGRESS,PC | sort)" "$(printf '%s stands 0x%x\n' address-error $((pc + 0x6c)) assert $((pc + 0x64)) \
		halted $((pc + 0x70)) illegal-instruction $((pc + 0x68)) memory-violation $((pc + 0x60)) runs $((pc)))"
	unhang
	unload
done

kernel_is_content
finish
