# The experiment as a script, which the README shows, with real HIP programs on both sides, once in each mode: latency from the
# log that the real runtime writes, throughput from the queues (packets take so long here that the log, which tells of launches,
# is seconds behind). The queues compete (capacity); ratios within the run are judged, and times here are no GPU's.
# shellcheck shell=dash disable=SC1091,SC2012,SC2016,SC2086
. /t/lib.sh
. /t/hip/hip.inc

# Three minutes of two processors: the root with rocBLAS, which takes as long, leaves it to the other.
if ls /usr/lib/x86_64-linux-gnu/librocblas.so.0* > /dev/null 2>&1; then
	skip "the whole experiment" "the other root does it"
	finish
	exit
fi

# Starting HIP takes long in the emulator and costs the other program its processor. So packets take long, too: 40 ms, and
# offline work is always queued up.
load gfx90a capacity=25 capacity_items=16384 poll_us=300 || { finish; exit; }
mkdir -p /run
sh /t/gpq-experiment.sh /tmp/x "AMD_LOG_LEVEL=4 AMD_LOG_LEVEL_FILE=/tmp/on.log hipq -c $CODE -k k -n 12 -g 256 -y 3 -i 500" \
	"hipq -c $CODE -k k -n 10000000 -g 16 -u 600" --runs 1 --lead 4s --ready 180s --offline-ready 'start launching' \
	--online-log /tmp/on.log > /tmp/out 2> /tmp/err
is "two HIP programs: status, and what was required" $? "$(awk '/required: / { s = s == 1 || !/, not shown, / ? 1 : 8 } END { print s + 0 }' /tmp/err)"
empty "and nothing else is said" "$(grep -vE "not a GPU's|had nothing to do in [0-9]+ of|^gpq: bench: .*required: " /tmp/err)" # a slow emulator's program
cp /tmp/x/ab.txt /tmp/out
note "$(grep -E '^(alone|shared|preempt|online slowdown|offline effect) ' /tmp/out | grep -v ' online ')"
is "a latency for each of the four requests, in each mode" "$(awk '$1 == "MODE" && $3 == "N" { on = 1; next } on && NF == 0 { exit } on { print $3 }' /tmp/out | tr '\n' ' ')" "4 4 4 "
more_than_half() { awk '$1 == "shared" && $NF + 0 > 1.5 { ok = 1 } END { exit !ok }' /tmp/out; }
ok "shared, the offline work is in the way" more_than_half
below() { awk -v g="$1" -v most="$2" 'index($0, g) == 1 { ok = $4 + 0 <= most } END { exit !ok }' /tmp/out; } # what was measured
ok "preempting, online is within 10 % of alone" below 'online slowdown' 10
ok "offline loses no more than it was held for plus 5 points" below 'offline effect' 5
field() { # TITLE ROW COLUMN
	awk -v t="$1" -v m="$2" -v c="$3" '$0 == t { on = 1; next } on == 1 { for (i = 1; i <= NF; i++) if ($i == c) col = i; on = 2; next }
		on == 2 && $1 == m { print $col; exit } on == 2 && NF == 0 { exit }' /tmp/out
}
is "queue ids are compared over three runs" "$(field 'Queues over all runs' online RUNS) $(field 'Queues over all runs' offline RUNS)" "3 3"
like "what both have is named" "$(field 'Queues side by side' offline QIDS)" '^0'
like "the offline work was waited for" "$(sed -n 2p /tmp/x/queues.txt)" hipq
is "300 suspensions, and no queue moved meanwhile" "$(grep '"warmup":false' /tmp/x/preempt.ndjson | grep -c '"held_packets":0,')" 300
is "each limit is judged, two of them twice" "$(grep -cE '^\| (online slowdown|offline effect|suspend p99|resume p99) .*\| (shown|refuted|not shown) \| [^|]* \|$' /tmp/x/report.md)" 6
is "the page has the plots of both" "$(grep -c '<figure>' /tmp/x/report.html)" 5
kernel_is_content
unload
finish
