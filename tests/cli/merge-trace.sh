#!/bin/bash
# gpq merge of parts of logs: the report is that of gpq trace for the whole, in whatever order the parts come and however
# they are grouped; the example of the man page; what is damaged, doubled or missing.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
data=$top/tests/data/amdlog
samples=${GPQ_SAMPLES:-$top/../shared/samples}/amdlog
cd "$work" || exit
unset SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK RANK

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

# Many files of processes with ids of their own: any order and grouping.
for s in 1 2 3 4 5; do
	gen-amdlog --lines 3000 --seed $s --release "$(sed -n ${s}p <<<"5.4
6.0
6.2
7.0
7.12")" --level 5 2>truth_$s | sed "s/\<4711\>/471$s/" >log_$s
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
	out=$(gpq merge -q lie $other 2>&1)
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
sed 's/"schema":4/"schema":2/' p1 >later
out=$(may 5 gpq merge later 2>&1 | tail -1)
is "a part of an earlier version" "$out" "gpq: merge: no results in what was read; gpq trace --partial, gpq bench --samples FILE and gpq merge --partial write them"
gpq merge p1 "$top/tests/data/bench/old.ndjson" >/dev/null 2>err
is "logs and benchmarks" "$?:$(cat err)" "2:gpq: merge: results of gpq bench and of gpq trace cannot be added; merge them apart"
size=$(stat -c %s log_1)
sed "s/\"from\":0/\"from\":100/" p1 >late
sed "s/\"to\":$size/\"to\":200/" p1 >early
is "-q says nothing of it" "$(gpq merge -q --by process -J late 2>&1 | jq 'length > 0')" true
out=$(gpq merge --by process late 2>&1 >/dev/null | head -1)
is "the beginning is missing" "$out" "gpq: merge: log_1: bytes 0 to 100 are in no part; make it: --range 0:100"
out=$(gpq merge --by process early 2>&1 >/dev/null | head -1)
is "the end is missing" "$out" "gpq: merge: log_1: bytes 200 to $size are in no part; make it: --range 200:$((size - 200))"
out=$(gpq merge --by process late early 2>&1 >/dev/null | head -1)
is "parts that overlap" "$out" "gpq: merge: log_1: bytes 100 to 200 are in two parts; what is in both counts twice; make the parts anew, side by side"
said() { jq -r '.message + "; " + .next' err; } # of doubles, in JSON
out=$(gpq merge -J early late p1 2>err; said)
is "both are in the whole" "$out" "$(gpq trace -J log_1 | sed 's/"command":"trace"/"command":"merge"/')
log_1, bytes 0 to 200: is in log_1, bytes 0 to $size, too; counted once
log_1, bytes 100 to $size: is in log_1, bytes 0 to $size, too; counted once"
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

# Doubles. What log_1 and log_2 hold, the generator counted while it made them.
counts() { gpq merge -J "$@" | jq -c '.totals | [.records, .dispatches]'; }
truth() { cat "$@" | jq -sc '[(map(.records) | add), (map(.dispatches) | add)]'; }
for r in 0 1; do SLURM_PROCID=$r gpq trace --partial --host n1 log_1 log_2 >rank_$r; done
is "two ranks of a node read each log: it counts once" "$(counts rank_1 rank_0 2>err)" "$(truth truth_1 truth_2)"
is "which a line for each says" "$(said | sort)" "$(for s in 1 2; do size=$(stat -c %s log_$s)
	echo "log_$s of host n1 by rank 1, bytes 0 to $size: is in log_$s of host n1 by rank 0, bytes 0 to $size, too; counted once"; done | sort)"
ranked() { env -i PATH="$PATH" "$@" gpq trace --partial log_1 | jq .rank; }
is "who tells the rank" "$(ranked SLURM_PROCID=3 RANK=4; ranked OMPI_COMM_WORLD_RANK=5 PMI_RANK=6; ranked PMI_RANK=7 RANK=x; ranked RANK=8; ranked RANK=x; ranked)" \
	"$(printf '%s\n' 3 5 7 8 null null)"
size=$(stat -c %s log_3)
head -c $((size / 2)) log_3 >growing # a task was killed while its log grew, and ran again when it was whole
gpq trace --partial growing >first
tail -c +$((size / 2 + 1)) log_3 >>growing
gpq trace --partial growing >second
for order in "first second" "second first"; do
	is "a log that grew: $order" "$(counts $order 2>/dev/null)" "$(truth truth_3)"
done
cp log_4 copy
cat log_2 >copy # the same inode, another log
gpq trace --partial copy >new
cat log_4 >copy
gpq trace --partial copy >old
is "a log that was begun anew in the same file is another" "$(counts old new)" "$(truth truth_2 truth_4)"
mv copy other_name
gpq trace --partial other_name >renamed
is "another name is the same file" "$(counts old renamed 2>/dev/null)" "$(truth truth_4)"
is "from two hosts, too, by the first of their names" "$( (gpq trace --partial --host b log_1; gpq trace --partial --host a log_1) | gpq merge -q --by process -rno HOST,PID)" "a 4711"
# Files of two nodes may have one inode, as the first of each tmpfs, and begin with the same lines.
head -c 600 /dev/zero | tr '\0' '=' | fold -w 60 >banner
cat banner log_2 >copy
gpq trace --partial --host n1 copy >node_1
cat banner log_4 >copy
gpq trace --partial --host n2 copy >node_2
is "nodes whose files have one inode and begin alike" "$(counts node_1 node_2)" "$(truth truth_2 truth_4)"
gpq trace --partial --range 0:$((size / 2)) log_3 >range_1
gpq trace --partial --range $((size / 2)):$size ./log_3 >range_2
is "ranges of a file by two of its names are joined" "$(counts range_2 range_1 2>&1)" "$(truth truth_3)"
gpq trace --partial --grep-not Kernel log_1 >some
gpq trace --partial --grep Kernel log_1 >others
is "what different words chose of a file is of one process" "$(gpq merge -q --by process -rno PID some others | wc -l)" 1
is "words count in any order" "$( (gpq trace --partial -p 4711,1 log_1; gpq trace --partial -p 1,4711 log_1) | gpq merge --by process -rno RECORDS 2>/dev/null)" \
	"$(gpq trace -p 4711 --by process -rno RECORDS log_1)"
gpq trace --partial - <log_1 >in
is "standard input that is the file" "$(counts in p1 2>/dev/null)" "$(truth truth_1)"
for i in 1 2; do RANK=$i gpq trace --partial - < <(cat log_1) >pipe_$i; done
is "a pipe is known by what its part says" "$(counts pipe_1 pipe_1 pipe_1 2>err; said)" "$(truth truth_1
	for i in 1 2; do echo "- by rank 1, bytes 0 to $(stat -c %s log_1): is in - by rank 1, bytes 0 to $(stat -c %s log_1), too; counted once"; done)"
for i in 1 2; do gpq trace --partial - < <(cat log_$i); done >pipes
is "two pipes are of two logs" "$(counts pipes 2>err; cat err)" "$(truth truth_1 truth_2)"
gzip -k log_2
gpq trace --partial log_2.gz >packed
is "a compressed log" "$(counts packed packed 2>/dev/null)" "$(truth truth_2)"
half=$(gpq trace -J log_1 | jq '.totals | (.first_us + .last_us) / 2 | floor')
gpq trace --partial --until "$((half - 1))us" log_1 >before
gpq trace --partial --since "${half}us" log_1 >after
is "what was chosen in two ways is no double" "$(counts before after 2>/dev/null)" "$(gpq trace -J log_1 | jq -c '.totals | [.records, .dispatches]')"
is "what was chosen in one way is" "$(counts before before 2>/dev/null)" "$(counts before)"

# A run whose tasks were begun again, some with other ranges: whatever comes first, the same bytes.
for from in 0 100000 200000 300000; do RANK=${from%00000} gpq trace --partial --range $from:100000 log_5; done >tasks
gpq trace --partial --range 400000: log_5 >>tasks
RANK=9 gpq trace --partial --range 100000:100000 log_5 >again
gpq trace --partial --range 200000:50000 log_5 >>again
gpq merge --partial tasks p1 >once 2>/dev/null
gpq merge -J once >want
is "ranges of it are the whole" "$(counts tasks)" "$(truth truth_5)"
for order in "again p1 tasks" "tasks again p1" "p1 tasks again"; do
	set -- $order
	gpq merge --partial $1 $2 2>/dev/null | cat - $3 $2 | gpq merge --partial >x 2>/dev/null
	same "($1 $2) $3 $2: the same bytes" x once
	gpq merge -J $1 x $2 >got 2>/dev/null
	same "$1 ($1 $2 $3) $2: the same report" got want
done

# How many there should be
for r in 0 1 3 6; do SLURM_PROCID=$r gpq trace --partial --range ${r}00000:100000 log_5; done >four
size=$(stat -c %s log_5)
rig is "the ranges of ranks 5 and 6 are behind its end" "$((size > 400000 && size < 500000))" 1
expected() { gpq merge --expect "$@" 2>&1 >out; echo "$? $(grep -c . out)"; }
is "as many as there are" "$(expected 4 --partial four)" "0 4"
is "more" "$(expected 3 --partial four)" "0 4"
is "which ranks made none" "$(expected 8 --partial four)" "gpq: merge: 4 parts instead of 8: no part of rank 2, 4, 5, 7; look what became of their tasks
3 4"
is "which, if they are many" "$(expected 100 --partial four)" "gpq: merge: 4 parts instead of 100: no part of rank 2, 4, 5, $(seq -s ', ' 7 16), ...; look what became of their tasks
3 4"
RANK=0 gpq trace --partial log_1 log_2 log_3 >one_rank
is "parts of one rank tell of no other" "$(expected 100 --partial one_rank)" "gpq: merge: 3 parts instead of 100; look what became of their tasks
3 3"
is "doubles do not count" "$(expected 8 -q --partial four four)" "3 4"
is "ranks that made several, or are not told" "$(expected 9 --partial four again; expected 3 --partial p1 p2)" \
	"$(size=$(jq -r '"bytes \(.from) to \(.to)"' <(sed -n 2p four)); echo "gpq: merge: log_5 by rank 9, $size: is in log_5 by rank 1, $size, too; counted once")
gpq: merge: 5 parts instead of 9; look what became of their tasks
3 5
gpq: merge: 2 parts instead of 3; look what became of their tasks
3 2"
is "a report is written all the same" "$(expected 8 -q --by process four)" "3 2"
: >lost
is "all are lost" "$(expected 2 lost)" "gpq: merge: 0 parts instead of 2; look what became of their tasks
3 0"
: >none && gpq trace --partial none none | jq -c '[.from, .to]' >got
is "empty files have parts" "$(cat got)" "[0,0]
[0,0]"
for r in 7:1G 8:1G; do gpq trace --partial --range ${r/:/G:} log_5; done >behind
is "ranges behind the end are parts of their own" "$(expected 3 --partial behind behind p1 2>&1)" "$(for g in 7 8; do
	echo "gpq: merge: log_5, bytes $size to $size: is in log_5, bytes $size to $size, too; counted once"; done)
0 3"

# Equal process ids in two files: pieces of one log are of one process, logs of the same time are of two.
mkdir c1 c2
gen-amdlog --lines 2000 --seed 7 2>truth_c1 >c1/trace_1
gen-amdlog --lines 2000 --seed 8 2>truth_c2 >c2/trace_1
pids() { gpq merge -q --by process -rno HOST,PID,RECORDS "$@"; }
gpq trace --partial c1/trace_1 c2/trace_1 >both
is "two containers" "$(pids both)" "$(for c in c1 c2; do echo "$c/trace_1 4711 $(jq .records truth_$c)"; done)"
is "it is said" "$(gpq merge --by process both 2>&1 >/dev/null | grep 'same times'; gpq merge -J both | jq -r '.notes[]' | grep -c 'same times')" \
	"gpq: merge: process ids that files have at the same times: 1; each file has a process of its own, told by HOST: give containers names by gpq trace --partial --host NAME
1"
gpq trace --partial --host n1 c1/trace_1 c2/trace_1 >both
is "of one host" "$(pids both)" "$(for c in c1 c2; do echo "n1:$c/trace_1 4711 $(jq .records truth_$c)"; done)"
for c in c1 c2; do gpq trace --partial --host $c $c/trace_1; done >both
is "by their names" "$(pids both)" "$(for c in c1 c2; do echo "$c 4711 $(jq .records truth_$c)"; done)"
is "of which nothing is said" "$(gpq merge -q --by process -rno PID both; gpq merge --by process both 2>&1 >/dev/null | may 1 grep 'same times')" "4711
4711"
for c in c1 c2; do
	gpq trace --partial --range 0:100000 $c/trace_1
	gpq trace --partial --range 100000: $c/trace_1
done | tac >both
is "in ranges" "$(pids both)" "$(for c in c1 c2; do echo "$c/trace_1 4711 $(jq .records truth_$c)"; done)"
split -n l/5 c1/trace_1 piece.
gpq trace --partial piece.* >pieces
is "pieces of one log" "$(pids pieces)" "- 4711 $(jq .records truth_c1)"
finish
