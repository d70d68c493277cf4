# gpq sched --share 80:20 beside online work that never ends: what the workers get.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/cost/sched.inc

sched_eight --offline pid=${workers#,} --share 80:20
t=$(cpu_ticks)
hint $SOCKET ${EACH}000 0 0 2 > $SAID
t=$(($(cpu_ticks) - t))
note "$(cat $SAID)
$(gpq sched --status --output-all)"
for ran in $(said ran); do between "80:20, of each half minute it ran, per cent" "$ran" 18 22; done
between "processor time of gpq sched, per cent of a core" "$(awk -v t=$t -v s=$EACH 'BEGIN { printf "%.2f", t / s }')" 0 3
end_sched "share"

reap $(echo ${workers#,} | tr , ' ')
unload
kernel_is_content
finish
