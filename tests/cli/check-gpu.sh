#!/bin/bash
# tests/gpu/check-gpu without a GPU: tests/gpu/stand-in plays gpq and the programs, honestly or not. What is asked before it begins,
# that each check catches a liar, and that there is an archive whatever happens. Real queues are in the VM (tests/kernel/gpq/check-gpu.sh).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
cd "$work" || exit
mkdir bin held
mkfifo held/.nap
for p in gpq mkqueue gpq-holder; do ln -s "$top/tests/gpu/stand-in" bin/$p; done
# Of what is on the disk sync tells; a kernel that names processes; ROCm where only a variable says so.
printf '#!/bin/sh\necho "$*" >> %s/synced\n' "$work" >bin/sync
# shellcheck disable=SC2016
printf '#!/bin/sh\n%s\n' '[ -z "$DENIED" ] || { echo "dmesg: Operation not permitted" >&2; exit 1; }' 'echo "[1.5] amdgpu 0000:c0:00.0: amdgpu: Process my job pid 77 thread my job:cs0 pid 78"
echo "Kernel command line: amdgpu.cwsr_enable=1 root=UUID=1-2"; echo "usb serial 4711"' >bin/dmesg
printf '#!/bin/sh\necho "amdgpu: a ring hangs, in boot" "$@"\n' >bin/journalctl
mkdir -p else/where/.info && echo 7.1.0 >else/where/.info/version
# What the driver holds ends by no signal: so does this one.
mkdir stuck.bin
# shellcheck disable=SC2016
printf '#!/bin/bash\ncase $* in *"suspend -p"*) echo $$ >%s/stuck.pid; while :; do sleep 0.2; done ;; esac\nexec "${@:4}"\n' "$work" >stuck.bin/timeout
chmod +x bin/* stuck.bin/*
export PATH=$work/bin:$PATH HELD=$work/held SETTLE=0.15 ROCM_PATH=$work/else/where
unset HIPCODE HIPLIB GPQ MKQUEUE HIPQ SECOND PLAN LIE

kit() { # ARGUMENTS...: its last line and exit status
	"$top/tests/gpu/check-gpu" "$@" </dev/null 2>&1 | tail -n 1
	echo "status ${PIPESTATUS[0]}"
}
run() { # NAME VARIABLE=VALUE... -- ARGUMENTS...: the kit in the folder NAME, its output in NAME.out, its archive unpacked in NAME
	local name=$1 vars=()
	shift
	while [ "$1" != -- ]; do vars+=("$1") && shift; done
	shift
	mkdir -p "$name"
	env "${vars[@]}" "$top/tests/gpu/check-gpu" -y -o "$name" "$@" </dev/null >"$name.out" 2>&1
	echo "status $?" >>"$name.out"
	unpack "$name"
}
unpack() { # NAME
	local t
	for t in "$1"/check-gpu-*.tar.gz; do [ ! -e "$t" ] || tar -C "$1" --strip-components=1 -xzf "$t"; done
}
says() { # NAME FILE ERE...: the file has such lines
	local e
	for e in "${@:3}"; do
		if grep -qE -- "$e" "$2"; then pass "$1: $e"; else fail "$1: $e" <"$2"; fi
	done
}
bad() { grep -cE '^not ok|Bail' "$1.out"; }

# ---- before it begins ------------------------------------------------------------------------------------------------------

is "without a terminal it takes -y" "$(kit)" \
	"check-gpu: nothing was done: without a terminal to ask on it takes -y (make check-gpu YES=1)
status 2"
# The answer comes after the question, and its writer stays: script ends the terminal with its input.
mkfifo answer
script -qec "$top/tests/gpu/check-gpu; echo status \$?" /dev/null <answer >asked 2>&1 &
script=$!
exec 9>answer
until grep -q Begin asked || ! kill -0 $script 2>/dev/null; do sleep 0.05; done
echo n >&9
wait $script
exec 9>&-
says "on a terminal it asks" asked 'suspends, resumes and kills those' 'No other process is touched.*1000 times' \
	'processes with queues there now: 0' 'a preemption does not come, the driver resets the GPU. All jobs' 'display on it' 'needs a reboot' \
	'Begin\? \[y/N\] n' 'nothing was done' 'status 2'
is "a GPU that is not there" "$(kit -y -g 7)" \
	"check-gpu: no GPU 7 here; gpq gpus lists them, gpq gpus --check says what is in the way
status 5"
is "a check that is not there" "$(kit -y -t 'listed x')" \
	"check-gpu: no check x; there are: $(sed -n 's/^ALL="\(.*\)"$/\1/p' "$top/tests/gpu/check-gpu")
status 2"
is "no number" "$(kit -n 1x | tail -n 1)" "status 2"
is "no folder for the archive" "$(kit -y -o nowhere)" "check-gpu: -o nowhere: no folder to write to
status 2"
is "no gpq" "$(GPQ=nothing kit -y)" "check-gpu: no nothing: run make first
status 5"
empty "nothing was begun" "$(find . -name 'check-gpu-*'; cat synced 2>/dev/null; ls held)"

# ---- runs, side by side: they wait most of their time ---------------------------------------------------------------------------

# LIE CHECK WORDS: with it that check says `not ok` of these words, and there is an archive.
lies=(
	"queue listed gpq queues lists what the program made"
	"after listed gpq queues after its end"
	"dies moves mkqueue -n 2 -s starts"
	"ends moves its queues go on"
	"suspend suspend its queues stand still"
	"freezes suspend its queues stand still"
	"dies one mkqueue -n 3 starts"
	"resume one its queues go on"
	"cycles cycles so many were measured"
	"bench results it is suspended on its way"
	"lost results all its packets are done"
	"suspend holder its queues stand still"
	"list gone gpq suspend --list has it"
	"silent gone gpq suspend --list has it"
	"resume turns its queues go on \(it, resumed\)"
	"level priorities gpq queues shows those of the queues"
	"silent exec gpq suspend --list has it"
	"snapshot archive a snapshot of the host"
)
mapfile -t lies < <(each 6 "${lies[@]}")
for i in "${!lies[@]}"; do
	read -r lie check _ <<<"${lies[i]}"
	run "lie$i" LIE="$lie" PATIENCE=1 -- -t "$check" -n 5 &
done
run honest HOME=/data/joe -- -n 5 -t "suspend cycles archive" &
run yama PLAN='ptrace-scope no suspend\x20bench 1:\x20only\x20children
debugfs no hqd not\x20mounted' -- -t "suspend priorities" &
run nohws DENIED=1 PLAN='sched-policy no hqd\x20suspend 2:\x20no\x20scheduler
pid-namespace no packets in\x20a\x20container' -- -t "listed moves suspend" &
run all SECOND=1 -- -g all -t "moves archive" &
run stuck PATH="$work/stuck.bin:$PATH" LIMIT=1 -- -t "gone moves" &
run hangs LIE=hangs LIMIT=1 -- -t "suspend moves" &

begin() { # NAME LIMIT: a run in the background, in KIT; returns when its gpq suspend hangs
	mkdir "$1"
	LIE=hangs LIMIT=$2 setsid "$top/tests/gpu/check-gpu" -y -o "$1" -t "moves suspend" </dev/null >"$1.out" 2>&1 &
	KIT=$!
	until grep -qs "^[0-9]*	$2	.*gpq suspend" "$1"/*.run/now || ! kill -0 $KIT 2>/dev/null; do sleep 0.1; done
}
waits() { # COMMAND...
	for _ in {1..300}; do ! "$@" >/dev/null 2>&1 || return; sleep 0.1; done
	return 1
}
begin ended 20
kill -TERM $KIT
begin killed 5
kill -STOP -- -$KIT
waits eval 'grep "nothing has come back" killed/*.run/*/hangs.txt'
{ kill -KILL -- -$KIT && wait $KIT; } 2>/dev/null
waits eval 'tar -xOzf killed/*.gz --wildcards "*/hangs.txt" | grep ended'
unpack killed
rm -f killed/*.gz
sed -i 's/[^ ]*$/01234567-89ab-cdef-0123-456789abcdef/' killed/*.run/state
mkdir -p again
mv killed/*.run again
run again -- -t moves
wait
unpack ended

for i in "${!lies[@]}"; do
	read -r lie check words <<<"${lies[i]}"
	says "a liar, $lie" "lie$i.out" "^not ok [0-9]+ - $check: $words" "^# lie$i/check-gpu-.*gz$" "^status 1"
	ok "and the report is in the archive" grep -q "^not ok" "lie$i/report.tap"
done
is "an honest one fails in nothing" "$(bad honest)" 0
says "it ends with an archive" honest.out '^1\.\.[0-9]+$' '0 failed' '^# honest/check-gpu-gfx942-.*gz$' '^status 0'
is "of these" "$(cd honest && printf '%s ' * gpu0/*)" \
	"$(cd honest && echo check-gpu-*.gz) check.txt gpu0 gpus.json kernel.txt redacted.txt report.tap versions.txt gpu0/host gpu0/preempt.ndjson gpu0/preempt.txt "
is "host name, boot and serial are replaced where they stand, and nothing else is" "$(sort -u honest/gpu0/preempt.ndjson)" \
	'{"run":"host-1795947950176-596","host":"host","boot_id":null,"gpu":"gpu 0 of host gpu","result":"ok","held_packets":0,"unique_id":null}'
is "so are they in the tables, with users in paths" "$(cat honest/gpu0/preempt.txt)" \
	"run:     host-1795947950176-596
host:    host
boot id: -
5 cycles, in /home/user/gpq and ~/gpq"
is "and programs in the kernel's log, of which no other line is there" "$(cat honest/kernel.txt)" \
	"[1.5] amdgpu 0000:c0:00.0: amdgpu: Process program pid 77 thread program pid 78"
is "and serial and boot in the snapshot" "$(cd honest/gpu0/host && cat sys/class/kfd/kfd/topology/nodes/1/properties proc/sys/kernel/random/boot_id)" \
	"unique_id 11111
location_id 768
00000000-0000-0000-0000-000000000000"
is "the user of this host is in no header" "$(tar -tvzf honest/*.gz | awk '{ print $2 }' | sort -u)" 0/0
is "what is replaced, and what is kept, is in it and shown before it is sent" "$(sed -n 's/^# \(replaced\|kept\): /\1: /p' honest.out)" "$(cat honest/redacted.txt)"
says "field by field" honest/redacted.txt '^replaced: host name; by: "host"' '^replaced: boot id; by: null' 'unique_id' 'user names' '^kept: .*PCI addresses'
says "ROCm is found" honest/versions.txt "^ROCm 7.1.0 in $work/else/where$" "^gpq 0.0"
is "each line is on the disk" "$(grep -c 'honest/.*report.tap$' synced)" "$(grep -vc '^# [^G0-9]' honest/report.tap)"
is "and each step, before it begins" "$(grep -c 'honest/.*gfx942-[0-9-]*/running.txt ' synced)" 4
is "ptrace_scope 1 forbids nothing: the programs allow it" "$(bad yama) $(grep SKIP yama.out)" \
	"0 ok 9 - priorities # SKIP not possible here: priorities are in debugfs: not mounted"
is "what gpq gpus --check says cannot be is skipped" "$(bad nohws)" 0
says "with the reason" nohws.out 'suspend . SKIP.*: sched-policy: 2: no scheduler' 'listed . SKIP.*: in a container' \
	'^ok .* moves: its queues go on' '^status 0'
says "also of the kernel's log" nohws/kernel.txt '^not readable here .*container.*dmesg: Operation not permitted$'
says "all GPUs, one after the other" all.out 'GPU 0 \(gfx942\), GPU 1 \(gfx90a\)' '^ok .* gpu0 moves: ' '^ok .* gpu1 moves: ' '^ok .* gpu1 archive: ' '^status 0'
ok "in one archive" test -e all/gpu0/host -a -e all/gpu1/host
says "a command that does not end" hangs.out '^not ok .* suspend: gpq suspend$' 'took longer than 1 s' '^ok .* moves: ' '^status 1'
kill -KILL "$(cat stuck.pid)"
says "one that the driver holds" stuck.out '^not ok .* gone: gpq suspend$' '^not ok .* moves: not tried, as the driver does not give back: .*gpq suspend -p' '^# stuck/check-gpu-.*gz$'
says "a signal" ended/report.tap 'Bail out! .*status 143, in the step: suspend on GPU 0' '^ok .* moves:'
says "a run that stands still" killed/hangs.txt "for [0-9]+ s nothing has come back from: gpq suspend.*step: suspend on GPU 0" "^process $KIT: .*check-gpu.*T\(stopped" \
	'check-gpu ended, before it had made its archive; step: suspend'
says "and is killed leaves an archive all the same" killed/report.tap '^ok .* moves:'
says "and which step it was in" killed/running.txt '^suspend on GPU 0'
says "the next run finds it" again.out 'an unfinished run was found, .*in the step: suspend on GPU 0' 'has been booted since' '^status 0'
says "and takes it along" again/unfinished-*/report.tap '^ok .* moves:'
says "with what the kernel said then" again/unfinished-*/kernel-then.txt 'a ring hangs, in boot -k -b 0123456789abcdef0123456789abcdef'
empty "nothing is left" "$(find . -name '*.run'; pgrep -fl "$work/bin")"
finish
