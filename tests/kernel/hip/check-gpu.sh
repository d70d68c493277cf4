# The kit for real GPUs (tests/gpu/check-gpu) with HIP: the log is checked. That no kernel runs on a software GPU it finds out
# itself; with a hipq that says otherwise, the checks of results and waves fail, as they must where a wave is lost.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

mkdir -p /run /tmp/out
export HIPCODE=/opt/hip/count.gfx90a.co
kit() { # CHECKS
	LIMIT=600 bash /t/check-gpu -y -o /tmp/out -t "$1" < /dev/null # HIP takes a minute to start here, beside other VMs longer
}

cat > /tmp/pretend << 'L'
#!/bin/sh
# Kernels end at once here: the queue of the one of some seconds stays for as long, and the many come more slowly.
case "$*" in
*"-L 1000000"*) set -- "$@" -H 20 ;;
*"-n 3000"*) set -- "$@" -u 5000 ;;
esac
mkfifo /tmp/said.$$
awk -v lost=${LOST:-0} '$2 == "counted" { $3 = $5 - ($5 == 256 ? 0 : lost) } { print; fflush() }' < /tmp/said.$$ &
exec hipq "$@" > /tmp/said.$$
L
cat > /tmp/liar << 'L'
#!/bin/sh
case $1:$* in
trace:*kernel*) gpq "$@" | sed s/2000/1999/ ;;
*) exec gpq "$@" ;;
esac
L
chmod +x /tmp/pretend /tmp/liar

load gfx90a packet_rate=1000000 poll_us=100 || { finish; exit; }
status_is "the kit with HIP" 0 kit "log computed waves"
like "launches are counted" "$OUT" "ok [0-9]+ - log: gpq trace counts the launches"
like "rings are found" "$OUT" "ok [0-9]+ - log: 0x[0-9a-f]+ in the log is the ring of a queue"
is "no kernel runs here" "$(echo "$OUT" | grep -c 'SKIP.*no kernel runs on this GPU')" 2
status_is "without a runtime" 0 env HIPLIB=/nothing bash /t/check-gpu -y -o /tmp/out -t log
like "it says so" "$OUT" "log # SKIP not possible here: HIP: .*no HIP runtime"
status_is "without a compiler" 0 env HIPCODE= bash /t/check-gpu -y -o /tmp/out -t log
like "it says so, too" "$OUT" "log # SKIP not possible here: HIP: no compiler that knows gfx90a"

# What the kit finds does not depend on the driver, so once is enough.
liars() {
	export HIPQ=/tmp/pretend
	status_is "all is counted" 0 kit computed
	like "it is found" "$OUT" "ok [0-9]+ - computed: each work-item has counted itself once"
	export LOST=1 GPQ=/tmp/liar
	status_is "liars" 1 kit "log computed waves"
	like "a launch is not counted" "$OUT" "not ok [0-9]+ - log: gpq trace counts the launches"
	like "a work-item is lost" "$OUT" "not ok [0-9]+ - computed: each work-item has counted itself once"
	like "no wave is saved" "$OUT" "not ok [0-9]+ - waves: its waves are saved"
}
driver_has contexts || liars
empty "nothing of the kit is left" "$(ls $KFD/proc)"
unload
kernel_is_content
finish
