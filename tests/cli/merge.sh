#!/bin/bash
# gpq merge: sums do not depend on order, grouping or how often they were written and read again; and they are those that
# jq and sort find in the raw samples.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
data=$top/tests/data/bench
cd "$work" || exit
p() { gpq merge --partial "$@"; }

a=$data/old.ndjson b=$data/new.ndjson c=$data/plain.ndjson
p "$a" "$b" "$c" >all
p "$a" >pa && p "$b" >pb && p "$c" >pc
p pa pb >ab && p ab pc >ab_c && same "(a + b) + c is a + b + c" ab_c all
p pb pc >bc && p pa bc >a_bc && same "a + (b + c) is, too" a_bc all
p pc pb pa >cba && same "c + b + a is, too" cba all
p "$c" pb "$a" >mixed && same "so are samples and sums mixed" mixed all
p all >again && same "a sum alone is itself" again all
cat "$a" pb "$c" | p - >piped && same "from standard input" piped all
cat "$a" "$b" "$c" | shuf --random-source=<(yes) >shuffled && p shuffled >s && same "lines in any order" s all
split -n r/7 shuffled part. && for f in part.*; do p "$f" >"$f.sum"; done && p part.*.sum >parts && same "seven parts, each added up alone" parts all

# A second opinion on the numbers: nearest rank of the raw values; the sum may be 1/32 too large at most.
exact() { # KEY WANTED-QUEUES SHARE
	jq -r "select(.warmup == false and .queues_wanted == $2) | .$1" "$a" "$b" | sort -n |
		awk -v p="$3" '{ v[NR] = $1 } END { r = int(p * NR); r += r < p * NR; print v[r < 1 ? 1 : r] }'
}
got() { # METRIC WANTED-QUEUES COLUMN
	gpq merge -J "$a" "$b" | jq -r ".sums[] | select(.metric == \"$1\" and .queues_wanted == $2) | .$3"
}
for m in suspend resume; do
	for q in 1 3; do
		is "$m, queues=$q: maximum" "$(got $m $q max_ns)" "$(exact ${m}_ns $q 1)"
		is "$m, queues=$q: number" "$(got $m $q n)" 80
		is "$m, queues=$q: median within a bucket" "$(awk -v g="$(got $m $q p50_ns)" -v e="$(exact ${m}_ns $q 0.5)" \
			'BEGIN { print (g >= e && g <= e * 33 / 32) ? 1 : 0 }')" 1
	done
done
is "the two runs of one host and setting add up" "$(gpq merge -rno METRIC "$a" "$b" | sort | uniq -c | awk '$2 == "suspend" { print $1 }')" 2
sed 's/"kernel":"[^"]*"/"kernel":"6.99"/; s/"run":"/&other /' "$a" >other
is "another kernel does not" "$(gpq merge -rno METRIC "$a" other | grep -cx suspend)" 4

# A node with eight GPUs, of the truth that each has 40 samples of either setting: one row for what differs in what is dropped
# alone, in whatever order, grouping and steps it is dropped. Unknown for another reason (all queues) is another row.
for g in 1 2 3 4 5 6 7 8; do sed "s/0000:c0/0000:c$g/; s/\"run\":\"/&$g-/" "$a"; done >node
d() { p --drop "$@"; }
is "eight GPUs are one row" "$(gpq merge --drop target_gpus -rno METRIC,QUEUES,TARGET_GPUS,KERNEL,N node | grep '^suspend ')" "suspend 1 - 6.12.95+deb12-amd64 320
suspend 3 - 6.12.95+deb12-amd64 320"
is "what is dropped is null" "$(gpq merge -J --drop Grace,QUEUES,hold,gap_wanted_ns --drop sched,kernel,TARGET_GPUS node "$c" | jq -c '.sums[] | select(.metric == "suspend")
	| [.n, .grace, .queues_wanted, .hold_wanted_ns, .gap_wanted_ns, .scheduler, .kernel, .target_gpus, .source]')" '[720,null,null,null,null,null,null,null,"softgpu"]'
d queues,target_gpus node other "$c" >dropped
head -300 node >n1 && tail -n +301 node | p - >n2
d queues n2 "$c" >n3 && d target_gpus n1 other >n4
d target_gpus,queues n4 n3 >got && same "dropped one after the other" got dropped
d queues n3 n4 | d target_gpus - >got && same "and in another order" got dropped
p dropped >got && same "sums keep what was dropped" got dropped
is "dropped queues are not all queues" "$(d queues,hold,gap "$a" | gpq merge -rno METRIC,QUEUES,HOLD,N - "$c" | grep '^suspend ')" "suspend - 20000000 80
suspend - - 80"
is "a software GPU's times stay apart" "$(gpq merge --drop kernel,source /nowhere 2>&1; echo $?)" \
	"gpq: merge: --drop source: times of the software GPU are not a GPU's; choose of grace, queues, prio_level, hold, gap, sched, kernel, target_gpus, setting
2"
for o in metric n nonesuch; do
	is "--drop $o" "$(gpq merge --drop kernel,$o /nowhere 2>&1; echo $?)" "gpq: merge: --drop $o: no column that keeps sums apart; choose of grace, queues, prio_level, hold, gap, sched, kernel, target_gpus, setting
2"
done

# Latencies of gpq bench ab: by mode and kind of host, behind a sample of another kind.
jq -c '.kernel = "6.99" | .run += " other" | .gpus += "; x" | .latencies_ns |= map(. * 2)' "$data/ab.ndjson" >ab_other
is "runs of the experiment, as jq adds them up" "$(gpq merge -q -rno METRIC,KERNEL,TARGET_GPUS,N,MIN,MAX,MEAN,GRACE "$a" "$data/ab.ndjson" ab_other | grep ^online | sort)" \
	"$(jq -sr 'group_by([.mode, .kernel])[] | [.[].latencies_ns[]] as $v | ["online_" + .[0].mode, .[0].kernel, (.[0].gpus | gsub(" "; "\\x20")),
		($v | length, min, max, (add / length | floor)), "-"] | join(" ")' "$data/ab.ndjson" ab_other | sort)"

is "holds of the experiment, as jq adds them up" "$(gpq merge -q -rno METRIC,N,MIN,MAX,MEAN "$data/ab.ndjson" ab_other | grep ^ab_ | sort -u)" \
	"$(for m in resume suspend; do jq -sr "[.[].${m}s_ns[]] | [\"ab_$m\", length, min, max, (add / length | floor)] | join(\" \")" "$data/ab.ndjson"; done)"

# Offline work by hand. Alone: 1000 packets in 10 s, 100 a second. Preempt: 400, and 500 by the log, in 20 s, 45 a second; held 6 s of
# the 16 between the leads; lost 55 of 100 in 20 of these 16. Of another kernel nothing is known of mode alone.
run() { # MODE NUMBER FILTER
	jq -c "select(.mode == \"$1\" and .number == $2) | .window_ns = 10e9 | .leads_ns = 2e9 | $3" "$data/ab.ndjson"
}
run alone 0 '.packets = 1000 | .leads_ns = null | .online_ns = 9e9' >work
run preempt 0 '.packets = 400 | .held_ns = 4e9 | .holds = 3' >>work
run preempt 1 '.packets = 999 | .offline_logged_packets = 500 | .held_ns = 2e9 | .holds = 4' >>work
run shared 0 '.packets = 700 | .kernel = "6.99"' >>work
offline() { gpq merge -rno MODE,RUNS,RATE,HOLDS,HELD%,LOSS% "$@"; }
is "offline work" "$(offline work)" "alone 1 100 0 0 0
preempt 2 45 7 37.5 68.75
shared 1 70 0 0 -"
is "with the kernel dropped" "$(offline --drop kernel work | tail -1)" "shared 1 70 0 0 37.5"
for v in 1 2; do run shared 1 ".packets = 100 * $v | .setting = \"A=$v\" | .run += \"$v\""; done >sweep
is "values of a sweep stay apart" "$(gpq merge --table offline -rno SETTING,RATE sweep)" "A=1 10
A=2 20"
is "unless they are dropped" "$(gpq merge --drop setting --table offline -rno SETTING,RATE,RUNS sweep)" "- 15 2"
p work "$a" >work_sums
split -n r/3 work w. && for f in w.??; do p "$f" >"$f.sum"; done
is "the same in other groups, but for what they share" "$(offline <(p w.a[bc].sum | p - w.aa.sum))" "$(offline work)"
p w.ac.sum "$a" w.aa.sum | p w.ab.sum - >got && same "byte for byte" got work_sums
p --drop kernel w.ac.sum "$a" | p --drop kernel w.ab.sum - w.aa.sum >got && p --drop kernel work_sums >want && same "also with a column dropped" got want
is "two tables" "$(gpq merge "$data/ab.ndjson" | grep -A1 -xE 'Times|Offline work' | cut -c1-24)" "$(printf '%s\n' Times 'METRIC         GRACE QUE' -- 'Offline work' 'MODE    SOURCE  RUNS RAT')"
is "a row that other tables have beside it" "$(gpq merge -r work 2>&1 >/dev/null)" "gpq: merge: only the table sums is written, not offline; --table NAME chooses one"

# A file that is named twice, a file with a part of its lines: each sample counts once, and one line says so.
samples=$(grep -c . "$a") runs=$(grep -c . "$data/ab.ndjson")
head -3 "$a" >some
is "samples that were read twice" "$(gpq merge --partial "$a" "$a" some 2>&1 >twice)" "gpq: merge: $a: $samples samples were read before; counted once
gpq: merge: some: 3 samples were read before; counted once"
same "they count once" twice pa
head -1 "$a" >one
is "one sample" "$(gpq merge "$a" one 2>&1 >/dev/null)" "gpq: merge: one: 1 sample was read before; counted once"
p "$data/ab.ndjson" >ab_once
is "runs that were read twice" "$(gpq merge --partial "$data/ab.ndjson" "$data/ab.ndjson" 2>&1 >twice)" "gpq: merge: $data/ab.ndjson: $runs samples were read before; counted once"
same "they count once, too" twice ab_once
# So does a sum. Two samples with equal times make two sums that differ only in which samples they are of.
gpq merge --partial pb pa pa 2>said >twice
is "sums that were read twice" "$(cat said)" "gpq: merge: pa: $(grep -c bench_sum pa) sums were read before; counted once"
same "they count once" twice ab
for r in x y; do sed -n "/\"warmup\":false/{s/\"run\":\"/&$r/p;q}" "$a" | p - >one.$r; done
is "equal times of two runs are two samples" "$(gpq merge -rno METRIC,N one.x one.y | grep -w ^suspend)" "suspend 2"
head -1 one.x >one
is "one sum" "$(gpq merge one.x one 2>&1 >/dev/null)" "gpq: merge: one: 1 sum was read before; counted once"
# Measurements are runs of gpq bench, whether sums or samples tell of them.
is "three measurements" "$(gpq merge --expect 3 -rno METRIC pa "$c" pb one ab 2>&1 | grep -oE "^suspend$|.*instead.*" | sort -u)" suspend
is "of which one is missing" "$(gpq merge --expect 4 --partial pb "$c" pa 2>&1 >got; echo $?)" "gpq: merge: 3 measurements instead of 4; look what became of their tasks
3"
same "the others are written" got all
is "all but one" "$(gpq merge --expect 2 one.x 2>&1 >/dev/null; echo $?)" "gpq: merge: 1 measurement instead of 2; look what became of their tasks
3"
sed 's/"run":"[^"]*"/"run":""/' "$a" >nameless
is "samples that name no run are never the same" "$(gpq merge -rno METRIC,N nameless nameless | sort -u | awk '$1 == "suspend" { print $2 }')" 80

# A sum made by hand: 1000 values, 500 times 1, 400 times 2, 90 times 3, 9 times 4, once 50; their sum is 1656.
sum_of() { # HISTOGRAM SOURCE
	printf '{"record":"bench_sum","schema":1,"metric":"suspend_gpq","source":"%s","scheduler":"HWS","kernel":"6.12","gpus":"x","grace":1,"queues_wanted":1,"hold_wanted_ns":1,"gap_wanted_ns":1,"histogram_ns":%s}\n' "$2" "$1"
}
sum_of '{"rule":"loglin32","count":1000,"sum":1656,"min":1,"max":50,"buckets":[[1,500],[2,400],[3,90],[4,9],[50,1]]}' live >known
is "percentiles, extremes and mean" "$(gpq merge -rno P50,P90,P99,P99.9,MIN,MAX,MEAN known)" "1 2 3 4 1 50 1"
sum_of '{"rule":"loglin32","count":2,"sum":null,"min":5,"max":6,"buckets":[[5,1],[6,1]]}' "" >unknown
is "no mean of a sum that is not known" "$(gpq merge -J unknown | jq -c '.sums[] | [.n, .mean_ns, .source]')" "[2,null,null]"
for o in '--by queue' '--top 3'; do is "$o is of logs" "$(gpq merge $o known 2>&1)" "gpq: merge: --by and --top are for results of gpq trace; leave them out"; done

# Input that is none
echo x >bad1 && printf 'y\nz' >bad2
is "bad lines of each file, and why of the first" "$(gpq merge known bad1 bad2 2>&1 >/dev/null)" \
	"gpq: merge: bad1: 1 line is no result of gpq bench or gpq trace; bad1 line 1: not JSON; left out
gpq: merge: bad2: 2 lines are no results of gpq bench or gpq trace; left out"
sed 's/"schema":1/"schema":2/' known >later
is "another version's" "$(gpq merge later 2>/dev/null; echo $?)" 5
sed -n '2s/"result":"ok"/"result":"melted"/p' "$a" >melted
is "a result that nobody knows" "$(may 3 gpq merge known melted 2>&1 >/dev/null | grep -o 'melted: 1 line ')" "melted: 1 line "
printf %s "$(sed 's/"sum":1656/"sum":1657/' known)" >unended
is "a last line without its end" "$(gpq merge -rno N known unended)" 2000
sed 's/"count":/"count":1/' pa | head -1 >lie
out=$(p lie 2>&1)
is "a histogram that contradicts itself is refused" "$?:$out" "5:gpq: merge: lie: 1 line is no result of gpq bench or gpq trace; lie line 1: not a sample that this version knows; left out
gpq: merge: no results in what was read; gpq trace --partial, gpq bench --samples FILE and gpq merge --partial write them"
out=$(gpq merge /nowhere 2>&1)
is "no such file" "$?:$out" "5:gpq: merge: /nowhere: No such file or directory; check the name"
out=$(p "$a" 2>&1 >/dev/full)
is "full disk" "$?:$out" "1:gpq: merge: standard output: No space left on device"
# What is missing in the input is seen in the exit status, unless it is known.
: >void
gpq trace --partial "$top/tests/data/amdlog/cnn.log" >part
head -c 500 part >cut && head -c 500 pa >cut_sum && sed 's/"schema":[0-9]*/"schema":1/' part >old_part
for good in known part; do
	for lack in bad1 later cut cut_sum old_part void; do
		gpq merge -q $good $lack >got; echo $?
		gpq merge -q --partial-ok $lack $good >got.ok; echo $?
		gpq merge -q $good >whole; cmp got whole && cmp got.ok whole
	done
done >statuses
is "what is left out makes the status 3, or 0 with --partial-ok" "$(uniq -c statuses | awk '{ print $1, $2 }' | sort | uniq -c | awk '{ print $1, $2, $3 }')" "12 1 0
12 1 3"
is "an empty file" "$(gpq merge void known 2>&1 >/dev/null; echo $?)" "gpq: merge: void is empty; look what became of its task
3"
is "nothing else" "$(gpq merge --partial-ok void 2>&1; echo $?)" "gpq: merge: no results in what was read; gpq trace --partial, gpq bench --samples FILE and gpq merge --partial write them
5"
is "--drop is of benchmarks" "$(gpq merge --drop kernel part 2>&1; echo $?)" "gpq: merge: --drop is for results of gpq bench; leave it out
2"
# Each setting of its own value, and of two values: sums keep them, and are apart by them.
set_to() { jq -c ".run += \"$1\" | if .gap_wanted_ns != null then .grace = 71 | .queues_wanted = 72 | .hold_wanted_ns = 73 | .gap_wanted_ns = 74 | .$1 else . end" "$a"; }
for k in grace queues_wanted hold_wanted_ns gap_wanted_ns; do
	{ set_to "grace = 71" && set_to "$k = 75"; } | p - | p - | jq -c 'select(.record == "bench_sum") | [.grace, .queues_wanted, .hold_wanted_ns, .gap_wanted_ns]' | sort -u
done >settings
is "sums are apart by each setting, and keep it" "$(cat settings)" "[71,72,73,74]
[75,72,73,74]
[71,72,73,74]
[71,75,73,74]
[71,72,73,74]
[71,72,75,74]
[71,72,73,74]
[71,72,73,75]"
for o in --filter --sort; do
	is "$o is about rows, which --partial has not" "$(p $o n /dev/null 2>&1; echo $?)" \
		"gpq: merge: --filter and --sort are about rows of tables, which --partial has not; filter what is merged in the end
2"
done

finish
