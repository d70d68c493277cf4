# gpq trace on logs made by hand, one per layout (tests/data/amdlog). Expected values were counted in the logs.
#
# rocm70.log: pid 4711 launches attention four times and layer_norm twice, alternating between a high and a normal
# queue; pid 8022 once, 40 packets behind. Packet indices of the first queue: 0 1 2, then a barrier 3 with rptr 2.
$ gpq trace $DATA/amdlog/rocm70.log
Errors
KIND  PID COUNT FIRST_US  LAST_US HWQ WHAT
api  8022     1 90001980 90001980   - hipMalloc: hipErrorOutOfMemory

Totals
LINES:         61
SIZE:          10.3K
RECORDS:       60
LAUNCHES:      7
DISPATCHES:    7
BARRIERS:      2
KERNELS:       3
HWQS:          3
PIDS:          2
CUT_RECORDS:   0
OTHER_LINES:   2
API_ERRORS:    1
QUEUE_ERRORS:  0
LOG_LEVEL_MAX: 4
FORMAT:        6.4+
HIP:           7.0.51831.7c9236b16
SPAN:          1.98ms

Processes
 PID RECORDS THREADS QUEUES KERNELS LAUNCHES DISPATCHES BARRIERS API_CALLS API_ERRORS FIRST_US   SPAN
4711      57       1      2       2        6          6        2         9          0 90000000 1.95ms
8022       3       1      1       1        1          1        0         0          1 90001960   20us

Hardware queues
 PID            HWQ            SWQ ID HIP_PRIO STREAMS DISPATCHES BARRIERS KERNELS FIRST_US  LAST_US DEEPEST BACKLOG_MEAN
4711 0x7f0000b20000 0x7f0000a1a000  1 high           1          3        1       2 90001030 90001900       2            1
4711 0x7f0000b40000 0x7f0000a1b000  2 normal         1          3        1       2 90001130 90001950       2         0.75
8022 0x7e0000b20000 0x7e0000a1a000  1 -              -          1        0       1 90001970 90001970      40           40

Kernels
LAUNCHES DISPATCHES QUEUES GRID_MIN GRID_MAX WG_MIN WG_MAX NAME
       4          4      2 256x1x1  2048x1x1 64x1x1 64x1x1 void attention<float, 128>(float*, int)
       2          2      2 4096x1x1 8192x1x1 64x1x1 64x1x1 layer_norm(float*)
       1          1      1 4096x1x1 4096x1x1 64x1x1 64x1x1 train_step

$ gpq trace -J $DATA/amdlog/rocm70.log | jq -c 'keys, (.totals | keys)'
["errors","kernels","notes","processes","queues","schema","totals"]
["api_errors","barrier_values","barriers","bytes","cut_records","dispatches","first_us","format","glued","hip_version","hwqs","kernels","last_us","launches","lines","log_level_max","mended","other_lines","pids","queue_errors","records","rptr_max","rptr_min","span_ns","steps_back","unnamed","wptr_max","wptr_min"]

$ gpq trace -J $DATA/amdlog/rocm70.log | jq -c '.queues[] | [.pid, .hwq, .swq, .id, .dispatches, .barriers, .first_us, .last_us, .backlog_max]'
[4711,"0x7f0000b20000","0x7f0000a1a000",1,3,1,90001030,90001900,2]
[4711,"0x7f0000b40000","0x7f0000a1b000",2,3,1,90001130,90001950,2]
[8022,"0x7e0000b20000","0x7e0000a1a000",1,1,0,90001970,90001970,40]

$ gpq trace -J $DATA/amdlog/rocm70.log | jq -c '.kernels[0] | [.name, .launches, .dispatches, .grid_items_min, .grid_items_max]'
["void attention<float, 128>(float*, int)",4,4,256,2048]

# One table
$ gpq trace --by process -r $DATA/amdlog/rocm70.log
PID RECORDS THREADS QUEUES KERNELS LAUNCHES DISPATCHES BARRIERS API_CALLS API_ERRORS FIRST_US SPAN
4711 57 1 2 2 6 6 2 9 0 90000000 1950000
8022 3 1 1 1 1 1 0 0 1 90001960 20000

# --top counts the rows that --by chose; of those that are sorted otherwise, the first.
$ for b in queue process thread api stream kernel; do gpq trace --by $b --top 1 -rn $DATA/amdlog/cnn.log | grep -c .; done | uniq -c; gpq trace --by api --top 2 -rno NAME $DATA/amdlog/cnn.log; gpq trace --by api --top 1 --sort MAX -rno NAME $DATA/amdlog/cnn.log; gpq trace --by stream --top 3 -J $DATA/amdlog/moves.log | jq '.streams | length'; gpq trace --top 1 --table processes -rno PID $DATA/amdlog/rocm70.log | wc -l
      6 1
hipStreamSynchronize
hipLaunchKernel
hipLaunchKernel
3
2

$ gpq trace --by api $DATA/amdlog/rocm70.log
CALLS RETURNS ERRORS TIMED TOTAL MEAN_US P50 P99 MAX NAME
    6       6      0     6  21us     3.5 3us   - 6us hipLaunchKernel
    2       2      0     0     -       -   -   -   - hipStreamCreateWithPriority
    1       0      0     0     -       -   -   -   - hipGetLastError
    0       1      1     0     -       -   -   -   - hipMalloc

$ gpq trace -q --by thread -o pid,thread,records,launches $DATA/amdlog/rocm57.log
PID         THREAD RECORDS LAUNCHES
512 0x7f00000c3740      25        3
512 0x7f00000c4fc0       1        0

$ gpq trace --by kernel --top 1 -n -o dispatches,name $DATA/amdlog/rocm70.log
         4 void attention<float, 128>(float*, int)

$ gpq trace -n -o hwq,hip_prio,rptr_max,wptr_max $DATA/amdlog/rocm70.log
0x7f0000b20000 high            2        3
0x7f0000b40000 normal          3        3
0x7e0000b20000 -             100      140

$ gpq trace --by kernel --ndjson -o name,dispatches $DATA/amdlog/rocm70.log | tail -1
{"record":"kernel","name":"train_step","dispatches":1}

# When queues were made: created at 90000110 and 90000210, never deleted.
$ gpq trace -J $DATA/amdlog/rocm70.log | jq -c '.queues[] | [.created, .created_us, .deleted, .deleted_us]'
[1,90000110,0,null]
[1,90000210,0,null]
[0,null,0,null]

# Filters. The fourth launch of attention is at 90001315, its dispatch at 90001330.
$ gpq trace -J -p 8022 $DATA/amdlog/rocm70.log | jq -c '[.totals.records, .totals.pids, (.queues | length), .kernels[].name]'
[3,1,1,"train_step"]

$ gpq trace -J --kernel 'layer|train' $DATA/amdlog/rocm70.log | jq -c '[.totals.records, .totals.dispatches, .totals.barriers], (.kernels[] | .name)'
[6,3,0]
"layer_norm(float*)"
"train_step"

$ gpq trace -J --since 90001316us --until 90001430us $DATA/amdlog/rocm70.log | jq -c '[.totals.launches, .totals.dispatches, .totals.first_us, .totals.last_us], [.kernels[] | [.launches, .dispatches]]'
[1,2,90001320,90001430]
[[1,1],[0,1]]

$ gpq trace -J --since +1.96ms $DATA/amdlog/rocm70.log | jq -c '[.totals.records, .totals.first_us]'
[3,90001960]

$ gpq trace -J --since +1.0s $DATA/amdlog/rocm70.log 2>/dev/null | jq -c '[.totals.records, .totals.first_us, .totals.lines]'
[0,null,61]
? 5

$ gpq trace --by queue -p 1 $DATA/amdlog/rocm70.log
gpq: trace: no record is of the processes, kernels, times or text asked for; the log has process ids 4711, 8022
? 5

# Of times that the log has not, the message tells which it has: those of all records, of which a report reads some.
$ for o in '--list --kernel layer' '' '-p 1'; do gpq trace $o --since 1ms --until 20ms $DATA/amdlog/rocm70.log 2>&1 >/dev/null | sed 's/.*asked for; //; s/gpq: trace: no record//'; done
> gpq trace --until +0us -p 1 $DATA/amdlog/rocm70.log 2>&1 | sed 's/.*; //'; grep 'Dispatch Header' $DATA/amdlog/rocm70.log | gpq trace --since 0us --until 1ms - 2>&1
the log's times are 90000000us to 90001980us (1.98ms), and +1ms counts from its first record
 from 1ms up to 20ms; the log's times are 90000000us to 90001980us (1.98ms), and +1ms counts from its first record
the log has process ids 4711, 8022; the log's times are 90000000us to 90001980us (1.98ms), and +1ms counts from its first record
the log's times are 90000000us to 90001980us (1.98ms), and +1ms counts from its first record
gpq: trace: no record from 0us up to 1ms; the log's times are 90001030us to 90001970us (940us), and +1ms counts from its first record
? 5

$ for t in '--since +1s' '--until 1ms' '--since +1s --grep .'; do gpq trace $t $DATA/amdlog/rocm70.log 2>&1 | sed 's/;.*//'; done
gpq: trace: no record from +1s
gpq: trace: no record up to 1ms
gpq: trace: no record is of the processes, kernels, times or text asked for
? 5

$ gpq trace --from 1ms x; gpq trace --to 1ms x
gpq: trace: unknown option --from, did you mean --since; --help lists the options
gpq: trace: unknown option --to, did you mean --until; --help lists the options
? 2

$ for t in '2ms 1ms' '+2ms +1ms' '1ms 1ms' '1ms +0us'; do gpq trace --since ${t% *} --until ${t#* } $DATA/amdlog/rocm70.log 2>&1 | sed 's/;.*//' | grep '^gpq\|^RECORDS'; done
gpq: trace: --since 2ms is after --until 1ms
gpq: trace: --since +2ms is after --until +1ms
gpq: trace: no record from 1ms up to 1ms
RECORDS:       1
? 2,5

$ gpq trace -p - $DATA/amdlog/rocm70.log </dev/null
gpq: trace: --pid: the list is empty; name a process
? 2

$ gpq trace --by queue -p 1 $DATA/amdlog/rocm63-level3.log
gpq: trace: no record is of the processes, kernels, times or text asked for; the log has no process ids: ROCm 6.3 and later print them at level 4 and up
? 5

$ gpq trace --by kernel --kernel nonesuch $DATA/amdlog/rocm70.log
gpq: trace: no record is of the processes, kernels, times or text asked for
? 5

# The list
$ gpq trace --list -p 8022 $DATA/amdlog/rocm70.log
      TIME_US     PID         THREAD KIND                      HWQ  ID       RPTR       WPTR GRID           WORKGROUP  API                  KERNEL
     90001960    8022 0x7e00000e5400 kernel                      -   -          -          - -              -          -                    train_step
     90001970    8022 0x7e00000e5400 dispatch       0x7e0000b20000   1        100        140 4096x1x1       64x1x1     -                    train_step
     90001980    8022 0x7e00000e5400 return                      -   -          -          - -              -          hipMalloc            -

$ gpq trace --list --ndjson -o time_us,kind,backlog,offset,cut --kernel layer $DATA/amdlog/rocm70.log
{"record":"record","time_us":90001415,"kind":"kernel","backlog":null,"offset":7346,"cut":false}
{"record":"record","time_us":90001430,"kind":"dispatch","backlog":2,"offset":7599,"cut":false}
{"record":"record","time_us":90001515,"kind":"kernel","backlog":null,"offset":8562,"cut":false}
{"record":"record","time_us":90001530,"kind":"dispatch","backlog":2,"offset":8815,"cut":false}

# Every layout: lines, records, foreign, glued, torn, launches, dispatches, barriers, kernels, hwqs, pids, level, format
$ for f in $DATA/amdlog/*.log; do echo "$(basename $f) $(gpq trace -J $f | jq -c '.totals | [.lines, .records, .other_lines, .glued, .cut_records, .launches, .dispatches, .barriers, .kernels, .hwqs, .pids, .log_level_max, .format]')"; done
cnn.log [47,47,0,0,0,6,6,1,3,1,1,4,"6.4+"]
mangled.log [36,36,0,0,0,9,9,0,6,1,1,4,"5.7-6.2"]
moves.log [41,41,0,0,0,6,6,0,1,2,1,4,"6.4+"]
nolocation.log [7,3,4,0,0,1,null,null,1,0,1,3,"6.4+"]
pairs57.log [34,34,0,0,0,4,4,1,2,2,1,4,"5.7-6.2"]
pairs64.log [90,89,2,1,1,9,13,3,3,5,3,4,"6.4+"]
rocm35.log [7,6,1,0,0,0,null,null,0,0,1,3,"3.5"]
rocm43.log [10,9,1,0,0,1,1,1,1,1,1,4,"3.7-4.5"]
rocm57.log [27,26,1,0,0,3,3,1,2,1,1,4,"5.7-6.2"]
rocm63-level3.log [6,6,0,0,1,2,null,null,1,1,0,3,"6.3"]
rocm63-level4.log [5,4,1,0,0,1,1,1,1,1,1,4,"6.3"]
rocm70.log [61,60,2,1,0,7,7,2,3,3,2,4,"6.4+"]
rocm712-level4.log [4,4,0,0,0,1,null,null,1,0,1,4,"6.4+"]
torn.log [5,4,1,0,1,1,2,0,1,1,1,4,"6.4+"]
transformer.log [57,57,0,0,0,8,8,0,3,2,1,4,"6.4+"]
windows.log [3,3,0,0,0,0,null,null,0,0,1,5,"5.0-5.6 6.4+"]
wrapped.log [4,4,1,1,0,1,1,0,1,1,1,4,"5.0-5.6"]

# 3.5 counts in units of 100 ns; 6.3 counts packets in 32 bits: rptr 4294967290, wptr 5.
$ gpq trace -J $DATA/amdlog/rocm35.log | jq -c '.totals.first_us, .totals.last_us, [.queues[0] | .hwq, .swq, .dispatches]'
1000000000
1000000200
[null,"0x7f0000222000",null]

$ gpq trace -J $DATA/amdlog/rocm63-level4.log | jq -c '[.queues[0] | .backlog_max, .backlog_mean, .rptr_max, .wptr_max, .streams]'
[11,11,4294967290,5,null]

# 5.7: the ring of the packets and the handle of the queue lines are one queue; names of more than 4000 bytes stay whole.
$ gpq trace -J $DATA/amdlog/rocm57.log | jq -c '[.queues[] | [.hwq, .swq, .hip_prio, .dispatches, .barriers, .barrier_values]], [.kernels[].name | length]'
[["0x7f0000c00000","0x7f0000aaa000","high",3,1,1]]
[1,4010]

# A packet wrapped at a terminal's width goes on in the next line.
$ gpq trace -qJ $DATA/amdlog/wrapped.log | jq -c '[.totals.mended, .kernels[0].grid_max, .kernels[0].name]'
[1,"16777216x1x1","copy_kernel"]

# What a log cannot tell is said, and null.
$ gpq trace -J $DATA/amdlog/rocm63-level3.log | jq -c '(.queues[] | [.pid, .hwq, .swq, .hip_prio, .dispatches, .backlog_max]), .notes[]'
[null,"0x7f0000b80000","0x7f0000a2c000","low",null,null]
"no packet lines: dispatches, barriers and backlog of queues are unknown; AMD_LOG_LEVEL=4 prints them (ROCm 7.12 and later: 5)"
"records without a process id: 6; ROCm 6.3 and later print it at level 4 and up, releases before 5.0 in API lines"
"cut records: 1; what they miss is not guessed (an AMD_LOG_LEVEL_FILE for each process keeps records whole)"
"the last line has no newline: it may be cut"

$ cp $DATA/amdlog/rocm63-level3.log hip_4711; gpq trace -J hip_4711 | jq -r '.notes[2]'
the file's name ends in _4711, as AMD_LOG_LEVEL_FILE ends it with the process id

$ gpq trace --by queue $DATA/amdlog/torn.log
 PID            HWQ            SWQ ID HIP_PRIO STREAMS DISPATCHES BARRIERS KERNELS FIRST_US  LAST_US DEEPEST BACKLOG_MEAN
4711 0x7f0000b20000 0x7f0000a1a000  1 -              -          2        0       1 96000000 96000100       6            6
gpq: trace: packets without rptr and wptr: 1; no backlog from them (dispatches have them from ROCm 6.2 on, barriers from 6.4)
gpq: trace: cut records: 1; what they miss is not guessed (an AMD_LOG_LEVEL_FILE for each process keeps records whole)
gpq: trace: dispatches without a kernel name before them: 1
gpq: trace: no queue creation in the log: it begins in mid stream, so priorities are unknown

# Packets of 2026 tell the priority (0 low, 1 normal, 2 medium, 3 high), also where the log begins behind the creation of queues. A creation
# line is believed more; parts of a log say the same.
$ sed '/ Created /d; s/ id=1, / id=1, priority=3, /; s/ id=2, / id=2, priority=2, /' $DATA/amdlog/rocm70.log >late.log; gpq trace --by queue -o PID,HWQ,HIP_PRIO,DISPATCHES late.log
 PID            HWQ HIP_PRIO DISPATCHES
4711 0x7f0000b20000 high              3
4711 0x7f0000b40000 medium            3
8022 0x7e0000b20000 high              1
$ for p in 0 1 4 -1; do sed "/ Created /d; s/ id=[12], / id=1, priority=$p, /" $DATA/amdlog/rocm70.log | gpq trace --by queue -q -rno HIP_PRIO - | uniq; done
low
normal
-
-
$ sed 's/ id=[12], / id=1, possible_pipe_id=2, priority=0, /' $DATA/amdlog/rocm70.log >early.log; gpq trace --by queue -q -rno HIP_PRIO early.log
high
normal
low
$ for log in early late; do head -40 $log.log >$log-1; tail -n +41 $log.log >$log-2; gpq trace --partial $log-1 $log-2 >$log-parts; gpq merge -q --by queue -rno HIP_PRIO $log-parts | paste -sd' '; done
high normal low
high medium high

# Other programs hand the log on in JSON lines, under any key and at any depth: the text in them is read as if it stood alone.
$ log=$DATA/amdlog/rocm70.log; say() { gpq trace -qJ - | jq -c 'del(.totals.bytes, .totals.glued, .totals.other_lines)'; }; say <$log >plain; for f in '{event: "line", data: (. + "\n"), pipe: "stderr"}' '{log: ., stream: "stdout"}' '[1, {a: [{b: .}]}] | {of: .}' '{log: ({data: .} | tojson)}'; do jq -Rc "$f" $log | say | cmp - plain && [ -s plain ] && echo same; done
same
same
same
same
$ echo '{"event":"line","data":":0:rocdevice.cpp            :2990: 0090001990 us: [pid:4711 tid: 0x7f00000e5400] Callback: Queue 0x7f0000b20000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016\n","pipe":"stderr"}' >e.log; gpq trace -q --list -rn -o KIND,TEXT e.log | sed 's/\\x20/ /g'; gpq trace -q -J e.log | jq -c '.totals | [.lines, .records, .glued, .other_lines, .cut_records]'
queue_error Callback: Queue 0x7f0000b20000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016
[1,1,0,0,0]

# Several lines in one text; a line that only begins like JSON is text with a record in it, as before.
$ head -3 $DATA/amdlog/rocm70.log | jq -Rsc '{out: ("Loading\n" + .)}' >several.log; gpq trace -q -J several.log | jq -c '.totals | [.lines, .records, .glued, .other_lines]'; (printf '{"loss": 0.5, "at": "'; head -1 $DATA/amdlog/rocm70.log) | gpq trace -q -J - | jq -c '.totals | [.lines, .records, .glued, .other_lines]'
[1,3,3,1]
[1,1,1,1]
$ gpq trace -q --list --grep '^:0:' -rno KIND e.log; jq -Rc '{log: .}' $DATA/amdlog/rocm70.log | gpq trace -qJ --grep 'ShaderName : train' - | jq .totals.launches; grep -c 'ShaderName : train' $DATA/amdlog/rocm70.log
queue_error
1
1

$ gpq trace -q --by kernel --ndjson $DATA/amdlog/nolocation.log | jq -c '[.name, .launches, .dispatches]'
["k1",1,null]

$ gpq trace -J $DATA/amdlog/nolocation.log | jq -r '.totals.queue_errors, .notes[0]'
1
queue errors, faults or full rings: 1; --list -o +TEXT shows the records of kind queue_error

# Several inputs, standard input
$ cat $DATA/amdlog/rocm70.log | gpq trace -J - | jq -c .totals.records
60

$ gpq trace -qJ $DATA/amdlog/rocm70.log - $DATA/amdlog/rocm57.log <$DATA/amdlog/rocm43.log | jq -c '.totals | [.lines, .records, .pids, .hwqs, .format]'
[98,95,4,5,"3.7-4.5 5.7-6.2 6.4+"]

# Two logs without process ids: equal addresses are not one queue.
$ gpq trace -qJ $DATA/amdlog/rocm63-level3.log $DATA/amdlog/rocm63-level3.log | jq -c '[.totals.hwqs, (.processes | length), (.queues | length)]'
[2,2,2]

# Names are escaped before they reach a terminal, and valid in JSON.
$ printf ':3:rocvirtual.cpp           :3351: 0090000000 us: [pid:7 tid: 0x7f] ShaderName : evil\033[31mred\007\xff\n' >evil.log; gpq trace -qn --by kernel -o name evil.log; gpq trace -qJ evil.log | jq -r '.kernels[0].name == "evil\u001b[31mred\u0007\ufffd"'
evil\x1b[31mred\x07\xff
true

# Bad input
$ gpq trace
gpq: trace: no file given; name a log, or - for standard input
? 2

$ gpq trace /nonexistent.log
gpq: trace: /nonexistent.log: No such file or directory
? 5

$ mkdir d; gpq trace d
gpq: trace: d: is a directory; name the log files in it
? 1

$ : >empty; gpq trace -J empty 2>/dev/null | jq -c .totals.records,.queues,.totals.format; gpq trace -J empty >/dev/null
0
[]
null
{"level":"error","command":"trace","message":"no AMD log records in the input","next":"was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?","status":5}
? 5

$ gpq trace empty
gpq: trace: no AMD log records in the input; was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?
? 5

# Compressed logs are unpacked on the way; what is damaged is told, and what came before it reported.
$ gzip -c $DATA/amdlog/rocm70.log >x.gz; gpq trace -rn --by queue -o HWQ,DISPATCHES x.gz
0x7f0000b20000 3
0x7f0000b40000 3
0x7e0000b20000 1

$ for p in "zstd -qc" "xz -c" "bzip2 -c"; do $p $DATA/amdlog/rocm70.log | gpq trace -J - | jq -c '.totals | [.lines, .records]'; done
[61,60]
[61,60]
[61,60]

$ (gzip -c $DATA/amdlog/rocm70.log; gzip -c $DATA/amdlog/rocm70.log) | gpq trace -q -J - | jq .totals.records
120

$ for i in $(seq 40); do cat $DATA/amdlog/rocm70.log; done | gzip -c >big.gz; head -c -500 big.gz >cut.gz; gpq trace -q -rn --by queue -o HWQ cut.gz | wc -l
gpq: trace: cut.gz: gzip: truncated gzip input; what was read until then is reported
3
? 1

$ (head -c 300 x.gz; head -c 300 /dev/zero; tail -c 300 x.gz) | gpq trace -J - 2>&1 >/dev/null | jq -r .status
1
? 1

$ (gzip -c $DATA/amdlog/rocm70.log; echo other bytes) >rest.gz; gpq trace -q -rn --by queue -o HWQ rest.gz | wc -l
gpq: trace: rest.gz: gzip: other bytes behind the compressed data; what was read until then is reported
3
? 1

$ (gzip -c $DATA/amdlog/rocm70.log; head -c 70000 /dev/zero) >padded.gz; gpq trace -q -rn --by queue -o HWQ padded.gz | wc -l
3

$ (gzip -c </dev/null; cat $DATA/amdlog/rocm70.log) | gpq trace -
gpq: trace: standard input: gzip: other bytes behind the compressed data; what was read until then is reported
? 1

$ iconv -t UTF-16 $DATA/amdlog/rocm70.log | gpq trace -
gpq: trace: standard input: is UTF-16 text; iconv -f UTF-16 -t UTF-8 FILE | gpq trace -
? 6

# Files of AMD_LOG_LEVEL_FILE=run, one for each process, whose names tell what level 3 does not.
$ cp $DATA/amdlog/rocm63-level3.log run_20; gzip -c run_20 >run_7.gz; touch run_x runs_3; gpq trace -q -rn --by process -o PID,RECORDS run
7 6
20 6

$ gpq trace runner
gpq: trace: runner: No such file or directory
? 5

# Ranges side by side add up.
$ for r in 0:1000 1000:3K 4072:; do gpq trace -q -J --range $r $DATA/amdlog/rocm70.log | jq -c '.totals | [.lines, .records, .dispatches]'; done
[7,7,null]
[18,18,2]
[36,35,5]

# The last line has no newline. What is torn at the end of a range is completed from behind it, which counts no line.
$ head -c -1 $DATA/amdlog/wrapped.log >cut.log; for b in $(grep -ab '' cut.log | sed -n 's/:.*//; 2,$p'); do
>   n=$(head -c $b cut.log | grep -ac ''); l=$(gpq trace -q -J --range 0:$b cut.log | jq .totals.lines); [ "$n" = "$l" ] || echo "$b: $l, not $n"
> done; grep -ac '' cut.log
4

# Each record is older than the one before, also where a block of the input ends.
$ seq -f ':3:hip_memory.cpp           :786 : 00%.0f us: [pid:7 tid: 0x7f] init' 20000 -1 10001 >back.log; for n in 1 3; do gpq trace -q -J --threads $n back.log | jq -c '.totals | [.records, .steps_back, .first_us, .last_us]'; done
[10000,9999,10001,20000]
[10000,9999,10001,20000]

# Short lines: most parts of an input are records to be looked at, or are not records.
$ seq 20000 | sed 's/.*/:3:a.cpp:1: 1: ShaderName : k\nx/' >dense.log; for n in 1 3; do gpq trace -q -J --threads $n dense.log | jq -c '.totals | [.lines, .records, .launches, .other_lines]'; done
[40000,20000,20000,20000]
[40000,20000,20000,20000]

# What lies up to 4 MiB before and behind a range is read for names and torn records, in files that are longer as well.
$ (yes text | head -c 5000000; cat $DATA/amdlog/wrapped.log; yes text | head -c 5000000) >far.log
$ gpq trace -q -J --range 5000000:692 far.log | jq -c '.totals | [.lines, .records, .mended, .dispatches]'; gpq trace -q --by kernel -rno NAME,DISPATCHES --range 5000461:300 far.log
[2,3,1,1]
copy_kernel 1

$ gpq trace --range 5 $DATA/amdlog/rocm70.log
gpq: trace: --range: 5 is not OFFSET:LEN; give bytes, as 0:100M or 100M: (to the end)
? 2

$ gpq trace --range 0:1 --follow $DATA/amdlog/rocm70.log
gpq: trace: --range and --follow exclude each other; choose one
? 2

$ gpq trace --range 0:1000 x.gz
gpq: trace: x.gz: --range of a file that is compressed (gzip); unpack the file first
? 6

$ gpq trace --follow a b
gpq: trace: --follow takes one file, not 2; name one
? 2

$ gpq trace --threads 0 x.gz
gpq: trace: --threads: 0 threads read nothing; give at least 1
? 2

$ gpq trace --by queue --list $DATA/amdlog/rocm70.log
gpq: trace: --list and --by exclude each other; choose one
? 2

# A reader that goes away is no error worth a word.
$ bash -c 'gpq trace --list $DATA/amdlog/rocm70.log $DATA/amdlog/rocm70.log | head -1 | wc -w; echo ${PIPESTATUS[0]}' | sed 's/141/0/'
12
0

$ gpq trace -J $DATA/amdlog/rocm70.log /nonexistent.log 2>/dev/null | jq .totals.records; gpq trace $DATA/amdlog/rocm70.log /nonexistent.log >/dev/null
60
gpq: trace: /nonexistent.log: No such file or directory
? 3

$ gpq trace --kernel '(' $DATA/amdlog/rocm70.log
gpq: trace: --kernel: (: missing closing parenthesis at character 1; see pcre2pattern(3)
? 2

$ gpq trace --since yesterday $DATA/amdlog/rocm70.log
gpq: trace: --since: yesterday is no time with its unit; give a time of the log as 41254735us or 41.25s, or +200ms from its first record
? 2

$ gpq trace --by queue -o nonsense $DATA/amdlog/rocm70.log
gpq: trace: unknown column nonsense in queues; --list-columns lists them
? 2

$ gpq trace --by color $DATA/amdlog/rocm70.log
gpq: trace: --by: color is none of queue, kernel, process, thread, api, stream, error
? 2

$ gpq trace $DATA/amdlog/rocm70.log >/dev/full
gpq: trace: standard output: No space left on device
? 1

$ gpq trace --list $DATA/amdlog/rocm70.log $DATA/amdlog/rocm70.log >/dev/full
gpq: trace: standard output: No space left on device
? 1

# NULs, random bytes, no newline: counted, no more. (Endless lines: trace-memory.sh.)
$ head -c 300000 /dev/zero | gpq trace -q -J - 2>/dev/null | jq -c '.totals | [.lines, .records, .bytes]'
[1,0,300000]
? 5

$ (cat $DATA/amdlog/rocm70.log; head -c 1000000 $(command -v gpq); echo; cat $DATA/amdlog/rocm70.log) | gpq trace -q -J - | jq -c '.totals | [.records >= 120, .dispatches, .hwqs]'
[true,14,3]

$ (sed -n '1,20p' $DATA/amdlog/rocm70.log; sleep 0.2) | gpq trace --list -n - | head -1 | cut -c1-40
     90000000    4711 0x7f00000e5400 oth

# Matching a name may take too many steps: that is no "does not match".
$ { sed -n 1,15p $DATA/amdlog/rocm70.log; printf ':3:rocvirtual.cpp           :3351: 0090001015 us: [pid:4711 tid: 0x7f00000e5400] ShaderName : %s\n' $(head -c 3000 /dev/zero | tr '\0' a); } | gpq trace -qrn --by kernel --kernel '(*NO_JIT)(a+)+[bc]' - 2>&1 >/dev/null | tail -1; exit ${PIPESTATUS[1]}
gpq: trace: --kernel: some names could not be matched: match limit exceeded; use a simpler expression
? 3

# Two logs against each other. cnn.log: six dispatches in 0.9136 s, wptr - rptr 0 1 1 2 2 0 and 1 before the barrier;
# transformer.log: eight in 0.7009 s, its second queue is made but never used. relu is in both.
$ cd $DATA/amdlog; gpq trace --compare cnn.log transformer.log
A and B use one hardware queue each; no overlap
kernels: 1 in both, 2 only in A, 2 only in B
B dispatches 1.74 times as often as A: 11.41/s against 6.567/s
A's queues are deeper: mean backlog 1 against 0
a dispatch has 49835 work-items on average in A, 165888 in B
they ran at the same time for 0.7009 s, if they are of one host and boot

Logs
LOG RECORDS PIDS QUEUES STREAMS KERNELS LAUNCHES DISPATCHES RATE BACKLOG_MEAN DEEPEST ITEMS_P50 ITEMS_MAX GAP_P50 GAP_P99 GAP_MAX QUEUE_ERRORS  SPAN FILE
A        47    1      1       1       3        6          6 6.57            1       2     16895    131072   100ms       -   500ms            0 914ms cnn.log
B        57    1      1       2       3        8          8 11.4            0       0    135167    262144    20ms       -    20ms            0 701ms transformer.log

Hardware queues
LOG PID            HWQ IN_OTHER HIP_PRIO STREAMS KERNELS DISPATCHES RATE BACKLOG_MEAN DEEPEST GAP_P50 GAP_P99 GAP_MAX
A   100 0x7f0000b20000 no       low            1       3          6 6.57            1       2   100ms       -   500ms
B   200 0x7e0000b20000 no       high           1       3          8 11.4            0       0    20ms       -    20ms

Kernels
IN   A B RATE_A RATE_B GRID_MAX_A GRID_MAX_B NAME
B    0 4      0   5.71 -          131072x1x1 attention(float*, int)
B    0 3      0   4.28 -          262144x1x1 Cijk_Ailk_Bljk_SB_MT64x64x8
A    3 0   3.28      0 131072x1x1 -          conv2d(float const*, float*)
both 2 1   2.19   1.43 16384x1x1  16384x1x1  relu(float*)
A    1 0   1.09      0 4096x1x1   -          max_pool(float*)

# A log against itself has the same queues and kernels; one without process ids may have.
$ cd $DATA/amdlog; gpq trace -J --compare rocm70.log rocm70.log | jq -c '.verdict, [.queues[].in_other], [.kernels[].in], .findings[0]'
"A and B use 3 hardware queues each; 3 in both"
["yes","yes","yes","yes","yes","yes"]
["both","both","both"]
"kernels: 3 in both, 0 only in A, 0 only in B"

$ cd $DATA/amdlog; gpq trace -qJ --compare rocm63-level3.log rocm63-level3.log | jq -r '.verdict, .queues[0].in_other, .queues[0].dispatches, .logs[0].dispatches, (.logs[0].rate_per_s | round)'
A and B use one hardware queue each; 1 at an address that the other uses too, but a log without process ids does not tell whether it is the same
maybe
null
null
50000

$ cd $DATA/amdlog; gpq trace --compare --by kernel --top 1 -r -o in,a,b,grid_max_b cnn.log transformer.log
IN A B GRID_MAX_B
B 0 4 131072x1x1

$ cd $DATA/amdlog; for t in '' '--table logs' '--table queues' '--table kernels' '--table findings'; do gpq trace --compare -rq $t cnn.log transformer.log | head -1 | cut -d' ' -f1-3; done
LOG RECORDS PIDS
LOG RECORDS PIDS
LOG PID HWQ
IN A B
FINDING
$ cd $DATA/amdlog; for a in pairs64.log cnn.log; do gpq trace -qJ --compare $a shapes/fault70.log | jq -r '.findings[]' | grep errors; done
queue errors, faults or full rings: 3 in A, 1 in B
queue errors, faults or full rings: 0 in A, 1 in B
$ cd $DATA/amdlog; gpq trace -q --gaps --sort DEEPEST cnn.log >/dev/null; gpq trace -q --gaps --filter 'DEEPEST > 1' cnn.log >/dev/null
gpq: trace: no table that is shown here has all columns of --sort; --list-columns tells the columns of each
gpq: trace: no table that is shown here has all columns of --filter; --list-columns tells the columns of each
? 2
$ cd $DATA/amdlog; gpq trace --compare --ndjson cnn.log transformer.log | jq -r .record | uniq -c | sed 's/^ *//'
6 finding
2 log
2 queue
5 kernel

$ gpq trace --compare $DATA/amdlog/cnn.log
gpq: trace: --compare takes two files, not 1; name two logs
? 2

$ gpq trace --html x $DATA/amdlog/cnn.log
gpq: trace: --html: nothing to show; say --compare A B too
? 2

$ for o in '--html /nowhere/x' '--html - -J' '--html - --by queue'; do gpq trace --compare $o $DATA/amdlog/cnn.log $DATA/amdlog/transformer.log >out; echo $? $(wc -l <out); done
gpq: trace: --html /nowhere/x: No such file or directory
5 24
{"level":"error","command":"trace","message":"--html -: standard output cannot hold another format, too","next":"name a file","status":2}
2 4
gpq: trace: --html -: standard output cannot hold another format, too; name a file
2 0

$ gpq trace --compare --by api a b
gpq: trace: --compare has no table by api; with it say queue or kernel
? 2

$ cd $DATA/amdlog; gpq trace --compare cnn.log HOW
gpq: trace: HOW: no AMD log records
? 5

$ gpq trace --compare $DATA/amdlog/cnn.log nonesuch
gpq: trace: nonesuch: No such file or directory
? 5

# Records from 999.9991 to 1000.7 s lie in nine intervals of 100 ms; eight names of kernels are logged, of no queue.
$ gpq trace -qJ --series 100ms $DATA/amdlog/transformer.log | jq -c '.tracks[] | [.hwq_or_all, .launches, .intervals]'; grep -c ShaderName $DATA/amdlog/transformer.log
["all",8,9]
["0x7e0000b20000",null,2]
8

# Over time: cnn.log has dispatches at 1000.00, .10, .20, .30, .40 and .90 s and its first record 1 ms before. The fifth
# and the sixth interval of its queue are the ones of 1000.40 and 1000.50 s.
$ gpq trace --series 100ms $DATA/amdlog/cnn.log
11 intervals of 100ms, from 999.900000 s on
PID HWQ_OR_ALL     DISPATCHES IDLE_INTERVALS PEAK DEEPEST DISPATCHED  DEPTHS
  - all                     6              5   10       2 .@@@@@....@  .**@@    *
100 0x7f0000b20000          6              4   10       2 .@@@@@....@  .**@@    *

$ LC_ALL=C.UTF-8 gpq trace --series 100ms $DATA/amdlog/cnn.log | tail -1
100 0x7f0000b20000          6              4   10       2 ·█████····█  ·▅▅██    ▅

$ gpq trace --series 100ms -r --by queue -o time_us,dispatches,barriers,backlog_mean,backlog_max $DATA/amdlog/cnn.log | sed -n '1p;6,7p;$p'
TIME_US DISPATCHES BARRIERS BACKLOG_MEAN DEEPEST
1000400000 1 0 2 2
1000500000 0 0 - -
1000900000 1 1 0.5 1

$ gpq trace -J --series 500ms $DATA/amdlog/cnn.log | jq -c '.interval_ns, (.intervals[] | [.time_us, .seconds, .queues, .launches, .dispatches, .rate_per_s])'
500000000
[999500000,0,0,0,0,0]
[1000000000,0.5,1,5,5,10]
[1000500000,1,1,1,1,2]

$ gpq trace --ndjson --series 200us -p 8022 $DATA/amdlog/rocm70.log | jq -c '[.record, .time_us, .dispatches]'
["track",null,1]
["track",null,1]
["interval",90001800,1]
["queue_interval",90001800,1]

# A log without packets has launches: two, at 80000130 and 80000140.
$ gpq trace -qr --series 10us $DATA/amdlog/rocm63-level3.log -o time_us,launches,dispatches,rate,queues
TIME_US LAUNCHES DISPATCHES RATE QUEUES
80000100 0 - 0 -
80000110 0 - 0 -
80000120 0 - 0 -
80000130 1 - 100000 -
80000140 1 - 100000 -

# The picture: well-formed, nothing that runs or is fetched, colours for the dark; three groups, and in the first two a row for
# each of two queues and all; each colour is once more in the legend. The logs' name heads it, escaped.
$ cp $DATA/amdlog/cnn.log '<b>&"c.log'; gpq trace -q --series 100ms --svg x.svg '<b>&"c.log' $DATA/amdlog/transformer.log >/dev/null; python3 -c '
> import xml.etree.ElementTree as e
> r = e.parse("x.svg").getroot()
> tag = lambda x: x.tag.split("}")[1]
> text = lambda name, **a: [x.text for x in r.iter() if tag(x) == name and all(x.get(k) == v for k, v in a.items())]
> print(sorted({tag(x) for x in r.iter()}), r.get("width"), r.get("viewBox"))
> print(text("title"), text("text", **{"class": "strong title"}), text("desc")[0][:23])
> print(text("text", **{"class": "strong"}))
> print(text("text").count("all queues"), sum((x.get("class") or "")[:1] == "c" for x in r.iter()))
> print(sum("@media(prefers-color-scheme:dark){" in x for x in text("style")), sorted({k for x in r.iter() for k in x.attrib if "href" in k or k.startswith("on")}))'
['desc', 'g', 'path', 'rect', 'style', 'svg', 'text', 'title'] 480 0 0 480 795
['<b>&"c.log and 1 more'] ['<b>&"c.log and 1 more'] in intervals of 100ms. 
['Dispatches per second', 'Backlog: most packets waiting', 'Hardware queues that got packets']
2 10
1 []

# Eleven intervals of 100 ms, of the 1.2 s of the axis, from 58 to 468: 34.17 each. Dispatches in 1 to 4 and 10 (90 of 90 to 146 is the 10/s of the
# axis), at most 0, 1, 1, 2, 2 and 1 packets waiting then, one queue (of the 4 of these axes, 14 each).
$ gpq trace -q --series 100ms --svg - $DATA/amdlog/cnn.log | sed -n 's/.*class="c.* d="\(M58[^"]*\).*/\1/p'
M58 146.0M58.0 146.0V146.0H92.2V90.0H126.3V90.0H160.5V90.0H194.7V90.0H228.8V90.0H263.0V146.0H297.2V146.0H331.3V146.0H365.5V146.0H399.7V90.0H433.8V146.0
M58 258.0M92.2 258.0V258.0H126.3V244.0H160.5V244.0H194.7V230.0H228.8V230.0H263.0V258.0M399.7 258.0V244.0H433.8V258.0
M58 351.0M58.0 351.0V351.0H92.2V337.0H126.3V337.0H160.5V337.0H194.7V337.0H228.8V337.0H263.0V351.0H297.2V351.0H331.3V351.0H365.5V351.0H399.7V337.0H433.8V351.0

# Fewer than 2,000 points: of 2,000 intervals two make one, of more than 4,000 three.
$ for w in 458us 457us 228us; do gpq trace -q --series $w --ndjson $DATA/amdlog/cnn.log | grep -c '"record":"interval"'; gpq trace -q --series $w --svg picture $DATA/amdlog/cnn.log >/dev/null; grep -m1 '"c0"' picture | tr -cd H | wc -c; grep -o 'in intervals of [^.<]*<' picture; done
1996
1996
in intervals of 458us<
2000
1000
in intervals of 914us<
4008
1336
in intervals of 684us<

$ gpq trace -q --series 100ms --svg y.svg $DATA/amdlog/cnn.log >/dev/null; gpq trace -q --series 100ms --svg - $DATA/amdlog/cnn.log | cmp - y.svg; for o in -J '--by queue' '-o TIME' '--perfetto -'; do gpq trace --series 100ms --svg - $o $DATA/amdlog/cnn.log 2>&1 >/dev/null | grep -o 'standard output cannot hold another format'; done
standard output cannot hold another format
standard output cannot hold another format
standard output cannot hold another format
standard output cannot hold another format
? 2

$ gpq trace --series 100ms --svg nowhere/x.svg $DATA/amdlog/cnn.log >/dev/null
gpq: trace: --svg nowhere/x.svg: No such file or directory
? 5

$ gpq trace --svg x.svg $DATA/amdlog/cnn.log
gpq: trace: --svg: nothing to draw; say --series 100ms too
? 2

$ gpq trace --series 1500ns $DATA/amdlog/cnn.log
gpq: trace: --series: the log's clock has no shorter intervals; give whole microseconds, as 100ms
? 2

$ gpq trace --series 1s --list $DATA/amdlog/cnn.log
gpq: trace: --list and --series exclude each other; choose one
? 2

# 90 s and 1000 s in intervals of a microsecond are too many: what fits is shown, up to 91.048576 s. The three dispatches of
# 4711's first queue are from 90.00103 s on; with another six at 1000 s its track ends there, and that of 100 has nothing to show.
$ for pid in 100 4711; do sed "s/pid:100 /pid:$pid /" $DATA/amdlog/cnn.log | cat $DATA/amdlog/rocm70.log - | gpq trace -q --series 1us - 2>said | awk '{ print $1, $2, $3, $4 }'; echo ${PIPESTATUS[2]}; done; cat said
1048576 intervals of 1us,
PID HWQ_OR_ALL DISPATCHES IDLE_INTERVALS
- all 7 1048569
4711 0x7f0000b20000 3 868
4711 0x7f0000b40000 3 818
8022 0x7e0000b20000 1 0
3
1048576 intervals of 1us,
PID HWQ_OR_ALL DISPATCHES IDLE_INTERVALS
- all 7 1048569
4711 0x7f0000b20000 3 1047543
4711 0x7f0000b40000 3 818
8022 0x7e0000b20000 1 0
3
gpq: trace: --series: the log has more than 1048576 intervals of 1us; the rest is left out; use --series 1ms or more

# Times without a dispatch: cnn.log waits 100 ms four times and 500 ms once, with a backlog of 2, from 1000.40003 to
# 1000.90003 s; somebody held its queue from 1000.45 to 1000.85 s.
$ printf '# held by hand\n\n1000450000,1000850000,held\n' >marks; gpq trace --gaps --top 1 --mark marks $DATA/amdlog/cnn.log
Time between dispatches
PID HWQ_OR_ALL     DISPATCHES GAP_P50 GAP_P99 GAP_MAX MARKS QUIET AFTER_P50 AFTER_MAX
100 0x7f0000b20000          6   100ms       -   500ms     1     1      50ms      50ms

Longest times without a dispatch, of each queue (5; --top N): not idle time
PID HWQ_OR_ALL       BEGIN_US     END_US   GAP BACKLOG MARK OVERLAP
100 0x7f0000b20000 1000400030 1000900030 500ms       2 held   400ms

Marked windows
MARK   BEGIN_US LENGTH PID            HWQ DISPATCHES TAKEN DEEPEST   GAP AFTER
held 1000450000  400ms 100 0x7f0000b20000          0     -       - 500ms  50ms

$ gpq trace --gaps -r -o hwq_or_all,gap,mark --top 2 $DATA/amdlog/cnn.log
HWQ_OR_ALL GAP MARK
all 500000000 -
all 100000000 -
0x7f0000b20000 500000000 -
0x7f0000b20000 100000000 -

# What gpq itself writes: two queues of process 100 suspended at 1000.45 s (the call took 1 ms), back at 1000.85 and
# 1000.851 s; process 7 with a deadline; a cycle of gpq bench of 20 + 300 + 30 ms from 1000.1 s on. Other records say nothing.
$ cat >marks <<'END'
> {"record":"queue","pid":100,"gpu_id":1,"queue_id":0,"type":"aql","result":"suspended","latency_ns":1000000,"at_ns":1000450000000,"until_ns":null}
> {"record":"queue","pid":100,"gpu_id":1,"queue_id":1,"type":"aql","result":"suspended","latency_ns":1000000,"at_ns":1000450000000,"until_ns":null}
> {"record":"queue","pid":7,"gpu_id":1,"queue_id":0,"type":"aql","result":"suspended","latency_ns":null,"at_ns":1000200000000,"until_ns":1000250000000}
> {"record":"queue","pid":9,"gpu_id":1,"queue_id":0,"type":"aql","result":"refused","latency_ns":5,"at_ns":1000200000000,"until_ns":null}
> {"record":"queue","pid":100,"gpu_id":1,"queue_id":0,"type":"aql","result":"resumed","latency_ns":9,"at_ns":1000850000000,"until_ns":null}
> {"record":"queue","pid":100,"gpu_id":1,"queue_id":1,"type":"aql","result":"resumed","latency_ns":9,"at_ns":1000851000000,"until_ns":null}
> {"record":"preempt_cycle","cycle":3,"at_ns":1000100000000,"suspend_ns":20000000,"held_ns":300000000,"resume_ns":30000000,"result":"ok"}
> {"record":"preempt_cycle","cycle":4,"at_ns":1000100000000,"suspend_ns":null,"held_ns":null,"resume_ns":null,"result":"failed"}
> {"record":"ab_run","mode":"both"}
> END
> gpq trace --gaps --ndjson --mark marks $DATA/amdlog/cnn.log | jq -c 'select(.record == "mark") | [.mark, .begin_us, .end_us, .dispatches, .taken, .after_ns]'
["cycle 3",1000100000,1000450000,4,2,450030000]
["pid 7",1000200000,1000250000,1,0,50030000]
["pid 100",1000449000,1000851000,0,null,49030000]

# Of 21 windows the report shows 20 and says so, of 20 all; programs get all.
$ for n in 20 21; do seq -f '1000450000 1000850000 w%02g' $n >marks; gpq trace --gaps --top 0 --mark marks $DATA/amdlog/cnn.log | awk '/^Marked/ { print; n = -1; next } { n++ } END { print n, $1 }'; gpq trace --gaps --ndjson --mark marks $DATA/amdlog/cnn.log | jq -s 'map(select(.record == "mark")) | length'; done
Marked windows
20 w20
20
Marked windows (20 of 21)
20 w20
21

# The recorded cycles of a benchmark are windows, of another time here.
$ gpq trace --gaps --top 0 --mark $DATA/bench/plain.ndjson $DATA/amdlog/cnn.log | tail -1; grep -c preempt_cycle $DATA/bench/plain.ndjson
gpq: trace: --mark: windows outside of the log's time: 83 of 83; log times are microseconds of CLOCK_MONOTONIC
Marked windows
83

# A log without packets has launches: two, 10 us apart.
$ gpq trace -qJ --gaps $DATA/amdlog/rocm63-level3.log | jq -c '.queues[] | [.hwq_or_all, .dispatches, .gap_max_ns]'
["all",2,10000]

# Marks from a pipe whose writer takes its time.
$ (sleep 0.3; echo 1000.45s 1000.85s held) | gpq trace --gaps --top 1 --mark /dev/stdin $DATA/amdlog/cnn.log | tail -1
held 1000450000  400ms 100 0x7f0000b20000          0     -       - 500ms  50ms

$ printf '5 4 x\n' >marks; gpq trace --gaps --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: line 1: it ends before it begins; write BEGIN END [NAME]
? 1

$ printf '1 2\n26.33 29.08 held\n' >marks; gpq trace --gaps --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: line 2: no two times in front; write BEGIN END [NAME], in microseconds of the log or as 26.33s
? 1

# A time of zero needs its unit too, where a number with a point is no number of microseconds.
$ echo 0.0 1s >marks; gpq trace --gaps --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: line 1: no two times in front; write BEGIN END [NAME], in microseconds of the log or as 26.33s
? 1

$ printf '{\n "queues": [\n' >marks; gpq trace --gaps --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: line 1: no JSON object on one line; use --ndjson, not --json, to write such a file
? 1

$ printf '{"a":1}\n#\n' >marks; gpq trace --series 1s --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: no window in it; see MARKS in gpq-trace(1)
? 1

$ gpq trace --gaps --mark nonesuch $DATA/amdlog/cnn.log
gpq: trace: --mark nonesuch: No such file or directory
? 5

$ gpq trace --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark: marks nothing by itself; say --gaps or --series too
? 2

$ seq -f '%.0f 2000000000 x' 10001 >marks; gpq trace --gaps --mark marks $DATA/amdlog/cnn.log
gpq: trace: --mark marks: line 10001: too many windows; split the file
? 1

# In a picture they are bands, and the legend has one, too.
$ echo 1000.2s 1000.3s >marks; gpq trace --series 100ms --svg x.svg --mark marks $DATA/amdlog/cnn.log >/dev/null; grep -c 'class="band"' x.svg; grep -A1 'path class="band"' x.svg | grep -c '>marked<'
4
1

# Which of them has a table by what.
$ for b in process queue kernel thread api stream error; do for o in "--compare $DATA/amdlog/cnn.log" --latency "--series 1s"; do gpq trace -q $o --by $b $DATA/amdlog/cnn.log 2>&1 >/dev/null && echo "$b ${o%% *}"; done; done | sed 's/by .*;/by .../' | sort | uniq -c | sed 's/^ *//'
5 gpq: trace: --compare has no table by ... with it say queue or kernel
5 gpq: trace: --latency has no table by ... with it say queue or kernel
6 gpq: trace: --series has no table by ... with it say queue
1 kernel --compare
1 kernel --latency
1 queue --compare
1 queue --latency
1 queue --series
? 2

# A record without a time is in no interval: the dispatch of 1000.1 s.
$ sed '14s/: 1000100030 us/: 99999999999999999999 us/' $DATA/amdlog/cnn.log | gpq trace -q --series 100ms -J - | jq -c '[.tracks[] | [.hwq_or_all, .dispatches, .intervals]], [.intervals[] | .dispatches]'
[["all",5,11],["0x7f0000b20000",5,10]]
[0,1,0,1,1,1,0,0,0,0,1]

# From 999.9 s on the picture has 11 intervals, on an axis of 1.2 s: of a window that lies across an end the part within, of others nothing.
$ printf '1s 2s\n999s 1000.3s\n1000.45s 5000s\n1500s 1600s\n' >marks; gpq trace --series 100ms --svg x.svg --mark marks $DATA/amdlog/cnn.log >/dev/null; grep -o 'x=[^ ]* .*width=[^ ]* .*class="band"' x.svg | cut -d'"' -f2,6 | sort | uniq -c | sed 's/^ *//'
3 245.9"187.9
3 58.0"136.7

# Streams over time: moves.log has stream 0x3950000 on the first queue for two dispatches, for one on the second, for one on
# the first again; then it is made anew on the second one. The other stream stays.
$ gpq trace --by stream $DATA/amdlog/moves.log
PID    STREAM   FIRST_US    LAST_US            HWQ HIP_PRIO DISPATCHES
300 0x3950000 2000000020 2000002020 0x7f0000b20000 normal            2
300 0x3950000 2000003020 2000003020 0x7f0000b40000 normal            1
300 0x3950000 2000005020 2000005020 0x7f0000b20000 normal            1
300 0x3950000 2000006020 2000007020 0x7f0000b40000 normal            1
300 0x3960000 2000000120 2000004020 0x7f0000b40000 normal            1

# 5.7: made on a handle, dispatched to a ring, and one queue all the same.
$ gpq trace --by stream -q --ndjson $DATA/amdlog/rocm57.log | jq -c '[.stream, .hwq, .swq, .created, .dispatches]'
["0x5600000a0","0x7f0000c00000","0x7f0000aaa000",1,3]

# What went wrong comes first: queues before calls.
$ gpq trace -q $DATA/amdlog/nolocation.log $DATA/amdlog/transformer.log $DATA/amdlog/rocm70.log $DATA/amdlog/transformer.log | head -5
Errors
KIND   PID COUNT     FIRST_US      LAST_US            HWQ WHAT
queue  310     1 418000000302 418000000302 0x7f0000b00000 Callback: Queue 0x7f0000b00000 aborting with error : HSA_STATUS_ERROR_EXCEPTION code: 0x1016
api    200     2   1000700000   1000700000              - hipMalloc: hipErrorOutOfMemory
api   8022     1     90001980     90001980              - hipMalloc: hipErrorOutOfMemory

$ gpq trace -qr --by error -o kind,count,hwq $DATA/amdlog/nolocation.log
KIND COUNT HWQ
queue 1 0x7f0000b00000

$ gpq trace -qJ $DATA/amdlog/cnn.log | jq -c .errors
[]

# Distinct errors beyond the first thousand are counted in the totals only.
$ for i in $(seq 1200); do printf ':3:hip_memory.cpp           :700 : %010d us: [pid:%d tid: 0x7f00] hipMalloc: Returned hipErrorOutOfMemory : \n' $i $i; done >many.log; gpq trace -qJ many.log | jq -c '[(.errors | length), .totals.api_errors]'
[1000,1200]

# Latency: the commands of cnn.log are complete 1, 2, 3, 4, 460 and 6 ms after they were enqueued, its marker after 2.5 ms; the
# handler is called 2.5 ms after it was set.
$ gpq trace --latency $DATA/amdlog/cnn.log
From enqueue to completion as the host sees it, not how long kernels ran
KIND            ENQUEUED COMPLETED   MEAN    P50 P90 P99   MAX
KernelExecution        6         6 79.3ms 3.01ms   -   - 460ms
InternalMarker         1         1  2.5ms  2.5ms   -   - 2.5ms
handler                1         1  2.5ms  2.5ms   -   - 2.5ms

Hardware queues
PID            HWQ COMPLETED    P50 P90 P99   MAX HANDLERS HANDLER_P50 HANDLER_MAX
100 0x7f0000b20000         7 3.01ms   -   - 460ms        1       2.5ms       2.5ms

Kernels
COMPLETED   MEAN    P50 P90 P99   MAX NAME
        1  460ms  460ms   -   - 460ms max_pool(float*)
        3 3.33ms 3.01ms   -   -   6ms conv2d(float const*, float*)
        2    3ms 2.02ms   -   -   4ms relu(float*)

# One table alone says so too: only without headings not.
$ for o in queue 'queue -n' 'queue -o hwq' 'kernel --top 1'; do gpq trace --latency --by $o $DATA/amdlog/cnn.log; done
From enqueue to completion as the host sees it, not how long kernels ran
PID            HWQ COMPLETED    P50 P90 P99   MAX HANDLERS HANDLER_P50 HANDLER_MAX
100 0x7f0000b20000         7 3.01ms   -   - 460ms        1       2.5ms       2.5ms
100 0x7f0000b20000         7 3.01ms   -   - 460ms        1       2.5ms       2.5ms
           HWQ
0x7f0000b20000
From enqueue to completion as the host sees it, not how long kernels ran
COMPLETED  MEAN   P50 P90 P99   MAX NAME
        1 460ms 460ms   -   - 460ms max_pool(float*)

$ gpq trace --latency --ndjson -o kind,enqueued,completed,latency_max_ns $DATA/amdlog/cnn.log | sed -n '1p;3p'
{"record":"command","kind":"KernelExecution","enqueued":6,"completed":6,"latency_max_ns":460000000}
{"record":"command","kind":"handler","enqueued":1,"completed":1,"latency_max_ns":2500000}

# An address that is enqueued again is another command; what never completes, or was never enqueued, has no latency.
$ p() { printf ':4:command.cpp              :357 : %010d us: [pid:7 tid: 0x7f] Command %s\n' "$1" "$2"; }
> { p 10 '0x5 complete'; p 20 '(Marker) enqueued: 0x5'; p 30 '(Marker) enqueued: 0x5'; p 34 '0x5 complete'; p 40 '0x5 complete'
>   p 50 '(Marker) enqueued: 0x6'; p 60 '(FillBuffer) enqueued: 0x7 to queue: 0x99'; p 59 '0x7 complete (Wall: 1, CPU: 2, GPU: 3 us)'; } >c.log
> gpq trace -v --latency -r -o kind,enqueued,completed,mean,max c.log
gpq: trace: commands that completed but were not seen being enqueued: 2
KIND ENQUEUED COMPLETED MEAN MAX
Marker 3 1 4000 4000
FillBuffer 1 1 0 0
gpq: trace: no packet lines: dispatches, barriers and backlog of queues are unknown; AMD_LOG_LEVEL=4 prints them (ROCm 7.12 and later: 5)

$ gpq trace -q --latency $DATA/amdlog/rocm63-level3.log; gpq trace -q --latency -r $DATA/amdlog/rocm63-level3.log
KIND ENQUEUED COMPLETED MEAN P50 P90 P99 MAX

$ gpq trace --latency $DATA/amdlog/rocm63-level3.log 2>&1 | head -1
gpq: trace: no latencies: commands enqueued: 0, seen to complete: 0; AMD_LOG_LEVEL=4 prints both (ROCm 7.2 and later: 5), the end once the program waits for it

# A log may tell of commands but not of their ends, or of no end of what --by asks for: of c.log only of other commands'.
$ gpq trace --latency $DATA/amdlog/rocm70.log
From enqueue to completion as the host sees it, not how long kernels ran
KIND            ENQUEUED COMPLETED MEAN P50 P90 P99 MAX
KernelExecution        6         0    -   -   -   -   -
gpq: trace: no latencies: commands enqueued: 6, seen to complete: 0; AMD_LOG_LEVEL=4 prints both (ROCm 7.2 and later: 5), the end once the program waits for it

$ for b in kernel queue; do gpq trace --latency --by $b c.log 2>&1 | grep latencies; done; gpq trace --latency --by kernel $DATA/amdlog/rocm70.log 2>/dev/null | wc -l
gpq: trace: no latencies of kernels: commands enqueued: 4, seen to complete: 2; AMD_LOG_LEVEL=4 prints both (ROCm 7.2 and later: 5), the end once the program waits for it
gpq: trace: no latencies of queues: commands enqueued: 4, seen to complete: 2; AMD_LOG_LEVEL=4 prints both (ROCm 7.2 and later: 5), the end once the program waits for it
0

# Handlers of signals alone are latencies, of the queue of their packets, too; a file without records has another reason.
$ sed '/Command/d' $DATA/amdlog/cnn.log >h.log; for b in kernel queue; do gpq trace --latency --by $b h.log 2>&1 | grep -c latencies; done; gpq trace --latency h.log 2>&1 | grep -c latencies; gpq trace --latency --top 1 /dev/null 2>&1 | grep -c latencies
1
0
0
0
? 1,5

$ gpq trace --latency --kernel k $DATA/amdlog/cnn.log
gpq: trace: --kernel leaves out the commands that --latency is about; use --latency --by kernel
? 2
