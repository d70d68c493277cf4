#!/bin/bash
# What hardware slots tell of queues whose process's memory is not there: gpq why on recorded hosts, of one moment, of two and of a
# series; rows of snapshot --diff for queues that stand; BACKLOG of gpq queues. Hosts are made after what people reported of a
# gfx1151 under MES, whose runlist is always empty. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts
dump=sys/kernel/debug/kfd/hqds
cd "$work" || exit 1

# HOST SECONDS RPTR WPTR: the 1 MiB queue of the host at these pointers (dwords, hex), so long after boot. Its registers are the 11th
# and the 55th behind the address of its MQD, 0x80015ac000; the 4 KiB queue is empty.
host() {
	cp -r "$hosts/gfx1100-k6.12-mes" "$1"
	chmod -R u+w "$1"
	sed -i 's/gfx_target_version 110000/gfx_target_version 110501/' "$1"/sys/class/kfd/kfd/topology/nodes/1/properties
	echo "$2.00 9.00" >"$1/proc/uptime"
	awk -v r="$(printf %08x $((16#$3)))" -v w="$(printf %08x $((16#$4)))" '/CP Pipe 0, Queue 2/ { line = 0; mine = 1 } /CP Pipe 0, Queue 3/ { mine = 0 }
		mine && line == 2 { $4 = r; $0 = "    " $0 } mine && line == 7 { $8 = w; $0 = "    " $0 } { line++; print }' \
		"$hosts/gfx1100-k6.12-mes/$dump" >"$1/$dump"
}
host stalled 1000 32250 32450
host still 1030 32250 32450
host healthy 1000 32250 32280
host later 1030 32290 322b0
why() { # ARGUMENT...: verdicts without line breaks
	{ gpq why -q "$@" 2>&1 || true; } | sed '/^ *PID COMMAND/,$d' | sed -e ':a;N;$!ba;s/\n \+/ /g; s/ do: /\n&/'
}

# --- one moment, and two ---

is "the pointers are those that were reported" "$(gpq --sysroot stalled hqd -rno RPTR,WPTR,RING --filter 'PIPE == 0 && TYPE == "compute"')" \
	"$((16#32250)) $((16#32450)) 1048576"
is "one look" "$(why --sysroot stalled)" \
	"pid 7311 blender: unknown: queue 1: has 32 packets, slot p0q2, no error
 do: one look does not tell whether it moves: record it again, and look at both: gpq why --sysroot BEFORE --sysroot AFTER"
is "... is a verdict in part" "$(gpq --sysroot stalled why -q >out; echo $?)" 3
is "never idle by an MQD, nor off by an empty runlist: the 4 KiB queue" "$(gpq --sysroot stalled why -qrno STATE,POINTERS,DETAIL -Q 0)" \
	'idle-or-running live all\x20packets\x20are\x20taken,\x20slot\x20p1q2,\x20no\x20error;\x20whether\x20the\x20last\x20kernel\x20has\x20ended\x20is\x20not\x20known'
is "two looks" "$(why --sysroot stalled --sysroot still | head -1)" \
	"pid 7311 blender: hung-or-long: queue 1: stands still for 30s with 32 packets behind it, slot p0q2, no error"
is "... of what was healthy" "$(gpq why -q --sysroot healthy --sysroot later -rno STATE,BACKLOG,TAKEN,DETAIL -Q 1)" 'running 2 4 4\x20packets\x20taken\x20in\x2030s'
is "... as numbers" "$(gpq why -q --sysroot stalled --sysroot still -J -Q 1 | jq -c '.queues[0] | [.state, .backlog, .taken, .read, .write, .pointers, .stood_ns, .over_ns]')" \
	"[\"hung-or-long\",32,0,$((16#32250 / 16)),$((16#32450 / 16)),\"live\",30000000000,30000000000]"
is "a limit of time" "$(for t in 29s 31s; do gpq why -q --sysroot stalled --sysroot still --stuck-after $t >out; echo $?; done | xargs)" "7 0"
for o in "--profile 1s" --waves "--core x"; do
	# shellcheck disable=SC2086 # two words
	is "not with $o" "$(gpq why --sysroot stalled --sysroot still $o 2>&1; echo $?)" \
		"gpq: why: --sysroot for an earlier moment and $(set -- $o; echo "$1") exclude each other; name the host alone
2"
done
is "a process that was not there" "$(rm -r stalled/sys/class/kfd/kfd/proc/7311; sed -i /7311/,\$d stalled/sys/kernel/debug/kfd/mqds; gpq why -q --sysroot stalled --sysroot still -rno STATE -Q 1)" unknown
rm -rf stalled && host stalled 1000 32250 32450

# An error, as the slot notes it (cp_hqd_error, the 52nd behind the MQD's address).
cp -r still error
awk '/CP Pipe 0, Queue 2/ { line = 0; mine = 1 } /CP Pipe 0, Queue 3/ { mine = 0 } mine && line == 7 { $5 = "00000020"; $0 = "    " $0 } { line++; print }' \
	"still/$dump" >"error/$dump"
is "an error" "$(gpq why -q --sysroot stalled --sysroot error -rno DETAIL -Q 1 | sed 's/\\x20/ /g')" \
	"stands still for 30s with 32 packets behind it, slot p0q2, $(gpq --sysroot error hqd -rno ERROR --filter 'PIPE == 0 && TYPE == "compute"')"
is "... which it has" "$(gpq --sysroot error hqd -rno ERROR --filter 'PIPE == 0 && TYPE == "compute"')" AQL_ERROR

# --- hosts that do not go together ---

is "the later one first" "$(gpq why --sysroot still --sysroot stalled 2>&1; echo $?)" "gpq: why: stalled was recorded before the host that stands before it; name the earlier one first
2"
mkdir -p {stalled,still}/proc/sys/kernel/random
echo a >stalled/proc/sys/kernel/random/boot_id
echo b >still/proc/sys/kernel/random/boot_id
is "another boot" "$(gpq why --sysroot stalled --sysroot still 2>&1; echo $?)" "gpq: why: still: another boot than the host before; name two moments of one boot
2"
rm {stalled,still}/proc/sys/kernel/random/boot_id
mkdir empty
is "one without a GPU's driver" "$(gpq why --sysroot empty --sysroot still 2>&1; echo $?)" \
	"gpq: why: no KFD driver here: /sys/class/kfd/kfd: No such file or directory; the recorded host has none: is it the right directory?
6"
is "no such folder" "$(gpq why --sysroot nowhere --sysroot still 2>&1; echo $?)" "gpq: why: sysroot nowhere: No such file or directory; name a folder or an archive that gpq snapshot wrote
5"
is "dumps alone beside a whole one" "$(gpq why --sysroot stalled/sys/kernel/debug/kfd --sysroot still 2>&1; echo $?)" \
	"gpq: why: still: its clock is not that of the host before; name two whole ones, or two with dumps alone
2"
touch -d '2026-01-01 00:00:00' stalled/$dump
touch -d '2026-01-01 00:01:00' still/$dump
is "dumps alone" "$(gpq why --sysroot stalled/sys/kernel/debug/kfd --sysroot still/sys/kernel/debug/kfd -rno PID,QID,STATE,DETAIL 2>&1 | grep hung)" \
	'7311 - hung-or-long stands\x20still\x20for\x201m00s,\x20by\x20the\x20times\x20of\x20the\x20files\x20with\x2032\x20packets\x20behind\x20it,\x20slot\x20p0q2,\x20no\x20error'
is "other commands take the last one" "$(gpq --sysroot healthy --sysroot stalled queues -qrno BACKLOG -Q 1)" 32

# --- a series ---

mkdir series
cp -r stalled series/000001 && cp -r still series/000002
for i in 1 2; do
	echo "{\"snapshot\":$i,\"monotonic_ns\":$i,\"time\":\"2026-01-01T00:00:0${i}.000000000Z\",\"host\":\"h\",\"boot_id\":null,\"result\":\"saved\",\"error\":null,\"missed\":0,\"processes\":1,\"queues\":3,\"dumps\":true,\"consistent\":true,\"redacted\":false}"
done >series/index.ndjson
is "a series is all its moments" "$(why --sysroot series | head -1)" \
	"pid 7311 blender: hung-or-long: queue 1: stands still for 30s with 32 packets behind it, slot p0q2, no error"
is "... and for other commands its last" "$(gpq --sysroot series queues -qrno BACKLOG -Q 1; rm -r series/000001; gpq --sysroot series why -qrno STATE -Q 1)" "32
unknown"
is "one without any" "$(rm -r series/000002; gpq --sysroot series queues 2>&1; echo $?)" "gpq: queues: series: the series has no snapshot
5"

# --- rows of --diff ---

is "stalled" "$(gpq snapshot --diff stalled still -rno CHANGE,QID,CONSUMED,SUBMITTED,UNIT,DETAIL | sed 's/\\x20/ /g')" \
	"stalled 1 0 0 packets stands still for 30s with 32 packets behind it"
is "... though more comes" "$(host more 1030 32250 32460; gpq snapshot --diff stalled more -rno CHANGE,QID,CONSUMED,SUBMITTED,DETAIL | sed 's/\\x20/ /g')" \
	"progress stalled 1 0 1 stands still for 30s with 33 packets behind it"
is "not what moved" "$(gpq snapshot --diff healthy later -rno CHANGE,QID,CONSUMED,SUBMITTED)" "progress 1 4 3"
is "not what had nothing" "$(host none 1000 32250 32250; host nor 1030 32250 32250; gpq snapshot --diff none nor -c)" 0
is "... nor what came at last" "$(gpq snapshot --diff none still -rno CHANGE,QID,SUBMITTED)" "progress 1 32"
is "... but with -v" "$(gpq snapshot --diff none nor -vrno CHANGE,QID 2>/dev/null | xargs)" "- 0 - 1 - 2"
is "not of one moment" "$(gpq snapshot --diff stalled stalled -c)" 0
is "not where the time is unknown" "$(cp -r still timeless; rm timeless/proc/uptime; gpq snapshot --diff stalled timeless -c)" 0

# --- in no slot ---

# Of the fifteen queues of an over-subscribed GPU seven lose their slot: as with eight slots for three servers with three queues each.
cp -r "$hosts/vm73-gfx90a-oversubscribed" over && chmod -R u+w over
awk '/CP Pipe/ { keep = $0 ~ /Queue [23]$/; line = 0 } { if (!keep && line == 1) { $4 = "00000000"; $0 = "    " $0 } line++; print }' \
	"$hosts/vm73-gfx90a-oversubscribed/$dump" >over/$dump
slots=$(gpq --sysroot over hqd -qrno PID,QID --active --filter 'TYPE == "compute"' | sort)
is "eight slots" "$(wc -l <<<"$slots")" 8
is "the others wait for one, and none of these does" "$(gpq --sysroot over why -qrno PID,QID --filter 'STATE == "waits-slot"' | sort)" \
	"$(gpq --sysroot over queues -qrno PID,QID | sort | comm -23 - <(echo "$slots"))"
is "... how many share the GPU" "$(gpq --sysroot over why -qrno DETAIL --filter 'STATE == "waits-slot"' | sed -E 's/\\x20/ /g; s/^has [0-9]+/has N/' | sort -u)" \
	"has N packets, and is in no slot; 15 compute queues of 10 processes share the GPU, which has 24 slots"

# --- BACKLOG of queues, against the registers ---

cat >registers <<'P'
import re, sys
slot = None
def tell(w):
    if len(w) > 54 and w[2] & 1:
        dwords = 2 << (w[17] & 63)
        print(hex((w[9] << 32 | w[8]) << 8), (w[54] - w[10]) & dwords - 1)
words = []
for line in open(sys.argv[1]):
    if re.match(r' *Inst|Node', line):
        tell(words); words = []; take = 'CP Pipe' in line
    elif take and ':' in line: words += [int(x, 16) for x in line.split(':')[1].split()]
tell(words)
P
for h in gfx90a-k6.12 vm-gfx942-running vm73-gfx942-contexts vm-gfx1100-suspended vm-gfx942x8-running; do
	gpq --sysroot "$hosts/$h" queues --likely -qrno RING_ADDR,BACKLOG,PACKET_FORMAT --filter 'POINTERS == "live"' |
		awk '{ print $1, $3 == "aql" ? $2 * 16 : $2 }' | sort -u >got
	python3 registers "$hosts/$h/$dump" | sort -u >all
	is "$h: BACKLOG is that of the registers" "$(comm -12 got all)" "$(cat got)"
done
is "where it is from" "$(gpq --sysroot "$hosts/vm-gfx942-suspended" queues --likely -qrno QID,ON_HW,POINTERS -p 664)" "0 no saved
1 yes live
2 no saved"
is "a mapped queue without slots has none" "$(cp -r "$hosts/gfx90a-k6.12" bare; chmod -R u+w bare; rm bare/$dump; gpq --sysroot bare queues -qrno STATE,BACKLOG,POINTERS -p 52880)" "mapped - -"
finish
