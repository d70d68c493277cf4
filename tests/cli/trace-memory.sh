#!/bin/bash
# gpq trace takes the same little memory whatever the input: 64 MiB of address space beyond what it starts with.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${GPQ_BIN:-$top}:$PATH
log=$top/tests/data/amdlog/rocm70.log
n=0 bad=0
if ldd "$(command -v gpq)" | grep -q libasan || [ "$(uname -m)" != x86_64 ]; then
	echo "ok 1 - memory # skip address space cannot be limited under ASan"
	echo "1..1"
	exit 0
fi
is() { # name, wanted, then the filter; the log is on standard input
	local got
	n=$((n + 1))
	got=$( (ulimit -v 131072 && gpq trace -q -J -) 2>&1 | jq -c "$3" 2>&1)
	if [ "$got" = "$2" ]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		echo "# wanted $2"
		echo "# got $got" | head -5
	fi
}

head='%s:rocvirtual.cpp           :3351: 0090000000 us: [pid:7 tid: 0x7f] ShaderName : '
# The first record stands behind the long line, so it is glued, like the one behind the progress text.
is "a line of 100 MB" '[61,60,2,7]' '.totals | [.lines, .records, .glued, .dispatches]' \
	< <(printf 'x:3:' && head -c 100000000 /dev/zero | tr '\0' a && cat "$log")
is "a kernel name of 100 MB is torn" '[62,61,3,1]' '.totals | [.lines, .records, .kernels, .torn]' \
	< <(printf "$head" :3 && head -c 100000000 /dev/zero | tr '\0' a && echo && cat "$log")
is "200 MB of NULs behind a log" '[62,60,7]' '.totals | [.lines, .records, .dispatches]' \
	< <(cat "$log" && head -c 200000000 /dev/zero)
is "20 million empty lines" '[20000061,60]' '.totals | [.lines, .records]' < <(yes '' | head -n 20000000 && cat "$log")
# More threads than have a place in the table are counted together.
is "100,000 threads" '[100060,100060,7]' '[.totals.records, ([.processes[].records] | add), .totals.dispatches]' \
	< <(seq -f ':3:hip_memory.cpp           :786 : 0090000000 us: [pid:7 tid: 0x7f%06.0f] init' 1 100000 && cat "$log")
echo "1..$n"
exit $bad
