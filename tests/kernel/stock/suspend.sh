# gpq suspend on the stock driver without a GPU: a kernel that is too old says so, a newer one holds a process without queues.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

mkfifo /tmp/never
(exec 9<> /dev/kfd && read -r _ < /tmp/never) &
P=$!
within 10 test -d $KFD/proc/$P
case $(uname -r) in
6.1.*)
	status_is "a kernel before 6.5: exit status" 6 gpq suspend -p $P
	like "a kernel before 6.5: the sentence" "$OUT" \
		"pid $P: kernel too old: its KFD interface is 1.11, suspending queues needs 1.13 \(Linux 6.5\)"
	;;
*)
	status_is "a process without queues is held" 0 gpq suspend -p $P -v
	like "and told so" "$OUT" "pid $P: no queue yet; those that appear will be suspended"
	like "--list says that it waits" "$(gpq suspend --list -r -n -o PID,STATE)" "$P waiting"
	status_is "resume" 0 gpq resume -p $P
	;;
esac
within 5 no_holder || fail "no holder is left" "$(holders)"
is "it is untraced" "$(tracer $P)" 0
kill -9 $P
kernel_is_content
finish
