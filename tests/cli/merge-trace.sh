#!/bin/bash
# gpq merge of parts of logs: the report is that of gpq trace for the whole, in whatever order the parts come and however
# they are grouped; the example of the man page; what is damaged, doubled or missing.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
data=$top/tests/data/amdlog
samples=${GPQ_SAMPLES:-$top/../shared/samples}/amdlog
cd "$work" || exit

logs=()
for f in "$data"/*.log "$data"/shapes/*.log "$samples"/*.log; do [ ! -f "$f" ] || logs+=("$f"); done
mapfile -t logs < <(each 4 "${logs[@]}")

# One file: tables, JSON and notes are those of gpq trace.
for f in "${logs[@]}"; do
	gpq trace --partial "$f" >part
	for o in "" -J "--by api -r" "--by thread" "--by kernel --top 3" "--by error -r" "--by stream -J"; do
		gpq trace $o "$f" >&3 2>&1
		gpq merge $o part >&4 2>&1
	done 3>want 4>got
	# What only the reader of the file can know: the pid in its name.
	sed -i "s/^gpq: merge:/gpq: trace:/; s/\"command\":\"merge\"/\"command\":\"trace\"/" got
	same "${f##*/}, in seven forms" got want
done

# One file in ranges, cut anywhere: within records, within torn ones, at its ends.
ranges() { # FILE CUT...: the parts
	local f=$1 at=0 cut
	shift
	for cut; do
		gpq trace --partial --range "$at:$((cut - at))" "$f" || return
		at=$cut
	done
	gpq trace --partial --range "$at:" "$f"
}
for f in "${logs[@]}"; do
	size=$(stat -c %s "$f")
	gpq trace -J "$f" >want 2>/dev/null
	gpq trace --by stream -J "$f" >want.streams 2>/dev/null
	wrong=''
	# shellcheck disable=SC2015
	as() { [ -s got ] && cmp -s "$1" got || wrong+=" $2"; }
	# Cut in two at 5 places, in 25 at 24: each is tried beside a long part and beside short ones.
	for cuts in 4 9 14 19 23 "$(seq -s ' ' 24)"; do
		# shellcheck disable=SC2046
		ranges "$f" $(for i in $cuts; do echo $((size * i / 25)); done) | tac >parts
		gpq merge --by stream -J parts >got 2>/dev/null
		as want.streams "streams of $cuts"
		gpq merge -J parts >got 2>err
		as want "$cuts $(head -1 err)"
		[ ! -s err ] || wrong+=" $(head -1 err)"
	done
	ranges "$f" $((size / 7)) $((size * 2 / 7)) $((size * 3 / 7)) $((size / 2)) $((size / 2 + 1)) $((size * 5 / 7)) $((size - 1)) >parts
	shuf --random-source=<(yes) parts | gpq merge -J >got 2>err
	as want eight
	gpq merge --by stream -J parts >got 2>/dev/null
	as want.streams "streams of eight"
	is "$(basename "$f") in ranges" "${wrong:-$(jq -r .schema.name got)}" gpq.trace
done

# Many files: any order and grouping.
for s in 1 2 3 4 5; do
	gen-amdlog --lines 3000 --seed $s --release "$(sed -n ${s}p <<<"5.4
6.0
6.2
7.0
7.12")" --level 5 >log_$s 2>/dev/null
done
gpq trace -J log_1 log_2 log_3 log_4 log_5 >whole
for s in 1 2 3 4 5; do gpq trace --partial log_$s >p$s; done
gpq merge -J p1 p2 p3 p4 p5 >got
same "five files" got whole
gpq merge --partial p1 p2 p3 p4 p5 >all
while read -r a b c d e; do
	gpq merge --partial p$a p$b | cat - p$c | gpq merge --partial >x
	gpq merge --partial p$d p$e >y
	gpq merge --partial y x >z
	same "((${a}${b})$c)(${d}${e}): the same bytes" z all
	gpq merge -J y x >got
	same "((${a}${b})$c)(${d}${e}): the same report" got whole
done <<<"5 4 3 2 1
2 1 4 5 3
3 5 1 2 4"
cat p5 p3 p1 p2 p4 | gpq merge -J >got
same "from standard input" got whole
gpq trace --partial log_1 log_2 log_3 log_4 log_5 | gpq merge -J >got
same "several files, one call" got whole
gpq merge -J all >got
same "merged parts merge" got whole

# The first example of the man page, as it stands there.
if parallel --version 2>/dev/null | grep GNU >/dev/null; then
	mkdir run
	cp log_1 run/trace_1 && cp log_4 run/trace_2
	example=$(sed -n '/^\$ parallel/{s/^\$ //;s/\\-/-/g;p;q}' "$top/man/gpq-merge.1")
	HOME=$work bash -c "$example" >got 2>got.err
	gpq trace run/trace_1 run/trace_2 >want 2>want.err
	is "GNU parallel: $example" "$(cat got)" "$(cat want)"
	seq 0 9 | HOME=$work parallel gpq trace --partial --range {}00K:100K log_3 2>/dev/null | gpq merge -J >got
	gpq trace -J log_3 >want
	same "GNU parallel: ranges" got want
else
	n=$((n + 2))
	echo "ok $((n - 1)) - GNU parallel # skip it is not installed"
	echo "ok $n - GNU parallel: ranges # skip it is not installed"
fi
# The last lines of the Spark and srun examples are the same calls; what they pipe is one line for each log.
printf '%s\n' log_1 log_2 | xargs -r gpq trace --partial >piped
is "a line for each log" "$(wc -l <piped)" 2

# What is wrong
cp p1 lie
sed -i 's/"process":1/"process":99999999/' lie
out=$(gpq merge lie 2>&1)
is "an index that points nowhere" "$?:$out" "1:gpq: merge: the part of log_1 from byte 0 is damaged; make it anew"
gpq trace --partial log_2 >sound
for other in lie sound; do
	out=$(gpq merge lie $other 2>&1)
	is "and beside it one that is $other" "$?:$out" "1:gpq: merge: the part of log_1 from byte 0 is damaged; make it anew"
done
for index in 4294967297 '"1"' -1 null 1e0; do
	sed "s/\"process\":1,/\"process\":$index,/" p1 >lie
	out=$(gpq merge lie 2>&1)
	is "an index that is no number of 32 bits: $index" "$?:$out" "1:gpq: merge: the part of log_1 from byte 0 is damaged; make it anew"
done
head -c 2000 p1 >cut
out=$(may 5 gpq merge cut 2>&1 | tail -1)
is "a part that is cut" "$out" "gpq: merge: no results in what was read; gpq trace --partial, gpq bench --samples FILE and gpq merge --partial write them"
sed 's/"schema":3/"schema":2/' p1 >later
out=$(may 5 gpq merge later 2>&1 | tail -1)
is "a part of a later version" "$out" "gpq: merge: no results in what was read; gpq trace --partial, gpq bench --samples FILE and gpq merge --partial write them"
gpq merge p1 "$top/tests/data/bench/old.ndjson" >/dev/null 2>err
is "logs and benchmarks" "$?:$(cat err)" "2:gpq: merge: results of gpq bench and of gpq trace cannot be added; merge them apart"
size=$(stat -c %s log_1)
sed "s/\"from\":0/\"from\":100/" p1 >late
is "-q says nothing of it" "$(gpq merge -q --by process -J late 2>&1 | jq 'length > 0')" true
out=$(gpq merge --by process late 2>&1 >/dev/null | head -1)
is "the beginning is missing" "$out" "gpq: merge: log_1: bytes 0 to 100 are in no part; what is in them is missing"
out=$(gpq merge --by process p1 late 2>&1 >/dev/null | head -1)
is "parts that overlap" "$out" "gpq: merge: log_1: bytes 100 to $size are in two parts; what is in both counts twice"
gpq trace --partial --kernel x log_1 >out 2>err
is "--kernel" "$?:$(cat out)" "2:"
gpq trace --partial --since +1s log_1 >out 2>err
is "--since +1s" "$?:$(cat out)" "2:"
for o in --list --gaps --latency "--series 1ms" "--perfetto x"; do
	gpq trace --partial $o log_1 >out 2>err
	is "$o" "$?:$(cat out) $(cat err)" "2: gpq: trace: ${o% *} cannot be had from parts; ask it of the files themselves"
done
gpq trace --partial -J log_1 >out 2>err
is "-J" "$?" "2"
gpq trace --partial /nowhere log_1 >out 2>err
is "a log that is missing: the other" "$?:$(wc -l <out)" "3:1"
gpq trace --partial log_1 2>err >/dev/full
is "full disk" "$?:$(cat err)" "1:gpq: trace: standard output: No space left on device"
gpq merge --partial p1 2>err >/dev/full
is "full disk when merging" "$?:$(cat err)" "1:gpq: merge: standard output: No space left on device"
mkfifo closed
exec 7<>closed 8>closed 7>&-
gpq trace --partial log_1 >&8
is "closed pipe" $? 141
exec 8>&-
since=$(gpq trace -J log_1 | jq '.totals.first_us + 1000')
gpq trace --partial --since "${since}us" log_1 | gpq merge -J >got
gpq trace -J --since "${since}us" log_1 >want
same "--since chooses what is counted" got want
finish
