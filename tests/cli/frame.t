# What every command does the same way: names, options, errors, exit statuses.
$ gpq
gpq: there is no KFD driver here, of which gpq alone lists the processes; trace, merge and bench report work without, and --sysroot FILE reads a recorded host; gpq -h shows the commands
? 2

$ gpq queus
gpq: unknown command queus, did you mean queues; gpq -h lists them
? 2

$ gpq help frobnicate
gpq: unknown command frobnicate; gpq -h lists them
? 2

$ gpq help help | head -1; gpq help queues now
Usage: gpq [OPTIONS] COMMAND [OPTIONS] ...
gpq: now: no operand is expected; gpq -h shows what is
? 2

$ mkdir unused && gpq --install unused now; gpq --list now; ls unused
gpq: now: no operand is expected; gpq -h shows what is
gpq: now: no operand is expected; gpq -h shows what is

$ gpq --version
gpq 0.1.0

$ gpq queues --noheadins
gpq: queues: unknown option --noheadins, did you mean --noheadings; --help lists the options
? 2

$ gpq queues --output
gpq: queues: option --output needs an argument: COLS
? 2

$ gpq queues -Z
gpq: queues: unknown option -Z; --help lists the options
? 2

$ gpq queues --json --raw
{"level":"error","command":"queues","message":"--json, --ndjson, --raw, --pairs, --csv, --openmetrics, --null and --count exclude each other","next":"choose one","status":2}
{
  "schema": {"name": "gpq.error", "version": 1},
  "error": {"level": "error", "command": "queues", "message": "--json, --ndjson, --raw, --pairs, --csv, --openmetrics, --null and --count exclude each other", "next": "choose one", "status": 2}
}
? 2

$ gpq queues --color sometimes
gpq: queues: --color: sometimes is none of auto, always, never
? 2

$ gpq --sysroot /nowhere gpus
gpq: gpus: sysroot /nowhere: No such file or directory; name a folder or an archive that gpq snapshot wrote
? 5

$ mkdir empty && GPQ_SYSROOT=empty gpq queues
gpq: queues: no KFD driver here: /sys/class/kfd/kfd: No such file or directory; the recorded host has none: is it the right directory?
? 6

# Output that cannot be written is noticed; a reader that went away is not worth a word.
$ gpq --list >/dev/full
gpq: standard output: No space left on device
? 1

$ bash -c 'trap "" PIPE; (while echo; do :; done 2>/dev/null; gpq --help; echo "status $?" >&2) | true'
status 141

# Links, as busybox has them.
$ mkdir links && gpq --install links && ls links | head -2 && links/gpq-queues -Z
gpq-bench
gpq-core
gpq: queues: unknown option -Z; --help lists the options
? 2

$ mkdir taken && echo mine >taken/gpq-trace && gpq --install taken; cat taken/gpq-trace
gpq: taken/gpq-trace: exists and is not a link to this gpq; remove it, or choose another directory
mine

# A status is a count, a message is a text.
$ gpq queues --json-schema | jq -c '.anyOf[-1].properties.error.properties | .status, .message'
{"description":"exit status","type":["integer","null"],"minimum":0}
{"description":"what, where and why","type":["string","null"]}

# Standard output is one JSON document whatever goes wrong.
$ for c in $(gpq --list); do gpq $c -J -o NOSUCH -p 1 x 2>err | jq -c .schema.name; jq -r .level err | head -1; done | sort -u
> gpq hqd -J x 2>/dev/null | jq -c .; gpq trace -J --no 2>err | jq -c '.error' | cmp - err
> for c in "nosuch -J" "-J" "queues -J --nosuch" "gpus -J --gpu 99 --sysroot $HOSTS/gfx90a-k6.12" "trace -J /nonexistent"; do timeout 60 gpq $c 2>/dev/null | jq -c 'if .error then .error | [.command, .status] else . end'; done
"gpq.error"
error
{"schema":{"name":"gpq.error","version":1},"error":{"level":"error","command":"hqd","message":"x: no operand is expected","next":"processes of that name: --comm x","status":2}}
[null,2]
[null,2]
["queues",2]
["gpus",5]
["trace",5]
? 2,5

# Tables without a row that a failure left behind are none; those of a command that found nothing to show are.
$ h=$HOSTS/gfx90a-k6.12; export XDG_RUNTIME_DIR=$PWD
> for c in "queues --gpu 9 --sysroot $h" "hqd --summary --gpu 9 --sysroot $h" "trace --list /nonexistent" "core" "resume -p 1" "resume --all" "queues --sysroot $h --filter QID==77"; do gpq $c -J 2>/dev/null | jq -c '.schema.name, .error.status, (keys | join(" "))' | xargs; done
> gpq resume --all -J >/dev/full
gpq.error 5 error schema
gpq.error 5 error schema
gpq.error 5 error schema
gpq.error 2 error schema
gpq.error 5 error schema
gpq.resume null queues schema
gpq.queues null queues schema
{"level":"error","command":"resume","message":"standard output: No space left on device","next":null,"status":1}
? 1,2,5

$ gpq --install links && gpq --install links/made && ls links/made | head -1; gpq --install links/missing/deep
gpq-bench
gpq: links/missing/deep: No such file or directory; name a directory that you may write to
? 5

# Completion: of a list its last part; + adds to the usual columns; what follows an option with = is a word of its own; an
# option without argument leaves the next word alone; --output is not --output-all; levels of priority.
$ c() { gpq --complete -- "$@" | cut -f1; }; c queues -o PID,QI; c queues -o +QI; c queues --output=PID,QI; c trace --by str; c trace --list --pid
PID,QID
+QID
--output=PID,QID
stream
--pid
--pid-map

$ c() { gpq --complete -- "$@" | cut -f1; }; c trace --bytes str; c queues --output-all QI; c queues --output=PID QI; c queues --prio hi; c queues --prio low,hi; c queues --color low
high
low,high

# Raw: a word has no blank and is not empty; a backslash is escaped, so that it can be told from an escaped one.
$ mkdir -p raw/proc/7 raw/sys/class/kfd/kfd/proc/7/queues/0 && printf 'Name:\ta b\\\\c\n' >raw/proc/7/status && printf 'python3\0a b\\x5b\0' >raw/proc/7/cmdline
> for f in gpuid:1 size:4096 type:0; do echo ${f#*:} >raw/sys/class/kfd/kfd/proc/7/queues/0/${f%:*}; done; gpq --sysroot raw queues -qrno PID,CMDLINE; gpq --sysroot raw queues -qno CMDLINE
7 python3\x20a\x20b\x5cx5b
python3 a b\x5cx5b

# Process ids from standard input may be separated by NUL bytes.
$ printf '41207\00052880\0' | gpq --sysroot $HOSTS/gfx90a-k6.12 queues -qrno PID -p - | sort -u
41207
52880

# The least interval may be asked for; a shorter one not.
$ timeout 0.3 gpq --sysroot $HOSTS/gfx90a-k6.12 queues -q --watch 10ms >out; echo $?; gpq --sysroot $HOSTS/gfx90a-k6.12 queues --watch 9ms
124
gpq: queues: --watch: the least interval is 10ms; for example --watch 0.5
? 2

# A link to another gpq is not ours, nor is one that only begins as ours does.
$ mkdir other && ln -s /bin/true other/gpq-trace && ln -s "$(readlink -f "$(command -v gpq)")x" other/gpq-queues; gpq --install other; echo "status $?"; readlink other/gpq-trace
gpq: other/gpq-queues: exists and is not a link to this gpq; remove it, or choose another directory
gpq: other/gpq-trace: exists and is not a link to this gpq; remove it, or choose another directory
status 1
/bin/true

# What is found in part is shown again and again, too.
$ timeout 60 gpq --sysroot $HOSTS/gfx90a-k6.12 queues -q -p 41207,99 --watch 20ms -o PID 2>err | head -6 | sort | uniq -c | awk '{ print $2, $1 }'; head -1 err
{"record":"queue","pid":41207} 6
gpq: queues: pid 99: no such process; without -p all are listed

# Nothing that is named in a message reaches the terminal as it is.
$ gpq trace $'\e[31mred\xff'
gpq: trace: \x1b[31mred\xff: No such file or directory
? 5

# --context: what is not known is null, and numbers are numbers.
$ gpq queues --context -J --sysroot $HOSTS/gfx90a-k6.12 | jq -c '.queues[0] | [.host, .boot_id, .monotonic_ns, .realtime_ns, .source]'
[null,null,null,null,"recorded"]

$ gpq trace --context -J $DATA/amdlog/cnn.log | jq -c '.totals | [(.host, .kernel, .boot_id, .monotonic_ns, .realtime_ns | type), .source]'
["string","string","string","number","number","live"]

$ gpq gpus --context -r -n -o GPU --sysroot $HOSTS/gfx90a-k6.12
41460 - - - - - - recorded
