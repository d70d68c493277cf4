# The kit for real GPUs (tests/gpu/check-gpu) on a software GPU: all of it passes, and each of its checks fails where it must,
# because gpq or the program is replaced by one that lies.
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh

mkdir -p /run /tmp/out
kit() { # ARGUMENTS...
	sh /t/check-gpu -y -o /tmp/out "$@" < /dev/null
}

load gfx942 || { finish; exit; }
status_is "nothing is done without a terminal and -y" 2 sh /t/check-gpu -o /tmp/out
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
is "of these" "$(ls $dir | tr '\n' ' ')" "check.txt gpus.json host preempt.ndjson preempt.txt report.tap versions.txt "
is "with a line for each cycle" "$(wc -l < $dir/preempt.ndjson)" 40
empty "which names no host" "$(grep -rls "$(uname -n)" $dir)"
status_is "the host can be read again" 0 gpq --sysroot $dir/host queues -rno PID
is "nothing of the kit is left" "$(ls $KFD/proc)" "$other"
reap $other

# ---- liars -----------------------------------------------------------------------------------------------------------------

cat > /tmp/liar <<- 'L'
	#!/bin/sh
	case $LIE:$1:$* in
	queue:queues:*) gpq "$@" | sed 1d ;;
	suspend:suspend:*-p*) ;;
	resume:resume:*) ;;
	cycles:bench:*) gpq bench preempt -p $4 --cycles 2 --warmup 0 --samples "${14}" ;;
	holder:queues:*HOLDER*) echo 1 ;;
	gone:suspend:*--list*) read -r _ _ _ _ last < /proc/loadavg && seq $((last - 300)) $((last + 9)) ;;
	priorities:queues:*LEVEL*) gpq "$@" | sed s/high/low/ ;;
	snapshot:snapshot:*) echo no >&2 && exit 1 ;;
	*) exec gpq "$@" ;;
	esac
L
cat > /tmp/lazy <<- 'L'
	#!/bin/sh
	exec mkqueue $(echo "$@" | sed 's/-c 20000/-c 19999/')
L
chmod +x /tmp/liar /tmp/lazy

caught() { # LIE CHECK WORDS: the kit fails, in that check, by these words
	status_is "$1: the kit fails" 1 env LIE=$1 GPQ=/tmp/liar PATIENCE=2 MKQUEUE=${4:-mkqueue} sh /t/check-gpu -y -o /tmp/out -n 4 -t $2
	like "in this check" "$OUT" "not ok [0-9]+ - [a-z]*: $3"
}
# What the kit finds does not depend on the driver, so once is enough.
lies() {
	caught queue listed "gpq queues lists what the program made"
	caught suspend one "its queues stand still \(the one that was named\)"
	caught resume one "its queues go on \(resumed\)"
	caught suspend turns "its queues stand still \(it\)"
	caught cycles cycles "so many were measured"
	caught holder holder "its queues go on \(the holder was killed\)"
	caught gone gone "a target that ends has no holder"
	caught gone exec "a target that runs another program has no holder"
	caught priorities priorities "gpq queues shows those of the queues"
	caught snapshot archive "a snapshot of the host"
	caught none results "all its packets are done" /tmp/lazy
}
! driver_has contexts || lies
unload
kernel_is_content
finish
