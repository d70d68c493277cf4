# rocm-smi and amd-smi next to gpq: the same processes [kernel.peers].
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
hip_start p -s 2 -n 100 -k k -H 300
hip_done p
target -n 3
H=$(pgrep hipq)
rocm-smi --showpids > /tmp/smi 2>&1
for p in $H $P; do
	like "rocm-smi lists $p" "$(cat /tmp/smi)" "(^| )${p}[[:blank:]]"
	like "so does gpq queues" "$(gpq queues -r -n -o PID)" "(^| )$p "
done
like "amd-smi knows the GPU that gpq gpus shows" "$(amd-smi list 2>&1)" "$(gpq gpus -r -n -o BDF | tail -n 1)"
touch /tmp/p.go
reap $P $H
unload
kernel_is_content
finish
