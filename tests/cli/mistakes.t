# What a new user may get wrong: one line that says what, where, and what to do next; exit status 2.
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m processes list ls top pause queue Queues bech 1234 'help queu' 'help bench nosuch' '--pid 1 queues' '-p 1' '--instal' '--versoin' -x
gpq: unknown command processes; gpq ps lists processes, gpq queues -p PID the queues of one
gpq: unknown command list; gpq ps lists processes, gpq queues queues, gpq gpus GPUs; --filter finds rows
gpq: unknown command ls; gpq ps lists processes, gpq queues queues, gpq gpus GPUs; --filter finds rows
gpq: unknown command top; gpq ps --watch 1 repeats the list, gpq events shows changes
gpq: unknown command pause; gpq suspend takes queues off the GPU, gpq resume puts them back
gpq: unknown command queue, did you mean queues; gpq -h lists them
gpq: unknown command Queues, did you mean queues; gpq -h lists them
gpq: unknown command bech, did you mean bench; gpq -h lists them
gpq: unknown command 1234; the queues of a process: gpq queues -p PID
gpq: unknown command queu, did you mean queues; gpq -h lists them
gpq: nosuch: no operand is expected; gpq -h shows what is
gpq: --pid is an option of bench preempt, core, events, hang, hqd, packets, ps, queues, resume, snapshot, suspend, trace, why; give it behind the command's name
gpq: -p is an option of bench preempt, core, events, hang, hqd, packets, ps, queues, resume, snapshot, suspend, trace, why; give it behind the command's name
gpq: option --install needs an argument: DIR
gpq: unknown option --versoin, did you mean --version; --help lists the options
gpq: unknown option -x; --help lists the options

# Names of other programs' commands.
$ for c in info devices check slots runlist stop preempt ab report unpause continue start log logs record save diff compare; do gpq $c; done
gpq: unknown command info; gpq gpus lists GPUs
gpq: unknown command devices; gpq gpus lists GPUs
gpq: unknown command check; gpq gpus --check tells what is missing
gpq: unknown command slots; gpq hqd shows slots, gpq hqd --summary how many are used
gpq: unknown command runlist; gpq hqd --runlist shows what the scheduler was told to run
gpq: unknown command stop; gpq suspend takes queues off the GPU, gpq resume puts them back
gpq: unknown command preempt; gpq suspend unmaps queues, gpq bench preempt measures how long that takes
gpq: unknown command ab; gpq bench preempt, gpq bench ab measure, gpq bench report compares
gpq: unknown command report; gpq bench preempt, gpq bench ab measure, gpq bench report compares
gpq: unknown command unpause; gpq resume puts suspended queues back
gpq: unknown command continue; gpq resume puts suspended queues back
gpq: unknown command start; gpq resume puts suspended queues back
gpq: unknown command log; gpq trace analyses AMD_LOG_LEVEL logs, gpq events shows what happens
gpq: unknown command logs; gpq trace analyses AMD_LOG_LEVEL logs, gpq events shows what happens
gpq: unknown command record; gpq snapshot DIR saves a host, gpq hang what hangs, gpq core waves and memory
gpq: unknown command save; gpq snapshot DIR saves a host, gpq hang what hangs, gpq core waves and memory
gpq: unknown command diff; gpq snapshot --diff compares moments, gpq snapshot --compare runs
gpq: unknown command compare; gpq snapshot --diff compares moments, gpq snapshot --compare runs
? 2

# Words of the driver and of notes on it, and of nvidia-smi, amd-smi, rocm-smi, umr, py-spy and kubectl.
$ for c in status monitor watch find map unmap mqds hqds pid count kcq; do gpq $c; done
gpq: unknown command status; gpq queues lists queues, gpq suspend --list what is held
gpq: unknown command monitor; gpq ps --watch 1 repeats the list, gpq events shows changes
gpq: unknown command watch; gpq events shows what happens, gpq queues --wait 1 waits, --watch 1 repeats any list
gpq: unknown command find; gpq ps lists processes, gpq queues queues, gpq gpus GPUs; --filter finds rows
gpq: unknown command map; gpq hqd --runlist shows what is mapped, gpq resume maps queues again
gpq: unknown command unmap; gpq suspend unmaps queues, gpq bench preempt measures how long that takes
gpq: unknown command mqds; gpq hqd --mqd shows MQDs, gpq queues --mqds FILE a copy of them
gpq: unknown command hqds; gpq hqd shows slots, gpq hqd --summary how many are used
gpq: unknown command pid; gpq ps lists processes, gpq queues -p PID the queues of one
gpq: unknown command count; gpq ps --count counts processes, gpq queues --count queues, gpq hqd --summary slots
gpq: unknown command kcq; gpq gpus --check tells what num_kcq leaves, gpq hqd --summary how many slots are used
? 2
$ for c in dmon pmon stats static metric process topology partition showpids dump record waves get describe logs delete; do gpq $c 2>&1 | grep -c '; gpq .* [a-z]'; done | uniq -c | tr -s ' '
? 2
 16 1
$ gpq --showpids; gpq --static; gpq --showuse --json 2>/dev/null | jq -r .error.next
gpq: unknown option --showpids; gpq ps lists processes, gpq queues -p PID the queues of one
gpq: unknown option --static; gpq gpus lists GPUs
gpq ps shows memory and backlog, gpq hqd --sample 100 how busy slots are
? 2

# Options without a letter of their own have none at all, of no command.
$ for c in '' $(gpq --list) 'bench preempt' 'bench ab' 'bench report'; do gpq $c $'-\x01' </dev/null || echo "? $?"; done 2>&1 | sed "s,^gpq: \([a-z]*: \)*,," | sort | uniq -c | sed 's/^ *//'
20 ? 2
20 unknown option -\x01; --help lists the options

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
$ m() { for c in "$@"; do gpq $c </dev/null && echo "$c: done" || [ $? = 2 ] || echo "status of $c"; done; }; m 'queues --verify' 'queues -l' 'gpus -p 1' 'trace --queue 1 x' 'bench ab -p 1' 'bench -p 1 ab' 'bench preempt -p 1 --online-cmd x' 'bench report --cycles 3 x' 'bench report --settle 1ms x' 'queues --html=x'
gpq: queues: --verify is an option of suspend; gpq queues -h lists those of queues
gpq: queues: -l is an option of suspend, trace; gpq queues -h lists those of queues
gpq: gpus: -p is an option of bench preempt, core, events, hang, hqd, packets, ps, queues, resume, snapshot, suspend, trace, why; gpq gpus -h lists those of gpus
gpq: trace: --queue is an option of bench preempt, hang, hqd, packets, ps, queues, resume, snapshot, suspend, why; gpq trace -h lists those of trace
gpq: bench: -p is an option of bench preempt, core, events, hang, hqd, packets, ps, queues, resume, snapshot, suspend, trace, why; gpq bench ab -h lists those of bench ab
gpq: bench: -p is an option of bench preempt, core, events, hang, hqd, packets, ps, queues, resume, snapshot, suspend, trace, why; gpq bench ab -h lists those of bench ab
gpq: bench: --online-cmd is an option of bench ab; gpq bench preempt -h lists those of bench preempt
gpq: bench: --cycles is an option of bench preempt; gpq bench report -h lists those of bench report
gpq: bench: --settle is an option of bench preempt; gpq bench report -h lists those of bench report
gpq: queues: --html is an option of bench report, trace; gpq queues -h lists those of queues

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

# Whatever the command line alone tells is told first, on any host: here one without the driver.
$ mkdir -p none; export GPQ_SYSROOT=none; m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m sched 'sched --share 80' 'sched --offline comm' 'sched --offline comm=x --class a=b' 'sched --offline comm=x --class =comm=b' 'sched --offline comm=x --online nosuch=1' 'sched --offline queue=1,comm=x' 'sched --offline comm=x --idle 2s --grace 256' 'sched --offline comm=x --idle 2s' 'sched --dry-run --offline comm=x --online tree'
gpq: sched: no --offline: nothing to hold; --offline 'container=train', for one
gpq: sched: no --offline: nothing to hold; --offline 'container=train', for one
gpq: sched: --offline: comm needs a value: comm=REGEX
gpq: sched: --class: b is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
gpq: sched: --class =comm=b: give NAME=SPEC, a name of letters, digits, _ . and -; as in batch=container=train
gpq: sched: --online: nosuch is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
gpq: sched: --offline: queue 1: of which process?; write queue=PID:ID
gpq: sched: --grace: 256 is not 0 to 255
gpq: sched: --idle is not shorter than --max-hold
gpq: sched: --tree says how to read -p; add -p PID

$ mkdir -p none; export GPQ_SYSROOT=none; m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m 'bench preempt' 'bench preempt -p 1 --cycles 0' 'bench preempt -p 1 --runs 0' 'bench preempt -p 1 --sweep x=1' 'bench preempt -p 1 --goal x' 'bench preempt -p 1 --require x' 'bench preempt -p 1 --grace 256' 'bench preempt -p 1 -Q x' 'bench ab' 'bench ab --online-cmd x' 'bench ab --online-cmd x --offline gpu=0' 'bench ab --online-cmd x --offline nosuch' 'bench ab --online-cmd x --offline-cmd y --modes z' 'bench ab --online-cmd x --offline-cmd y --metric (' 'bench ab --online-cmd x --offline-cmd y --metric x' 'bench ab --online-cmd x --offline-cmd y --goal z' 'bench ab --online-cmd x --offline-pid 1 --offline-metric (x)' 'bench ab --online-pid 1 --offline comm=x --sweep-env A=1' 'bench ab --online-cmd x --offline-cmd y --sweep-env A' 'bench ab --online-cmd x --offline-cmd y --sweep-env =1' 'bench ab --online-cmd x --offline-cmd y --sweep-env 1A=2' 'bench ab --online-cmd x --offline-cmd y --sweep-env A-B=1' 'bench ab --online-cmd x --offline-cmd y --sweep-env A=' 'bench ab --online-cmd x --offline-cmd y --sweep-env A=1,,2' 'bench ab --online-cmd x --offline-cmd y --sweep-env A=1,2,1' 'bench ab --online-cmd x --offline-cmd y --sweep-env A=1 --sweep-env B=2'
gpq: bench: preempt needs to know which processes to measure; for example gpq bench preempt -p PID
gpq: bench: --cycles: 0 measures nothing; leave it out for 300, or as many as --for allows
gpq: bench: --runs: 0 measures nothing; leave it out for 1
gpq: bench: --sweep: x=1: sweeps are grace=, queues=, prio=, hold= and gap=; for example --sweep grace=1,32,255
gpq: bench: --goal: x is no limit of suspend, resume (times), effect or online (per cent); for example suspend=10ms,resume=10ms,effect=5%,online=10%
gpq: bench: --require x: there is no <; for example 'suspend p99 < 10ms'
gpq: bench: --grace: 256 is not 0 to 255
gpq: bench: queue x: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
gpq: bench: ab needs both sides: there is no online work; give --online SPEC, --online-pid or --online-cmd
gpq: bench: ab needs both sides: there is no offline work; give --offline SPEC, --offline-pid or --offline-cmd
gpq: bench: --offline: gpu=0 chooses no process; for example container=train
gpq: bench: --offline: nosuch is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
gpq: bench: --modes: z is none; modes are alone, shared and preempt
gpq: bench: --metric: (: missing closing parenthesis at character 1; see pcre2pattern(3)
gpq: bench: --metric: x has no group ( ) around the number
gpq: bench: --goal: z is no limit of suspend, resume (times), effect or online (per cent); for example suspend=10ms,resume=10ms,effect=5%,online=10%
gpq: bench: --offline-metric reads what a command prints, and that side has none; leave it out, or have a command
gpq: bench: --sweep-env is set for commands, and there is none; give --online-cmd or --offline-cmd
gpq: bench: --sweep-env: A is no NAME=VALUE,... of a variable; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: =1 is no NAME=VALUE,... of a variable; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: 1A=2 is no NAME=VALUE,... of a variable; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: A-B=1 is no NAME=VALUE,... of a variable; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: A= has an empty value, or one of over 300 bytes with its name; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: A=1,,2 has an empty value, or one of over 300 bytes with its name; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: A=1,2,1 has a value twice; for example --sweep-env BATCH=8,16
gpq: bench: --sweep-env: A=1 is not alone: one variable is swept at a time; for example --sweep-env BATCH=8,16

$ mkdir -p none; export GPQ_SYSROOT=none; m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m 'queues -Q x' 'why --pod X' 'packets --comm (' 'events --tree' 'suspend -p 1 --prio x' 'resume -p 1 --type x' 'snapshot x --cmdline (' 'trace --live --pod X' 'hqd --xcc x' 'hqd --ns-pid' snapshot 'suspend -p 1 --marks f' 'suspend -p 1 --method criu --for 1s' 'queues --watch 1ms' 'gpus --watch 1 -J' 'sched --status --watch 1 -J' 'hqd --watch 0' 'why --watch 1 -J' 'packets --watch 1ms' 'suspend --list --watch 1ms'
gpq: queues: queue x: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
gpq: why: --pod X: give a pod's NAME, NAMESPACE/NAME, or its UID (8 digits or more); gpq ps -o PID,POD shows names
gpq: packets: --comm: (: missing closing parenthesis at character 1; see pcre2pattern(3)
gpq: events: --tree says how to read -p; add -p PID
gpq: suspend: --prio x: neither levels (low, medium, high) nor MIN[:MAX] with priorities from 0 to 15; for example --prio high, --prio 8 or --prio 0:7
gpq: resume: --type x: no such type; it is one of compute, sdma, sdma-xgmi
gpq: snapshot: --cmdline: (: missing closing parenthesis at character 1; see pcre2pattern(3)
gpq: trace: --pod X: give a pod's NAME, NAMESPACE/NAME, or its UID (8 digits or more); gpq ps -o PID,POD shows names
gpq: hqd: --xcc x: not a number; they are counted from 0, for example --xcc 0,1
gpq: hqd: --ns-pid says how to read -p; add -p PID
gpq: snapshot: a name is missing; gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream
gpq: suspend: --marks goes with a COMMAND; without one, gpq suspend --ndjson and gpq resume --ndjson write marks
gpq: suspend: --method criu pauses whole processes, and has no deadline; leave out the other options
gpq: queues: --watch: the least interval is 10ms; for example --watch 0.5
{"level":"error","command":"gpus","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
{"level":"error","command":"sched","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
gpq: hqd: --watch: the least interval is 10ms; for example --watch 0.5
{"level":"error","command":"why","message":"--watch has no end, so it cannot be one JSON document","next":"use --ndjson","status":2}
gpq: packets: --watch: the least interval is 10ms; for example --watch 0.5
gpq: suspend: --watch: the least interval is 10ms; for example --watch 0.5

# No command acts before its columns are known: those of the table that the options ask for.
$ mkdir -p none; export GPQ_SYSROOT=none; m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m 'snapshot --compare a b -o FILES' 'suspend -p 1 -o SINCE' 'suspend --list -o PROOF' 'resume -p 1 -o NOSUCH' 'snapshot x -o RUN' 'snapshot --diff a b -o FILES' 'sched --offline comm=x -o SCHEDULER' 'sched --offline comm=x --dry-run -o SHARE' 'bench preempt -p 1 -o WALL' 'bench preempt -p 1 --dry-run -o METRIC' 'bench ab --online x --offline y -o SIDE' 'bench ab --online x --offline y --dry-run -o METRIC' 'events -o NOSUCH' 'trace --live -o NOSUCH' 'queues -o PID,NOSUCH' 'queues -o' 'queues -o +' 'queues -0 -o PID,QID'
gpq: snapshot: unknown column FILES in runs; --list-columns lists them
gpq: suspend: unknown column SINCE in queues; --list-columns lists them
gpq: suspend: unknown column PROOF in holders; --list-columns lists them
gpq: resume: unknown column NOSUCH in queues; --list-columns lists them
gpq: snapshot: unknown column RUN in snapshots; --list-columns lists them
gpq: snapshot: unknown column FILES in changes; --list-columns lists them
gpq: sched: unknown column SCHEDULER in classes; --list-columns lists them
gpq: sched: unknown column SHARE in members, did you mean STATE; --list-columns lists them
gpq: bench: unknown column WALL in latencies; --list-columns lists them
gpq: bench: unknown column METRIC in queues; --list-columns lists them
gpq: bench: unknown column SIDE in overlaps, did you mean BESIDE; --list-columns lists them
gpq: bench: unknown column METRIC in processes; --list-columns lists them
gpq: events: unknown column NOSUCH in events; --list-columns lists them
gpq: trace: unknown column NOSUCH in totals; --list-columns lists them
gpq: queues: unknown column NOSUCH in queues; --list-columns lists them
gpq: queues: option -o needs an argument: COLS
gpq: queues: --output: no column given; --list-columns lists them
gpq: queues: --null takes one column, these are 2; for example -0 -o PID

# A suggestion is one that the next try accepts; a text without quotes is no column.
$ gpq trace --by kernel --sort -TIME $DATA/amdlog/rocm70.log; gpq trace --by kernel --sort -DISPATCHE $DATA/amdlog/rocm70.log; gpq trace --by api --sort -TIMD $DATA/amdlog/rocm70.log
gpq: trace: --sort: unknown column TIME in kernels at column 1; --list-columns lists them
gpq: trace: --sort: unknown column DISPATCHE in kernels, did you mean DISPATCHES, at column 1; --list-columns lists them
gpq: trace: --sort: unknown column TIMD in apis, did you mean TIMED, at column 1; --list-columns lists them
? 2
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for f in 'COMMAND == vllm' 'TYPE =~ comp' 'CONTAINER != 116f54c41d04' 'PID == abc' 'COMAND == vllm' 'COMMAND == "vllm' '"vllm" == COMAND' 'CUS == 4x' 'COMMAND == "a" || nosuch'; do gpq queues --filter "$f"; done
gpq: queues: --filter: unknown column vllm in queues at column 12; quote texts, as in 'COMMAND == "vllm"'
gpq: queues: --filter: unknown column comp in queues at column 9; quote texts, as in 'COMMAND == "vllm"'
gpq: queues: --filter: no number at column 14: near "116f54c41d04"; quote texts, as in 'COMMAND == "vllm"'
gpq: queues: --filter: unknown column abc in queues at column 8; --list-columns lists them
gpq: queues: --filter: unknown column COMAND in queues, did you mean COMMAND, at column 1; --list-columns lists them
gpq: queues: --filter: a text without end at column 12: near ""vllm"; texts end with the quote they begin with
gpq: queues: --filter: unknown column COMAND in queues, did you mean COMMAND, at column 11; --list-columns lists them
gpq: queues: --filter: no number at column 8: near "4x"; for example 10, 0x1f, 1.5, 64K, 5ms
gpq: queues: --filter: unknown column nosuch in queues at column 19; --list-columns lists them
? 2

# A file that is no log beside one is told; an empty one is a process that logged nothing.
$ head -c 64 /dev/zero >binary; : >empty; cp $DATA/amdlog/cnn.log cnn; for c in 'cnn binary' 'binary empty cnn' 'binary binary' '--list -n cnn binary' 'cnn empty'; do gpq trace $c >/dev/null 2>err; echo $? $(sed '/newline/d' err | paste -sd'|'); done
3 gpq: trace: binary: no AMD log records; is it a log?
3 gpq: trace: binary: no AMD log records; is it a log?
5 gpq: trace: binary: no AMD log records; is it a log?|gpq: trace: binary: no AMD log records; is it a log?
3 gpq: trace: binary: no AMD log records; is it a log?
0

$ head -c 64 /dev/zero >binary; cp $DATA/amdlog/cnn.log cnn; gpq trace --partial cnn binary | wc -l; gpq trace --partial binary || echo $?; gpq trace --partial --range 0:10 binary | wc -l
gpq: trace: binary: no AMD log records; is it a log?
1
gpq: trace: binary: no AMD log records; is it a log?
5
1
? 3

# A number without a unit is refused where two units would make sense; where an option takes SEC, it counts seconds.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m "trace --series 50 $DATA/amdlog/cnn.log" "trace --since 200 $DATA/amdlog/cnn.log" "trace --until +200 $DATA/amdlog/cnn.log" 'why --over 1' 'hqd --sample 2 --interval 10' 'events --interval 0.1' 'bench preempt -p 1 --hold 10' 'bench preempt -p 1 --sweep hold=1ms,2' 'bench ab --idle 5' 'sched --offline comm=x --idle 10'
gpq: trace: --series: 50 is not a duration with its unit, such as 50ms or 2s
gpq: trace: --since: 200 is no time with its unit; give a time of the log as 41254735us or 41.25s, or +200ms from its first record
gpq: trace: --until: +200 is no time with its unit; give a time of the log as 41254735us or 41.25s, or +200ms from its first record
gpq: why: --over: 1 is not a duration with its unit, such as 50ms or 2s
gpq: hqd: --interval: 10 is not a duration with its unit, such as 50ms or 2s
gpq: events: --interval: 0.1 is not a duration with its unit, such as 50ms or 2s
gpq: bench: --hold: 10 is not a duration with its unit, such as 50ms or 2s
gpq: bench: --sweep: hold: 2 is out of range or no duration; for example --sweep grace=1,32,255
gpq: bench: --idle: 5 is not a duration with its unit, such as 50ms or 2s
gpq: sched: --idle: 10 is not a duration with its unit, such as 50ms or 2s
$ gpq why --sysroot $HOSTS/aql-gfx90a -p 4711 -q --over 0 --profile 0.01 -rno QID | wc -l; cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono --breakdown 8184840 >/dev/null; gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono --breakdown 8185026us >/dev/null && echo found
5
gpq: trace: --breakdown: no suspension of the trace is that one; see --breakdown all
found
? 3

# An option is no file, unless it is written as one.
$ m() { for c in "$@"; do gpq $c </dev/null >/dev/null; [ $? = 2 ] || echo "status of $c"; done; }; m 'bench preempt --samples -p 1' '--sysroot -J queues' 'bench report --svg-dir --html x' 'queues -q --mqds - --sort -PID'; gpq queues --mqds=-p; gpq queues --mqds ./-p
gpq: bench: option --samples needs an argument: FILE, and -p is an option; a file of that name is ./-NAME
gpq: option --sysroot needs an argument: FILE, and -J is an option; a file of that name is ./-NAME
gpq: bench: option --svg-dir needs an argument: DIR, and --html is an option; a file of that name is ./-NAME
status of queues -q --mqds - --sort -PID
gpq: queues: -p: No such file or directory; check the name
gpq: queues: ./-p: No such file or directory; check the name
? 5

# What people try: a name, a word without its key, and an option that begins as another one does.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for w in 'suspend --name python3' 'suspend --command python3' 'sched --offline name=x --dry-run' 'sched --offline vllm --dry-run' 'suspend --all --dry-run -p 41207' 'suspend --all-or=x' 'suspend --dry -p 41207' 'ps --com vllm' 'ps --com=vllm' 'trace --name x'; do gpq $w; done; gpq ps -p 52880 --comm=vllm --no -n -rno PID; gpq ps --pid 52880 -rn -oPID --noheadings
gpq: suspend: unknown option --name, did you mean --comm; --help lists the options
gpq: suspend: unknown option --command, did you mean --comm; --help lists the options
gpq: sched: --offline: name is no key, did you mean comm; KEY=VALUE chooses, as comm=train or container=serve
gpq: sched: --offline: vllm is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
gpq: suspend: --all is about every process, --pid about some; choose one
gpq: suspend: option --all-or-none takes no argument
gpq: suspend: unknown option --dry, did you mean --dry-run; --help lists the options
gpq: ps: unknown option --com, did you mean --comm; --help lists the options
gpq: ps: unknown option --com, did you mean --comm; --help lists the options
gpq: trace: unknown option --name, did you mean --comm; --help lists the options
gpq: ps: unknown option --no, did you mean --noheadings; --help lists the options
52880

# Elsewhere -o names a file.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 snapshot -o x.tar.zst y.tar
gpq: snapshot: unknown column x.tar.zst in snapshots; -o chooses columns, files are named without it
? 2
