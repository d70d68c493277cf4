#!/bin/bash
# gpq trace takes the same little memory whatever the input: 64 MiB of address space beyond what it starts with.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
log=$top/tests/data/amdlog/rocm70.log
if sanitized || [ "$(uname -m)" != x86_64 ]; then
	skip_all "address space cannot be limited under ASan"
fi
little() { # NAME FILTER WANTED; the log is on standard input
	is "$1" "$( (ulimit -v 131072 && gpq trace -q -J -) 2>&1 | jq -c "$2" 2>&1)" "$3"
}

head='%s:rocvirtual.cpp           :3351: 0090000000 us: [pid:7 tid: 0x7f] ShaderName : '
# The first record stands behind the long line, so it is glued, like the one behind the progress text.
little "a line of 100 MB" '.totals | [.lines, .records, .glued, .dispatches]' '[61,60,2,7]' \
	< <(printf 'x:3:' && head -c 100000000 /dev/zero | tr '\0' a && cat "$log")
little "a kernel name of 100 MB is torn" '.totals | [.lines, .records, .kernels, .cut_records]' '[62,61,3,1]' \
	< <(printf "$head" :3 && head -c 100000000 /dev/zero | tr '\0' a && echo && cat "$log")
little "200 MB of NULs behind a log" '.totals | [.lines, .records, .dispatches]' '[62,60,7]' \
	< <(cat "$log" && head -c 200000000 /dev/zero)
little "20 million empty lines" '.totals | [.lines, .records]' '[20000061,60]' < <(head -n 20000000 < <(yes '') && cat "$log")
# More threads than have a place in the table are counted together.
little "100,000 threads" '[.totals.records, ([.processes[].records] | add), .totals.dispatches]' '[100060,100060,7]' \
	< <(seq -f ':3:hip_memory.cpp           :786 : 0090000000 us: [pid:7 tid: 0x7f%06.0f] init' 1 100000 && cat "$log")
finish
