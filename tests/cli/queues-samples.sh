#!/bin/bash
# gpq queues --mqds on real captures of MI308X hosts, which are not part of the project.
# Every value comes once more from the text itself by awk: word numbers of [debugfs.mqd-compute].
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
samples=${GPQ_SAMPLES:-$top/../shared/samples}/kfd

# pid, gpu_id, type, ring, rptr, wptr, doorbell, on hardware, XCCs; all as the text has them.
by_awk() {
	awk '
	function flush() {
		if (type == "Compute") print pid, gpu, "compute", r1 r0, rptr, w1 w0, db, act, xccs
		if (type == "SDMA") print pid, gpu, "sdma", r1 r0, srptr, swptr, sdb, "-", "-"
	}
	/^Process/ { flush(); type = ""; pid = $2 }
	/queue on device/ { flush(); type = $1; gpu = $NF; xccs = 0 }
	/^    00000000:/ && ++xccs == 1 && type == "SDMA" { r0 = $3; r1 = $4; srptr = $6 $5; swptr = $8 $7 }
	/^    00000040:/ && xccs == 1 && type == "SDMA" { sdb = $8 }
	/^    00000200:/ && xccs == 1 { act = $4 }
	/^    00000220:/ && xccs == 1 { r0 = $2; r1 = $3; rptr = $4; db = $9 }
	/^    000002c0:/ && xccs == 1 { w0 = $8; w1 = $9 }
	END { flush() }' "$1"
}

# The same numbers as gpq prints them: decimal gpu, rptr and wptr, ring << 8, doorbell & 0xffffffc.
normalize() {
	while read -r pid gpu type ring rptr wptr db act xccs; do
		[ "$act" = - ] || { [ $((0x$act)) = 1 ] && act=yes || act=no; }
		printf '%d %d %s 0x%x %d %d 0x%x %s %s\n' "$pid" $((0x$gpu)) "$type" $((0x$ring << 8)) $((0x$rptr)) \
			$((0x$wptr)) $((0x$db & 0xffffffc)) "$act" "$xccs"
	done
}

gpq() { command gpq queues "$@"; }

for name in mqds-16streams mqds-8gpu-sdma; do
	f=$samples/$name.txt
	if [ ! -r "$f" ]; then
		pass "$name # skip no real samples"
		continue
	fi
	expect "$name: every queue" "$(by_awk "$f" | normalize)" \
		"$(gpq --mqds "$f" -r -n -o PID,GPU,TYPE,RING_ADDR,RPTR,WPTR,DOORBELL,ON_HW,XCCS)"
	expect "$name: number of queues" "$(grep -c 'queue on device' "$f")" "$(gpq --mqds "$f" -r -n | wc -l)"
	expect "$name: nothing left over" "" "$(gpq -v --mqds "$f" 2>&1 >/dev/null)"
done
f=$samples/mqds-8gpu-sdma.txt
if [ -r "$f" ]; then
	# [debugfs.mqd-active]: dword 130 is 0 for the three queues of 3658041, which are in no runlist.
	expect "off hardware" $'3658041\n3658041\n3658041' \
		"$(gpq --mqds "$f" -r -n -o PID,ON_HW,TYPE | awk '$2 == "no" && $3 == "compute" { print $1 }')"
	expect "on hardware" 40 "$(gpq --mqds "$f" -r -n -o ON_HW | grep -c yes)"
	# Torn anywhere it is still a dump: no crash, and as many queues as it announces.
	torn=$(mktemp)
	expect "torn" "" "$(for n in 0 1 24 30 100 4000 65536 300001 700003; do
		head -c $n "$f" >"$torn"
		got=$(gpq -q --mqds "$torn" -r -n 2>/dev/null)
		status=$? wanted=3                   # in part: the last MQD or line is cut
		case $n in 0 | 30) wanted=0 ;; 1 | 24) wanted=1 ;; esac # nothing, a whole header; a piece of it
		[ $status = $wanted ] || echo "$n: status $status, wanted $wanted"
		[ "$(grep -c . <<<"$got")" = "$(grep -c 'queue on device ' "$torn")" ] || echo "$n: $got"
	done)"
	rm -f "$torn"
fi
finish
