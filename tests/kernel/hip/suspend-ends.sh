# A real HIP program held in mid-run, while it starts (hsa_init) and while it ends (hsa_shut_down): it comes to its end
# with all launches done, also when its holder is killed at the worst moment.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

tracer() { sed -n 's/^TracerPid:[^0-9]*//p' /proc/$1/status; }
untraced() { [ "$(tracer $P)" = 0 ]; }
knows_kfd() { [ -d $KFD/proc/$P ]; }

run() { # NAME: the same program each time
	hip_start $1 -s 4 -P -n 4000 -u 500 -k k -H 170
}

begin() { # NAME: return as soon as the driver knows it
	rm -f /tmp/$1.*
	hipq -c $CODE -o /tmp/$1 -s 4 -P -n 400 -k k -H 170 > /tmp/$1.out 2> /tmp/$1.log &
	P=$!
	within 60 knows_kfd || fail "hipq opens the driver" "$(cat /tmp/$1.out /tmp/$1.log)"
}

load_hip
run free
hip_done free
ALL=$(dispatches)
hip_end free
unload
load_hip
run held
for _ in 1 2 3; do
	status_is "suspended in mid-run" 0 gpq suspend -p $P
	usleep 300000
	gpq resume -p $P > /dev/null
done
hip_done held
is "as many dispatches as without" "$(dispatches)" "$ALL"
status_is "suspended before its end" 0 gpq suspend -p $P
touch /tmp/held.go
usleep 2000000
gpq resume -p $P > /dev/null
wait $P
is "it ends well after resume" $? 0

begin start
status_is "suspended during its start" 0 gpq suspend -p $P
usleep 2000000
ok "it lives" kill -0 $P
status_is "resumed" 0 gpq resume -p $P
hip_done start
hip_end start

begin start2
gpq suspend -p $P > /dev/null
kill -9 "$(tracer $P)"
hip_done start2
gpq suspend -p $P > /dev/null
touch /tmp/start2.go
usleep 1000000
kill -9 "$(tracer $P)"
wait $P
is "its holder was killed at both ends: it ends well" $? 0
unload
kernel_is_content
finish
