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
is "100 columns: cut to the terminal" "$(on 100 "$kernels" | longest)" 100
is "60 columns: likewise" "$(on 60 "$kernels" | longest)" 60
is "20 columns: 32 of the name are kept" "$(on 20 "$kernels" | longest)" 41
is "5000 columns: nothing is cut" "$(on 5000 "$kernels" | longest)" 4019
is "20 columns: a short name in full" "$(on 20 "$kernels" | awk '$1 == 2 { print $2 }')" "k"
is "a table without texts is not cut" "$(on 20 "gpq trace -q --by queue $log" | sed 's/ *$//')" "$(gpq trace -q --by queue "$log")"
is "to a pipe nothing is cut" "$($kernels | longest)" 4019

# C++ names are readable there, and as the log has them everywhere else.
log=$top/tests/data/amdlog/mangled.log names="gpq trace -q --by kernel --top 1 -no NAME"
is "a table on a terminal: for people" "$(on 80 "$names $log")" "scale(float*, float)"
is "not with --no-demangle" "$(on 80 "$names --no-demangle $log")" _Z5scalePff
is "not in another form" "$(on 80 "$names -r $log")" _Z5scalePff
is "nor in a pipe" "$($names "$log")" _Z5scalePff
is "a timeline keeps them" "$(on 80 "$names --perfetto $work/line.json $log" >/dev/null; jq -r '[.traceEvents[] | select(.cat == "dispatch")][0].name' "$work/line.json")" \
	_Z5scalePff
# --null gives a name as it is to other programs alone: others choose names of processes and kernels.
printf ':3:rocvirtual.cpp           :3188: %010d us: [pid:7     tid:0x7f00000000aa] ShaderName : a\e[1mb\n' 5 >"$work/odd.log"
odd="gpq trace -q --list -0 -o TEXT $work/odd.log"
is "-0 to a pipe" "$($odd | tr -d '\0')" $'ShaderName : a\e[1mb'
is "-0 to a terminal" "$(on 80 "$odd" | tr -d '\0')" 'ShaderName : a\x1b[1mb'

# Colours: for terminals that have them, unless NO_COLOR says something.
status="gpq --sysroot $top/tests/hosts/gfx90a-k6.12 gpus -qno SUSPEND"
is "coloured" "$(NO_COLOR= on 80 "$status" | grep -c $'\e\\[')" 1
is "not with NO_COLOR" "$(NO_COLOR=1 on 80 "$status")" yes
is "not on a dumb terminal" "$(NO_COLOR= TERM=dumb on 80 "$status")" yes
is "but when it is asked for" "$(NO_COLOR=1 TERM=dumb on 80 "$status --color always" | grep -c $'\e\\[')" 1
finish
