#!/bin/bash
# Outputs join: what gpq queues, each form of gpq hqd and gpq snapshot --diff call the TYPE and PACKET_FORMAT of one queue is the
# same; and the hint that tells why columns are empty.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

# A host whose SDMA queue is one for XGMI: of its 5 engines the first alone is none, and the queue has the second.
xgmi=$work/xgmi
cp -r "$top/tests/hosts/gfx90a-k6.12" "$xgmi"
sed -i -E 's/^num_sdma_engines 2$/num_sdma_engines 1/; s/^num_sdma_xgmi_engines 3$/num_sdma_xgmi_engines 4/' \
	"$xgmi/sys/class/kfd/kfd/topology/nodes/1/properties"
printf 4 >"$xgmi/sys/class/kfd/kfd/proc/41207/queues/3/type"
hqd() { gpq --sysroot "$xgmi" hqd "$@"; }
is "an XGMI queue, by sysfs" "$(gpq --sysroot "$xgmi" queues --type sdma-xgmi -rno PID,QID,TYPE,PACKET_FORMAT)" "41207 3 sdma-xgmi -"
is "by its slot" "$(hqd --sdma -rno PID,QID,TYPE,PACKET_FORMAT,SLOT)" "41207 3 sdma-xgmi - e1r0"
is "by its MQD" "$(hqd --mqd --sdma -rno PID,QID,TYPE)" "41207 3 sdma-xgmi"
is "by the runlist" "$(hqd --runlist --sdma -rno PID,QID,TYPE)" "41207 3 sdma-xgmi"
is "in registers" "$(hqd --regs --sdma -rno TYPE | sort -u)" "sdma-xgmi"
printf 3 >"$xgmi/sys/class/kfd/kfd/proc/41207/queues/3/type"
is "Linux 7.3 numbers the type differently" "$(gpq --sysroot "$xgmi" queues --type sdma-xgmi -rno PID,QID,TYPE,PACKET_FORMAT)" "41207 3 sdma-xgmi -"
printf 5 >"$xgmi/sys/class/kfd/kfd/proc/41207/queues/3/type"
is "a number without a type is none" "$(gpq --sysroot "$xgmi" queues -p 41207 -rno QID,TYPE | tail -1)" "3 -"
printf 4 >"$xgmi/sys/class/kfd/kfd/proc/41207/queues/3/type"
is "slots of both, of which it has one" "$(hqd --summary --sdma -rno TYPE,SLOTS,USED,QUEUES)" "sdma 8 0 0
sdma-xgmi 32 1 1"
is "--table waiting has no XGMI queue, and --diff calls it so" \
	"$(gpq snapshot --diff "$top/tests/hosts/gfx90a-k6.12" "$xgmi" -rno CHANGE,QID,TYPE)" "went 3 sdma
came 3 sdma-xgmi"
is "of files alone an SDMA queue is one" "$(hqd --mqds "$xgmi/sys/kernel/debug/kfd/mqds" --sdma -rno TYPE)" sdma

# Queues of queues, by pid, id and context, with their type and packets; then those of each form that others say of them.
queues='[.[] | arrays | .[] | select(.qid != null and .type != null) | {k: "\(.pid) \(.qid) \(.context_id)", t: .type, p: .packet_format}]'
for host in "$top"/tests/hosts/{gfx,vm}* "$xgmi"; do
	gpq --sysroot "$host" queues -qJ -o +PACKET_FORMAT
	for form in "" --mqd --runlist "--summary --table waiting"; do
		# shellcheck disable=SC2086 # several words
		gpq --sysroot "$host" hqd $form -qJ
	done
done >"$work/all"
# shellcheck disable=SC2016
is "all forms agree on all recorded hosts, and there are such queues" "$(jq -rs --argjson forms 5 '[range(0; length; $forms) as $i | .[$i:$i + $forms]]
	| [.[] | map('"$queues"') | .[0] as $q | .[1:][] | .[] | . as $o | $q[] | select(.k == $o.k) | {q: ., o: $o}]
	| length > 100, (.[] | select(.q.t != .o.t or (.q.p != .o.p and .q.p != null and .o.p != null)))' "$work/all")" true
is "no other words" "$(jq -r '.[] | arrays | .[] | .type // empty' "$work/all" | sort -u | tr '\n' ' ')" "compute hiq sdma sdma-xgmi "
is "nor for packets" "$(jq -r '.[] | arrays | .[] | .packet_format // empty' "$work/all" | sort -u | tr '\n' ' ')" "aql pm4 "

# Why so little: with a copy of gpq and of the host, since another user may not reach ours.
cp "$bin/gpq" "$work/gpq"
host=$work/host
cp -r "$top/tests/hosts/gfx90a-k6.12" "$host"
chmod -R go+rX "$work"
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid 65534 --regid 65534 --clear-groups"
as_other() { ASAN_OPTIONS=detect_leaks=0 $drop "$work/gpq" --sysroot "$host" "${of-queues}" "$@"; }
# shellcheck disable=SC2069 # only what it says on standard error
hint() { as_other "$@" 2>&1 >"$work/rows"; }
listed() { is "$1" "$(hint "${@:2}")$(grep -ow PID "$work/rows")" PID; } # NAME ARGS...: and nothing is said
listed "with all rights nothing is said" -p 52880
chmod 0 "$host/sys/kernel/debug"
is "without debugfs: which columns, and what to do" "$(hint)" "gpq: queues: PRIO, STATE, BACKLOG: unknown: debugfs is for root; use sudo"
listed "-q silences it" -q
is "of columns that are shown" "$(hint -o PID,GPU,RING,STATE)" "gpq: queues: STATE: unknown: debugfs is for root; use sudo"
listed "of none of them: nothing" -o PID,GPU,RING
is "-o names others" "$(hint -o PID,RING_ADDR)" "gpq: queues: RING_ADDR: unknown: debugfs is for root; use sudo"
is "in JSON modes it is an object" "$(hint --ndjson)" \
	'{"level":"note","command":"queues","message":"PRIO, STATE, BACKLOG: unknown: debugfs is for root","next":"use sudo"}'
listed "without rows there is nothing to tell" --type sdma-xgmi -r
is "once, not with each list of --watch" "$(as_other --watch 0.01 -r -o PID,PRIO 2>"$work/said" | head -20 | wc -l; wc -l <"$work/said")" "20
1"
chmod 755 "$host/sys/kernel/debug"
listed "nothing of a file" --mqds "$host/sys/kernel/debug/kfd/mqds"
chmod 0 "$host/proc/41207/status" "$host/proc/52880/status"
is "without /proc" "$(hint -Q 41207:0,52880:0)" "gpq: queues: NSPID, COMMAND, USER, PROCESS: unknown: /proc hides the processes of others; use sudo"
is "gpq ps the same, of columns that it shows" "$(of=ps hint)" "gpq: ps: COMMAND, USER: unknown: /proc hides the processes of others; use sudo"
is "... and of those that -o names" "$(of=ps hint -o PID,NSPID)" "gpq: ps: NSPID: unknown: /proc hides the processes of others; use sudo"
chmod 644 "$host/proc/41207/status"
listed "one process of two is known" -Q 41207:0,52880:0
finish
