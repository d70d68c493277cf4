# rocBLAS on two streams: the queues of a library that nobody here wrote. trixie only.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

if ! ls /usr/lib/x86_64-linux-gnu/librocblas.so.0* > /dev/null 2>&1; then
	skip "rocBLAS" "this root has none"
	finish
	exit
fi
load_hip
AMD_LOG_LEVEL=4 blasq 2 8 /tmp/b 300 > /tmp/b.out 2> /tmp/b.log &
P=$!
within 180 grep -q 'start launching' /tmp/b.out
ok "it starts" kill -0 $P
is "every queue of the process is listed" "$(gpq queues -p $P -r -n -o QID | tr '\n' ' ')" \
	"$(ls $KFD/proc/$P/queues | sort -n | tr '\n' ' ')"
status_is "its queues can be suspended" 0 gpq suspend -p $P
status_is "and resumed" 0 gpq resume -p $P
# Loading a library of kernels takes an emulated processor from one second to half a minute: not every machine gets here.
within 90 sh -c "[ -e /tmp/b.truth ] || [ ! -d /proc/$P ]"
if [ ! -e /tmp/b.truth ] && kill -0 $P 2> /dev/null; then
	skip "dispatches in the log are those the GPU completed" "it is still loading kernels"
	reap $P
else
	ok "all calls are done" test -e /tmp/b.truth
	gpq trace -r -n --by queue -o HWQ,DISPATCHES /tmp/b.log > /tmp/hwq
	bad=$(while read -r ring n; do [ "$n" = "$(dispatches $ring)" ] || echo "$ring: $n in the log, $(dispatches $ring) completed"; done < /tmp/hwq)
	empty "dispatches in the log are those the GPU completed" "$bad"
	ok "there are some" test -s /tmp/hwq
	touch /tmp/b.go
	wait $P
	is "the program ends well" $? 0
fi
unload
kernel_is_content
finish
