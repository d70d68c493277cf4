#!/bin/bash
# Ctrl-C and SIGTERM in the middle of gpq trace: what is known is printed, said, and the status tells. Progress without
# a terminal.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit
gen-amdlog --lines 8000 >log 2>/dev/null

# gpq reads the log from a pipe that stays open, and gets the signal once all of it was taken.
stop() { # SIGNAL OPTIONS...
	local sig=$1 pid
	shift
	rm -f in
	mkfifo in
	env --default-signal=INT,TERM gpq trace "$@" - <in >out 2>err &
	pid=$!
	exec 9>in
	cat log >&9
	# Waiting for input again with nothing left in the pipe: everything was read.
	until ! kill -0 $pid || { python3 - 9 && grep -q '^State:.S' /proc/$pid/status; } <<'PY'; do sleep 0.05; done
import array, fcntl, sys, termios
left = array.array("i", [0])
fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, left)
sys.exit(left[0] != 0)
PY
	kill "-$sig" $pid
	wait $pid
	status=$?
	exec 9>&-
}

gpq trace -J log | jq -S 'del(.notes, .totals.other_lines)' >whole
for s in "INT 130" "TERM 143"; do
	set -- $s
	stop "$1" -J
	is "$1: status" "$status" "$2"
	is "$1: the document holds what was read" "$(jq -S 'del(.notes, .totals.other_lines)' out)" "$(cat whole)"
	is "$1: and says that it is not all" "$(jq '.notes | any(test("stopped by SIG'"$1"'"))' out)" "true"
	is "$1: one message, as JSON" "$(jq -r '"\(.level) \(.status) \(.message[0:18])"' err | sed "s/ *a*f*$//")" "error $2 stopped by SIG$1"
done
stop INT
is "for people" "$(grep -q '^Kernels' out; echo "$? $(grep -o '.*stopped by SIGINT after' err)")" "0 gpq: trace: stopped by SIGINT after"
stop INT --list --ndjson
is "a list ends with a whole line" "$(jq -c .record out | sum)" "$(gpq trace --list --ndjson log | jq -c .record | sum)"

# Beside a trace of the kernel, which was read before.
kernel=$top/tests/data/ftrace/kprobe-tgid-7.3.trace
stop TERM -J --ftrace "$kernel" --ftrace-clock mono
is "--ftrace" "$status $(jq '.functions | map(.calls) | add' out) $(jq -r '.message[0:18]' err)" "143 $(grep ': [a-z_]*: (' "$kernel" | grep -vc ' <- ') stopped by SIGTERM"
stop INT --compare log
n_queues=$(grep -oi 'HWq=0x[0-9a-f]*' log | sort -u | grep -c .)
is "--compare" "$status $(head -1 out) $(grep -o 'stopped by SIG[A-Z]*' err)" \
	"130 A and B use $n_queues hardware queues each; $n_queues in both stopped by SIGINT"

# A signal that was ignored stays ignored, as behind nohup.
rm -f in; mkfifo in
(trap '' INT; exec gpq trace -J - <in >out 2>err) &
pid=$!
exec 9>in
cat log >&9
kill -INT $pid
exec 9>&-
wait $pid
is "ignored SIGINT stays ignored" "$? $(jq .totals.other_lines out)" "0 0"

# --progress: lines, no control characters, when standard error is a file
rm -f in; mkfifo in
gpq trace --progress -J - <in >out 2>err &
pid=$!
exec 9>in
until [ -s err ] || ! kill -0 $pid; do cat log >&9; sleep 0.1; done
exec 9>&-
wait $pid
is "--progress: status" "$? $(jq .totals.other_lines out)" "0 0"
is "--progress: a line with amount and rate" "$(head -1 err | grep -qxE 'gpq: [0-9.]+[KMG]?B?, [0-9.]+[KMG]?B?/s'; echo $?)" "0"
is "--progress: no control characters" "$(grep -q . err && tr -d '[:print:]\n' <err | wc -c)" "0"
gpq trace -J log >out 2>err
is "nothing without it" "$(cat err; jq .totals.other_lines out)" "0"

# On a terminal: the bar stands in one line, and is gone before the report.
if script --version >/dev/null 2>&1; then
	cat >slow <<-'SH'
		#!/bin/bash
		for i in 1 2 3 4 5 6 7 8; do cat log; sleep 0.2; done | gpq trace -J - >out
	SH
	chmod +x slow
	script -qec ./slow /dev/null >term </dev/null
	is "on a terminal a bar" "$(tr '\r' '\n' <term | grep -aqE '\[Kgpq: .*/s$' && echo 1)" "1"
	is "which is wiped" "$(tail -c 4 term | grep -acE $'\r\x1b\\[K$')" "1"
else
	n=$((n + 1))
	echo "ok $n - on a terminal # skip no script(1)"
fi
finish
