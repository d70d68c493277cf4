# gpq queues and gpq gpus where there is a driver but no GPU.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

mkfifo /tmp/gpq.never
(exec 9<> /dev/kfd && read -r _ < /tmp/gpq.never) &
P=$!
within 10 test -d $KFD/proc/$P
status_is "gpq queues lists nothing and is content" 0 gpq queues -r -n
empty "no rows" "$OUT"
is "-a shows who opened the driver" "$(gpq queues -a -r -n -o PID,QID | grep "^$P ")" "$P -"
gpq gpus > /tmp/out 2>&1
like "gpq gpus says that the driver has no GPU" "$(cat /tmp/out)" '^gpq: gpus: .*no GPU'
ok "it lives" kill -0 $P
reap $P
kernel_is_content
finish
