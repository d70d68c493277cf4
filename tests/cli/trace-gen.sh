#!/bin/bash
# gpq trace -J on generated logs of every release and mix: what the generator counted while it wrote must come out.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

# Which of the truth a log of this release and level can tell. Priorities are numbers in the truth.
expect='
	def name: ["low", "normal", "high"][.];
	{ lines, records, glued, foreign, launches,
	  dispatches: (if .packets then .dispatches else null end), barriers: (if .packets then .barriers else null end),
	  kernels: ([.kernels[] | {name, launches}] | sort_by(.name)),
	  queues: (.packets as $packets | [.queues[] | {
		pid: (if $pid then .pid else null end), hwq: (if $ring then .hwq else null end), swq, priority: (.priority | name),
		id: (if $id and $packets then .id else null end),
		dispatches: (if $packets then .dispatches else null end), barriers: (if $packets then .barriers else null end),
		wptr_min: (if .pointers then .wptr_min else null end), wptr_max: (if .pointers then .wptr_max else null end),
		backlog_max: (if .pointers then .backlog_max else null end)}] | sort_by(.swq)) }'
report='
	{ lines: .totals.lines, records: .totals.records, glued: .totals.glued, foreign: .totals.other_lines,
	  launches: .totals.launches, dispatches: .totals.dispatches, barriers: .totals.barriers,
	  kernels: ([.kernels[] | {name, launches}] | sort_by(.name)),
	  queues: ([.queues[] | {pid, hwq, swq, priority: .hip_prio, id, dispatches, barriers, wptr_min, wptr_max, backlog_max}] | sort_by(.swq)) }'

try() { # flags for expect: pid ring id; then the generator's options
	local pid=$1 ring=$2 id=$3
	shift 3
	gen-amdlog "$@" >"$work/log" 2>"$work/truth"
	gpq trace -J "$work/log" >"$work/j" 2>"$work/err"
	jq -S --argjson pid "$pid" --argjson ring "$ring" --argjson id "$id" "$expect" "$work/truth" >"$work/want"
	jq -S "$report" "$work/j" >"$work/got"
	cat "$work/err" >>"$work/got"
	same "$*" "$work/got" "$work/want"
}

try true true false --release 4.5 --level 4 --lines 8000
try true true false --release 5.4 --level 4 --lines 8000
try true true false --release 6.0 --level 4 --lines 8000
try true false false --release 6.0 --level 3 --lines 8000
try true true true --release 6.2 --level 4 --lines 8000
try true true true --release 6.3 --level 4 --lines 8000
try false true false --release 6.3 --level 3 --lines 8000
try true true true --release 7.0 --level 4 --lines 8000 --mix cpp
try false true false --release 7.0 --level 3 --lines 8000 --mix gemm
try true true true --release 7.12 --level 5 --lines 8000 --mix gemm
try true true false --release 7.12 --level 4 --lines 8000
try true true true --release 7.12 --level 5 --lines 30000 --processes 4 --threads 3 --streams 7 --hwqs 2 --seed 7
try true true true --release 7.0 --level 5 --lines 30000 --processes 2 --threads 2 --noise --seed 9
try true true true --release 6.3 --level 4 --lines 8000 --noise --crlf --seed 3
try true true false --release 6.0 --level 4 --lines 30000 --streams 16 --threads 4 --seed 5

# Processes that share one file tear each other's records. Nothing may come out that is not in the truth: every launch is
# counted, no kernel has a name made of two pieces or too many launches, no queue more packets or a deeper backlog.
honest='
	($truth[0].kernels | map({(.name): .launches}) | add) as $k |
	($truth[0].queues | map({("\(.pid) \(.hwq)"): .}) | add) as $q | .totals as $t |
	[ if $t.launches != $truth[0].launches then "launches" else empty end,
	  if $t.records != $truth[0].records then "records" else empty end,
	  if $t.cut_records == 0 then "nothing torn" else empty end,
	  (.kernels[] | select(.launches > ($k[.name] // 0)) | "kernel \(.name)"),
	  (.queues[] | select(.hwq) | ($q["\(.pid) \(.hwq)"] // {dispatches: -1}) as $w |
		select(.dispatches > $w.dispatches or .barriers > $w.barriers or
			($w.pointers and ((.backlog_max // 0) > $w.backlog_max or (.wptr_max // 0) > $w.wptr_max)) or
			(.swq and .swq != $w.swq)) | "queue \(.pid) \(.hwq)") ]'
torn() {
	gen-amdlog "$@" >"$work/log" 2>"$work/truth"
	is "$*" "$(gpq trace -q -J "$work/log" | jq -c --slurpfile truth "$work/truth" "$honest")" "[]"
}
torn --release 5.4 --level 4 --lines 20000 --processes 2 --tear 0.05
torn --release 6.0 --level 4 --lines 20000 --processes 3 --tear 0.1 --seed 4
torn --release 6.3 --level 4 --lines 20000 --processes 2 --tear 0.02 --threads 2
torn --release 7.0 --level 4 --lines 20000 --processes 2 --tear 0.1 --mix cpp
torn --release 7.12 --level 5 --lines 20000 --processes 8 --tear 0.02 --mix gemm --seed 8

seeded() { gen-amdlog --seed "$1" --lines 3000 2>/dev/null | sum; }
rig is "a seed makes the same bytes again" "$(seeded 5)" "$(seeded 5)"
rig ok "another makes others" test "$(seeded 5)" != "$(seeded 6)"
finish
