# gpq trace --live -- COMMAND with a real HIP program: its log and the driver's calls on one time line, joined by the rings that the
# runtime names in the one and gives to the other; a suspension of it meanwhile. Judges: the program's count, the order that must be.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

T=/sys/kernel/tracing
timeline() { gpq trace -q --list -rno "$2" --filter "$1" /tmp/f; } # FILTER COLUMNS
queues() { gpq trace -q /tmp/f | awk 'of && $1 == "PID" { for (i = 1; i <= NF; i++) at[$i] = i; next } of { print '"$1"' } /^Queues of the log/ { of = 1 }'; }

if [ ! -e $T/kprobe_events ] || [ ! -e /usr/lib/x86_64-linux-gnu/libtracefs.so.1 ]; then
	skip "the kernel's trace with a real HIP program" "no tracefs with kprobes, or no libtracefs"
	finish
	exit
fi
# Code that one of QEMU's processors changes may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load_hip
cat > /tmp/program <<- 'E'
	echo $$ > /tmp/pid
	exec hipq -c "$CODE" -o /tmp/l -s 4 -P -n 400 -p rand -k k -k vector_add -H 300
E
export CODE
gpq trace --live -q --save /tmp/f -- sh /tmp/program > /tmp/report 2> /tmp/err &
G=$!
within 240 sh -c '[ -e /tmp/l.truth ] || [ ! -d /proc/'$G' ]'
P=$(cat /tmp/pid)
ok "the program has made its launches" test -e /tmp/l.truth
gpq suspend -p $P > /tmp/suspended
gpq resume -p $P > /dev/null
touch /tmp/l.go
wait $G
is "it ends well, and so does gpq" "$?" 0
note "$(cat /tmp/err)"
launches=$(sed -n 's/^total_launches //p' /tmp/l.truth)
is "the log's dispatches are the program's launches" "$(timeline 'KIND == "dispatch" && NAME =~ "^(k|vector_add)"' KIND | grep -c .)" "$launches"
is "its process is found by its queues" "$(gpq trace -q /tmp/f | awk 'of && $1 == "PID" { next } of { print $1, $2, $4; exit } /^Processes of the log/ { of = 1 }')" "$P $P queue"
queues '$(at["HWQ"]), $(at["KERNEL_PID"]), $(at["CREATED_US"]), $(at["FIRST_US"]), $(at["DISPATCHES"])' > /tmp/queues
ok "queues of the log" test -s /tmp/queues
empty "each is one of the driver's" "$(awk -v p=$P '$2 != p' /tmp/queues)"
empty "created before its first packet" "$(awk '$4 != "-" && $3 > $4' /tmp/queues)"
first=$(timeline 'SOURCE == "log" && KIND == "api"' TIME_US | head -n 1)
created=$(timeline "PID == $P && NAME == \"kfd_ioctl_create_queue\" && KIND == \"entry\"" TIME_US | tail -n 1)
launched=$(timeline 'KIND == "dispatch"' TIME_US | head -n 1)
held=$(timeline "KIND == \"hold-begin\" && PID == $P" TIME_US)
note "first call $first, last CREATE_QUEUE $created, first dispatch $launched, held $held"
ok "the first call of HIP is before its last CREATE_QUEUE" test "$first" -le "$created"
ok "the suspension is after the last dispatch" test "$held" -ge "$(timeline 'KIND == "dispatch"' TIME_US | tail -n 1)"
is "its target and what it suspended" "$(timeline 'SOURCE == "gpq" && KIND == "hold-begin"' PID,COMMAND,ARGS | sed 's/by=[0-9]*/by=N/')" \
	"$P hipq by=N\\x20queues=$(grep -c suspended /tmp/suspended)"
is "the breakdown has its last dispatch before" "$(gpq trace -q --breakdown 1 -rno TARGET,LOG_PID,LAST_US /tmp/f)" "$P $P $(timeline 'KIND == "dispatch"' TIME_US | tail -n 1)"
gpq trace -q --perfetto /tmp/f.json /tmp/f > /dev/null
if command -v python3 > /dev/null; then
	empty "the timeline is strictly right" "$(python3 -B /t/check-traceevents /tmp/f.json 2>&1 | head)"
else
	skip "the timeline is strictly right" "no python3 in this root"
fi
is "nothing is left in tracefs" "$(ls $T/instances) $(cat $T/kprobe_events)" " "
echo 1 > /sys/devices/system/cpu/cpu1/online
unload
kernel_is_content
finish
