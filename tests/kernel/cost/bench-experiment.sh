# The whole experiment by one command on the real driver, over a software GPU whose queues compete (capacity): online work
# of large grids in bursts over offline work of small grids, steady; on one GPU, and on eight with a worker each. Alone, the
# online work is fast; beside the offline work it is not; with that preempted it is as fast as alone, and the offline work
# loses what it was held for. The VM's clock counts instructions (-I), so that the emulator's slowness is not taken for the
# driver's: seventeen processes share its one processor. What is judged are ratios within a run; times here are no GPU's.
# shellcheck shell=dash disable=SC1091,SC2009,SC2016,SC2086
. /t/lib.sh

# Field of a mode in a table: TITLE ROW COLUMN.
field() {
	awk -v t="$1" -v m="$2" -v c="$3" '$0 == t { on = 1; next } on == 1 { for (i = 1; i <= NF; i++) if ($i == c) col = i; on = 2; next }
		on == 2 && $1 == m { print $col; exit } on == 2 && NF == 0 { exit }' /tmp/out
}
more() { # DESCRIPTION GOT LIMIT
	if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 > b + 0) }'; then pass "$1"; else fail "$1" "got '$2', wanted more than $3"; fi
}

# The experiment; what it says of the goals is judged by who runs it.
experiment() { # DESCRIPTION GPQ-BENCH-AB-ARGUMENTS...
	local what=$1
	shift
	rm -rf /tmp/logs /tmp/raw
	gpq bench ab --lead 300ms --samples /tmp/raw "$@" > /tmp/out 2> /tmp/err
	is "$what: status" "$?:$(grep -v "not a GPU's" /tmp/err)" "0:"
	note "$what: $(grep -E '^(alone|shared|preempt|online slowdown|offline effect) ' /tmp/out | grep -v ' online ')"
	more "$what: shared, the offline work is in the way" "$(field 'Latency of online requests' shared RATIO)" 1.5
	more "$what: it was held" "$(field 'Throughput of the offline work' preempt HELD%)" 5
	is "$what: nothing is left" "$(ps | grep -cE '[m]kqueue|[g]pq-holder')" 0
}

goal() { awk -v g="$1" 'index($0, g) == 1 { print $(split(g, words, " ") + 2) }' /tmp/out; } # what was measured: of one run there are no bounds

load gfx942 capacity=2000 poll_us=200 || { finish; exit; }
# Requests long enough that what the emulator adds to a call hardly counts.
experiment "one GPU" --runs 1 --burst-on progress --log-dir /tmp/logs \
	--online-cmd 'mkqueue -q -n 1 -g 1048576 -B 50 --pause 400 --requests 4 -L ${AMD_LOG_LEVEL_FILE}_$$' \
	--offline-cmd 'mkqueue -q -n 2 -g 4096 -L ${AMD_LOG_LEVEL_FILE}_$$'
more "preempting, online is within 10 % of alone" 10 "$(goal 'online slowdown')"
more "offline loses no more than it was held for plus 5 points" 5 "$(goal 'offline effect')"
is "a latency for each request that the online log tells of" "$(field 'Latency of online requests' alone N) \
$(grep -c 'hipStreamSynchronize: Returned' /tmp/logs/alone-1-online.log_*)" "4 4"
is "the offline work's log is read, too" "$(grep -c '"offline_logged_packets":[1-9]' /tmp/raw)" 3
gpq bench report --html /tmp/page /tmp/raw > /tmp/md 2> /tmp/err
is "its report" "$?:$(cat /tmp/err)" "0:"
is "with three modes in two tables, and two plots" "$(grep -cE '^\| (alone|shared|preempt) ' /tmp/md):$(grep -c '<figure>' /tmp/page)" "6:2"
like "it says that this is no GPU" "$(cat /tmp/md)" "Not measured on a GPU"
unload

load gfx942,gfx942,gfx942,gfx942,gfx942,gfx942,gfx942,gfx942 capacity=500 poll_us=500 || { finish; exit; }
experiment "eight GPUs, eight workers" --runs 1 --burst-on progress --metric 'took ([0-9.]+) ms' \
	--online-cmd 'mkqueue -n 1 -G 8 -g 1048576 -B 32 --pause 1200 --requests 2' \
	--offline-cmd 'for i in 1 2 3 4 5 6 7; do mkqueue -q -n 1 --skip $i -g 4096 & done; exec mkqueue -q -n 1 -g 4096'
more "eight workers: preempting, online is within 10 % of alone" 10 "$(goal 'online slowdown')"
more "eight workers: offline loses no more than it was held for plus 5 points" 5 "$(goal 'offline effect')"
is "eight workers: each has its queue" "$(awk '$1 == "offline" && $4 == 1 && $5 == 1 { n++ } END { print n }' /tmp/out)" 8
is "latencies are those that were printed" "$(field 'Latency of online requests' preempt N)" 2
kernel_is_content
unload
finish
