# What every command does the same way: names, options, errors, exit statuses.
$ gpq
gpq: no command given; gpq --help shows the commands
? 2

$ gpq queus
gpq: unknown command queus, did you mean queues; gpq --list lists them
? 2

$ gpq help frobnicate
gpq: unknown command frobnicate; gpq --list lists them
? 2

$ gpq help help | head -1; gpq help queues now
Usage: gpq [OPTIONS] COMMAND [OPTIONS] ...
gpq: now: no operand is expected; gpq --help shows what is
? 2

$ mkdir unused && gpq --install unused now; gpq --list now; ls unused
gpq: now: no operand is expected; gpq --help shows what is
gpq: now: no operand is expected; gpq --help shows what is

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
{"level":"error","command":"queues","message":"--json, --ndjson, --raw and --pairs exclude each other","next":"choose one","status":2}
{}
? 2

$ gpq queues --color sometimes
gpq: queues: --color: sometimes is none of auto, always, never
? 2

$ gpq --sysroot /nowhere gpus
gpq: gpus: sysroot /nowhere: No such file or directory; --sysroot takes the directory of a recorded host
? 5

$ mkdir empty && GPQ_SYSROOT=empty gpq queues
gpq: queues: no KFD driver here: /sys/class/kfd/kfd: No such file or directory; the recorded host has none: is it the right directory?
? 6

# Output that cannot be written is noticed; a reader that went away is not worth a word.
$ gpq --list >/dev/full
gpq: standard output: No space left on device
? 1

$ bash -c 'trap "" PIPE; (sleep 0.2; gpq --help; echo "status $?" >&2) | true'
status 141

# Links, as busybox has them.
$ mkdir links && gpq --install links && ls links | head -2 && links/gpq-queues -Z
gpq-bench
gpq-gpus
gpq: queues: unknown option -Z; --help lists the options
? 2

$ mkdir taken && echo mine >taken/gpq-trace && gpq --install taken; cat taken/gpq-trace
gpq: taken/gpq-trace: exists and is not a link to this gpq; remove it, or choose another directory
mine

# Standard output is one JSON document whatever goes wrong.
$ for c in $(gpq --list); do gpq $c -J -o NOSUCH -p 1 x 2>err | jq -c .; jq -r .level err | head -1; done | sort -u
> for c in "nosuch -J" "-J" "queues -J --nosuch" "gpus -J --gpu 99 --sysroot $HOSTS/gfx90a-k6.12" "trace -J /nonexistent"; do timeout 5 gpq $c 2>/dev/null | jq -c .; done
error
{}
{}
{}
{}
{}
{}

$ gpq --install links && gpq --install links/missing
gpq: links/missing: No such file or directory; make the directory first
? 5
