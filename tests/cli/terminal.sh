#!/bin/bash
# Tables on terminals of several widths: a text that is cut keeps enough to be read, what is wider goes on in the next
# line, and nothing is cut that fits.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export PATH=${GPQ_BIN:-$top/build/plain}:$PATH LC_ALL=C TERM=xterm NO_COLOR=1
if ! script --version >/dev/null 2>&1; then
	printf '1..1\nok 1 - tables on terminals # skip no script(1)\n'
	exit 0
fi
n=0 bad=0
on() { script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'; }
is() { # NAME WANTED GOT
	n=$((n + 1))
	if [ "$2" = "$3" ]; then echo "ok $n - $1"; else
		bad=1
		printf 'not ok %d - %s\n# wanted %q\n# got    %q\n' $n "$1" "$2" "$3"
	fi
}
log=$top/tests/data/amdlog/rocm57.log
kernels="gpq trace -q --by kernel -o LAUNCHES,NAME $log"
# The name of 4010 bytes is the last column; LAUNCHES and a blank take nine.
longest() { awk '{ if (length($0) > n) n = length($0) } END { print n }'; }
is "100 columns: cut to the terminal" 100 "$(on 100 "$kernels" | longest)"
is "60 columns: likewise" 60 "$(on 60 "$kernels" | longest)"
is "20 columns: 32 of the name are kept" 41 "$(on 20 "$kernels" | longest)"
is "5000 columns: nothing is cut" 4019 "$(on 5000 "$kernels" | longest)"
is "20 columns: a short name in full" "k" "$(on 20 "$kernels" | awk '$1 == 2 { print $2 }')"
is "a table without texts is not cut" "$(gpq trace -q --by queue "$log")" "$(on 20 "gpq trace -q --by queue $log" | sed 's/ *$//')"
is "to a pipe nothing is cut" 4019 "$($kernels | longest)"
echo "1..$n"
exit $bad
