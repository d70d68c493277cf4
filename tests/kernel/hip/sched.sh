# gpq sched with a real HIP program on the online side, which sends hints by the Python module: every packet it launched is taken,
# every signal completes. (The software GPU executes no shader, so results are not judged here.)
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

PYTHON=$(command -v python3)
[ -n "$PYTHON" ] || { skip "the Python module with a real HIP program" "no python3 in this root"; finish; exit; }

mkdir -p /run
load_hip
target -q -n 2 -R 500 -b 20
O=$P
gpq sched --offline pid=$O --max-hold 20s > /tmp/sched.out 2> /tmp/sched.err &
S=$!
listens() { gpq sched --status > /dev/null 2>&1; }
within 30 listens || fail "gpq sched starts" "$(cat /tmp/sched.err)"
mkfifo /tmp/go
PYTHONPATH=/t/client $PYTHON -B /t/hip/serve.py $CODE 10 < /tmp/go > /tmp/served 2> /tmp/serve.err &
P=$!
exec 9> /tmp/go
served() { [ -s /tmp/served ] || dead $P; }
within 240 served
like "each request began with the offline queues off" "$(cat /tmp/served /tmp/serve.err)" '^requests 10 launches 200 held 10 missed 0'
gpq queues -p $P --ndjson -o QID,PACKET_FORMAT,BACKLOG > /tmp/online
unlike "no packet of the online program is left" "$(cat /tmp/online)" '"backlog":[1-9]'
like "it has AQL queues" "$(cat /tmp/online)" '"packet_format":"aql"'
dispatches=$(sed -n 's/^done .*dispatch \([0-9]*\) .*/\1/p' $SOFT/0 | awk '{ n += $1 } END { print n + 0 }')
ok "the GPU has taken all launches ($dispatches dispatches)" test "$dispatches" -ge 200
moves 0 "the offline work runs afterwards"
like "gpq sched counts the holds" "$(gpq sched --status -n -r -o CLASS,HOLDS,MISSED)" 'offline ([1-9]|1[0-9]) 0'
exec 9>&-
wait $P
is "the program ends well" $? 0
kill -TERM $S
wait $S
is "and gpq sched" $? 0
reap $O
unload
kernel_is_content
finish
