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
is "20 columns: 24 of the name are kept" "$(on 20 "$kernels" | longest)" 33
is "5000 columns: nothing is cut" "$(on 5000 "$kernels" | longest)" 4019
is "10 columns: an address is never cut" "$(on 10 "gpq trace -q --list -no HWQ $log" | grep -c '^0x7f0000c00000$')" "$(grep -c 'HWq=0x7f0000c00000' "$log")"
is "20 columns: a short name in full" "$(on 20 "$kernels" | awk '$1 == 2 { print $2 }')" "k"
is "columns leave a table without texts, the rightmost first" "$(on 20 "gpq trace -q --by queue $log" | sed 's/ *$//')" "PID            HWQ
512 0x7f0000c00000"
is "to a pipe nothing is cut" "$($kernels | longest)" 4019
is "two runs are told of their comparison" "$(cd "$top/tests/data/bench" && on 80 "gpq bench report old.ndjson new.ndjson" | grep '^gpq: ')" \
	"gpq: bench: gpq bench report --compare A B tells what changed"

# The sentences of a comparison stand last, where they are seen, and are broken between words.
is "60 columns: sentences" "$(cd "$top/tests/data/amdlog" && on "60 rows 50" "gpq trace -q --compare cnn.log transformer.log" | sed '1,/^A .*max_pool/d')" "
A and B use one hardware queue each; no overlap
kernels: 1 in both, 2 only in A, 2 only in B
B dispatches 1.74 times as often as A: 11.41/s against
    6.567/s
A's queues are deeper: mean backlog 1 against 0
a dispatch has 49835 work-items on average in A, 165888 in B
they ran at the same time for 0.7009 s, if they are of one
    host and boot"

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

# Waiting for the terminal as a file is told, and one Ctrl-D ends it.
told="standard input is read: this terminal; Ctrl-D ends it"
at_end() { may "$1" script -qec "timeout --foreground 20 ${*:2}" /dev/null </dev/null | tr -d '\r' | sed 's/^gpq: //' | paste -sd'|' | sed 's/|    / /g'; } # a message breaks at words
none="no AMD log records in the input; was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?"
is "gpq trace -" "$(at_end 5 gpq trace -)" "trace: $told|trace: $none"
is "no word of it with -q" "$(at_end 5 gpq trace -q -)" "trace: $none"
is "gpq merge reads the terminal" "$(at_end 5 gpq merge | cut -d'|' -f1)" "merge: $told"
is "-p -" "$(at_end 5 gpq queues --sysroot "$top/tests/hosts/gfx90a-k6.12" -p - | cut -d'|' -f1)" "queues: $told"
is "--hqds -" "$(at_end 1 gpq hqd --hqds - | cut -d'|' -f1)" "hqd: $told"
is "no archive is written to a terminal" "$(at_end 2 gpq snapshot --sysroot "$top/tests/hosts/gfx90a-k6.12" -)" \
	"snapshot: an archive is not written to a terminal; gpq snapshot - | ssh ..., or name a file"
finish
