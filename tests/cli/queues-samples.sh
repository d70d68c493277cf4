#!/bin/bash
# gpq queues --mqds on dumps of the shape of real ones (tests/data/kfd), and on real captures of MI308X hosts, which are not part of
# the project. Every value comes once more from the text itself by awk: word numbers of [debugfs.mqd-compute].
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

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

check() { # FILE
	local name=${1##*/}
	is "$name: every queue" "$(gpq --mqds "$1" -r -n -o PID,GPU,TYPE,RING_ADDR,RPTR,WPTR,DOORBELL,ON_HW,XCCS)" \
		"$(by_awk "$1" | normalize)"
	is "$name: number of queues" "$(gpq --mqds "$1" -r -n | wc -l)" "$(grep -c 'queue on device' "$1")"
	is "$name: nothing left over" "$(gpq -v --mqds "$1" -ro PID 2>&1 | grep -v '^[0-9]')" PID
}

# FILE, queues on hardware, PIDs of those off it: dword 130 is 0 for the queues that are in no runlist [debugfs.mqd-active].
check_busy() {
	local whole
	whole=$(head -n 1 "$1" | wc -c)
	check "$1"
	is "off hardware" "$(gpq --mqds "$1" -r -n -o PID,ON_HW,TYPE | awk '$2 == "no" && $3 == "compute" { print $1 }')" \
		"$(tr ' ' '\n' <<<"$3")"
	is "on hardware" "$(gpq --mqds "$1" -r -n -o ON_HW | grep -c yes)" "$2"
	# Torn anywhere it is still a dump: no crash, and as many queues as it announces.
	empty "torn" "$(for n in 0 1 24 "$whole" 100 4000 65536 300001 700003; do
		[ "$n" -lt "$(wc -c <"$1")" ] || continue
		head -c "$n" "$1" >"$work/torn"
		got=$(gpq -q --mqds "$work/torn" -r -n 2>/dev/null)
		status=$? wanted=3                   # in part: the last MQD or line is cut
		case $n in 0 | "$whole") wanted=0 ;; 1 | 24) wanted=1 ;; esac # nothing, a whole header; a piece of it
		[ $status = $wanted ] || echo "$n: status $status, wanted $wanted"
		[ "$(grep -c . <<<"$got")" = "$(grep -c 'queue on device ' "$work/torn")" ] || echo "$n: $got"
	done)"
}

check "$top/tests/data/kfd/mqds-streams.txt"
check_busy "$top/tests/data/kfd/mqds-busy.txt" 4 "21904 21904"
if [ -r "$samples/kfd/mqds-16streams.txt" ]; then
	check "$samples/kfd/mqds-16streams.txt"
	check_busy "$samples/kfd/mqds-8gpu-sdma.txt" 40 "3658041 3658041 3658041"
else
	pass "captures # skip no real samples"
fi
finish
