# What gpq bench tells of suspend grows as much as the GPU takes longer, and no more: by a clock that counts instructions.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

load gfx942
target -q -n 2
for us in 0 1000 5000 20000; do
	echo $us > /sys/module/amdgpu/parameters/preempt_us
	echo "$((us * 1000)) $(gpq bench preempt -q -p $P --cycles 10 --warmup 2 --hold 2ms --gap 5ms -rn -o METRIC,P50 2> /tmp/err | sed -n 's/^suspend //p')"
done > /tmp/slope
slope=$(awk '{ n++; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2 } END { print int(1000 * (n * xy - x * y) / (n * xx - x * x)) }' /tmp/slope)
note "preempt_us in ns, median of suspend: $(tr '\n' ';' < /tmp/slope) slope $slope per mille"
ok "suspend grows as much as the delay put in (slope, per mille: 980 to 1100)" test $slope -ge 980 -a $slope -le 1100
moves 0 "after all that"
reap $P
unload
kernel_is_content
finish
