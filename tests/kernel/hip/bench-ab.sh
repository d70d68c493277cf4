# The whole experiment with real HIP programs on both sides: latency from the log that the real runtime writes, throughput
# from the queues (packets take so long here that the log, which tells of launches, is seconds behind). The queues compete (capacity); ratios within the run are judged, and times here are no GPU's.
# shellcheck shell=dash disable=SC1091,SC2012,SC2016,SC2086
. /t/lib.sh
. /t/hip/hip.inc

# Three minutes of two processors: the root with rocBLAS, which takes as long, leaves it to the other.
if ls /usr/lib/x86_64-linux-gnu/librocblas.so.0* > /dev/null 2>&1; then
	skip "the whole experiment" "the other root does it"
	finish
	exit
fi

# Starting HIP takes long in the emulator and costs the other program its processor. So packets take long, too: 40 ms, and
# offline work is always queued up.
load gfx90a capacity=25 capacity_items=16384 poll_us=300 || { finish; exit; }
mkdir -p /run
gpq bench ab --runs 1 --lead 4s --ready 180s --offline-ready 'start launching' --burst-on progress --online-log /tmp/on.log --raw /tmp/raw \
	--online "AMD_LOG_LEVEL=4 AMD_LOG_LEVEL_FILE=/tmp/on.log hipq -c $CODE -k k -n 12 -g 256 -y 3 -i 500" \
	--offline "hipq -c $CODE -k k -n 10000000 -g 16 -u 600" > /tmp/out 2> /tmp/err
is "two HIP programs: status" "$?:$(grep -v "not a GPU's" /tmp/err)" "0:"
note "$(grep -E '^(alone|shared|preempt|online median|offline loss) ' /tmp/out | grep -v ' online ')"
is "a latency for each of the four requests, in each mode" "$(awk '$1 == "MODE" && $3 == "N" { on = 1; next } on && NF == 0 { exit } on { print $3 }' /tmp/out | tr '\n' ' ')" "4 4 4 "
more_than_half() { awk '$1 == "shared" && $NF + 0 > 1.5 { ok = 1 } END { exit !ok }' /tmp/out; }
ok "shared, the offline work is in the way" more_than_half
is "preempting, online is within 10 % of alone" "$(awk '/^online median above alone/ { print $NF }' /tmp/out)" ok
is "offline loses no more than it was held for plus 5 points" "$(awk '/^offline loss beyond/ { print $NF }' /tmp/out)" ok
gpq bench report --html /tmp/page /tmp/raw > /tmp/md 2> /tmp/err
is "its report" "$?:$(cat /tmp/err):$(grep -c '<figure>' /tmp/page)" "0::1"
kernel_is_content
unload
finish
