#!/bin/bash
# tests/kernel/vm: no QEMU is left behind when the terminal of an interactive VM is closed, of which the kernel tells only the
# session's leader, here make. A program that sleeps stands for QEMU.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
for p in busybox cpio xz script make; do
	command -v $p >/dev/null || { echo "1..0 # SKIP no $p"; exit 0; }
done
work=$(mktemp -d)
trap 'kill "$(cat "$work/pid")" 2> /dev/null; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/kernel"
echo none >"$work/kernel/VERSION"
printf '#!/bin/sh\necho $$ > %s/pid.new && mv %s/pid.new %s/pid\nexec sleep 600\n' "$work" "$work" "$work" >"$work/bin/qemu-system-x86_64"
chmod +x "$work/bin/qemu-system-x86_64"
printf 'lab:\n\t@%s/tests/kernel/vm -k %s/kernel -i true\n' "$top" "$work" >"$work/Makefile"

within() { # SECONDS COMMAND...
	local i
	for ((i = 0; i < $1 * 10; i++)); do "${@:2}" 2>/dev/null && return; sleep 0.1; done
	return 1
}
gone() { ! kill -0 "$(cat "$work/pid")"; }

PATH=$work/bin:$PATH TMPDIR=$work script -qec "make -s -f $work/Makefile" /dev/null >"$work/log" 2>&1 </dev/null &
disown $!
within 30 test -s "$work/pid" || { echo "not ok 1 - QEMU starts"; sed 's/^/# /' "$work/log"; echo 1..1; exit 1; }
kill -9 $!
bad=0
if within 20 gone; then echo "ok 1 - QEMU ends with its terminal"; else bad=1 && echo "not ok 1 - QEMU ends with its terminal"; fi
nothing_left() { ! ls -d "$work"/gpq-vm.* >/dev/null; }
if within 10 nothing_left; then echo "ok 2 - and so do its files"; else bad=1 && echo "not ok 2 - and so do its files"; fi
echo 1..2
exit $bad
