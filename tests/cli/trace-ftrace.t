# gpq trace --ftrace on traces of both kernels (tests/data/ftrace/README). Counts are those of grep, times the differences of the lines.
#
# kfd_ioctl_create_queue: 6.154352 to 6.159174, 6.165142 to 6.166798, 6.168768 to 6.169701.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace -o FUNCTION,PID,COMMAND,CALLS,FAILED,TIMED,TOTAL,P50,MAX
FUNCTION                  PID COMMAND CALLS FAILED TIMED  TOTAL    P50    MAX
kfd_ioctl_set_debug_trap  169 dbg         4      0     4 7.91ms 1.01ms 3.99ms
kfd_ioctl_create_queue    167 mkqueue     3      0     3 7.41ms 1.66ms 4.82ms
unmap_queues_cpsch        169 dbg         8      0     8 4.12ms  295us 1.43ms
suspend_queues            169 dbg         1      0     1 3.78ms 3.78ms 3.78ms
amdkfd_fence_wait_timeout 169 dbg         8      0     8 3.24ms  223us 1.33ms
unmap_queues_cpsch        167 mkqueue     4      0     4 1.86ms  219us 1.15ms
resume_queues             169 dbg         2      0     2 1.23ms  335us  896us
map_queues_cpsch          167 mkqueue     4      0     4  980us   63us  802us
map_queues_cpsch          169 dbg         8      0     8  666us   51us  163us
amdkfd_fence_wait_timeout 167 mkqueue     3      0     3  666us  231us  352us

# Without record-tgid the process of a thread is not known.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-6.12.trace -r -o FUNCTION,PID,TID,CALLS,RETURNS,TIMED --filter 'FUNCTION =~ "queues$|pqm"'
FUNCTION PID TID CALLS RETURNS TIMED
suspend_queues - 204 1 1 1
resume_queues - 204 2 2 2

# trace-cmd: 16.342308 to 16.343525; a clock that it prints without a dot.
$ cd $DATA/ftrace; gpq trace --ftrace trace-cmd-6.12.report -rn -o FUNCTION,CALLS,TIMED,MAX --filter 'FUNCTION == "suspend_queues"'; gpq trace --ftrace trace-cmd-boot-7.3.report
suspend_queues 1 1 1217000
gpq: trace: 39 records have no time in seconds: trace_clock counted something else
Functions and events of the kernel
FUNCTION   PID COMMAND     CALLS FAILED TIMED TOTAL P50 P90 P99 MAX
sg_hiq_run   - softgpu0-cp    39      -     0     -   -   -   -   -

# A line that was cut by the kernel itself is no record.
$ cd $DATA/ftrace; gpq trace --ftrace lost-7.3.pipe -o FUNCTION,CALLS,TIMED; gpq trace -q --ftrace function-6.12.trace -o FUNCTION,COMMAND,CALLS --filter "CALLS > 5"
gpq: trace: events were lost at 2 places, 30740 that the kernel counted; calls across them have no length; a larger buffer_size_kb loses fewer
gpq: trace: 1 of 41 lines is no trace record
FUNCTION                            CALLS TIMED
amdgpu_amdkfd_get_gpu_clock_counter     9     0
barrier_open                            8     0
sg_aql_consume                          7     0
sg_queue_report_rptr                    6     0
sg_queue_doorbell                       5     0
sg_hiq_run                              3     0
FUNCTION                            COMMAND     CALLS
amdgpu_amdkfd_get_gpu_clock_counter softgpu0-cp     6
barrier_open                        softgpu0-cp     6
sg_aql_consume                      softgpu0-cp     6
sg_bo_put                           softgpu0-cp     6
sg_bo_put.part.0                    softgpu0-cp     6

# The log is of a container: its pid 7 is found by the ring of a queue.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono -o +FIRST_US container.log | head -3
FUNCTION                  PID COMMAND CALLS FAILED TIMED  TOTAL    P50 P90 P99    MAX FIRST_US
kfd_ioctl_set_debug_trap  169 dbg         4      0     4 7.91ms 1.01ms   -   - 3.99ms  8176274
kfd_ioctl_create_queue    167 mkqueue     3      0     3 7.41ms 1.66ms   -   - 4.82ms  6154352
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono container.log | tail -7
Processes of the log
PID KERNEL_PID COMMAND MATCHED LOG_RECORDS KERNEL_RECORDS
  7        167 mkqueue queue            11             28

Queues of the log
PID            HWQ KERNEL_PID   GPU QID CREATED_US DISPATCHES FIRST_US LAST_US
  7 0x7ffff7fe7000        167 21385   0    6159174          2  8180200 8400200
$ cd $DATA/ftrace; gpq trace --list --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono -rno TIME_US,SOURCE --since +2030ms --until +2037ms container.log | awk 'NR == 1 { print } { last = $0 } END { print last, NR }'
8180000 log
8186876 kernel 13

$ cd $DATA/ftrace; gpq trace --list --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono --since 8180000us --until 8187000us container.log
TIME_US SOURCE PID COMMAND KIND     NAME                      INSIDE RETURNED QID            HWQ ARGS
8180000 log    167 -       api      hipLaunchKernel                -        -   -              - -
8180100 log    167 -       kernel   scale(float*)                  -        -   -              - -
8180200 log    167 -       dispatch scale(float*)                  -        -   0 0x7ffff7fe7000 -
8180300 log    167 -       return   hipLaunchKernel            300us        -   -              - -
8181826 kernel 169 dbg     entry    kfd_ioctl_set_debug_trap       -        -   -              - pid=167 op=13
8182364 kernel 169 dbg     return   kfd_ioctl_set_debug_trap   538us        0   -              - ret=0
8184840 kernel 169 dbg     entry    kfd_ioctl_set_debug_trap       -        -   -              - pid=167 op=6
8185026 kernel 169 dbg     entry    suspend_queues                 -        -   0              - count=1 grace=0 queue=0
8185428 kernel 169 dbg     entry    unmap_queues_cpsch             -        -   -              - filter=2
8185468 kernel 169 dbg     entry    amdkfd_fence_wait_timeout      -        -   -              - -
8186803 kernel 169 dbg     return   amdkfd_fence_wait_timeout 1.33ms        0   -              - ret=0
8186861 kernel 169 dbg     return   unmap_queues_cpsch        1.43ms        0   -              - ret=0
8186876 kernel 169 dbg     entry    map_queues_cpsch               -        -   -              - -

# The thread of the log is none of the kernel.
$ cd $DATA/ftrace; gpq trace --list --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono -p 7 -rn -o TIME_US,SOURCE,PID,LOG_PID,TID,THREAD,KIND,NAME,QID --since 8179000us container.log
8180000 log 167 7 - 0x7f00000000aa api hipLaunchKernel -
8180100 log 167 7 - 0x7f00000000aa kernel scale(float*) -
8180200 log 167 7 - 0x7f00000000aa dispatch scale(float*) 0
8180300 log 167 7 - 0x7f00000000aa return hipLaunchKernel -
8188804 gpq 167 7 - - hold-begin dbg -
8293570 gpq 167 7 - - hold-end dbg -
8369497 kernel 167 7 167 - entry unmap_queues_cpsch -
8369605 kernel 167 7 167 - entry amdkfd_fence_wait_timeout -
8369833 kernel 167 7 167 - return amdkfd_fence_wait_timeout -
8369871 kernel 167 7 167 - return unmap_queues_cpsch -
8369881 kernel 167 7 167 - entry map_queues_cpsch -
8369885 kernel 167 7 167 - return map_queues_cpsch -
8400000 log 167 7 - 0x7f00000000aa api hipLaunchKernel -
8400100 log 167 7 - 0x7f00000000aa kernel scale(float*) -
8400200 log 167 7 - 0x7f00000000aa dispatch scale(float*) 0
8400300 log 167 7 - 0x7f00000000aa return hipLaunchKernel -

# A driver's own text: queue_id= is a queue, queue= a slot. A return without arguments has those of its entry.
$ cd $DATA/ftrace; gpq trace --list --ftrace patched-5.10.trace --filter 'QID == 924' -rno TIME_US,KIND,NAME,QID,ARGS; gpq trace --list --ftrace patched-5.10.trace -rno TIME_US,KIND,GPU,QID,HWQ
71234900700 event kgd_gfx_v9_hqd_load 924 load\x20hqd\x20queue_id=924\x20pipe=0\x20queue=0
71234500100 entry - - -
71234900000 entry 51110 - 0x7f0000b20000
71234900700 event - 924 -
71234901500 return 51110 - 0x7f0000b20000
71235900000 entry 51110 - 0x7f0000b40000
71235900700 event - 925 -
71235901500 return 51110 - 0x7f0000b40000

# Times from the first record, 6154352.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --list --since +2.15s --until +2.16s -rn -o TIME_US,KIND,NAME
8313037 entry unmap_queues_cpsch
8313116 entry amdkfd_fence_wait_timeout
8313327 return amdkfd_fence_wait_timeout
8313372 return unmap_queues_cpsch
8313384 entry map_queues_cpsch
8313504 return map_queues_cpsch
8313935 entry resume_queues
8313984 entry unmap_queues_cpsch
8313995 entry amdkfd_fence_wait_timeout
8314151 return amdkfd_fence_wait_timeout
8314199 return unmap_queues_cpsch
8314206 entry map_queues_cpsch
8314257 return map_queues_cpsch
8314268 return resume_queues
$ cd $DATA/ftrace; gpq trace --ftrace container.log; gpq trace --ftrace /nowhere; gpq trace --ftrace-clock mono container.log; gpq trace --ftrace x --gaps container.log; gpq trace --ftrace x --by queue container.log
gpq: trace: --ftrace container.log: no trace record in it; give what tracefs's trace or trace-cmd report printed
gpq: trace: /nowhere: No such file or directory; check the name
gpq: trace: --ftrace-clock: there is no trace; say --ftrace FILE too
gpq: trace: --ftrace and --gaps exclude each other; choose one
gpq: trace: --ftrace and --by exclude each other; choose one
? 2

# Another clock, or one that is not known: the queue that both name ties the clocks, too. Log 6160000, return of the ioctl 6159174.
$ cd $DATA/ftrace; for c in "" "--ftrace-clock boot"; do gpq trace --ftrace kprobe-tgid-7.3.trace $c container.log 2>&1 >/dev/null | cat; gpq trace -qJ --ftrace kprobe-tgid-7.3.trace $c container.log | jq -c '.clock, .offset_ns, .processes[0].matched, .queues[0].created_us'; done
gpq: trace: times of the trace are moved onto the log's clock (guess: when queues were created; offset +0.8ms)
null
826000
"queue"
6160000
gpq: trace: times of the trace are moved onto the log's clock (guess: when queues were created; offset +0.8ms)
"boot"
826000
"queue"
6160000

# A function trace of the clock local with the host's pids, a log with those of a container.
$ cd $DATA/ftrace; gpq trace --list --ftrace function-local-5.10.trace local.log -rno TIME_US,SOURCE,LOG_PID,MATCHED,NAME --filter 'NAME =~ "create_queue|scale|kfd_open" || KIND == "queue_created"'
gpq: trace: 157868 is 3934101 (guess: the only process that creates queues; offset +134.2ms)
8999234200 kernel - - kfd_open
8999634200 kernel 157868 guess kfd_open
9000100000 kernel 157868 guess kfd_ioctl_create_queue
9000100000 log 157868 guess -
9000100200 kernel 157868 guess pqm_create_queue
9000349700 kernel 157868 guess kfd_ioctl_create_queue
9000349900 kernel 157868 guess pqm_create_queue
9000350000 log 157868 guess -
9000533000 log 157868 guess scale(float*)
$ cd $DATA/ftrace; gpq trace -J --ftrace function-local-5.10.trace --ftrace-clock local local.log | jq -c .clock,.offset_ns,.notes,.processes
"local"
134200000
["157868 is 3934101 (guess: the only process that creates queues; offset +134.2ms)"]
[{"pid":157868,"kernel_pid":3934101,"command":"python3","matched":"guess","log_records":4,"kernel_records":7}]

# The number of a container's process may be that of a thread of the kernel. A second queue that took 9 ms longer: 9000359000.
$ cd $DATA/ftrace; echo ' kworker/3:1-157868 [003] ....  9000.600000: kfd_process_wq_release <-process_one_work' | cat function-local-5.10.trace - >$OLDPWD/kworker.trace; gpq trace -J --ftrace $OLDPWD/kworker.trace local.log | jq -c .notes,.processes[0].command
["157868 is 3934101 (guess: the only process that creates queues; offset +134.2ms)"]
"python3"
$ cd $DATA/ftrace; sed s/9000350000/9000359000/ local.log | gpq trace -J --ftrace function-local-5.10.trace - | jq -c .notes
["157868 is 3934101 (guess: the only process that creates queues; offset +134.2ms)"]

# HIP 5.7 logs a queue by its handle, then by its ring: it is one queue, and a single time says of no one of two processes that it is its.
$ cd $DATA/amdlog; sed 's/pid:512/pid:513/; s/: 0041/: 0043/' rocm57.log | cat rocm57.log - >$OLDPWD/two.log; cd $OLDPWD; echo ' python3-3934101 [003] ....  50.000000: kfd_ioctl_create_queue <-kfd_ioctl' >one.trace; gpq trace -J --ftrace one.trace two.log | jq -c '.processes[] | [.pid, .kernel_pid]'
[512,null]
[513,null]

# If its clock is the log's, the times contradict, and nothing is guessed; shifted by hand they agree.
$ cd $DATA/ftrace; gpq trace --ftrace function-local-5.10.trace --ftrace-clock mono local.log 2>&1 | grep 157868; gpq trace --ftrace function-local-5.10.trace --offset 134ms local.log 2>&1 | grep '157868.*\(guess\)'
gpq: trace: processes of the log that nothing ties to the trace: 1, the first is 157868; next time record with trace_clock mono and kfd_ioctl_create_queue in the filter, or say --pid-map LOGPID=KERNELPID
157868          - -       -                 4              -
157868 0x7f0000fe7000          -   -   -          -          -        -       -
157868 0x7f0000fe8000          -   -   -          -          -        -       -
gpq: trace: 157868 is 3934101 (guess: the only process that creates queues)
157868    3934101 python3 guess             4              7

# Given by hand: no guess, and a time before the trace's begin stays 0.
$ cd $DATA/ftrace; gpq trace -J --ftrace function-local-5.10.trace --pid-map 157868=4000001 --offset -9000s local.log | jq -c '.offset_ns, .notes, .processes[0].matched, (.functions | map(select(.function == "kfd_open" or .function == "kfd_ioctl_destroy_queue") | .first_us) | sort)'
-9000000000000
[]
"given"
[0,0,500000]
$ cd $DATA/ftrace; for o in "--pid-map 1" "--pid-map 1=x" "--pid-map =7" "--pid-map 7=3934101" "--pid-map 157868=3934101,157868=4000001" "--offset 5" "--offset x"; do gpq trace --ftrace function-local-5.10.trace $o local.log; echo $?; done; gpq trace --ftrace function-local-5.10.trace --offset 1s; gpq trace --pid-map 1=2 local.log
gpq: trace: --pid-map: 1 is not LOGPID=KERNELPID; give the log's pid and the kernel's: 7=3934101
2
gpq: trace: --pid-map: 1=x is not LOGPID=KERNELPID; give the log's pid and the kernel's: 7=3934101
2
gpq: trace: --pid-map: =7 is not LOGPID=KERNELPID; give the log's pid and the kernel's: 7=3934101
2
gpq: trace: --pid-map 7=3934101: not in the log or not in the trace; name each process once, as both have it
5
gpq: trace: --pid-map 157868=4000001: not in the log or not in the trace; name each process once, as both have it
5
gpq: trace: --offset: 5 is no time with its unit; give the log's clock less the trace's, as 134.2ms
2
gpq: trace: --offset: x is no time with its unit; give the log's clock less the trace's, as 134.2ms
2
gpq: trace: --offset: there is no log; name the log, too
gpq: trace: --pid-map: there is no trace; say --ftrace FILE too
? 2

# Nothing ties them: each side has its own times, the trace first. Without creations, opening /dev/kfd ties the only process that does.
$ cd $DATA/ftrace; grep -v 'create_queue\|kfd_open' function-local-5.10.trace >$OLDPWD/untied.trace; gpq trace --list --ftrace $OLDPWD/untied.trace local.log -rno TIME_US,SOURCE,MATCHED,NAME
gpq: trace: processes of the log that nothing ties to the trace: 1, the first is 157868; next time record with trace_clock mono and kfd_ioctl_create_queue in the filter, or say --pid-map LOGPID=KERNELPID
gpq: trace: the trace's clock (not known) is not the log's: each side has its own times; next time record with trace_clock mono, or say --offset TIME
9000400000 kernel - evict_process_queues_cpsch
9000500000 kernel - kfd_ioctl_destroy_queue
8999640000 log - -
9000100000 log - -
9000350000 log - -
9000533000 log - scale(float*)
$ cd $DATA/ftrace; grep -v 'create_queue\|rocm-smi' function-local-5.10.trace | gpq trace --ftrace - local.log 2>&1 | grep guess
gpq: trace: 157868 is 3934101 (guess: the only process that opens /dev/kfd; offset +140.0ms)
157868    3934101 python3 guess             4              3

# What is no kernel has the same name where names of kernels are readable.
$ cd $DATA/ftrace; for o in --no-demangle --demangle; do gpq trace --ftrace kprobe-6.12.trace --list $o -o KIND,NAME | sed -n 2p; done
entry      kfd_ioctl_create_queue
entry      kfd_ioctl_create_queue

# gpq writes the clock into what it saves. Empty lines are none.
$ cd $DATA/ftrace; sed "1i # clock: mono" kprobe-tgid-7.3.trace | sed G | gpq trace -J --ftrace - container.log | jq -c ".schema, .clock, .notes, (.functions | map(.calls) | add), .queues[0].qid"
{"name":"gpq.trace.ftrace","version":1}
"mono"
[]
45
0

# By number alone.
$ cd $DATA/ftrace; sed "s/pid:7 /pid:167 /" container.log | sed s/7ffff7fe7000/7ffff7fe8000/ | gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono -J - | jq -c ".processes[0], .notes"
{"pid":167,"kernel_pid":167,"command":"mkqueue","matched":"number","log_records":11,"kernel_records":28}
["processes of the log found by their number alone: 1; in a container it is another"]

# The ioctl 8.184840, suspend_queues 8.185026 to 8.188804, unmap 8.185428 to 8.186861, in it the fence 8.185468 to 8.186803.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --breakdown all
Suspensions
NUMBER TIME_US PID COMMAND TARGET QUEUES RETURNED ENTER UNMAP   SAVE   MAP   REST LEAVE  TOTAL
     1 8184840 169 dbg        167      1        1 186us  98us 1.33ms 163us 2.18ms  28us 3.99ms

Steps
STEP  COUNT    P50 P90 P99    MAX WHAT
enter     1  186us   -   -  186us from the ioctl's begin: the target is found and locked
unmap     1   98us   -   -   98us the runlist is unmapped, without the wait for it
save      1 1.33ms   -   - 1.33ms wait until the waves are saved
map       1  163us   -   -  163us the other queues are mapped again
rest      1 2.18ms   -   - 2.18ms all else in suspend_queues, as copying the headers of what was saved
leave     1   28us   -   -   28us to the ioctl's end: the answer
total     1 3.99ms   -   - 3.99ms from the ioctl's begin to its end

# With its dispatches; a time in it; its number.
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-tgid-7.3.trace --ftrace-clock mono container.log --breakdown 8.186s -rno NUMBER,LAST_US,NEXT_US,LOG_PID,RETURNED; gpq trace --ftrace kprobe-6.12.trace --breakdown 1 -rno NUMBER,TARGET,TOTAL,PID,LOG_PID
1 8180200 8400200 7 1
1 202 2688000 - -
$ cd $DATA/ftrace; gpq trace --ftrace kprobe-6.12.trace --breakdown 2; gpq trace --ftrace lost-7.3.pipe -q --breakdown all; gpq trace --ftrace x --breakdown 0; gpq trace --ftrace x --breakdown one; gpq trace --ftrace x --breakdown 1 --list; gpq trace --breakdown 1 container.log
gpq: trace: --breakdown: no suspension of the trace is that one; see --breakdown all
gpq: trace: --breakdown: no suspension of queues is in the trace; suspend_queues must be traced at entry and return
gpq: trace: --breakdown: 0 is no suspension; give its number (1), a time in it (8.19s), or all
gpq: trace: --breakdown: one is no suspension; give its number (1), a time in it (8.19s), or all
gpq: trace: --breakdown and --list exclude each other; choose one
gpq: trace: --breakdown: there is no trace; say --ftrace FILE too
? 2

# Holds (tests/data/ftrace/holds.trace): from the return of what suspended the first queue to that of what resumed the last. A call whose
# target is not known, that failed, or suspended none begins none; the last one's end is not in the trace.
$ cd $DATA/ftrace; gpq trace --ftrace holds.trace --list --filter 'SOURCE == "gpq"' -o TIME_US,PID,COMMAND,KIND,NAME,INSIDE,ARGS
  TIME_US PID COMMAND KIND       NAME       INSIDE ARGS
100000200  10 -       hold-begin gpq-holder      - by=20 queues=2
100003200  10 -       hold-end   gpq-holder    3ms by=20 queues=2 end=resume
100006200  10 -       hold-begin gpq-holder      - by=20 queues=2
100007200  10 -       hold-end   gpq-holder    1ms by=20 queues=2 end=detach
100008200  10 -       hold-begin gpq-holder      - by=20 queues=2
100009200  11 -       hold-begin gpq-holder      - by=20 queues=1
100010100  11 -       hold-end   gpq-holder  900us by=20 queues=1 end=exit
100010100  10 -       hold-end   gpq-holder  1.9ms by=20 queues=2 end=exit
100012200  12 worker  hold-begin rocgdb          - by=21 queues=4
100013100  12 worker  hold-end   rocgdb      900us by=21 queues=4 end=exit
100015200  10 -       hold-begin gpq-holder      - by=20 queues=3
$ cd $DATA/ftrace; gpq trace --ftrace holds.trace -p 11 --list -rno TIME_US,KIND; gpq trace --ftrace holds.trace --perfetto - | jq -c '.traceEvents[] | select(.cat == "hold") | [.ts, .dur, .name, .args.queues, .args.end]'
100009200 hold-begin
100010100 hold-end
[100000200,3000,"held by gpq-holder 20",3,"resume"]
[100006200,1000,"held by gpq-holder 20",2,"detach"]
[100008200,1900,"held by gpq-holder 20",2,"exit"]
[100009200,900,"held by gpq-holder 20",1,"exit"]
[100012200,900,"held by rocgdb 21",4,"exit"]
[100015200,100,"held by gpq-holder 20",3,"not seen"]

# In a timeline: holds of the chosen processes that begin in the range, those of the first run alone.
$ cd $DATA/ftrace; holds() { gpq trace -q --perfetto - "$@" | jq -c '[.traceEvents[] | select(.cat == "hold").ts]'; }; holds --ftrace holds.trace -p 11; holds --ftrace holds.trace --until 100007000us
> holds --ftrace holds.trace -p 10 --since 100008200us --until 100015200us; holds --ftrace holds.trace -p 10 --since 100008201us --until 100015199us; { cat holds.trace; sed /^#/d holds.trace; } | holds --ftrace -
[100009200]
[100000200,100006200]
[100008200,100015200]
[]
[100000200,100006200,100008200,100009200,100012200,100015200]

# A clock that is set back by half a second, amid a suspension: it is said; of the two calls around that, the halves count for
# themselves.
$ awk '/suspend_queues:/ { back = 1 } !/^#/ && back && !/suspend_queues:/ && match($0, /[0-9]+\.[0-9]+:/) { $0 = substr($0, 1, RSTART - 1) sprintf("%.6f:", substr($0, RSTART, RLENGTH - 1) - 0.5) substr($0, RSTART + RLENGTH) } 1' $DATA/ftrace/kprobe-6.12.trace >set.trace; for t in $DATA/ftrace/kprobe-6.12.trace set.trace; do gpq trace --ftrace $t -rno FUNCTION,CALLS,TIMED | grep -E 'suspend|trap'; done
kfd_ioctl_set_debug_trap 4 4
suspend_queues 1 1
gpq: trace: the clock went backwards 1 times: runs one behind the other, or a clock that was set
gpq: trace: 2 returns have no entry in the trace
kfd_ioctl_set_debug_trap 5 3
suspend_queues 2 0
