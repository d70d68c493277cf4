# What a new user may get wrong: one line that says what, where, and what to do next; exit status 2.
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m ps top pause queue Queues bech 1234 'help queu' 'help bench nosuch' '--pid 1 queues' '-p 1' '--instal' '--versoin' -x
gpq: unknown command ps, did you mean queues; gpq -h lists them
gpq: unknown command top, did you mean queues; gpq -h lists them
gpq: unknown command pause, did you mean suspend; gpq -h lists them
gpq: unknown command queue, did you mean queues; gpq -h lists them
gpq: unknown command Queues, did you mean queues; gpq -h lists them
gpq: unknown command bech, did you mean bench; gpq -h lists them
gpq: unknown command 1234; the queues of a process: gpq queues -p PID
gpq: unknown command queu, did you mean queues; gpq -h lists them
gpq: nosuch: no operand is expected; gpq -h shows what is
gpq: --pid is an option of bench preempt, events, hqd, packets, queues, resume, snapshot, suspend, trace, why; give it behind the command's name
gpq: -p is an option of bench preempt, events, hqd, packets, queues, resume, snapshot, suspend, trace, why; give it behind the command's name
gpq: option --instal needs an argument: DIR
gpq: unknown option --versoin, did you mean --version; --help lists the options
gpq: unknown option -x; --help lists the options

# Options without a letter of their own have none at all, of no command.
$ for c in '' $(gpq --list) 'bench preempt' 'bench ab' 'bench report'; do gpq $c $'-\x01' </dev/null || echo "? $?"; done 2>&1 | sed "s,^gpq: \([a-z]*: \)*,," | sort | uniq -c | sed 's/^ *//'
17 ? 2
17 unknown option -\x01; --help lists the options

$ gpq ''; gpq queues '' --sysroot $HOSTS/gfx90a-k6.12; gpq queues -p ''; gpq queues --gpu ,; gpq suspend --for ''; gpq bench ''
gpq: unknown command (nothing); gpq -h lists them
gpq: queues: (nothing): no operand is expected; -h shows the options
gpq: queues: --pid: (nothing) is not a process id; give process ids, or - to read them from standard input
gpq: queues: --gpu: , is not a list of words with commas between them
gpq: suspend: --for: (nothing) is not a duration such as 50ms or 2s
gpq: bench: (nothing) is no kind of bench; gpq bench -h tells what they are for: preempt, ab, report
? 2

# Options without their dashes.
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m 'queues 1234' 'suspend 1234' 'suspend -p 1 1234' 'resume 1234' 'resume all' 'queues python3' 'queues -o PID QID' 'hqd summary' 'gpus 0' 'gpus check' 'bench preempt 1234' 'bench ab x'
gpq: queues: 1234: no operand is expected; say -p 1234
gpq: suspend: 1234: no operand is expected; say -p 1234
gpq: suspend: 1234: no operand is expected; say -p 1234
gpq: resume: 1234: no operand is expected; say -p 1234
gpq: resume: all: no operand is expected; say --all
gpq: queues: python3: no operand is expected; processes of that name: --comm python3
gpq: queues: QID: no operand is expected; commas part columns: -o COLUMN,QID
gpq: hqd: summary: no operand is expected; say --summary
gpq: gpus: 0: no operand is expected; say --gpu 0
gpq: gpus: check: no operand is expected; say --check
gpq: bench: 1234: no operand is expected; say -p 1234
gpq: bench: x: no operand is expected; -h shows the options

# Options of other commands, and of other kinds of bench.
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m 'queues --verify' 'queues -l' 'gpus -p 1' 'trace --queue 1 x' 'bench ab -p 1' 'bench -p 1 ab' 'bench preempt -p 1 --online x' 'bench report --cycles 3 x' 'bench report --settle 1ms x' 'queues --html=x'
gpq: queues: --verify is an option of suspend; gpq queues -h lists those of queues
gpq: queues: -l is an option of suspend, trace; gpq queues -h lists those of queues
gpq: gpus: -p is an option of bench preempt, events, hqd, packets, queues, resume, snapshot, suspend, trace, why; gpq gpus -h lists those of gpus
gpq: trace: --queue is an option of bench preempt, hqd, packets, queues, resume, snapshot, suspend, why; gpq trace -h lists those of trace
gpq: bench: -p is an option of bench preempt, events, hqd, packets, queues, resume, snapshot, suspend, trace, why; gpq bench ab -h lists those of bench ab
gpq: bench: -p is an option of bench preempt, events, hqd, packets, queues, resume, snapshot, suspend, trace, why; gpq bench ab -h lists those of bench ab
gpq: bench: --online is an option of bench ab, sched; gpq bench preempt -h lists those of bench preempt
gpq: bench: --cycles is an option of bench preempt; gpq bench report -h lists those of bench report
gpq: bench: --settle is an option of bench preempt; gpq bench report -h lists those of bench report
gpq: queues: --html is an option of bench report; gpq queues -h lists those of queues

# Missing and wrong arguments.
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m bench 'bench preemt -p 1' 'bench --cycles 3' trace 'trace --top -1 x' 'queues --watch' 'queues --watch -p 1' 'queues --watch 1x' 'suspend -p -1' 'suspend -p abc' 'suspend --grace -1' 'suspend --for 5x' 'queues --colour always' 'queues --json=1' 'suspend --method foo' 'hqd --sample --sdma'
gpq: bench: no kind of bench given; gpq bench -h tells what they are for: preempt, ab, report
gpq: bench: preemt is no kind of bench, did you mean preempt; gpq bench -h tells what they are for: preempt, ab, report
gpq: bench: no kind of bench given; gpq bench -h tells what they are for: preempt, ab, report
gpq: trace: no file given; name a log, or - for standard input
gpq: trace: --top: -1 is not a whole number from 0 on
gpq: queues: option --watch needs an argument: SEC
gpq: queues: --watch: -p is not a duration such as 50ms or 2s
gpq: queues: --watch: 1x is not a duration such as 50ms or 2s
gpq: suspend: --pid: -1 is not a process id; give process ids, or - to read them from standard input
gpq: suspend: --pid: abc is not a process id; give process ids, or - to read them from standard input
gpq: suspend: --grace: -1 is not a whole number from 0 on
gpq: suspend: --for: 5x is not a duration such as 50ms or 2s
gpq: queues: unknown option --colour, did you mean --color; --help lists the options
gpq: queues: option --json takes no argument
gpq: suspend: --method: foo is none of debug, criu
gpq: hqd: --sample: --sdma is not a whole number from 0 on
