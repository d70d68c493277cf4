# gpq suspend and resume where there is nothing to suspend; the real thing is in tests/kernel/gpq.

$ gpq suspend
gpq: suspend: no process named; -p PID, or --container ID; gpq ps shows them
? 2
$ gpq resume
gpq: resume: no process named; -p PID, or --all
? 2
$ gpq suspend -p 999999999
gpq: suspend: pid 999999999: no such process; gpq queues lists those that own queues
? 5
$ gpq suspend -p 999999999,999999998
gpq: suspend: pid 999999999: no such process; gpq queues lists those that own queues
gpq: suspend: pid 999999998: no such process; gpq queues lists those that own queues
? 5
$ gpq resume -p 999999999
gpq: resume: pid 999999999: no such process; gpq queues lists those that own queues
? 5
$ gpq suspend -p 1x
gpq: suspend: --pid: 1x is not a process id; give process ids, or - to read them from standard input
? 2
$ gpq suspend -p 1 --grace 256
gpq: suspend: grace period 256 is out of range; 0 to 255 (units of 1000 GPU clocks)
? 2
$ gpq suspend -p 1 -Q 1,x
gpq: suspend: queue x: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
? 2
$ gpq suspend -p 1 -Q 1024
gpq: suspend: queue 1024: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
? 2
$ gpq suspend -p 1 --prio 9:8
gpq: suspend: --prio 9:8: neither levels (low, medium, high) nor MIN[:MAX] with priorities from 0 to 15; for example --prio high, --prio 8 or --prio 0:7
? 2
$ gpq suspend -p 1 --prio 9 -Q 1
gpq: suspend: --queue and --prio exclude each other; choose one
? 2
$ gpq suspend -p 1 --tree --zzz
gpq: suspend: unknown option --zzz; --help lists the options
? 2
$ gpq resume --all -p 1
gpq: resume: --all excludes options that choose processes; choose one
? 2
$ gpq suspend -p 1 --for 0
gpq: suspend: --for: no time at all, or more than 292 years; without --for they are off until gpq resume
? 2
$ gpq suspend -p 1 --for 3000000h
gpq: suspend: --for: no time at all, or more than 292 years; without --for they are off until gpq resume
? 2
$ gpq suspend -p 1 --
gpq: suspend: no COMMAND behind --; without -- they are off until gpq resume
? 2
$ gpq suspend -p 1 --marks marks
gpq: suspend: --marks goes with a COMMAND; without one, gpq suspend --ndjson and gpq resume --ndjson write marks
? 2
$ gpq suspend --list --for 1s
gpq: suspend: --list shows what is suspended, and suspends nothing; of the other options only -p and --watch go with it
? 2
$ gpq suspend --list -- true
gpq: suspend: --list shows what is suspended, and suspends nothing; of the other options only -p and --watch go with it
? 2
$ gpq suspend -p 999999999 --marks /nonexistent/marks -- true
gpq: suspend: --marks /nonexistent/marks: No such file or directory
? 1
$ gpq suspend --tree -p 999999999 2>&1 | sed 's/pid 999999999: no such process.*/REFUSED/; s/no .dev.kfd here.*/REFUSED/'
gpq: suspend: REFUSED
? 6
$ gpq resume trailing
gpq: resume: trailing: no operand is expected; processes of that name: --comm trailing
? 2

# Standard input
$ echo | gpq suspend -p -
gpq: suspend: standard input names no process
? 5
$ printf '999999999\n 999999998\n' | gpq suspend -p - 2>&1 | wc -l
2
? 5

$ gpq suspend -p 999999999 --watch 1s
gpq: suspend: --watch repeats a listing: suspending is done once; add --list
? 2

# Nothing is held, and that is no failure.
$ XDG_RUNTIME_DIR=$PWD gpq suspend --list -r -o PID
PID
$ XDG_RUNTIME_DIR=$PWD gpq suspend --list -J | jq -c .
{"schema":{"name":"gpq.suspend.list","version":1},"holders":[]}
$ XDG_RUNTIME_DIR=$PWD gpq resume --all -r -o PID
PID
$ XDG_RUNTIME_DIR=$PWD gpq resume --all -J | jq -c .
{"schema":{"name":"gpq.resume","version":1},"queues":[]}

# A recorded host has no processes.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 suspend -p 1
gpq: suspend: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT, or add --dry-run
? 2
$ gpq --sysroot $HOSTS/gfx90a-k6.12 suspend --list
gpq: suspend: --list asks the holders of a running host; gpq why says of a recorded host what is suspended, and by whom
? 2

# A directory that others could get into is refused.
$ mkdir -m 755 -p run/gpq
$ sleep 100 & XDG_RUNTIME_DIR=$PWD/run gpq suspend -p $! 2>&1 | sed 's/[0-9][0-9]*:/PID:/; s|/[^ ]*/run|DIR|'; kill $!
gpq: suspend: pid PID: socket directory DIR/gpq: must belong to you and be closed to others; chmod 700
? 1

# Failures are objects where records are.
$ gpq suspend -J -p 999999999 2>&1 >/dev/null | jq -r .message,.next
pid 999999999: no such process
gpq queues lists those that own queues
? 5
$ gpq suspend -p 999999999 -- echo not run
gpq: suspend: pid 999999999: no such process; gpq queues lists those that own queues
? 5

# Ids begin anew in each process.
$ gpq suspend -p 1,2 -Q 3
gpq: suspend: queue 3: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which
? 2
$ gpq suspend -p 1,2 -Q 3:0
gpq: suspend: queue 3:0: process 3 is not chosen; add it to -p
? 2
$ gpq suspend -p 1 -Q 1:
gpq: suspend: queue 1:: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
? 2
$ gpq suspend -p 1 -Q :1
gpq: suspend: queue :1: neither ID nor PID:ID; ids go from 0 to 1023, gpq queues shows them
? 2
$ gpq resume -p 1 --type aql
gpq: resume: --type aql: no such type; it is one of compute, sdma, sdma-xgmi
? 2
$ gpq resume --comm nobody
gpq: resume: no process that the options choose is held by gpq; gpq suspend --list lists those that are
? 5
$ gpq resume --tree -p 1
gpq: resume: pid 1: neither it nor a descendant is held by gpq; gpq suspend --list lists those that are
? 5
$ gpq resume --comm nobody -p 1
gpq: resume: pid 1: the other options do not choose it, or it is not one that is held by gpq; gpq suspend --list lists those that are
? 5
$ gpq resume --container ffffffffffff
gpq: resume: container ffffffffffff: no process in it is held by gpq; gpq suspend --list lists those that are
? 5
$ gpq resume --cmdline '('
gpq: resume: --cmdline: (: missing closing parenthesis at character 1; see pcre2pattern(3)
? 2

# --dry-run says what would be held, on a recorded host too, and holds nothing.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; export GPQ_SYSROOT; gpq suspend --dry-run --comm 'python|vllm'
  PID COMMAND   GPU QID TYPE    RESULT LATENCY
41207 python3 41460   0 compute chosen       -
41207 python3 41460   1 compute chosen       -
41207 python3 41460   2 compute chosen       -
41207 python3 41460   3 sdma    chosen       -
52880 vllm    41460   0 compute chosen       -
gpq: suspend: would hold 5 queues of 2 processes, and new ones, until gpq resume; memory stays on the GPU
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run --cmdline . --type sdma -rno PID,QID; GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 41207,52880 -Q 52880:0 -rno PID,QID -- touch ran; ls ran 2>&1
41207 3
52880 0
ls: cannot access 'ran': No such file or directory
? 2
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 41207,52880 --type sdma -rno PID,QID
41207 3
gpq: suspend: pid 52880: none of its queues fits; gpq queues lists them
? 3
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 41207 -Q 2,3 --type sdma -rno PID,QID
41207 3
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 99,41207 --prio 7 -rno PID,QID
41207 0
41207 1
41207 2
gpq: suspend: pid 99: no such process; gpq queues lists those that own queues
? 3
# Options that choose nobody: a pid, a tree or a container alone is named.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for by in '-p 52880 --comm vllm' '-p 52880 --comm python3' '--tree -p 52880 --comm python3' '--tree -p 99' '--container 24c458cfb46d' '--container ffffffffffff' '--container ffffffffffff --comm vllm' '--container ffffffffffff --cmdline vllm' '--container ffffffffffff --container eeeeeeeeeeee' '--comm nobody'; do gpq suspend --dry-run $by -rno PID,QID; echo $?; done
52880 0
0
gpq: suspend: pid 52880: the other options do not choose it, or it is not one that has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: pid 52880: neither it nor a descendant has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: pid 99: no such process; gpq queues lists those that own queues
5
52880 0
0
gpq: suspend: container ffffffffffff: no process in it has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: no process that the options choose has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: no process that the options choose has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: no process that the options choose has opened /dev/kfd; gpq queues lists those that own queues
5
gpq: suspend: no process that the options choose has opened /dev/kfd; gpq queues lists those that own queues
5
# A process without KFD is told as it is when it is to be held; one with KFD and without a queue is waited for.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for p in 1 1,52880; do gpq suspend --dry-run -p $p -rno PID,QID; echo $?; done; cp -r $HOSTS/gfx90a-k6.12 opened; mkdir -p opened/sys/class/kfd/kfd/proc/1/queues; gpq --sysroot opened suspend --dry-run -p 1 -rno PID,QID
gpq: suspend: pid 1: it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have
5
gpq: suspend: pid 1: it has not opened /dev/kfd: not a KFD process; gpq queues lists those that have
52880 0
3
gpq: suspend: pid 1: it has no queue that is chosen; queues that appear would be suspended
# Whose MQD the dump does not have.
$ cp -r $HOSTS/gfx90a-k6.12 host; chmod -R u+w host; awk '/^Process/ { skip = 0 } /Compute queue/ && !n++ { skip = 1 } !skip' $HOSTS/gfx90a-k6.12/sys/kernel/debug/kfd/mqds >host/sys/kernel/debug/kfd/mqds; gpq --sysroot host suspend --dry-run -p 52880 --prio 7
gpq: suspend: pid 52880: queue 0: its priority is not known for certain, left out; name it with -Q
gpq: suspend: pid 52880: none of its queues fits; gpq queues lists them
? 5
# A queue that the dump alone has (after exec) has no id by which to hold it.
$ rm -r host/sys/class/kfd/kfd/proc/41207; gpq --sysroot host suspend -v --dry-run -p 41207 --prio 7
gpq: suspend: pid 41207: none of its queues fits; gpq queues lists them
? 5
# A queue that was named and is not there, as without --dry-run.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq suspend --dry-run -p 41207 -Q 0,9 -rno QID,RESULT; echo $?; gpq bench preempt --dry-run -p 41207 -Q 9 -rno QID,RESULT; echo $?; gpq suspend --dry-run -p 99 -Q 0
gpq: suspend: pid 41207: no queue 9; gpq queues lists them
0 chosen
9 unknown
3
gpq: bench: pid 41207: no queue 9; gpq queues lists them
9 unknown
5
gpq: suspend: pid 99: no such process; gpq queues lists those that own queues
? 5

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 41207 -rno QID,PACKET_FORMAT,PROOF
0 aql -
1 aql -
2 aql -
3 - -
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq suspend --dry-run -p 41207 --list
gpq: suspend: --list shows what is suspended, and suspends nothing; of the other options only -p and --watch go with it
? 2

# A command whose name is a number can be run behind --.
$ gpq suspend -p 999999999 -- 1234
gpq: suspend: pid 999999999: no such process; gpq queues lists those that own queues
? 5

# What --method criu refuses is refused where it acts; --dry-run shows whose queues they would be.
$ gpq suspend --sysroot $HOSTS/gfx90a-k6.12 -p 41207 --dry-run --method criu --for 1s -rno QID | wc -l
4

# A whole host by priority or type; gpq ps counts the two low queues, too. Not without --all, and --all not alone.
$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq -q suspend --all --type sdma --dry-run -rno PID,QID 2>/dev/null; export GPQ_SYSROOT=$HOSTS/vm73-gfx942-contexts; gpq ps --prio low -rno PID,COMPUTE; gpq -q suspend --all --prio low --dry-run 2>&1 | cut -c1-53 | head -1; gpq suspend --prio low --dry-run; gpq suspend --all --dry-run; gpq suspend --all --prio low -Q 3 --dry-run
41207 3
140 2
gpq: suspend: pid 140: all queues that fit belong to 
gpq: suspend: no process named; -p PID, --container ID, or --all for a host
gpq: suspend: --all alone would take everything off; add --prio, --type or --gpu
gpq: suspend: --all is about every process, --queue about some; choose one
? 2,6
