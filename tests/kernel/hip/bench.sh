# gpq bench preempt on a real HIP program: many cycles, and it still does all of its work.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip
hip_start b -s 2 -n 10000 -u 200 -k k -H 60
gpq bench preempt -p $P --cycles 40 --hold 20ms --gap 20ms --samples /tmp/raw > /tmp/out 2> /tmp/err
is "bench: status" $? 0
is "no queue moved while it was held" "$(grep -c '"held_packets":0,' /tmp/raw)" 43
ok "nobody traces the program" grep -q '^TracerPid:[^0-9]*0$' /proc/$P/status
hip_done b
is "with the right number of launches" "$(grep -o '10000 launches' /tmp/b.out)" "10000 launches"
hip_end b
kernel_is_content
unload
finish
