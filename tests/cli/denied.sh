#!/bin/bash
# Queues that this user may not read are not "no queues". With a copy of gpq, since another user may not reach ours.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cp "$bin/gpq" "$work/gpq"
cp -r "$top/tests/hosts/gfx90a-k6.12" "$work/host"
rm "$work/host/sys/kernel/debug/kfd/mqds"
chmod -R go+rX "$work"
chmod 0 "$work/host/sys/class/kfd/kfd/proc/41207/queues"
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid 65534 --regid 65534 --clear-groups"
gpq() { ASAN_OPTIONS=detect_leaks=0 $drop "$work/gpq" --sysroot "$work/host" queues "$@" 2>&1; }
message="gpq: queues: pid 41207: its queues in sysfs: Permission denied"
is "the list tells which process is missing" "$(may 3 gpq -rno PID | tr '\n' ' ' | sed 's/ $//')" "$message 52880"
gpq >/dev/null
is "the list is done in part" $? 3
is "the process itself cannot be told" "$(gpq -p 41207)" "$message"
gpq -p 41207 >/dev/null
is "for want of rights" $? 4
is "nor by its name" "$(may 4 gpq --comm python3)" "$message"

# A folder that is not this user's: said once.
mkdir "$work/theirs" && chmod 755 "$work/theirs"
install() { ASAN_OPTIONS=detect_leaks=0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/gpq" --install "$1" 2>&1; }
if [ "$(id -u)" = 0 ]; then
	is "--install where links cannot be made" "$(may 4 install "$work/theirs")" \
		"gpq: $work/theirs/gpq-bench: Permission denied; name a directory that you may write to"
	is "nor a folder" "$(may 4 install "$work/theirs/new")" "gpq: $work/theirs/new: Permission denied; name a directory that you may write to"
fi
finish
