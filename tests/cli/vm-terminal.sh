#!/bin/bash
# tests/kernel/vm: no QEMU is left behind when the terminal of an interactive VM is closed, of which the kernel tells only the
# session's leader, here make. A program that sleeps stands for QEMU.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
for p in busybox cpio xz script make; do
	command -v $p >/dev/null || skip_all "no $p"
done
trap 'kill "$(cat "$work/pid")" 2>/dev/null; rm -rf "$work"' EXIT
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
ok "QEMU starts" within 30 test -s "$work/pid"
kill -9 $!
ok "QEMU ends with its terminal" within 20 gone
nothing_left() { ! ls -d "$work"/gpq-vm.* >/dev/null; }
ok "and so do its files" within 10 nothing_left
finish
