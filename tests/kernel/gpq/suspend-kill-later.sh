# gpq, its holder and its command killed or stopped while the queues are suspended.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

load gfx942
target -q -n 2
gpq suspend -p $P > /dev/null
kill -9 "$(tracer $P)"
is_free "a holder that held was killed"
gpq suspend -p $P > /dev/null
H=$(tracer $P)
kill -STOP $H
status_is "resume with a holder that is stopped" 0 gpq resume -p $P
like "says so" "$OUT" "its holder did not answer and was killed"
is_free "the holder was stopped"
gpq suspend -p $P > /dev/null
kill -STOP "$(tracer $P)"
status_is "suspend with a holder that is stopped" 124 gpq suspend -p $P
like "says so" "$OUT" "its holder is stopped .*; gpq resume ends it"
gpq resume -p $P > /dev/null 2>&1
gpq suspend -p $P --for 500ms > /dev/null
kill -STOP "$(tracer $P)"
is_free "the holder was stopped and its deadline passed"
gpq suspend -p $P -- sleep 100 &
G=$!
within 10 traced $P
still 0 "while the command runs" 200
kill -9 $G
wait $G 2> /dev/null
is_free "gpq was killed while its command ran"
killall -q sleep
gpq suspend -p $P -- sh -c ': > /tmp/runs; exec sleep 100' > /tmp/gpq.out 2>&1 &
G=$!
within 20 test -e /tmp/runs
kill -9 "$(tracer $P)"
within 10 grep -q "its holder ended" /tmp/gpq.out
like "a holder that dies while the command runs is worth a word" "$(cat /tmp/gpq.out)" "pid $P: its holder ended"
is_free "the holder was killed while the command ran"
kill $G
wait $G
reap $P
unload
kernel_is_content
finish
