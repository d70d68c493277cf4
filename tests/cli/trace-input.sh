#!/bin/bash
# gpq trace says the same of a log in any number of threads, compressed, piped, in ranges, while it grows; and what odd
# files do to it.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
shopt -s lastpipe # what ends a pipeline counts here
cd "$work" || exit 1
came() { # NAME FILE-WANTED; on standard input what came
	cat >got
	same "$1" got "$2"
}

while read -r name options; do
	# shellcheck disable=SC2086 # the options are words
	gen-amdlog $options >log 2>/dev/null
	gpq trace -J --threads 1 log >want 2>/dev/null
	for threads in 2 3 8; do gpq trace -J --threads $threads log 2>/dev/null | came "$name: $threads threads" want; done
	gpq trace -J - <log 2>/dev/null | came "$name: standard input" want
	# shellcheck disable=SC2002 # a pipe is meant
	cat log | gpq trace -J - 2>/dev/null | came "$name: a pipe" want
	zstd -qc log | gpq trace -J - 2>/dev/null | came "$name: zstd" want
	gzip -c log >log.gz
	gpq trace -J log.gz 2>/dev/null | came "$name: gzip" want
	middle=$(gpq trace -qrn --list -o TIME_US - <log | awk '$1 != "-" && ++n == 3000 { print $1; exit }')
	for filter in "--since ${middle}us" "--since +1ms --until +20ms" "-p $(gpq trace -qrn --by process -o PID log | tail -1)" "--kernel [ae]"; do
		case $filter in *-) continue ;; esac
		# shellcheck disable=SC2086 # its words
		gpq trace -J --threads 1 $filter - <log >filtered 2>/dev/null
		# shellcheck disable=SC2086
		gpq trace -J --threads 3 $filter log 2>/dev/null | came "$name: $filter" filtered
	done
	# Ranges, the whole file's totals being their sum.
	counts='.totals | [.lines, .bytes, .records, .launches, .dispatches // 0, .barriers // 0, .cut_records, .mended, .glued, .other_lines,
		.unnamed, .api_errors, .steps_back]'
	share=$(($(stat -c %s log) / 5 + 1))
	gpq trace -J log 2>/dev/null | jq -c "$counts" >want
	for i in 0 1 2 3 4; do gpq trace -J --range $((i * share)):$share log 2>/dev/null | jq -c "$counts"; done |
		jq -sc 'transpose | map(add)' | came "$name: five ranges" want
done <<'END'
level5 --release 7.12 --level 5 --lines 20000 --threads 3 --streams 5
level3 --release 7.0 --level 3 --lines 20000
noise --release 7.0 --level 4 --lines 20000 --noise --processes 2 --seed 3
torn --release 7.12 --level 5 --lines 20000 --processes 4 --tear 0.02 --seed 4
old --release 4.5 --level 4 --lines 10000
END

# What begins at a range's end is outside of it.
log=$top/tests/data/amdlog/rocm70.log
echo '[5,5]' >want
gpq trace -qJ --range "0:$(head -5 "$log" | wc -c)" "$log" | jq -c '.totals | [.lines, .records]' | came "a range of five lines" want
# Twelve lines of one moment, and of two.
head -12 "$log" | sed 's/: 00900[0-9]* us:/: 0090000000 us:/' >equal
echo '[12,0]' >want
gpq trace -qJ equal | jq -c '.totals | [.records, .steps_back]' | came "equal times are no step back" want
sed '7,$s/: 0090000000 us:/: 0089999999 us:/' equal >back
echo '[12,1]' >want
gpq trace -qJ back | jq -c '.totals | [.records, .steps_back]' | came "one is" want

# A file that grows, is truncated in the middle of a line, replaced, and does not exist at first.
log=$top/tests/data/amdlog/rocm70.log
wait_for() { # until the list has so many lines
	for _ in $(seq 100); do
		[ "$(wc -l <list)" -ge "$1" ] && return
		sleep 0.05
	done
}
: >list
gpq trace -q --follow --list -rn -o TIME_US,KIND grows >list 2>err &
pid=$!
sleep 0.2
head -5 "$log" >grows
wait_for 5
sed -n 6p "$log" | head -c 40 >>grows
sleep 0.3
: >grows
sleep 0.3
sed -n 7,9p "$log" >>grows
wait_for 9
mv grows grown
sed -n 10p "$log" >>grown
wait_for 10
sed -n 11,12p "$log" >grows
wait_for 12
kill $pid # a shell's background job ignores SIGINT
wait $pid
is "--follow ends with a signal" $? 143
sed -n '1,5p;7,12p' "$log" | gpq trace -q --list -rn -o TIME_US,KIND - >want
# The line that was cut has a prefix without its time's end.
grep -v '^- ' list | came "--follow reads on through truncation and rotation" want

# No newline at all, nothing but holes, endless input.
truncate -s 300M holes
gpq trace holes >out 2>err
is "a sparse file" "$? $(grep -c 'no AMD log records' err)" "5 1"
is "a log, then holes" "$( (cat "$log" && cat holes) | gpq trace -q -J - | jq -c '.totals | [.lines, .records]')" '[62,60]'
is "endless input ends with Ctrl-C, and what was read is told" \
	"$(may 130 endless "$(head -1 "$log")" INT gpq trace -q -J - 2>err | jq '.totals | .records > 1000 and .records == .lines')" true

# A pipe's records are listed as they come, not when it ends.
mkfifo pipe && : >list
gpq trace -q --list -rn -o KIND - <pipe >list &
exec 7>pipe
sed -n 1,5p "$log" >&7
wait_for 5
is "a pipe that stays open" "$(wc -l <list)" 5
exec 7>&-
wait $!

# Truncated while it is read: a shorter file, or a word on it; never a crash.
gen-amdlog --release 7.12 --level 5 --lines 60000 >one 2>/dev/null
told=0 wrong=0
for size in 0 1000 1000000 30000000 50000000; do
	cat one one one one one one one >shrinks
	all=$(stat -c %s shrinks)
	(sleep 0.02 && truncate -s $size shrinks) &
	gpq trace -J shrinks >out 2>err
	status=$?
	wait
	case $status in
	0 | 5) ;;
	*) wrong=1 ;;
	esac
	if jq -e .totals out >/dev/null 2>&1 || [ $status -eq 5 ]; then told=$((told + 1)); fi
	# It may be cut before it is opened.
	bytes=$(jq -r '.totals.bytes // 0' out)
	[ "${bytes:-0}" = $all ] || [ "${bytes:-0}" = $size ] || [ "$(grep -c "shrinks: truncated while it was read: [0-9]* of $all bytes" err)" = 1 ] || wrong=1
done
is "files truncated while they are read" "$told $wrong" "5 0"
finish
