#!/bin/bash
# Tables on terminals of several widths: a text that is cut keeps enough to be read, what is wider goes on in the next
# line, and nothing is cut that fits.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
export TERM=xterm NO_COLOR=1
script --version >/dev/null 2>&1 || skip_all "no script(1)"
on() { script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'; }
log=$top/tests/data/amdlog/rocm57.log
kernels="gpq trace -q --by kernel -o LAUNCHES,NAME $log"
# The name of 4010 bytes is the last column; LAUNCHES and a blank take nine.
longest() { awk '{ if (length($0) > n) n = length($0) } END { print n }'; }
expect "100 columns: cut to the terminal" 100 "$(on 100 "$kernels" | longest)"
expect "60 columns: likewise" 60 "$(on 60 "$kernels" | longest)"
expect "20 columns: 32 of the name are kept" 41 "$(on 20 "$kernels" | longest)"
expect "5000 columns: nothing is cut" 4019 "$(on 5000 "$kernels" | longest)"
expect "20 columns: a short name in full" "k" "$(on 20 "$kernels" | awk '$1 == 2 { print $2 }')"
expect "a table without texts is not cut" "$(gpq trace -q --by queue "$log")" "$(on 20 "gpq trace -q --by queue $log" | sed 's/ *$//')"
expect "to a pipe nothing is cut" 4019 "$($kernels | longest)"

# C++ names are readable there, and as the log has them everywhere else.
log=$top/tests/data/amdlog/mangled.log names="gpq trace -q --by kernel --top 1 -no NAME"
expect "a table on a terminal: for people" "scale(float*, float)" "$(on 80 "$names $log")"
expect "not with --no-demangle" _Z5scalePff "$(on 80 "$names --no-demangle $log")"
expect "not in another form" _Z5scalePff "$(on 80 "$names -r $log")"
expect "nor in a pipe" _Z5scalePff "$($names "$log")"
expect "a timeline keeps them" _Z5scalePff \
	"$(on 80 "$names --perfetto $work/line.json $log" >/dev/null; jq -r '[.traceEvents[] | select(.cat == "dispatch")][0].name' "$work/line.json")"

# Colours: for terminals that have them, unless NO_COLOR says something.
status="gpq --sysroot $top/tests/hosts/gfx90a-k6.12 gpus -qno SUSPEND"
expect "coloured" 1 "$(NO_COLOR= on 80 "$status" | grep -c $'\e\\[')"
expect "not with NO_COLOR" 0 "$(NO_COLOR=1 on 80 "$status" | grep -c $'\e\\[')"
expect "not on a dumb terminal" 0 "$(NO_COLOR= TERM=dumb on 80 "$status" | grep -c $'\e\\[')"
expect "but when it is asked for" 1 "$(NO_COLOR=1 TERM=dumb on 80 "$status --color always" | grep -c $'\e\\[')"
finish
