# gpq sched on recorded hosts: who belongs to which class, and what is refused. The real thing is in tests/kernel/gpq/sched.sh.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq sched --online comm=vllm --offline container=trainer --dry-run
CLASS     PID COMMAND GPUS STATE      REASON
online  52880 vllm    0    runs       -
offline 41207 python3 0    would-hold -

# The first class that fits has a process; an option given again adds; & narrows.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq sched --online pid=52880 --class batch=comm=python3 --offline gpu=0 --dry-run -rn -o CLASS,PID
gpq: sched: --offline gpu=0: chooses none: what it fits (2) belongs to those before it, as --class comm=python3; the first that a process fits has it
online 52880
batch 41207

$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq sched --offline pid=52880 --offline 'comm=python3,container=trainer' --offline 'comm=python3,container=24c458cfb46d' --dry-run -rn -o PID | sort
gpq: sched: --offline comm=python3,container=24c458cfb46d: fits nothing now; gpq ps -a lists what can be chosen
41207
52880

# A class that is left empty by those before it, even where another process is left; not one SPEC of a class by another.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; s() { gpq sched --dry-run -rno CLASS,PID,STATE "$@" 2>&1 | sort; }; s --online comm=. --offline comm=vllm --offline comm=.; s --online pid=41207 --class b=pid=52880 --offline comm=vllm,comm=py
> s --online comm=. --online comm=vllm --offline comm=nosuch; s --online comm=vllm --offline comm=. --offline comm=py; s --online comm=vllm --offline comm=.
gpq: sched: --offline comm=.: chooses none: what it fits (2) belongs to those before it, as --online comm=.; the first that a process fits has it
gpq: sched: --offline comm=vllm: chooses none: what it fits (1) belongs to those before it, as --online comm=.; the first that a process fits has it
online 41207 runs
online 52880 runs
b 52880 would-hold
gpq: sched: --offline comm=vllm,comm=py: chooses none: what it fits (2) belongs to those before it, as --online pid=41207; the first that a process fits has it
online 41207 runs
gpq: sched: --offline comm=nosuch: fits nothing now; gpq ps -a lists what can be chosen
online 41207 runs
online 52880 runs
offline 41207 would-hold
online 52880 runs
offline 41207 would-hold
online 52880 runs

# Every key, alone or where it belongs. 41207 is python3, 31 inside the container trainer; 52880 is vllm, in a pod.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; s() { for spec in "$@"; do gpq sched --offline "$spec" --dry-run -rn -o PID | sort | tr '\n' ' '; echo "$? $spec"; done; }
> s pid=41207 pid=41207,52880 'pid=41207,pid=52880' 'tree,pid=41207' 'ns-pid,pid=31' container=trainer container=116f54 user=0 comm='^py' comm='py\,gpu=0' 'cmdline=.' cgroup=/ cgroup=/nosuch gpu=0 gpu=41460 gpu=0000:43:00.0 queue=41207:0 queue=41207:0,52880:0 'pid=41207,queue=1' 'comm=py,comm=vllm' user=nosuch queue=52880:0
41207 0 pid=41207
41207 52880 0 pid=41207,52880
41207 52880 0 pid=41207,pid=52880
41207 0 tree,pid=41207
41207 0 ns-pid,pid=31
41207 0 container=trainer
41207 0 container=116f54
41207 0 user=0
41207 0 comm=^py
gpq: sched: --offline comm=py\,gpu=0: fits nothing now; gpq ps -a lists what can be chosen
0 comm=py\,gpu=0
41207 52880 0 cmdline=.
41207 52880 0 cgroup=/
gpq: sched: --offline cgroup=/nosuch: fits nothing now; gpq ps -a lists what can be chosen
0 cgroup=/nosuch
41207 52880 0 gpu=0
41207 52880 0 gpu=41460
41207 52880 0 gpu=0000:43:00.0
41207 0 queue=41207:0
41207 52880 0 queue=41207:0,52880:0
41207 0 pid=41207,queue=1
41207 52880 0 comm=py,comm=vllm
gpq: sched: --offline user=nosuch: fits nothing now; gpq ps -a lists what can be chosen
0 user=nosuch
52880 0 queue=52880:0

# --online may name nobody: hints alone tell then, and without hints nothing does.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq sched --online '' --offline comm=python3 --dry-run -rno CLASS,PID; gpq sched --online '' --online comm=vllm --offline comm=python3 --dry-run -rno CLASS,PID; gpq sched --online '' --offline comm=python3 --dry-run --no-socket; echo $?
offline 41207
online 52880
offline 41207
gpq: sched: nothing says when there is online work; hints, --online with its queues, or --log
2

# Output forms.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for form in -J --ndjson --csv -P '-0 -o PID'; do gpq sched --offline comm=python3 --dry-run $form; done | tr '\0' '\n' | tr -d '\r'
{
  "schema": {"name": "gpq.sched", "version": 1},
  "members": [
    {"class": "offline", "pid": 41207, "command": "python3", "user": "root", "container": "116f54c41d04", "pod": null, "job": null, "gpus": ["0"], "state": "would-hold", "reason": null}
  ]
}
{"record":"member","class":"offline","pid":41207,"command":"python3","user":"root","container":"116f54c41d04","pod":null,"job":null,"gpus":["0"],"state":"would-hold","reason":null}
class,pid,command,gpus,state,reason
offline,41207,python3,0,would-hold,
CLASS="offline" PID="41207" COMMAND="python3" GPUS="0" STATE="would-hold" REASON=""
41207

# Names are what a process says of itself.
$ cp -r $HOSTS/gfx90a-k6.12 sly && sed -i $'1s/.*/Name:\ta\033[1mb/' sly/proc/41207/status; gpq --sysroot sly sched --offline pid=41207 --dry-run -rno COMMAND
a\x1b[1mb

# Wrong SPECs: one line, exit status 2, or 5 for what is not there.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; w() { for spec in "$@"; do gpq sched --offline "$spec" --dry-run </dev/null; echo "? $?"; done 2>&1 | paste -d' ' - -; }
> w '' come=x comm comm= 'comm=(' 'cmdline=[' tree tree=1 ns-pid pid=x pid=- pid=999999999 'ns-pid,pid=32' container= pod=XX gpu=9 queue=x queue=1 'pid=41207,52880,queue=1' 'pid=41207,queue=52880:0' type=compute prio=high ',comm=a' 4711
gpq: sched: --offline: (nothing) is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu ? 2
gpq: sched: --offline: come is no key, did you mean comm; KEY=VALUE chooses, as comm=train or container=serve ? 2
gpq: sched: --offline: comm needs a value: comm=REGEX ? 2
gpq: sched: --offline: comm needs a value: comm=REGEX ? 2
gpq: sched: --comm: (: missing closing parenthesis at character 1; see pcre2pattern(3) ? 2
gpq: sched: --cmdline: [: missing terminating ] for character class at character 1; see pcre2pattern(3) ? 2
gpq: sched: --tree says how to read -p; add -p PID ? 2
gpq: sched: --offline: tree takes no value ? 2
gpq: sched: --ns-pid says how to read -p; add -p PID ? 2
gpq: sched: --pid: x is not a process id; give process ids, or - to read them from standard input ? 2
gpq: sched: --offline: pid=-: there is no such process; gpq queues lists those that own queues ? 5
gpq: sched: --offline: pid=999999999: there is no such process; gpq queues lists those that own queues ? 5
gpq: sched: pid 32: no container has a process with that PID; without --ns-pid, PIDs are those of the host ? 5
gpq: sched: --offline: container needs a value: container=ID|NAME ? 2
gpq: sched: --pod XX: give a pod's NAME, NAMESPACE/NAME, or its UID (8 digits or more); gpq ps -o PID,POD shows names ? 2
gpq: sched: there is no GPU 9; gpq gpus lists them ? 5
gpq: sched: queue x: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them ? 2
gpq: sched: --offline: queue 1: of which process?; write queue=PID:ID ? 2
gpq: sched: queue 1: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which ? 2
gpq: sched: queue 52880:0: process 52880 is not chosen; add it to -p ? 2
gpq: sched: --offline: type and prio do not choose queues that come later; choose by gpu= or queue= ? 2
gpq: sched: --offline: type and prio do not choose queues that come later; choose by gpu= or queue= ? 2
gpq: sched: --offline: (nothing) is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu ? 2
gpq: sched: --offline: 4711 is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu ? 2

# Wrong options.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; w() { for o in "$@"; do gpq sched --dry-run --offline comm=x $o && echo "$o: done" || [ $? = 2 ] || echo "status of $o"; done; }
> w '--share 80' '--share 0:1' '--share 1:x' '--share 1:2:3:4:5:6:7:8:9' '--share 60:30:10' '--slice 9ms --job-by pod' '--slice 1s' '--slice 2s --job-by pod' '--tenant-by user' '--weight x=1' '--slice 1s --job-by pod --weight x=0' '--slice 1s --job-by pod --weight =1' '--slice 500ms --job-by pod --weight x=3' '--slo p99' '--slo p9<1ms' '--slo p99<1ms --share 1:1' '--share 80:20 --period 5ms' '--share 80:20 --period 10s' '--max-hold 9ms' '--max-hold 2h' '--idle 1s' '--interval 1us' '--grace 256' '--for 0' '--class x' '--class online=comm=a' '--class a/b=comm=a' '--class x=nope=1' --no-socket '--no-socket --online comm=y --no-activity' '--watch 1s' '--table classes' 4711
gpq: sched: --share 80: give UP:DOWN, as 80:20
gpq: sched: --share 0:1: parts are whole numbers from 1 on, of 8 classes at most; leave --share out for strict priority
gpq: sched: --share 1:x: parts are whole numbers from 1 on, of 8 classes at most; leave --share out for strict priority
gpq: sched: --share 1:2:3:4:5:6:7:8:9: parts are whole numbers from 1 on, of 8 classes at most; leave --share out for strict priority
gpq: sched: --share 60:30:10 gives parts to 3 classes, but there are 2; two parts are for any number of classes
gpq: sched: --slice: at least 10ms
gpq: sched: --slice is for the jobs of a class, and without --job-by it is one; for one --job-by process
gpq: sched: --slice is longer than --max-hold: who waits would run before its turn; a longer --max-hold, of all slices but one
gpq: sched: --tenant-by is about the turns that --slice makes; --slice 1m, for one
gpq: sched: --weight is about the turns that --slice makes; --slice 1m, for one
gpq: sched: --weight x=0: give NAME=N, N from 1 to 1000; as in train=3
gpq: sched: --weight =1: give NAME=N, N from 1 to 1000; as in train=3
gpq: sched: --weight x=3: the others wait for so many slices, longer than --max-hold; a longer --max-hold, or a shorter --slice
gpq: sched: --slo p99: give a percentile from p50 on, < and a time; for example --slo 'p99 < 50ms'
gpq: sched: --slo p9<1ms: give a percentile from p50 on, < and a time; for example --slo 'p99 < 50ms'
gpq: sched: --slo and --share exclude each other; --slo finds the parts itself, by how long hints last
gpq: sched: --period: at least 10ms
gpq: sched: --share holds for 8000 ms of each --period, --max-hold allows 1000 ms; a shorter --period, or a longer --max-hold
gpq: sched: --max-hold: between 10ms and 1h
gpq: sched: --max-hold: between 10ms and 1h
gpq: sched: --idle is not shorter than --max-hold
gpq: sched: --interval: at least 0.1ms
gpq: sched: --grace: 256 is not 0 to 255
gpq: sched: --for: no time at all, or more than 292 years; without --for it runs until it is ended
gpq: sched: --class x: give NAME=SPEC, a name of letters, digits, _ . and -; as in batch=container=train
gpq: sched: --class online: there is --online
gpq: sched: --class a/b=comm=a: give NAME=SPEC, a name of letters, digits, _ . and -; as in batch=container=train
gpq: sched: --class: nope is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
gpq: sched: nothing says when there is online work; hints, --online with its queues, or --log
gpq: sched: nothing says when there is online work; hints, --online with its queues, or --log
gpq: sched: --watch is of --status; gpq sched --status --watch 1s
gpq: sched: --table classes: no such table; printed here: members
gpq: sched: 4711: no operand is expected; -h shows the options

$ for o in '--online comm=x' '--offline comm=x' '--class a=comm=x' --dry-run '--for 1s' '--share 1:1' '--idle 1s' '--grace 7' '--log x' --no-socket; do gpq sched --status $o; [ $? = 2 ] || echo "status of $o"; done
gpq: sched: --status asks the scheduler that runs, --online is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --offline is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --class is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --dry-run is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --for is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --share is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --idle is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --grace is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --log is for a new one; leave one of them out
gpq: sched: --status asks the scheduler that runs, --no-socket is for a new one; leave one of them out

# Options from a file: their names, one a line. The command line counts instead.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; printf '# online first\n\n  online = comm=vllm\r\noffline comm=nobody\nhold-idle\nclass=middle=comm=python3\nshare\t80:20' >conf
> gpq sched --config conf --check-config --share 1:1 --idle 2ms; gpq sched --config conf --dry-run -rno CLASS,PID; gpq sched --config conf --offline comm=python3 --class x=comm=nobody --dry-run -qrno CLASS,PID
gpq: sched: --offline comm=nobody: fits nothing now; gpq ps -a lists what can be chosen
online 52880
middle 41207
online 52880
offline 41207
# Classes may have sections; a wrong one is said with its line.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; printf 'share 80:20\n[online]\n comm=nobody\ncomm=vllm # not a comment\n[ offline ]\r\n# comment\npid=1\n\n[class mid ]\ncomm=python3\n' >conf; gpq sched --config conf --dry-run -qrno CLASS,PID; sed -i 's/ #.*//' conf; gpq sched --config conf --dry-run -qrno CLASS,PID
> for s in '[offline' '[]' '[idle]' '[nosuch]' '[class a=b]' '[' '[class my batch]' "$(printf '[offline]\nshare = 80:20')"; do printf 'offline comm=x\n%s\ncomm=y\n' "$s" >conf; gpq sched --config conf --check-config || echo "= $?"; done
mid 41207
online 52880
mid 41207
gpq: sched: conf: line 2: [offline has no ] at its end; [offline], or [class NAME]
= 2
gpq: sched: conf: line 2: (nothing) is no option of such a file; long names of options, without dashes
= 2
gpq: sched: conf: line 2: idle is given once, and no section; write it above all sections
= 2
gpq: sched: conf: line 2: nosuch is no option of such a file; long names of options, without dashes
= 2
gpq: sched: conf: --class: b is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
= 2
gpq: sched: conf: line 2: [ has no ] at its end; [offline], or [class NAME]
= 2
gpq: sched: conf: --class my batch=comm=y: give NAME=SPEC, a name of letters, digits, _ . and -; as in batch=container=train
= 2
gpq: sched: conf: line 3: share stands below [offline]: options stand above all sections
= 2

$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; c() { for o in "$@"; do printf '#\noffline comm=x\n%s\n' "$o" >conf; gpq sched --config conf --check-config --max-hold 30ms || echo "= $?"; done; }
> c 'idle 10' 'idle 30ms' idle 'ide 1ms' 'for 1s' hold-idle=yes 'config conf' 'class online=comm=a' 'grace 256' 'share 80' "$(printf 'period 20ms\nshare 1:2:3')" 'offline nosuch=1' "$(printf '%070000d' 0)"; printf 'idle 1ms\0' >conf; for f in conf nosuch . /dev/zero; do gpq sched --config $f --check-config || echo "= $?"; done
> gpq sched --check-config --offline comm=x; gpq sched --config conf --share 100:0; gpq sched --config conf --lease 1ms; gpq sched --status --config conf; gpq sched --replay x --config conf; gpq sched --explain 1 --json 2>/dev/null | jq -r .error.message; gpq sched --explain x
gpq: sched: conf: line 3: --idle: 10 is not a duration with its unit, such as 50ms or 2s
= 2
gpq: sched: conf: --idle is not shorter than --max-hold
= 2
gpq: sched: conf: line 3: idle needs an argument: TIME
= 2
gpq: sched: conf: line 3: ide is no option of such a file, did you mean idle; long names of options, without dashes
= 2
gpq: sched: conf: line 3: for is no option of such a file; long names of options, without dashes
= 2
gpq: sched: conf: line 3: hold-idle takes no argument
= 2
gpq: sched: conf: line 3: config is no option of such a file; long names of options, without dashes
= 2
gpq: sched: conf: --class online: there is --online
= 2
gpq: sched: conf: --grace: 256 is not 0 to 255
= 2
gpq: sched: conf: --share 80: give UP:DOWN, as 80:20
= 2
gpq: sched: conf: --share 1:2:3 gives parts to 3 classes, but there are 2; two parts are for any number of classes
= 2
gpq: sched: conf: --offline: nosuch is no key; KEY=VALUE chooses, as comm=train or container=serve; keys: pid, ns-pid, tree, container, cgroup, pod, job, user, comm, cmdline, queue, gpu
= 2
gpq: sched: conf: not a text file of at most 64 KiB; a file with an option a line
= 2
gpq: sched: conf: not a text file of at most 64 KiB; a file with an option a line
= 2
gpq: sched: nosuch: No such file or directory
= 5
gpq: sched: .: not a text file of at most 64 KiB; a file with an option a line
= 2
gpq: sched: /dev/zero: not a text file of at most 64 KiB; a file with an option a line
= 2
gpq: sched: --check-config: which file?; gpq sched --config FILE --check-config
gpq: sched: --share 100:0: parts are whole numbers from 1 on, of 8 classes at most; leave --share out for strict priority
gpq: sched: --lease: between 10ms and 1h
gpq: sched: --status asks the scheduler that runs, --config is for a new one; leave one of them out
gpq: sched: --replay has its classes and work from the file: --config means nothing; give the policy: share, slo, period, slice, weight, max-hold, rest, idle, lease, no-deadlines
--explain answers in words
gpq: sched: --explain: x is not a whole number from 0 on
? 2

# Tables of a scheduler that ends, and of one that is asked.
$ gpq sched --offline comm=x --table members; gpq sched --status --table x
gpq: sched: --table members: no such table; printed here: classes, scheduler, jobs
gpq: sched: --table x: no such table; printed here: classes, scheduler, jobs, members, clients, decisions, latency
? 2

$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq sched --dry-run; echo $?; gpq sched --offline comm=x
gpq: sched: no --offline: nothing to hold; --offline 'container=train', for one
2
gpq: sched: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT, or add --dry-run
? 2

# The same selector on every command: all choose the same processes. 41150 is the parent of 41207, whose SDMA queue is queue 3.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; while read -r want o; do for c in queues 'hqd --mqd' why 'suspend --dry-run' 'bench preempt --dry-run'; do
>   got=$(gpq $c $o -rno PID 2>err | sort -u | paste -sd,); [ "$got" = "$want" ] || echo "$c $o: $got $(cat err)"; done; done <<'EOF'
> 52880 -p 52880
> 41207 --ns-pid -p 31
> 41207 --tree -p 41150
> 41207,52880 --tree -p 1
> 41207 --container trainer
> 41207,52880 --container 116f54c41d04 --container 24c458
> 52880 --cgroup /kubepods.slice
> 52880 --pod 3f2c1a9e
> 41207 --user root
> 52880 --user 1000,nobody
> 41207 --comm ^py
> 52880 --cmdline vllm.entrypoints
> 41207 --comm . --type sdma
> 41207,52880 --comm . --prio 7
> 41207,52880 --comm . --gpu 0
> 41207 -p 41207,52880 -Q 41207:3
> 52880 --container 24c458 --comm vllm --user 1000
> EOF
? 3

# The same selector on every command: wrong words are refused in the same way, by one line and status 2 or 5.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for c in queues hqd 'hqd --fields' why packets 'snapshot s' 'suspend --dry-run' 'bench preempt --dry-run'; do for o in '--comm (' '--cmdline [' --tree --ns-pid '-p x' '-p 999999999' '--pod xx' '--gpu 9' '-Q x' '--type nosuch' '--prio 9:8' '--container nosuch' '--user nosuch' '--cgroup /nosuch'; do
>   gpq $c $o >out 2>err; echo "$? $(wc -l <err)" | grep -qxE '[25] 1' || echo "$c $o: $? $(cat err)"; done; done

# Without a scheduler.
$ gpq sched --status --socket ./none
gpq: sched: no scheduler at ./none; --socket FILE says where it listens
? 5
$ gpq sched --explain 1 --socket ./none
gpq: sched: no scheduler at ./none; --socket FILE says where it listens
? 5
$ gpq sched --status --socket $(printf '%0200d' 0)
gpq: sched: --socket: a path of over 107 bytes
? 2
$ gpq sched --status --socket ./none -J 2>&1 >/dev/null | jq -c '[.command, .status]'
["sched",5]
? 5
$ gpq --sysroot $HOSTS/gfx90a-k6.12 sched --status
gpq: sched: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT
? 2

# A file is checked without a GPU, and whatever runs now.
$ printf 'offline pid=999999999\noffline gpu=9,comm=x\nclass a=comm=y\nclass ab=comm=y\nclass a=comm=z\nshare 4:3:2:1\n' >conf; gpq sched --config conf --check-config && gpq sched --config conf --check-config --share 3:2:1
gpq: sched: conf: --share 3:2:1 gives parts to 3 classes, but there are 4; two parts are for any number of classes
? 2

# A job is a tree whose root has KFD open, and those beside it of the same parent. A shell may lie between.
$ GPQ_SYSROOT=$HOSTS/gfx942-4xcc-k6.12 gpq sched --offline pid=94314,94377 --job-by parent --dry-run -rno PID,JOB_BY; cp -r $HOSTS/gfx942-4xcc-k6.12 h; cp -r h/proc/94250 h/proc/7; sed -i 's/PPid:.*/PPid: 94314/' h/proc/7/status; sed -i 's/PPid:.*/PPid: 7/' h/proc/94377/status; sed -i 's/PPid:.*/PPid: 1/' h/proc/94314/status; gpq --sysroot h sched --offline pid=94314,94377 --job-by parent --dry-run -rno PID,JOB_BY
94377 parent\x2094250
94314 parent\x2094250
94377 pid\x2094314
94314 pid\x2094314

# --replay: work for 1.25 s; by hand: held from 0 to 400, 500 to 900 and 1000 to 1260 ms (--idle), so it ran for 200 of 1250.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s"}\n' "$@"; }; { log 5 class online '' 5 class offline '' 5 unit offline 7; log 1000000005 work online 7 2250000005 work online '' 3000000005 work online ''; } >l
> gpq sched --replay l --max-hold 400ms --rest 100ms --table classes -rno CLASS,BURSTS,BUSY,HOLDS,CONTENDED,RAN%,LONGEST,WAIT_MAX; gpq sched --replay l --max-hold 400ms --table scheduler -rno POLICY,UP; gpq sched --replay l --table jobs -rno CLASS,GPU,HOLDS
online 1 1250000000 0 0 - 0 0
offline - - 3 1250000000 16 400000000 -
strict 3000000000
offline 7 2
# A part for each class. Two that always have work and one that always wants some share out 1000 s as 60:30:10; where the last has no queues, 20:10 of the first two.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s"}\n' "$@"; }; share() { gpq sched --replay l --share $1 --table classes -rno CLASS,RAN% | awk '{ printf "%s %.0f\n", $1, $2 }'; }
> { log 5 class online '' 5 class batch '' 5 class offline '' 5 unit batch 7 5 unit offline 7 1000000005 work online 7 1000000005 work batch 7 1001000000005 work online ''; } >l; share 60:30:10; share 6:3:1; gpq sched --replay l --share 6:3:1 --table scheduler -rno POLICY; grep -v unit.*offline l >m; mv m l; share 20:10:70; share 1:2
online 0
batch 30
offline 10
online 0
batch 30
offline 10
share\x2060:30:10
online 0
batch 33
offline 0
online 0
batch 67
offline 0
# Jobs that share GPU 1 take turns of 500 ms for 5.9 s: a is held at 0.5, 1.5 ... 5.5 s, b at 0, 1 ... 5 s, and c on GPU 2 never.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","job_by":"%s","gpus":"%s"}\n' "$@"; }; { log 5 class online '' '' 5 class offline '' '' 5 unit offline a 1 5 unit offline b 1 5 unit offline c 2 5900000005 work online '' ''; } >l; gpq sched --replay l --slice 500ms --table jobs -rno JOB_BY,HOLDS
a 6
b 6
c 0
# Tenant x has two jobs and as much time as y with one; with twice the weight, each job gets a third. 24 slices each.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","job_by":"%s","tenant_by":"%s","gpus":"%s"}\n' "$@"; }; { log 5 class online '' '' '' 5 class offline '' '' '' 5 unit offline a x 1 5 unit offline b x 1 5 unit offline c y 1 11900000005 work online '' '' ''; } >l; for w in nobody=9 x=2; do gpq sched --replay l --slice 500ms --max-hold 10s --weight $w --table jobs -rno JOB_BY,HOLDS | xargs; done
a 6 b 7 c 12
a 8 b 8 c 9
# With --share each has its part in its slices, here for 30 s, and what ended with a slice counts. Parts are for all classes of the log.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","job_by":"%s","gpus":"%s"}\n' "$@"; }; { log 5 class online '' '' 5 class offline '' '' 5 unit offline a 1 5 unit offline b 1 1000000005 work online '' 1 31000000005 work online '' ''; } >l; gpq sched --replay l --share 80:20 --slice 70ms --max-hold 60s --table jobs -rno JOB_BY,RAN% | awk '{ print $1, ($2 > 18 && $2 < 22) }'; sed 's/"offline"/"last"/' l >>l; sort -t: -k4,4n l >m; gpq sched --replay m --share 60:30:10:5
a 1
b 1
gpq: sched: --share 60:30:10:5 gives parts to 4 classes, but there are 3; two parts are for any number of classes
? 2
# A job is held whole where its processes have something in common, also beside the job of a class, which is not: 9000000 - 3000 ns.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","job_by":"%s","gpus":"%s"}\n' "$@"; }; log 1000 class online '' '' 1000 class offline '' '' 2000 unit offline 'pid 7' '2 3' 2000 unit offline '' 1 3000 work online '' 2 9000000 work online '' '' >l; gpq sched --replay l --table jobs -rno CLASS,JOB_BY,GPU,HOLDS,CONTENDED
offline - 1 0 0
offline pid\x207 - 1 8997000
# Requests with deadlines. Of the first, at 1 s, nothing is known; it needs 0.3 s, so the second, which has until 3.1 s, counts at 2.8 s. The third
# ends before 5.7 s. The fourth, which has until 6.2 s, counts at 5.9 s and ends 0.3 s late: such a request needs 0.9 s. A hold lasts 10 ms longer.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s","took_ns":%s,"deadline_ns":%s}\n' "$@"; }; first() { log 5 class online '' null null 5 class offline '' null null 5 unit offline 7 null null; }
> { first; log 1300000000 request online 7 300000000 1000000000 3000000000 request online 7 1000000000 1100000000 5200000000 abandoned online 7 200000000 1000000000 6500000000 request online 7 1500000000 1200000000 9000000000 work online '' null null; } >l
> for o in --idle=10ms --no-deadlines; do gpq sched --replay l --max-hold 10s $o --log-decisions o$o --table classes -rno CLASS,DEADLINES,LATE,NEED,HOLDS,WAIT_MAX,REQUEST_P50; jq -r 'select(.what == "hold" or .what == "release").ns / 1e9' o$o | paste -sd' '; done
> gpq sched --replay o--idle=10ms --max-hold 10s --log-decisions p >q; cmp o--idle=10ms p; { first; log 9000000000 request online 7 6000000000 2000000000; } >l; gpq sched --replay l --lease 1s --table classes -rno CLASS,BUSY,HOLDS; { first; log 1000000005 work online 7 null null 11000000005 work online '' null null; } >l; gpq sched --replay l --rest 0 --table classes -rno CLASS,HOLDS,CONTENDED,RAN% # it expires after 2 s; no time lies between holds
> for o in 'null 5' '10 5' '3 0' '3 3600000000004'; do { first; log 9 request online 7 $o; } >l; gpq sched --replay l; done; { first; log 86400000000004 work online '' null null 172800000000003 work online '' null null 259200000000002 request online 7 259100000000000 null; } >l; gpq sched --replay l --slowdown 100000 --table classes -rno REQUEST_P50 | xargs; { first; log 9 request nosuch 7 3 3; } >l; gpq sched --replay l; gpq sched --no-deadlines --no-socket --offline comm=x --online comm=y; gpq sched --status --no-deadlines
online 4 1 900000000 0 0 1006632959
offline 0 0 - 3 - -
1 1.31 2.8 3.01 5.9 6.51
online 4 1 1800000000 0 0 1006632959
offline 0 0 - 3 - -
1 1.31 2 3.01 5 6.51
online 2000000001 0
offline - 2
online 0 0 -
offline 10 10000000000 0
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
86659100000000000 -
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --no-deadlines and --no-socket exclude each other; deadlines are of hints
gpq: sched: --status asks the scheduler that runs, --no-deadlines is for a new one; leave one of them out
? 2
# A request takes longer by half of the 200 ms that offline work runs beside it; the line of it is written as it was read.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s","took_ns":%s,"deadline_ns":%s}\n' "$@"; }; first() { log 5 class online '' null null 5 class offline '' null null 5 unit offline 7 null null; }
> { first; log 1000000005 work online 7 null null 2250000005 request online 7 1250000000 null 2250000005 work online '' null null; } >l; gpq sched --replay l --max-hold 400ms --rest 100ms --slowdown 50 --log-decisions w --table classes -rno CLASS,REQUEST_P50,LATE; grep -c '"ns": *2250000005.*"request".*"took_ns": *1250000000' w; gpq sched --replay l --slowdown 100001; gpq sched --slowdown 1 --offline comm=x
> { first; log 5 done offline 7 1000000000 null 1000000005 work online 7 null null 1100000005 request online 7 100000000 null 1100000005 work online '' null null; } >l; gpq sched --replay l --slowdown 100 --table classes -rno REQUEST_P50,WAIT_P50 # while it is being held, too
> for what in expired abandoned; do { first; log 3000000005 $what online 7 2000000000 null; } >l; gpq sched --replay l --slo 'p50 < 5s' --table classes -rno REQUEST_P50 | xargs; done
> { first; log 1300000000 request online 7 300000000 1000000000; for i in 1 2 3 4; do log ${i}1000000000 request online 7 1000000000 4000000000; done; } >l; gpq sched --replay l --slowdown 350 --table classes -rno DEADLINES,LATE,NEED | head -1 # 4.5 s: ends 0.8 s, 1.8 s and 2.8 s after it counts, 0.5 s late
online 1350000000 0
offline - 0
1
gpq: sched: --slowdown: at most 100000 percent
gpq: sched: --slowdown is of --replay: the scheduler sees how long requests take; gpq sched --replay FILE --slowdown 100
200000000 1000000000
- -
2000000000 -
- -
5 3 3300000000
# Jobs that take turns of 10 s. The first request of b counts at once and interrupts a for 0.2 s; the second counts from 24.8 to 24.95 s, as the first took
# 0.2 s. Neither takes from a's slices. The replay of its log is the same.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","job_by":"%s","gpus":"%s","took_ns":%s,"deadline_ns":%s}\n' "$@"; }
> { log 5 class online '' '' null null 5 class offline '' '' null null 5 unit offline a 1 null null 5 unit offline b 1 null null; log 1200000000 request offline b 1 200000000 1000000000 24950000000 request offline b 1 950000000 1000000000 31000000000 request offline nosuch 1 1000000000 1000000000 32000000000 work online '' '' null null; } >l
> gpq sched --replay l --slice 10s --max-hold 1m --log-decisions d >/dev/null; jq -r 'select(.what == "hold" or .what == "release") | "\(.ns / 1e6 | floor / 1e3) \(.what) \(.job_by)"' d | paste -sd,; gpq sched --replay d --slice 10s --max-hold 1m --log-decisions e >/dev/null; cmp d e
0 hold b,1 hold a,1 release b,1.2 release a,1.2 hold b,10.2 hold a,10.2 release b,20.2 release a,20.2 hold b,24.8 hold a,24.8 release b,24.95 release a,24.95 hold b,30.35 hold a,30.35 release b
# --slo: 10 ms every 100 ms. While a request beside offline work keeps 15 ms, its part grows to the most, 90 %; where it does not, 1 in 100 may run beside.
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s","took_ns":%s,"deadline_ns":%s}\n' "$@"; }
> { log 5 class online '' null null 5 class offline '' null null 5 unit offline 7 null null; log @1 work online 7 null null @2 request online 7 10000000 null @2 work online '' null null | awk '{ l[NR] = $0 } END { for (i = 40001; i <= 60000; i++) for (k = 1; k <= NR; k++) { s = l[k]; sub("@1", i "00000000", s); sub("@2", i "10000000", s); print s } }'; } >l; grep -v request l >m
> for o in 49 200; do gpq sched --replay l --slo 'p99 < 15ms' --slowdown $o --table classes -rno CLASS,REQUEST_P99,RAN% | awk '$1 == "online" { print $2 < 15e6 } $1 == "offline" { print ($3 > 60), ($3 > 0.5 && $3 < 1) }'; done; gpq sched --replay l --slo 'p99 < 15ms' --table scheduler -rno POLICY; gpq sched --replay m --slo 'p99 < 15ms' --table scheduler -rno POLICY
1
1 0
1
0 1
p99\x20<\x2015ms\x2010:90
gpq: sched: --slo is about the requests of online, and m has none; record a scheduler to which clients send hints, gpq-client(3)
p99\x20<\x2015ms\x20100:0
$ log() { printf '{"record":"decision","schema":1,"ns":%s,"what":"%s","class":"%s","gpus":"%s"}\n' "$@"; }; log 5 class online '' 5 class offline '' 9 work online 7 8 work online '' >l; echo x >m; : >n; for f in l m n ./o; do gpq sched --replay $f; done; gpq sched --replay l --offline comm=x; gpq sched --replay l --status
gpq: sched: --replay l: line 4: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --replay m: line 1: no decision, or not in the order of time; gpq sched --log-decisions writes such a file
gpq: sched: --replay n: there is nothing in it; gpq sched --log-decisions writes such a file
gpq: sched: --replay ./o: No such file or directory
gpq: sched: --replay has its classes and work from the file: --offline means nothing; give the policy: share, slo, period, slice, weight, max-hold, rest, idle, lease, no-deadlines
gpq: sched: --replay has its classes and work from the file: --status means nothing; give the policy: share, slo, period, slice, weight, max-hold, rest, idle, lease, no-deadlines
? 2
