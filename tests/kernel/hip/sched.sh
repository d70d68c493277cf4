# gpq sched between real HIP programs: a server of four streams, which sends hints by the Python module, and a batch. Every packet
# that they launched is taken, every signal completes. (The software GPU executes no shader, so results are not judged here.)
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

PYTHON=$(command -v python3)
[ -n "$PYTHON" ] || { skip "the Python module with a real HIP program" "no python3 in this root"; finish; exit; }

load_hip
target -q -n 2 -R 500 -b 20
O=$P
hip_start batch -s 2 -P -n 100000000 -u 500 -k k
B=$P
sched --offline pid=$O,$B --max-hold 20s
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
taken=$(for r in $(rings $P | cut -d ' ' -f 2); do dispatches $r; done | awk '{ n += $1 } END { print n + 0 }')
ok "the GPU has taken all launches ($taken dispatches)" test "$taken" -ge 200
moves 0 "the offline work runs afterwards"
like "gpq sched counts the holds" "$(gpq sched --status -n -r -o CLASS,HOLDS,MISSED)" 'offline ([1-9]|1[0-9]) 0'
exec 9>&-
wait $P
is "the server ends well" $? 0
before=$(dispatches)
ok "the batch goes on" within 30 more_than $before
empty "and saw no error" "$(grep -i error /tmp/batch.out /tmp/batch.log)"
end_sched "HIP on both sides"
reap $O $B
unload
kernel_is_content
finish
