#!/bin/bash
# gpq trace where reading or writing fails, or never ends: no crash, no hang, no memory that grows with the input; one
# line that says what was, and what was read until then.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
log=$top/tests/data/amdlog/rocm70.log # 61 lines, 60 records, 7 dispatches, 2 foreign lines: counted with grep
chmod 755 "$work"
trap 'umount "$work/mnt" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit
t() { timeout -k 1 300 gpq trace "$@"; } # what hangs shows as 124 or 137
says() { # OPTIONS...: status and message
	local status
	t "$@" >/dev/null 2>said
	status=$?
	echo "$status:$(sed 's/^gpq: trace: //' said)"
}
sums='.totals | [.lines, .bytes, .records, .dispatches, .cut_records, .other_lines]'
no_records="no AMD log records in the input; was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?"

# Runs a command; its peak memory in KiB goes to the file `rss`.
cat >peak <<'PY'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open("rss", "w"))
sys.exit(status)
PY
peak() { timeout -k 1 300 python3 peak gpq trace "$@"; }
limit=65536 bytes=2147494208
if sanitized; then # its shadow is counted, too, and it is slow
	limit=1000000 bytes=200000000
fi
small() { is "$1: less than 64 MB" "$(grep -qE 'records|"totals"' out err && echo $(($(cat rss) < limit)))" 1; }

# 2 GB of holes; two logs with holes between them; 2 GB of one letter behind a log.
truncate -s 2G holes
peak holes >out 2>err
is "2 GB of NULs" "$?:$(cat err)" "5:gpq: trace: $no_records"
small "2 GB of NULs"
rm holes
cp "$log" ends
truncate -s 200M ends
{ echo && cat "$log"; } >>ends
size=$(stat -c %s ends)
for threads in 1 2 8; do
	is "records at both ends of a sparse file, $threads threads" "$(t -J --threads $threads ends 2>/dev/null | jq -c "$sums")" "[123,$size,120,14,0,5]"
done
rm ends
cat >letters <<'PY'
import os, sys
left = int(sys.argv[1])
while left:
    left -= os.write(1, b"a" * min(left, 1 << 20))
PY
(cat "$log" && python3 letters $((bytes - $(stat -c %s "$log")))) | peak -J - 2>/dev/null >out
is "2 GB without a newline from a pipe" "$(jq -c "$sums" out)" "[62,$bytes,60,7,0,3]"
small "2 GB without a newline from a pipe"

# Endless input: Ctrl-C, and what is known so far.
is "yes: Ctrl-C" "$(may 130 endless y INT gpq trace - 2>&1 | grep -o '.*stopped by SIGINT after')" \
	"gpq: trace: stopped by SIGINT after"
for o in -J "--list -rn" "--by api -J" "--gaps -J" --partial; do
	# shellcheck disable=SC2086 # the options are words
	endless "$(grep -m1 HWq= "$log")" INT gpq trace -q $o - >out 2>err
	is "endless input, $o: status, rows, why" "$? $([ -s out ] && echo rows) $(grep -c 'stopped by SIGINT' err)" "130 rows 1"
done

# What is no file, or fails at its first byte.
is "a directory" "$(says .)" "1:.: is a directory; name the log files in it"
is "a directory with --follow" "$(says --follow .)" "1:.: is a directory; name the log files in it"
is "a directory as standard input" "$(says - <.)" "1:standard input: is a directory; name the log files in it"
is "what cannot be read at its beginning" "$(says /proc/self/mem)" "1:/proc/self/mem: Input/output error"

# A terminal whose other side has gone: EIO behind the log.
cat >hangup <<'PY'
import os, pty, subprocess, sys, threading, tty
here, there = pty.openpty()
tty.setraw(there)
def write():
    data = open(sys.argv[1], "rb").read()
    while data:
        data = data[os.write(there, data[:1000]):]
    os.close(there)
threading.Thread(target=write).start()
sys.exit(subprocess.run(sys.argv[2:], stdin=here).returncode)
PY
timeout -k 1 300 python3 hangup "$log" gpq trace -q --by process -rno PID,DISPATCHES - >out 2>err
is "EIO behind a log: what was read, and why it ends" "$?:$(paste -sd, out):$(cat err)" \
	"1:4711 6,8022 1:gpq: trace: standard input: Input/output error; what was read until then is reported"

# A file system that fails in the middle of the file, read: blocks before it count.
gen-amdlog --release 7.12 --level 5 --lines 20000 >big 2>/dev/null
at=$(($(stat -c %s big) / 2))
mkdir mnt
cat >eio <<'SH'
for threads in 1 2 8; do timeout -k 1 300 gpq trace -J --threads $threads mnt/log 2>>err | jq -c '.totals | [.bytes, .records == .lines]'; done
timeout -k 1 300 gpq trace --partial mnt/log 2>>err | grep -c trace_partial
timeout -k 1 300 gpq trace --list -rno KIND mnt/log 2>>err >list
SH
: >err
python3 "$top/tests/cli/fuse_eio.py" big $at "$work/mnt" sh eio >out
if [ $? = 77 ]; then
	for what in "what was read" "a part, a list" why; do pass "EIO in the middle: $what # skip no FUSE"; done
else
	# Every whole block of 256 KB in front of it, to a line's end.
	is "EIO in the middle: what was read" "$(head -3 out | sort | uniq -c | sed -E 's/^ *([0-9]+) \[([0-9]+),(true|false)\]/\1 \3 \2/' | awk '{ print $1, $2, int($3 / 262144) }')" \
		"3 true $((at / 262144))"
	is "EIO in the middle: a part, a list" "$(sed -n 4p out) $([ -s list ] && echo records)" "1 records"
	is "EIO in the middle: five times why" "$(grep -c 'mnt/log: Input/output error' err)" 5
fi

# A family of files, one of which may not be read.
cp "$(command -v gpq)" gpq-copy
for p in 1 2 3; do cp "$log" run_$p; done
chmod 0 run_2
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid 65534 --regid 65534 --clear-groups"
ASAN_OPTIONS=detect_leaks=0 $drop ./gpq-copy trace -J run >out 2>err
is "one file of three without permission" "$?:$(jq -c '[.totals.lines, .totals.dispatches]' out):$(jq -r '.message + "; " + .next' err)" \
	"3:[122,14]:run_2: Permission denied; run as a user who may read it"
chmod 644 run_2
exec 8<run_2
chmod 0 run_2
is "permission lost behind open: it is read on" "$($drop ./gpq-copy trace -J - <&8 2>/dev/null | jq -c '[.totals.lines, .totals.dispatches]')" '[61,7]'
exec 8<&-

# Truncated while several threads read it, and written anew, as the runtime does with AMD_LOG_LEVEL_SIZE.
told=0 wrong=
for size in 0 5000 400000 2000000; do
	for o in -J "--list --ndjson" "--gaps -J" "--by stream -J"; do
		for _ in 1 2; do cat big big big; done >shrinks
		(sleep 0.01 && truncate -s $size shrinks && truncate -s 16000000 shrinks && truncate -s $((size / 2)) shrinks) &
		# shellcheck disable=SC2086 # the options are words
		t --threads 8 -q $o shrinks >out 2>err
		status=$?
		wait
		[ ! -s out ] && [ ! -s err ] || told=$((told + 1))
		case $status in
		0 | 5) ;;
		*) wrong+=" $size $o: $status $(head -1 err)" ;;
		esac
	done
done
is "truncated and grown again while 8 threads read it" "$told$wrong" 16

# It grows while it is read: what is reported is what it held up to some byte, counted once.
cp big grows
wrong=
(for _ in $(seq 40); do cat "$log"; done >>grows) &
for _ in 1 2 3 4 5; do
	t -q -J grows >out
	head -c "$(jq .totals.bytes out)" grows | t -q -J - >want
	cmp -s out want || wrong+=" $(jq -c "$sums" out) $(jq -c "$sums" want)"
done
wait
is "a file that grows" "$(jq ".totals.records >= 60" out)$wrong" true

# --follow: replaced, removed and made anew, all while it is read; SIGTERM shows the sum.
touch followed
gpq trace --follow -J followed >out 2>err &
pid=$!
for _ in 1 2 3; do
	cat "$log" >next
	mv next followed
	sleep 0.25
done
rm followed
sleep 0.15
cat "$log" >followed
sleep 0.25
kill $pid
wait $pid
is "--follow a file that is replaced: all of them" "$? $(jq -c '.totals | [.lines, .records, .dispatches]' out)" "143 [244,240,28]"

# The disk is full; nobody reads on.
outputs=("" -J --ndjson -r -P --list "--list --ndjson" "--list -J" "--by error" "--by api -J" "--by stream" --gaps "--latency -J" "--series 1ms" \
	"--compare" --partial "--perfetto -")
for o in "${outputs[@]}"; do
	# shellcheck disable=SC2086 # the options are words
	t $o "$log" "$log" >/dev/full 2>err
	is "full disk: ${o:-report}" "$? $(grep -c 'standard output: No space left on device' err)" "1 1"
	# shellcheck disable=SC2086 # the options are words
	{
		sleep 0.05 # by then the reader has gone
		t -q $o "$log" "$log" 2>err
		echo $? >status
	} | true
	is "closed pipe: ${o:-report}" "$(cat status) $(cat err)" "141 "
done
# shellcheck disable=SC2016 # for sh
is "head -1 of the list" "$(sh -c '{ gpq trace --list big; echo $? >status; } | head -1 | wc -l') $(cat status)" "1 141"
is "--perfetto on a full disk" "$(says --perfetto /dev/full "$log")" "1:--perfetto /dev/full: No space left on device; what it holds is not complete"
is "--svg on a full disk" "$(says --series 1ms --svg /dev/full "$log")" "1:--svg /dev/full: No space left on device"
is "--perfetto where there is no folder" "$(says --perfetto nowhere/x "$log" | cut -d: -f1)" "5"
is "standard output is closed" "$(may 1 t "$log" 2>&1 >&- | sed 's/^gpq: trace: /1:/')" "1:standard output: Bad file descriptor"
finish
