#!/bin/bash
# The built gpq and the client library: position independent, full RELRO, no executable stack, fortified, CET. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
for f in "$bin/gpq" "$bin/libgpqclient.so"; do
	name=${f##*/}
	if [[ $name = gpq && $bin = *-san ]]; then
		pass "$name: position independent, bound at the start # skip with sanitizers it is at a fixed place"
	else
		is "$name: position independent" "$(readelf -hW "$f" | awk '$1 == "Type:" { print $2 }')" DYN
		is "$name: all symbols are bound at the start, then read-only" \
			"$(readelf -lW "$f" | grep -c GNU_RELRO) $(readelf -dW "$f" | grep -c 'FLAGS_1.*NOW')" "1 1"
	fi
	is "$name: no executable stack, no writable code" \
		"$(readelf -lW "$f" | awk '$1 == "GNU_STACK" && /E/ || /RWE/' | wc -l)" 0
	ok "$name: stack protector" grep -q __stack_chk_fail <(readelf -sW "$f")
	if readelf -sW "$f" | grep __asan >/dev/null; then pass "$name: _FORTIFY_SOURCE # skip a sanitizer checks more"
	else ok "$name: _FORTIFY_SOURCE" grep -qE '__[a-z]+_chk@' <(readelf --dyn-syms -W "$f"); fi
done
if [ "$(uname -m)" != x86_64 ] || ! ${CC:-cc} -Werror -fcf-protection -c -o /dev/null -x c /dev/null 2>/dev/null; then
	pass "CET # skip the compiler has none"
else
	# Where an indirect call may arrive. The C library's own start-up files are not always built so, hence no mark on the whole.
	is "CET: each command begins with endbr64" "$(objdump -d "$bin/gpq" | grep -A1 -E '<(main|host_open)>:$' | grep -c endbr64)" 2
fi
finish
