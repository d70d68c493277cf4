# gpq and a real HIP program in a container of a real Podman, with a PID namespace of its own: --live into it, its name, the host's
# PIDs, and a trace of the host joined with a log from inside. Judges: Podman's ids, NSpid in /proc, sysfs, the program's count, and
# the same trace by the log's clock.
# shellcheck shell=dash disable=SC1091,SC2012,SC2016,SC2086
. /t/lib.sh
. /t/hip/hip.inc

T=/sys/kernel/tracing
if ! command -v podman > /dev/null || [ ! -e $T/kprobe_events ]; then
	skip "a real HIP program in a container" "Podman's packages cannot be had, or no tracefs with kprobes"
	finish
	exit
fi
# Code that one of QEMU's processors changes (probes, control groups) may reach another half changed.
echo 0 > /sys/devices/system/cpu/cpu1/online
load_hip

# An image without a file: programs and libraries are the root's. The kernel has no overlay loaded, so that Podman copies (vfs).
mkdir -p /etc/containers /tmp/box /tmp/image/usr /tmp/image/opt /tmp/image/tmp
for d in bin lib lib64; do ln -s usr/$d /tmp/image/$d; done
python3 -c 'import tarfile; t = tarfile.open("/tmp/image.tar", "w"); t.add("/tmp/image", ".")'
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n' > /etc/containers/storage.conf
printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n' > /etc/containers/containers.conf
podman import -q /tmp/image.tar hip > /dev/null
contain() { # NAME [OPTIONS...]: the container's id
	podman run -d --name "$@" --network=none --device /dev/kfd --device /dev/dri -v /usr:/usr:ro -v /opt:/opt:ro -v /tmp/box:/box \
		-e HSA_ENABLE_SDMA=0 hip sleep 10000
}
ID=$(contain trainer)
HELPER=$(contain helper --rm) # which Podman has in another list
like "Podman runs two containers" "$ID $HELPER" '^[0-9a-f]{64} [0-9a-f]{64}$'

on() { grep -qs 1 $T/instances/gpq-*/events/gpq_*/enable; } # gpq's probes are
rows() { gpq trace -q --list -rno "$2" --filter "$1" $3; } # FILTER COLUMNS FOLDER
table() { # TITLE COLUMN,...: of a report
	awk -v title="$1" -v want="$2" '!NF { of = 0 }
		of == 2 { n = split(want, w, ","); for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }
		of == 1 { for (i = 1; i <= NF; i++) at[$i] = i; of = 2 }
		index($0, title) == 1 { of = 1 }'
}
processes() { table "Processes of the log" PID,KERNEL_PID,COMMAND,MATCHED; }
inner() { sed -n 's/^pid //p' /tmp/box/$1.truth; } # PREFIX: what the program says is its pid
launched() { within 240 sh -c "[ -e /tmp/box/$1.truth ] || [ ! -d /proc/$2 ]"; } # PREFIX CLIENT
pids() { awk '/^NSpid:/ { print $2, $NF }' /proc/$1/status; }

# --live -- podman exec: the log comes back by standard error.
gpq trace --live -q --save /tmp/f -- podman exec trainer hipq -c $CODE -o /box/a -s 2 -n 100 -p rand -k k -k vector_add -H 300 \
	> /tmp/report 2> /tmp/err &
G=$!
launched a $G
P=$(pgrep -x hipq)
IN=$(inner a)
is "the program's pids, outside and inside" "$(pids $P)" "$P $IN"
ok "are two" test "$P" != "$IN"
touch /tmp/box/a.go
wait $G
is "podman exec: it ends well, and so does gpq" $? 0
note "$(cat /tmp/err)"
is "podman exec: what the program says comes through, its log does not" "$(grep -c '^hipq: 100 launches' /tmp/err) $(grep -c '^:' /tmp/err)" "1 0"
is "podman exec: the log's process is the host's" "$(processes < /tmp/report)" "$IN $P hipq queue"
is "podman exec: dispatches" "$(rows 'KIND == "dispatch" && NAME =~ "^(k|vector_add)$"' NAME /tmp/f | sort | uniq -c | awk '{ print $1, $2 }')" \
	"$(sed -n 's/^kernel . launches \([0-9]*\) name /\1 /p' /tmp/box/a.truth | sort -k 2)"
table "Queues of the log" KERNEL_PID,DISPATCHES < /tmp/report > /tmp/queues
is "podman exec: dispatches of its queues are those of the streams" "$(sort -n /tmp/queues)" \
	"$(sed -n "s/^stream .* launches \([0-9]*\) event.*/$P \1/p" /tmp/box/a.truth | sort -n)"
empty "podman exec: created before the first dispatch" "$(table "Queues of the log" CREATED_US,FIRST_US < /tmp/report | awk '$1 == "-" || $1 > $2')"

# --container NAME and a command: what others do meanwhile, outside and in another container, is not recorded.
gpq trace --live -q --save /tmp/g --container helper -- hipq -c $CODE -o /box/b -s 1 -n 50 -k k > /tmp/report 2> /tmp/err &
G=$!
within 60 on
mkqueue -n 1 -t 1 > /dev/null
podman exec trainer mkqueue -n 1 -t 1 > /dev/null
wait $G
is "--container and a command: it ends well" $? 0
processes < /tmp/report > /tmp/processes
like "--container and a command: the log's process is the host's" "$(cat /tmp/processes)" "^$(inner b) [0-9]+ hipq queue$"
is "--container and a command: it alone is recorded" "$(rows 'SOURCE == "kernel"' PID,COMMAND /tmp/g | sort -u)" "$(cut -d' ' -f2,3 /tmp/processes)"
is "--container and a command: dispatches" "$(rows 'KIND == "dispatch" && NAME == "k"' NAME /tmp/g | grep -c .)" 50

# --container ID alone.
gpq trace --live -q --save /tmp/h --container $ID > /tmp/report 2> /tmp/err &
G=$!
within 60 on
mkqueue -n 1 -t 1 > /dev/null
podman exec trainer sh -c 'mkqueue -n 2 -t 1 & wait $!; echo $! > /box/mkqueue' > /dev/null
kill -TERM $G
wait $G
is "--container alone: ended by a signal" $? 0
is "--container alone: queues made in it" "$(rows 'NAME == "kfd_ioctl_create_queue" && KIND == "return"' COMMAND,RETURNED /tmp/h | xargs)" "mkqueue 0 mkqueue 0"
is "--container alone: by one process" "$(rows 'NAME == "kfd_ioctl_create_queue"' PID /tmp/h | sort -u | grep -c .)" 1
is "nothing is left in tracefs" "$(ls $T/instances) $(cat $T/kprobe_events)" " "

# A trace of the host by hand: of a clock that the log does not have, with the host's pids. The same by the log's clock is the judge.
mkdir $T/instances/mono
echo mono > $T/instances/mono/trace_clock
echo local > $T/trace_clock
for t in $T/instances/mono $T; do
	echo 'kfd_*' > $t/set_ftrace_filter
	echo function > $t/current_tracer
done
podman exec -e AMD_LOG_LEVEL=4 -e AMD_LOG_LEVEL_FILE=/box/amd trainer hipq -c $CODE -o /box/c -s 3 -n 100 -k k -H 300 > /tmp/out 2>&1 &
E=$!
launched c $E
P=$(pgrep -x hipq)
IN=$(inner c)
is "the next program's pids" "$(pids $P)" "$P $IN"
mkqueue -n 2 -t 1 > /dev/null # creates queues, too
cat $T/trace > /tmp/trace
cat $T/instances/mono/trace > /tmp/mono
for t in $T/instances/mono $T; do
	echo nop > $t/current_tracer
	echo > $t/set_ftrace_filter
done
rmdir $T/instances/mono

# The program waits meanwhile: it is found by its container.
N=$(ls $KFD/proc/$P/queues | wc -l)
SHORT=$(echo $ID | cut -c1-12)
for c in trainer $ID $SHORT; do
	is "gpq queues --container $c" "$(gpq queues --container $c -rno PID,NSPID,COMMAND,CONTAINER,CONTAINER_ID,RUNTIME,CONTAINER_NAME | sort | uniq -c | xargs)" \
		"$N $P $IN hipq $SHORT $ID podman trainer"
done
is "gpq queues --ns-pid" "$(gpq queues -p $IN --ns-pid --container trainer -rno PID,QID | sort -u | wc -l)" "$N"
status_is "gpq queues of a container without a queue" 5 gpq queues --container helper
is "gpq ps" "$(gpq ps -rno PID,COMMAND,CONTAINER,CONTAINER_NAME,COMPUTE)" "$P hipq $SHORT trainer $N"
is "gpq why --container" "$(gpq why --container trainer -rno PID,COMMAND,STATE | sort | uniq -c | xargs)" "$N $P hipq idle"
inside=$(podman exec trainer sh -c 'gpq queues -rno PID,COMMAND; gpq why --attach -p '$IN' -rno PID,COMMAND,STATE' 2> /tmp/err)
is "inside: the host's pid and nothing of the process; by --attach its own" "$(echo "$inside" | sort | uniq -c | awk '{ print $1, $2, $3, $4 }')" \
	"$(printf '%s\n' "$N $P - " "$N $IN hipq idle" | sort -k 2)"
like "inside: why is told" "$(cat /tmp/err)" "KFD has PIDs of the host, and /proc those of a container; run gpq on the host"

# A server in one container tells of its work by a socket in a bound folder: what the other runs is held on the host meanwhile.
off() { gpq queues -p $P -rno STATE | grep -cx suspended; }
gpq sched --offline container=trainer --hold-idle --max-hold 1m --socket /tmp/box/socket > /dev/null 2> /tmp/err &
G=$!
within 60 sh -c "[ \"\$(gpq sched --status --socket /tmp/box/socket --table members -rno PID,STATE)\" = '$P runs' ]" || fail "gpq sched" "$(cat /tmp/err)"
is "gpq sched: nothing is held before" "$(off)" 0
podman exec helper hint /box/socket begin > /tmp/hinted 2>&1 &
within 60 test -s /tmp/hinted
like "a hint from a container: it is answered" "$(cat /tmp/hinted)" '^ok off=1 missed=0 '
is "a hint from a container: the other one's queues are off" "$(off)" "$N"
like "a hint from a container: by the host's pid" "$(gpq sched --explain $P --socket /tmp/box/socket)" "held for .*hints of pid $(pgrep -x hint)[ )]"
pkill -x hint
within 60 sh -c "! gpq queues -p $P -rno STATE | grep -qx suspended"
is "its end: they run" "$(off)" 0
command kill -TERM $G
wait $G
is "gpq sched ends: $(grep -v ' so far' /tmp/err)" $? 0
touch /tmp/box/c.go
wait $E
is "the next program ends well" $? 0

# With queues of two processes in the trace the times must tell which it is; here, where they mean nothing, they may not.
LOG=/tmp/box/amd_$IN
empty "the join: never the wrong process" "$(gpq trace -q --ftrace /tmp/trace $LOG | processes | cut -d' ' -f2 | grep -vxe - -e $P)"
grep -v ' mkqueue-' /tmp/trace > /tmp/alone
gpq trace --ftrace /tmp/alone $LOG > /tmp/report 2> /tmp/err
is "the join: the process" "$(processes < /tmp/report)" "$IN $P hipq guess"
like "the join: it is said why" "$(cat /tmp/err)" "gpq: trace: $IN is $P \(guess: the only process that creates queues; offset [-+][0-9.]+ms\)"
# Times in us. A line of the log belongs to the last call before it, by the log's own clock. gpq must find one of these pairs' offsets
# if they are even, and more so than if the lines belonged to earlier calls: the emulator's speed decides.
calls() { sed -n "s/^ *hipq-$P .* \([0-9]*\)\.\([0-9]*\): kfd_ioctl_create_queue <-.*/\1\2/p" $1; }
calls /tmp/mono > /tmp/calls.mono
calls /tmp/alone > /tmp/calls
sed -n 's/^:[^:]*:[^:]*:[^:]*: *0*\([0-9]*\) us: .*\] \([Cc]reated hardware queue\|Created SWq\).*/\1/p' $LOG > /tmp/created
ok "the join: the log's creations are fewer than the calls" test 1 -lt "$(wc -l < /tmp/created)" -a "$(wc -l < /tmp/created)" -le "$(wc -l < /tmp/calls)"
is "the join: both clocks saw the same calls" "$(wc -l < /tmp/calls.mono)" "$(wc -l < /tmp/calls)"
awk 'FILENAME == "/tmp/calls.mono" { mono[++m] = $1; next } FILENAME == "/tmp/calls" { call[++n] = $1; next } { line[++l] = $1 }
	function spread(from, i, low, high, d) {
		low = 1e15
		high = -1e15
		for (i = 1; i <= l; i++) {
			d = line[i] - call[from + i]
			if (d < low) low = d
			if (d > high) high = d
		}
		return high - low
	}
	END {
		for (i = 1; i <= l; i++)
			for (j = 1; j <= n; j++)
				if (mono[j] <= line[i]) of[i] = j
		for (i = 1; i <= l; i++) clear += of[i] == of[1] + i - 1
		right = spread(of[1] - 1)
		clear = clear == l && right < 320000
		for (from = 0; from + l <= n; from++)
			if (from != of[1] - 1) clear = clear && spread(from) > right
		print clear ? "clear" : "unclear", right
		for (i = 1; i <= l; i++) print line[i] - call[of[i]]
	}' /tmp/calls.mono /tmp/calls /tmp/created > /tmp/offsets
note "$(cat /tmp/offsets)"
offset=$(gpq trace -qJ --ftrace /tmp/alone $LOG | sed -n 's/.*"offset_ns": *\(-*[0-9]*\)000,.*/\1/p')
if grep -q '^clear' /tmp/offsets; then
	ok "the join: the offset is of a call and its line" grep -qxe "$offset" /tmp/offsets
else
	skip "the join: the offset is of a call and its line" "the emulator was too uneven"
fi
# By hand, so that the last call is at its time by the log's clock.
by=$(($(tail -n 1 /tmp/calls.mono) - $(tail -n 1 /tmp/calls)))
gpq trace --ftrace /tmp/trace --pid-map $IN=$P --offset ${by}us $LOG > /tmp/report 2> /tmp/err
is "by hand: the process" "$(processes < /tmp/report)" "$IN $P hipq given"
unlike "by hand: nothing is guessed" "$(cat /tmp/err)" guess
is "by hand: the last call's time" "$(gpq trace -q --list --ftrace /tmp/trace --pid-map $IN=$P --offset ${by}us -p $IN -rno TIME_US \
	--filter 'NAME == "kfd_ioctl_create_queue"' $LOG | tail -n 1)" "$(tail -n 1 /tmp/calls.mono)"

podman rm -f -t 0 trainer helper > /dev/null
echo 1 > /sys/devices/system/cpu/cpu1/online
unload
kernel_is_content
finish
