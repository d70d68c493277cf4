# AMD's own debugger library as the judge of waves. Attached to a living process, on each generation, it lists the waves that the
# process reads of its own queue by hand (waveq), that gpq why --waves lists, and that a core by gpq has, which it opens alone; and
# it lets them go on.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

M=/sys/module/amdgpu/parameters
STATES=0-2=barrier@0x50,3=violation@0x60,4=assert@0x60,5=halt@0x5c,6=handler@0x64,7=run@0x40,8=illegal@0x68,9=address@0x6c

# "packet P group G wave I PC EXEC" of each wave that waveq reads by hand; of a parked wave the true PC is aside, of one
# in the trap handler there is none.
by_hand() {
	awk '/^look/ { looks++ }
		looks == 1 && /^wave/ {
			pc = $12 ~ /^[+]/ || $26 !~ /^[+]/ ? $12 : $26
			printf "packet %s group %s wave %s %s %s\n", $10, $6, $8, pc, $14
		}' /tmp/waveq.log | sort
}

# The same of what the library lists, PC from the kernel's entry on unless it is the handler's.
by_library() {
	while read -r _ _ _ packet _ group _ wave _ _ _ pc _ exec _; do
		exec=${exec#0x}
		while [ ${#exec} -lt 9 ]; do exec=0$exec; done
		[ $pc = 0x1000 ] && at=0x%x from=0 || at=+0x%x from=$ENTRY
		printf "packet %s group %s wave %s $at %s\n" $packet $group $wave $((pc - from)) $exec
	done < /tmp/judged | sort
}

# gpq's rows: packet, PC, state, waves, workgroups, lanes, EXEC, and of a wave by itself group and number. The ring has 64 packets.
by_gpq() {
	gpq why --waves --sample 1 --max-hold 10s -p $P -rno DISPATCH,PC,STATE,WAVES,GROUPS,LANES,EXEC,WORKGROUP,WAVE |
		awk '{ $1 %= 64; if ($4 > 1) $8 = $9 = "-"; print }' | sort
}

# The same of what the library lists. waveq's lanes are active from the first one on, so the greatest EXEC has all of them.
rows_of_library() {
	awk '{
			state = $16 == "barrier" ? "at-barrier" : "runs"
			for (i = 17; $i != "m0"; i++) state = $i == "in-barrier" ? "at-barrier" : $i
			row = $4 " " $12 " " state
			waves[row]++
			groups[row] += !seen[row, $6]++
			lanes[row] = $10
			if (length($14) > length(exec[row]) || (length($14) == length(exec[row]) && $14 > exec[row])) exec[row] = $14
			place[row] = $6 " " $8
		}
		END { for (row in waves) print row, waves[row], groups[row], lanes[row], exec[row], (waves[row] > 1 ? "- -" : place[row]) }' /tmp/judged | sort
}

# One look at the waves by gpq, by the library of gpq's core and of the process, and by hand.
live() { # NAME WAVE_STATES [OPTION]
	local kernel
	rm -f /tmp/core /tmp/kernel
	echo 1000 > $M/packet_rate
	timeout 120 waveq $3 skip=70 "sh=echo 0 > $M/packet_rate; echo $2 > $M/wave_states" dispatch=1000,256 \
		"sh=echo \$KERNEL \$PPID > /tmp/kernel; read -r _ < /tmp/go" enable look resume disable \
		"sh=echo 1000 > $M/packet_rate; echo > $M/wave_states" drain \
		> /tmp/waveq.log 2>&1 &
	within 60 test -s /tmp/kernel || { fail "$1: waveq starts" "$(cat /tmp/waveq.log)" && return; }
	read -r kernel P < /tmp/kernel
	ENTRY=$((kernel + 192))
	by_gpq > /tmp/ours
	status_is "$1: a core" 0 gpq core --max-hold 10s -p $P /tmp/core
	judged_waves /tmp/core > /tmp/saved
	judged_waves $P > /tmp/living
	is "$1: the library ends well" "$? $(cat /tmp/judge.err)" "0 "
	echo > /tmp/go
	wait $!
	is "$1: so does the program" $? 0
	is "$1: the library sees what is read by hand" "$(by_library)" "$(by_hand)"
	is "$1: gpq why --waves lists the same" "$(cat /tmp/ours)" "$(rows_of_library)"
	is "$1: so does the library of gpq's core alone, with all registers" "$(cat /tmp/saved)" "$(cat /tmp/living)"
}

mkfifo /tmp/go
if has_judge && [ $SUITE = sid ]; then # 5.7 does not know the version of waveq's list
	for model in gfx90a gfx942x4 gfx1030 gfx1100 gfx1201; do
		load $model packet_rate=1000 || continue
		live "waves" ""
		live "waves in all states" "$STATES"
		case $model in gfx1*) live "wave32 in all states" "$STATES" -g ;; esac
		unload
	done
else
	skip "the judge" "AMD's debugger library cannot be had, or is too old"
fi
kernel_is_content
finish
