# The kit for real GPUs (tests/gpu/check-gpu) on a software GPU: all of it passes, also for a user with ptrace_scope 1 and in a PID
# namespace; its archive is there when a preemption hangs; and where gpq or the program lies about queues that run, it fails.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh

mkdir -p /run /tmp/out /tmp/hung
kit() { # ARGUMENTS...
	LIMIT=600 bash /t/check-gpu -y -o /tmp/out "$@" < /dev/null # beside other VMs a hundred cycles take minutes
}

load gfx942 || { finish; exit; }
status_is "nothing is done without a terminal and -y" 2 bash /t/check-gpu -o /tmp/out
like "and it says so" "$OUT" "suspends, resumes and kills those.*nothing was done"
target -n 1 # somebody else's
other=$P
status_is "the whole kit" 0 kit -n 40
empty "no check failed" "$(echo "$OUT" | grep -A 9 '^not ok')"
like "what cannot be tried is said" "$OUT" "log # SKIP not possible here: HIP: no hipq.*computed # SKIP not.*waves # SKIP not"
like "it tells of the other process" "$OUT" "processes with queues there now: 1"
moves 0 "somebody else's, all the while"
is "which was never traced" "$(awk '/^TracerPid/ { print $2 }' /proc/$other/status)" 0
archive=$(echo /tmp/out/check-gpu-gfx942-*.tar.gz)
ok "it ends with an archive" tar -C /tmp -xzf $archive
dir=/tmp/$(basename $archive .tar.gz)
is "of these" "$(cd $dir && echo * gpu0/*)" "check.txt gpu0 gpus.json kernel.txt redacted.txt report.tap versions.txt gpu0/host gpu0/preempt.ndjson gpu0/preempt.txt"
is "with a line for each cycle" "$(wc -l < $dir/gpu0/preempt.ndjson)" 40
empty "which names no host, no boot and no serial number" "$(grep -rlsE "$(uname -n)|$(cat /proc/sys/kernel/random/boot_id)|$(gpq gpus -rno UNIQUE_ID)" $dir)"
status_is "the host can be read again" 0 gpq --sysroot $dir/gpu0/host queues -rno STATE
like "with what was suspended" "$OUT" suspended
like "the driver's lines are in it" "$(cat $dir/kernel.txt)" "amdgpu|kfd"
is "nothing of the kit is left" "$(ls $KFD/proc; ls -d /tmp/out/*.run 2> /dev/null)" "$other"
reap $other

# A user where only ancestors may trace: the kit's programs allow it.
as_kit_user() {
	chmod 666 /dev/kfd /dev/dri/renderD*
	echo 1 > /proc/sys/kernel/yama/ptrace_scope
	mkdir -m 777 -p /tmp/user
	status_is "a user with ptrace_scope 1: the kit" 0 su user -c 'bash /t/check-gpu -y -o /tmp/user -t "suspend priorities" < /dev/null'
	like "suspends" "$OUT" "ok [0-9]+ - suspend: gpq suspend .*ok [0-9]+ - suspend: its queues go on \\(resumed\\)"
	like "and skips what is for root" "$OUT" "priorities # SKIP"
	echo 0 > /proc/sys/kernel/yama/ptrace_scope
}
as_kit_user

# A container's PID namespace: what goes by PIDs of the host is skipped, the rest is tried.
status_is "in another PID namespace" 0 unshare -p -f --mount-proc bash /t/check-gpu -y -o /tmp/out -t "listed moves suspend"
like "PIDs are skipped, suspending is not" "$OUT" "listed # SKIP[^#]*: sysfs shows the host's PIDs.*ok [0-9]+ - moves: .*ok [0-9]+ - suspend: its queues stand still"

# A preemption that never comes, which resets the GPU: whatever the kit finds, its archive is there.
echo Y > /sys/module/amdgpu/parameters/preempt_hang
status_is "a scheduler that hangs: the kit fails" 1 env PATIENCE=5 LIMIT=30 bash /t/check-gpu -y -o /tmp/hung -t "suspend moves"
like "it says where" "$OUT" "not ok [0-9]+ - suspend: "
ok "its archive tells, with what the driver said" sh -c 'tar -xzOf /tmp/hung/check-gpu-*.tar.gz | grep -iE "amdgpu.*(preempt|reset)"'
echo N > /sys/module/amdgpu/parameters/preempt_hang
unload
load gfx942 || { finish; exit; }

# ---- liars, about queues that really run; of the other checks they are in tests/cli/check-gpu.sh, with HIP in hip/check-gpu.sh ----

cat > /tmp/liar <<- 'L'
	#!/bin/sh
	case $LIE:$1:$* in
	suspend:suspend:*-p*) ;;
	resume:resume:*) ;;
	cycles:bench:*) gpq bench preempt -p $4 --cycles 2 --warmup 0 --samples "${14}" ;;
	holder:suspend:*HOLDER*) gpq "$@" | sed 's/ .*/ 1/' ;;
	bench:bench:*) exit 3 ;;
	*) exec gpq "$@" ;;
	esac
L
cat > /tmp/lazy <<- 'L'
	#!/bin/sh
	exec mkqueue $(echo "$@" | sed 's/-c 20000/-c 19999/')
L
cat > /tmp/brief <<- 'L'
	#!/bin/sh
	exec mkqueue "$@" --exit 1
L
chmod +x /tmp/liar /tmp/lazy /tmp/brief

caught() { # LIE CHECK WORDS: the kit fails, in that check, by these words
	status_is "$1: the kit fails" 1 env LIE=$1 GPQ=/tmp/liar PATIENCE=2 MKQUEUE=${4:-mkqueue} bash /t/check-gpu -y -o /tmp/out -n 4 -t $2
	like "in this check" "$OUT" "not ok [0-9]+ - [a-z]*: $3"
}
# What the kit finds does not depend on the driver, so once is enough.
lies() {
	caught suspend one "its queues stand still \(the one that was named\)"
	caught resume one "its queues go on \(resumed\)"
	caught cycles cycles "so many were measured"
	caught holder holder "its queues go on \(the holder was killed\)"
	caught none results "all its packets are done" /tmp/lazy
	caught bench results "it is suspended on its way"
	caught none moves "(mkqueue -n 2 -s starts|its queues go on)" /tmp/brief
}
[ -z "$WHOLE" ] && ! driver_has contexts || lies
unload
kernel_is_content
finish
