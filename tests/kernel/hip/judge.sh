# AMD's own debugger library as the judge of waves. Attached to a living process, on each generation, it lists the waves that the
# process reads of its own queue by hand (waveq), and lets them go on. gpq's list is compared in waves.sh.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

M=/sys/module/amdgpu/parameters

# "packet P group G wave I PC EXEC" of each wave that waveq reads by hand; of a parked wave the true PC is aside.
by_hand() {
	awk '/^look/ { looks++ }
		looks == 1 && /^wave/ {
			pc = $12 ~ /^[+]/ ? $12 : $26
			printf "packet %s group %s wave %s %s %s\n", $10, $6, $8, pc, $14
		}' /tmp/waveq.log | sort
}

# The same of what the library lists, PC from the kernel's entry on.
by_library() {
	while read -r _ _ _ packet _ group _ wave _ _ _ pc _ exec _; do
		exec=${exec#0x}
		while [ ${#exec} -lt 9 ]; do exec=0$exec; done
		printf 'packet %s group %s wave %s +0x%x %s\n' $packet $group $wave $((pc - ENTRY)) $exec
	done < /tmp/judged | sort
}

# One look at the waves by the library, one by hand.
live() { # NAME WAVE_STATES
	echo 1000 > $M/packet_rate
	timeout 90 waveq skip=70 "sh=echo 0 > $M/packet_rate; echo $2 > $M/wave_states; echo \$KERNEL > /tmp/kernel" dispatch=1000,256 \
		"sh=timeout 60 $JUDGE/judge \$PPID > /tmp/judged 2> /tmp/judge.err; echo \$? > /tmp/status" enable look resume disable \
		"sh=echo 1000 > $M/packet_rate; echo > $M/wave_states" drain \
		> /tmp/waveq.log 2>&1
	is "$1: the program ends well" $? 0
	ENTRY=$(($(cat /tmp/kernel) + 192))
	is "$1: so does the library" "$(cat /tmp/status /tmp/judge.err)" 0
	is "$1: it sees what is read by hand" "$(by_library)" "$(by_hand)"
}

if has_judge && [ $SUITE = sid ]; then # 5.7 does not know the version of waveq's list
	for model in gfx90a gfx942x4 gfx1030 gfx1100 gfx1201; do
		load $model packet_rate=1000 || continue
		live "waves" ""
		live "waves in all states" "0-2=barrier@0x50,3=violation@0x60,4=assert@0x60,5=halt@0x5c,7=run@0x40"
		unload
	done
else
	skip "the judge" "AMD's debugger library cannot be had, or is too old"
fi
kernel_is_content
finish
