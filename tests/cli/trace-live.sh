#!/bin/bash
# gpq trace --live where the kernel's side cannot be had, and the folder it makes: the living judge is tests/kernel/gpq/trace-live.sh.
# Nothing here touches the tracefs of the host: it runs as an ordinary user.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit
data=$top/tests/data
chmod 755 "$work" && mkdir -m 777 user
cp "$bin/gpq" own && cp "$data/amdlog/rocm70.log" . && chmod 644 rocm70.log # where another user may read them
as_user() {
	if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi
}
in_tmp() { find /tmp -maxdepth 1 -user 65534 -name 'gpq-trace-*'; }
before=$(in_tmp; echo) # what others left there is none of this test
# In another PID namespace than the host's, such as a package's build has, that is said first.
away=""
[ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] || away="gpq: trace: PIDs are the host's, and this is another PID namespace: \
names of processes are not known; run gpq on the host
"
none="${away}gpq: trace: --live: tracefs is root's; run as root"
host() { # is NAME GOT WANTED: of what needs the host's PIDs
	if [ -z "$away" ]; then "$@"; else pass "$2 # skip in another PID namespace"; fi
}

is "without root: named" "$(as_user ./own trace --live 2>&1; echo $?)" "$none
4"
is "a folder is not left" "$(as_user ./own trace --live --save user/f 2>&1; ls user)" "$none"
cat >work.sh <<'E'
echo "level $AMD_LOG_LEVEL"
cp "$1" "$AMD_LOG_LEVEL_FILE"_$$
exit "$2"
E
as_user ./own trace --live --save user/f --by process -rno PID,DISPATCHES -- sh work.sh rocm70.log 5 >out 2>err
is "a command runs with its log alone, its status is gpq's" "$?" 5
is "what it writes goes to standard error, what is missing is said" "$(cat err)" "$none
gpq: trace: without the kernel's side; the log of sh is there
level 4"
is "the report is that of the log" "$(cat out)" "$(gpq trace --by process -rno PID,DISPATCHES "$data/amdlog/rocm70.log")"
is "the folder again" "$(gpq trace --by process -rno PID,DISPATCHES user/f)" "$(cat out)"
is "its files" "$(find user/f -type f | sed 's/_[0-9]*$/_PID/')" "user/f/log_PID"
is "done in part" "$(as_user ./own trace --live -q -- sh work.sh rocm70.log 0 >out 2>err; echo $?) $(head -n 1 out)" "3 Errors"
is "a level of one's own" "$(AMD_LOG_LEVEL=5 as_user ./own trace --live -- sh work.sh rocm70.log 0 2>&1 >/dev/null | grep level; echo "${PIPESTATUS[0]}")" "level 5
3"
is "no log" "$(as_user ./own trace --live -- true 2>&1; echo $?)" "$none
gpq: trace: without the kernel's side; the log of true is there
gpq: trace: true wrote no log; is it a HIP program?
1"
is "a signal ends it" "$(as_user ./own trace --live -q -- sh -c 'kill -KILL $$' >/dev/null 2>&1; echo $?)" 137
is "no such command" "$(as_user ./own trace --live -q -- /nonexistent 2>&1 | tail -n 1; echo "${PIPESTATUS[0]}")" \
	"gpq: trace: /nonexistent: No such file or directory
127"
is "nothing is left in /tmp, the log is where it was asked for" "$(in_tmp | grep -vxF "$before"; find user/f -type f | wc -l)" 1

# Container runtimes whose programs have the variables of their options alone.
mkdir -m 755 fake && cat >fake/docker <<'E'
#!/bin/bash
vars=() verb=$1; shift
while [[ $1 == -* ]]; do
	case $1 in
	-e | --env) vars+=("$2"); shift 2 ;;
	-c) shift 2 ;;
	*) shift ;;
	esac
done
echo "$verb in $1" >&2; shift
[ "$1" = -- ] && shift
exec env -i PATH="$PATH" "${vars[@]}" "$@"
E
mkdir -m 755 none && ln -s /bin/sh none/sh
printf '#!/bin/sh\nexec "$@"\n' >fake/sudo
for f in podman nerdctl kubectl; do cp fake/docker fake/$f; done
chmod 755 fake/*
# shellcheck disable=SC2016
printf '%s\n' 'echo "level $AMD_LOG_LEVEL file $AMD_LOG_LEVEL_FILE"' '[ -z "$AMD_LOG_LEVEL" ] || grep "^:" "$1" >&2' 'printf "no end"; exit "$2"' >inside.sh
chmod 644 inside.sh
contained() { # OPTIONS... -- COMMAND...: what the report says, the status, then what else is said, of two pipes, sorted
	PATH=$work/fake:$PATH as_user ./own trace --live --by process -rno PID,DISPATCHES "$@" 2>err
	echo "$?"
	grep -av '^gpq: trace: \(--live: tracefs\|PIDs are\|without\|cut\|no queue\|packets\|dispatches\)' err | LC_ALL=C sort
}
for command in "docker exec -i C" "podman run --rm C" "nerdctl exec C" "sudo docker exec C" "kubectl exec C --" "kubectl run C" "kubectl exec -c A C --"; do
	# shellcheck disable=SC2086
	is "in a container: $command" "$(contained -- $command sh inside.sh rocm70.log 5 | grep -v ' in C$')" "4711 6
8022 1
5
level 4 file 
no end"
done
host is "in the container that is named" "$(contained --container C1 -- sh inside.sh rocm70.log 0 | tail -n 3)" "exec in C1
level 4 file 
no end"
is "a level of one's own, in a container" "$(AMD_LOG_LEVEL=5 contained -- docker exec C sh inside.sh rocm70.log 0 | grep level)" "level 5 file "
is "what comes out is kept" "$(contained --save user/inside -- docker exec C sh inside.sh rocm70.log 0 >/dev/null; grep -c '^:' user/inside/log)" "$(grep -c '^:' rocm70.log)"
is "what is written to standard output cuts no record" "$(contained --save user/cut -- docker exec C sh -c 'printf ":3:rocdevice.cpp " >&2; echo hello
	echo "           :468 : 0090001000 us: [pid:4711 tid:0x7f00000000aa] Initializing HSA stack." >&2' | grep '^hello'; grep '^:' user/cut/log)" "hello
:3:rocdevice.cpp            :468 : 0090001000 us: [pid:4711 tid:0x7f00000000aa] Initializing HSA stack."
is "no record in it" "$(contained --save user/empty -- docker exec C sh -c 'echo hello'; ls user)" "1
exec in C
gpq: trace: docker wrote no log; is it a HIP program, and does its container keep AMD_LOG_LEVEL?
hello
cut
f
inside"
is "a line without an end comes through" "$(contained --save user/long -- docker exec C sh -c "head -c 200000 /dev/zero | tr '\\0' Z >&2" >/dev/null; tr -cd Z <err | wc -c)" 200000
# shellcheck disable=SC2016
full=$(PATH=$work/fake:$PATH as_user sh -c 'trap "" XFSZ; ulimit -f 1; exec ./own trace --live -- docker exec C sh -c "head -c 3000000 /dev/zero | tr \"\\\\0\" y >&2"' 2>&1; echo "status $?")
is "the log's disk is full: said once" "$(grep -aoE 'File too large.*|^status .*' <<<"$full")" "File too large; what follows is not recorded
status 1"
for command in "docker start C" "kubectl exec C sh" "docker exec"; do
	# shellcheck disable=SC2086
	is "no way into the container: $command" "$(contained -- $command | sed 's/; type.*//')" "2
gpq: trace: --live: AMD_LOG_LEVEL=4 does not reach the program by this ${command%% *} command"
done
host is "no runtime to enter a container" "$(as_user env PATH="$work/none" ./own trace --live --container C1 -- true 2>&1 | grep neither; echo "${PIPESTATUS[0]}")" \
	"gpq: trace: --container: neither docker, podman nor nerdctl is there; say how: -- kubectl exec POD -- PROGRAM
127"

# Root of a namespace in which nothing is mounted.
bare() { unshare -Urm sh -c 'mount -t tmpfs none /sys/kernel && mount -t tmpfs none /sys/class && exec "$@"' - "$@"; }
if bare true 2>/dev/null; then
	is "neither tracefs nor KFD: one line" "$(bare gpq trace --live 2>&1; echo $?)" \
		"${away}gpq: trace: --live: there is no tracefs; as root: mount -t tracefs none /sys/kernel/tracing
6"
	# With KFD, and as nobody: a user of yet another namespace, to which none is mapped.
	is "KFD, but not root: events of all processes are not asked for" \
		"$(bare sh -c 'mkdir -p /sys/class/kfd/kfd && exec unshare -U ./own trace --live --for 10ms' 2>&1; echo $?)" "$none
4"
else
	pass "neither tracefs nor KFD: one line # skip no user namespaces"
fi

mkdir both
cp "$data/ftrace/kprobe-tgid-7.3.trace" both/kernel.trace && sed -i '1i # clock: mono' both/kernel.trace
cp "$data/ftrace/container.log" both/log_7
is "both sides of a folder" "$(gpq trace both)" \
	"$(gpq trace --ftrace "$data/ftrace/kprobe-tgid-7.3.trace" --ftrace-clock mono "$data/ftrace/container.log")"
is "the kernel's alone" "$(rm both/log_7; gpq trace -ro CALLS both)" "$(gpq trace --ftrace both/kernel.trace -ro CALLS)"
# Events beside it, as gpq events --ndjson writes them: those of the driver have its time, others are marked.
cat >both/events.ndjson <<'E'
{"record":"event","event":"queue-created","pid":167,"command":"mkqueue","gpu_id":21385,"qid":0,"clock":"polled","detail":null,"source":"polled","time_ns":6200000000,"ns_pid":7}
{"record":"event","event":"gpu-pre-reset","pid":null,"command":null,"gpu_id":21385,"qid":null,"clock":"read","detail":"ring hang","source":"driver","time_ns":8310000000,"ns_pid":null}
{"record":"event","event":"queue-eviction","pid":167,"command":"mkqueue","gpu_id":21385,"qid":null,"clock":"driver","detail":"userptr","source":"driver","time_ns":8185000500,"ns_pid":7}
{"record":"event","event":"queue-restore","pid":300,"command":"other\u001b","gpu_id":21385,"qid":null,"clock":"driver","detail":null,"source":"driver","time_ns":8200000000,"ns_pid":1}
{"record":"event","event":"no-time","pid":167}
nonsense
E
cp "$data/ftrace/container.log" both/log_7
events() { gpq trace -q --list --filter 'SOURCE =~ "^(driver|polled)$"' "$@" both; }
is "events" "$(events -rno TIME_US,SOURCE,PID,LOG_PID,COMMAND,KIND,NAME,GPU,QID,ARGS,CLOCK)" \
	'6200000 polled 167 7 mkqueue event queue-created 21385 0 clock=polled polled
8185000 driver 167 7 mkqueue event queue-eviction 21385 - userptr driver
8200000 driver 300 - other\x1b event queue-restore 21385 - - driver
8310000 driver - - - event gpu-pre-reset 21385 - clock=read\x20ring\x20hang read'
is "are between the records of their time" "$(gpq trace -q --list --since 8184800us --until 8185100us -rno SOURCE,NAME both)" "kernel kfd_ioctl_set_debug_trap
driver queue-eviction
kernel suspend_queues"
is "a hold behind the return with which it begins" "$(gpq trace -q --list --since 8188804us --until 8188804us -rno SOURCE,NAME both)" "kernel suspend_queues
gpq dbg"
is "of a process of the log" "$(events -p 7 -rno NAME)" "queue-created
queue-eviction"
is "what is none is told" "$(gpq trace -J both | jq -c .notes)" '["2 lines of the events'"'"' file are no events"]'
gpq trace -q --perfetto p.json both >/dev/null
is "holds and events are drawn" "$(jq -r '.traceEvents[] | select(.cat == "hold" or .cat == "event") | [.ts, .dur // "-", .name, .pid - 9000000, .args.clock // "-"] | join(" ")' p.json | sort)" \
	"6200000 - queue-created 0 polled
8185000.5 - queue-eviction 0 driver
8188804 104766 held by dbg 169 0 -
8200000 - queue-restore 2 driver
8310000 - gpu-pre-reset -2 read"
is "strictly" "$("$top/tests/cli/check-traceevents" p.json; echo $?)" 0
# Each event of a small one. A hold whose end is not seen lasts to the last record; a call that does not return is a mark.
mkdir each
k() { printf '%16s-%-7d (%7d) [%03d] ..... %5d.%06d: %s\n' "$@" >>each/kernel.trace; }
echo '# clock: mono' >each/kernel.trace
k dbg 9 9 0 5 100 'p: (kfd_ioctl_set_debug_trap+0x0/0x9 [amdgpu]) pid=7 op=6'
k dbg 9 9 0 5 200 'p: (suspend_queues+0x0/0x9 [amdgpu]) count=2 grace=0 queue=0'
k dbg 9 9 0 5 700 'r: (kfd_ioctl+0x1cc/0x5c0 [amdgpu] <- suspend_queues) ret=2'
k dbg 9 9 0 5 800 'r: (kfd_ioctl+0x1cc/0x5c0 [amdgpu] <- kfd_ioctl_set_debug_trap) ret=0'
k train 7 7 1 5 900 'amdgpu_bo_move: bo=0x1, from:2 to:3'
k train 8 7 1 5 1000 'p: (map_queues_cpsch+0x0/0x9 [amdgpu])'
echo 'CPU:1 [LOST 30 EVENTS]' >>each/kernel.trace
k train 7 7 1 5 2000 'amdgpu_bo_move: bo=0x2, from:3 to:2'
cat >each/events.ndjson <<'E'
{"record":"event","event":"queue-eviction","pid":7,"command":"train","gpu_id":21,"qid":3,"clock":"driver","detail":"userptr","source":"driver","time_ns":5000950500,"ns_pid":7}
{"record":"event","event":"gpu-reset","pid":null,"command":null,"gpu_id":22,"qid":null,"clock":"read","detail":null,"source":"driver","time_ns":5000990000,"ns_pid":null}
E
is "each record, by whom" "$(gpq trace -q --list -rno TIME_US,SOURCE,PID,TID,COMMAND,CPU,NAME,ARGS each)" '5000100 kernel 9 9 dbg 0 kfd_ioctl_set_debug_trap pid=7\x20op=6
5000200 kernel 9 9 dbg 0 suspend_queues count=2\x20grace=0\x20queue=0
5000700 kernel 9 9 dbg 0 suspend_queues ret=2
5000700 gpq 7 - train - dbg by=9\x20queues=2
5000800 kernel 9 9 dbg 0 kfd_ioctl_set_debug_trap ret=0
5000900 kernel 7 7 train 1 amdgpu_bo_move bo=0x1,\x20from:2\x20to:3
5000950 driver 7 - train - queue-eviction userptr
5000990 driver - - - - gpu-reset clock=read
5001000 kernel 7 8 train 1 map_queues_cpsch -
5002000 kernel - - - 1 - 30\x20events
5002000 kernel 7 7 train 1 amdgpu_bo_move bo=0x2,\x20from:3\x20to:2'
gpq trace -q --perfetto p.json each >/dev/null
is "each event" "$(jq -r '.traceEvents[] | [.ph, .pid, .tid, .ts, .dur, .cat, .name, (.args // {} | to_entries[] | "\(.key)=\(.value)")] | map(values) | join(" ")' p.json | grep -v '^M [78]0')" \
	"X 9000000 100000009 5000200 500 driver suspend_queues cpu=0 args=ret=2
X 9000000 100000009 5000100 700 driver kfd_ioctl_set_debug_trap cpu=0 args=ret=0
i 9000001 100000007 5000900 driver amdgpu_bo_move cpu=1 args=bo=0x1, from:2 to:3
i 9000001 100000008 5001000 driver map_queues_cpsch cpu=1
i 8999999 99999999 5002000 driver events were lost cpu=1 events=30
i 9000001 100000007 5002000 driver amdgpu_bo_move cpu=1 args=bo=0x2, from:3 to:2
X 9000001 1200000001 5000700 1300 hold held by dbg 9 queues=2 end=not seen
i 9000001 1300000001 5000950.5 event queue-eviction clock=driver source=driver detail=userptr gpu_id=21 qid=3
i 8999998 1299999999 5000990 event gpu-reset clock=read source=driver detail=null gpu_id=22 qid=null
M 9000001 1200000001 thread_name name=holds
M 9000001 1200000001 thread_sort_index sort_index=1
M 9000001 1300000001 thread_name name=events
M 9000001 1300000001 thread_sort_index sort_index=2
M 8999998 0 process_name name=driver: no process
M 8999998 0 process_sort_index sort_index=998
M 8999998 1299999999 thread_name name=events
M 8999998 1299999999 thread_sort_index sort_index=2
M 9000000 0 process_name name=driver: dbg 9
M 9000000 0 process_sort_index sort_index=1000
M 9000001 0 process_name name=driver: train 7
M 9000001 0 process_sort_index sort_index=1001
M 8999999 0 process_name name=lost events
M 8999999 0 process_sort_index sort_index=999
M 8999999 99999999 thread_name name=lost events
M 8999999 99999999 thread_sort_index sort_index=1
M 9000001 100000007 thread_name name=train thread 7
M 9000001 100000007 thread_sort_index sort_index=2
M 9000001 100000008 thread_name name=train thread 8
M 9000001 100000008 thread_sort_index sort_index=4
M 9000000 100000009 thread_name name=dbg thread 9
M 9000000 100000009 thread_sort_index sort_index=5"
rm both/kernel.trace
is "without the kernel's trace" "$(events -rno NAME -p 7) $(gpq trace -J both | jq -c '.notes[0]')" 'queue-created
queue-eviction "there is no trace of the kernel"'
# The clock of a trace is what it says, or what is said of it; that of events is CLOCK_MONOTONIC.
mkdir alone && cp both/events.ndjson alone
{ echo '# clock: global' && cat "$data/ftrace/kprobe-6.12.trace"; } >global
clocks() { # ARGUMENTS...: in JSON, and in a timeline
	gpq trace -qJ "$@" | jq -r .clock
	gpq trace -q --perfetto p.json "$@" >/dev/null
	jq -r '.otherData.clock' p.json
}
is "clocks" "$(clocks both; clocks alone; clocks --ftrace "$data/ftrace/kprobe-6.12.trace"; clocks --ftrace "$data/ftrace/kprobe-6.12.trace" --ftrace-clock boot
	clocks --ftrace global)" "$(printf '%s\n' mono 'CLOCK_MONOTONIC, microseconds' mono mono null 'not known' boot boot global global)"
rm both/events.ndjson both/log_7 && { echo "# clock: mono" && cat "$data/ftrace/kprobe-tgid-7.3.trace"; } >both/kernel.trace
sed -i '1a # task: 167 167 7' both/kernel.trace && sed 's/7ffff7fe7000/7ffff7fe8000/' "$data/ftrace/container.log" >both/log_7
is "a process is found by its number in its namespace" "$(gpq trace -J both | jq -c '.processes[0] | [.pid, .kernel_pid, .matched]')" '[7,167,"namespace"]'
: >both/kernel.trace && echo "# clock: mono" >both/kernel.trace && rm both/log_7
is "an empty record" "$(gpq trace -J both | jq -c '[.clock, .notes, .functions]')" \
	'["mono",["the trace is empty: nothing of what was traced happened"],[]]'

# shellcheck disable=SC2086
usage() { is "usage: $1" "$(gpq trace $1 2>&1 | cut -d: -f3-; echo "${PIPESTATUS[0]}")" " $2
2"; }
usage "--cleanup" "--cleanup goes with --live; say --live too"
usage "--save x $data/amdlog/rocm70.log" "--save goes with --live; say --live too"
usage "--for 1 x" "--for goes with --live; say --live too"
usage "--comm x $data/amdlog/rocm70.log" "--comm goes with --live; say --live too"
usage "--gpu 0 both" "--gpu goes with --live; say --live too"
usage "--live --tree" "--tree says how to read -p; add -p PID"
usage "--live --cleanup -p 1" "--cleanup records nothing; say --live --cleanup alone"
usage "--live x" "x: --live reads no log; a command goes behind --"
usage "--live --cleanup -- true" "--cleanup records nothing; say --live --cleanup alone"
usage "--live --ftrace x" "--live and --ftrace exclude each other; choose one"
usage "--live --sysroot $top/tests/hosts/gfx90a-k6.12" "--live is about the running host; leave out --sysroot"
host is "no such process" "$(as_user ./own trace --live -p 4194304 2>&1; echo $?)" "gpq: trace: pid 4194304: no such process; without -p those of all are shown
5"
finish
