# Which rows a listing has and in which order, and the forms for other programs: --filter, --sort, --csv, -0.
# Columns are named by -o, so that the default ones may change.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -rno PID,QID,RING
41207 0 4096
41207 1 1048576
41207 2 1048576
41207 3 1048576
52880 0 1048576

# The columns of a filter need not be shown; what they hold is read for it all the same (RPTR: debugfs; VRAM: topology).
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq queues -rno PID,QID --filter 'RING > 4K && TYPE == "compute" && PID < 50000'
> gpq queues -rno QID --filter 'rptr == 448'; gpq gpus -rno NODE --filter 'ASIC =~ "^ald"'
41207 1
41207 2
0
1

# Nothing left is no failure, and programs get their document. Options that choose do say that nothing was found.
$ cd $HOSTS; gpq --sysroot gfx90a-k6.12 queues --filter false; gpq --sysroot gfx90a-k6.12 queues -Jo PID --filter 'PID == 1' | jq -c .queues; gpq --sysroot gfx90a-k6.12 queues -p 1 --filter false
[]
gpq: queues: pid 1: owns no queue, it never opened KFD
? 5

# Unknown values: SDMA slots without a queue have no RPTR. They match nothing but the negation, and come last.
$ q() { gpq --sysroot $HOSTS/gfx90a-k6.12 hqd -arno SLOT,RPTR "$@"; }
> q --sort rptr | head -6; q --sort -RPTR,SLOT | head -7; q --filter 'RPTR != 119' | wc -l; q --filter '!(RPTR != 119)' --sort SLOT | tail -1
hiq 119
p0q3 448
e1r0 15224
p0q2 70128
p1q2 72224
p0q4 -
p1q2 72224
p0q2 70128
e1r0 15224
p0q3 448
hiq 119
e0r0 -
e0r1 -
4
p3q7 -

# Text by its bytes, numbers by value; rows that are alike stay as they came.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -rno RING,COMMAND,QID --sort -RING,command; gpq --sysroot $HOSTS/gfx90a-k6.12 queues -no PID,QID --sort type,-pid
1048576 python3 1
1048576 python3 2
1048576 python3 3
1048576 vllm 0
4096 python3 0
52880   0
41207   0
41207   1
41207   2
41207   3

# Each table of a report that has the columns is filtered; the others are whole.
$ gpq trace -q --ndjson --filter 'DISPATCHES > 3' $DATA/amdlog/rocm70.log | jq -c '[.record, .pid, .name, .dispatches]'
["error",8022,null,null]
["totals",null,null,7]
["process",4711,null,6]
["kernel",null,"void attention<float, 128>(float*, int)",4]

# The choice is made before --top; of a stream, too, whichever thread makes its rows.
$ cd $DATA/amdlog; gpq trace -q --by kernel --top 1 -rno NAME,DISPATCHES --sort -NAME rocm70.log; gpq trace -q --by kernel --top 1 -rno NAME --filter 'DISPATCHES < 4' rocm70.log; gpq trace -q --top 1 --filter LAUNCHES --sort name rocm70.log | sed -n '/Kernels/,$p'
void\x20attention<float,\x20128>(float*,\x20int) 4
layer_norm(float*)
Kernels (at most 1 of 3)
LAUNCHES DISPATCHES QUEUES GRID_MIN GRID_MAX WG_MIN WG_MAX NAME
       2          2      2 4096x1x1 8192x1x1 64x1x1 64x1x1 layer_norm(float*)

$ cd $DATA/amdlog; for n in 1 3; do cat $(yes rocm70.log | head -200) | gpq trace -q --threads $n --list -rno TIME_US,KERNEL --filter 'KIND == "dispatch" && KERNEL =~ "^(layer|train)"' --sort -KERNEL,time_us - | uniq -c | sed 's/^ *//'; done
200 90001970 train_step
200 90001430 layer_norm(float*)
200 90001530 layer_norm(float*)
200 90001970 train_step
200 90001430 layer_norm(float*)
200 90001530 layer_norm(float*)

$ cd $DATA/amdlog; cat $(yes rocm70.log | head -200) | gpq trace -q --list -Jo KERNEL --filter 'KIND eq "dispatch" and KERNEL =~ "_"' - | jq -c '[.records | group_by(.kernel)[] | [.[0].kernel, length]]'
[["layer_norm(float*)",400],["train_step",200]]

# RFC 4180: null is nothing, quotes where they are needed, a record is a line.
$ cd $DATA/amdlog; gpq trace -q --by kernel --csv -o NAME,DISPATCHES,QUEUES transformer.log | od -c | sed -n '1,3p'; gpq trace -q --list --csv -no TIME_US,KERNEL,TEXT --filter 'TIME_US <= 999999105' transformer.log | tr -d '\r'
0000000   n   a   m   e   ,   d   i   s   p   a   t   c   h   e   s   ,
0000020   q   u   e   u   e   s  \r  \n   "   a   t   t   e   n   t   i
0000040   o   n   (   f   l   o   a   t   *   ,       i   n   t   )   "
999999100,,"hipStreamCreateWithPriority ( 0x7ffd, 1, -1 ) \x1b[0m"
999999105,,"Created SWq=0x7e0000a1a000 to map on HWq=0x7e0000b20000 with size 16384 with priority 2, cooperative: 0"

$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues --csv -o QID,BACKLOG,VRAM -p 52880 --context | tr -d '\r' | cut -d, -f1-4
qid,backlog,vram_bytes,host
0,4,2199912448,

# Rows have bytes, with --bytes as well, and tables have them only with it.
$ q() { gpq --sysroot $HOSTS/gfx90a-k6.12 queues -p 52880 -o RING "$@"; }; q -rn; q -rn --bytes; q -n | tr -d ' '; q -n --bytes | tr -d ' '; xargs <$HOSTS/gfx90a-k6.12/sys/class/kfd/kfd/proc/52880/queues/0/size
1048576
1048576
1M
1048576
1048576

# A row ends with a NUL; what it holds is the name as it is.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -0 -o BACKLOG --filter 'PID == 52880' | od -c | head -1; gpq trace -q --by kernel -0 -o NAME $DATA/amdlog/transformer.log | xargs -0 printf '<%s>\n'
0000000   4  \0
<attention(float*, int)>
<Cijk_Ailk_Bljk_SB_MT64x64x8>
<relu(float*)>

$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq queues -0; gpq queues --null -o PID,QID; gpq queues -0 -o PID --context; gpq queues -0 --csv
gpq: queues: --null: name a column by -o; for example -0 -o PID
gpq: queues: --null takes one column, these are 2; for example -0 -o PID
gpq: queues: --null takes one column, these are 8; for example -0 -o PID
gpq: queues: --json, --ndjson, --raw, --pairs, --csv, --openmetrics, --null and --count exclude each other; choose one
? 2

# The number of rows: as ls and grep count them; of one table; none is 0; where rows come one by one and from several threads.
$ q() { gpq --sysroot $HOSTS/gfx90a-k6.12 "$@"; }; echo $(q queues --count; q ps -c; q queues -c -p 41207; q gpus -c); cd $HOSTS/gfx90a-k6.12/sys/class/kfd/kfd; n() { echo $#; }; echo $(n proc/*/queues/*; n proc/*; n proc/41207/queues/*)
5 2 4 1
5 2 4

$ q() { gpq --sysroot $HOSTS/gfx90a-k6.12 "$@"; }; q queues -c --filter 'TYPE == "sdma"' --sort -PID -o QID; q queues -c --filter 'PID == 1'; q queues -c -p 99; q hqd --summary -c --table waiting; gpq -q trace -c --table kernels $DATA/amdlog/transformer.log
1
0
gpq: queues: pid 99: no such process; without -p all are listed
0
1
3
$ for n in 1 4; do gpq trace --list --threads $n -c $DATA/amdlog/cnn.log; done; gpq trace --list -rn $DATA/amdlog/cnn.log | wc -l; gpq events --count; gpq snapshot --count 0 x
47
47
47
gpq: events: option --count needs an argument: N
gpq: snapshot: --count is only for --every; see gpq help snapshot
? 2

# Mistakes are found before anything is read, in a line with their place.
$ gpq trace --filter 'PID = 5' /nowhere; gpq trace --sort NAMES /nowhere; gpq hqd --hqds /nowhere --filter 'PIDD'
gpq: trace: --filter: no operator at column 5: near "= 5"; write ==
gpq: trace: --sort: unknown column NAMES in kernels, did you mean NAME, at column 1; --list-columns lists them
gpq: hqd: --filter: unknown column PIDD in slots, did you mean PID, at column 1; --list-columns lists them
? 2

$ gpq queues -J --filter $'PID == "\n' | jq -c .error.status
{"level":"error","command":"queues","message":"--filter: a text without end at column 8: near \"\"\u000a\"","next":"texts end with the quote they begin with","status":2}
2
? 2

$ GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --filter 'COMMAND =~ "("'; GPQ_SYSROOT=$HOSTS/gfx90a-k6.12 gpq queues --filter 'PID == "vllm"'
gpq: queues: --filter: at column 12: (: missing closing parenthesis at character 1; see pcre2pattern(3)
gpq: queues: --filter: PID is a number, the text is none at column 8: near ""vllm""; compare it with a number
? 2

# A column of another table of the command is none of this one. In a report at least one table must have it.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --filter 'CHECK == "driver"'; gpq --sysroot $HOSTS/gfx90a-k6.12 gpus --sort GPU,-CHECK; gpq trace -q -P -p 8022 --sort RPTR $DATA/amdlog/rocm70.log >/dev/null
gpq: gpus: --filter: unknown column CHECK in gpus at column 1; --list-columns lists them
gpq: gpus: --sort: unknown column CHECK in gpus at column 5; --list-columns lists them
gpq: trace: --sort: unknown column RPTR in queues at column 1; --list-columns lists them
? 2

# Rows without an end have no order; a filter chooses what is shown, never what is done.
$ gpq trace --list --follow --sort PID $DATA/amdlog/rocm70.log; gpq suspend -p 1 --filter 'QID == 0'; gpq resume --all --filter 'QID == 0'
gpq: trace: --sort: the rows of --list --follow have no end; leave out one of them
gpq: suspend: --filter chooses rows to show, not queues to suspend; choose queues by --queue, --gpu, --prio ...
gpq: resume: --filter chooses rows to show, not queues to resume; choose queues by --queue, --gpu ...
? 2

# An expression that takes too many steps on a text is an error, whatever the other rows say.
$ printf ':3:rocvirtual.cpp           :3188: %010d us: [pid:7     tid:0x7f00000000aa] %s\n' 5 "ShaderName : $(printf 'a%.0s' {1..40})b" | gpq trace -q --list -rno PID --filter 'TEXT =~ "(a+)+$"' -
gpq: trace: --filter: at column 9: (a+)+$: match limit exceeded on a record; use a simpler expression
? 1

# Two of the three tables of the summary have no BACKLOG: they are whole.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --summary --ndjson --filter 'BACKLOG > 1' | jq -c '[.record, .type]'; gpq --sysroot $HOSTS/gfx90a-k6.12 hqd --summary --sort -used -o TYPE,USED -rn
["occupancy","compute"]
["occupancy","sdma"]
["occupancy","sdma-xgmi"]
compute 3
sdma 1
sdma-xgmi 0

# The read pointers are in hqds, which nothing but the sort asks for here.
$ gpq --sysroot $HOSTS/gfx90a-k6.12 queues -rno PID,QID --sort -RPTR
52880 0
41207 3
41207 0
41207 1
41207 2

# What has no rows takes neither. A log without records is not found, as ever.
$ cd $DATA/amdlog; gpq trace --partial --filter PID rocm70.log; gpq trace --perfetto - --sort PID rocm70.log; gpq merge --partial --sort N /nowhere; echo | gpq trace --filter 'PID > 1' -
gpq: trace: --filter and --sort are about rows of tables, which --partial has not; choose records by --grep, --kernel, --pid or times
gpq: trace: --filter and --sort are about rows of tables, which --perfetto - has not; choose records by --grep, --kernel, --pid or times
gpq: merge: --filter and --sort are about rows of tables, which --partial has not; filter what is merged in the end
gpq: trace: no AMD log records in the input; was the program run with AMD_LOG_LEVEL=4 (ROCm 7.12 and later: 5)?
? 5

# What parts add up to is filtered and sorted as the log itself.
$ cd $DATA/amdlog; gpq trace --partial rocm70.log | gpq merge -q --ndjson --filter 'DISPATCHES < 3' --sort name | jq -c '[.record, .pid, .name, .dispatches]'
["error",8022,null,null]
["totals",null,null,7]
["process",8022,null,1]
["queue",8022,null,1]
["kernel",null,"layer_norm(float*)",2]
["kernel",null,"train_step",1]

# Names of -P are those of shell variables; headings of CSV are the keys of JSON, units included.
$ cd $DATA/bench; gpq bench report -qP -o METRIC,P99.9 old.ndjson | head -1; gpq bench report --compare -qP -o CHANGE%,N_OLD old.ndjson new.ndjson | head -1; gpq bench report --compare -q --csv -o CHANGE%,OLD old.ndjson new.ndjson | head -1 | tr -d '\r'
METRIC="suspend" P99_9=""
CHANGE_PCT="470.954039" N_OLD="40"
change_percent,old_ns

# --table: one of the tables that are printed, in every form, without headings of several; an object, too.
$ t() { gpq trace -q "$@" $DATA/amdlog/cnn.log; }; t --table kernels --demangle -rno DISPATCHES,NAME | sed 's/(.*//'; t --table kernels -J | jq -c keys; t --table kernels | head -1 | cut -d' ' -f1
> t --table totals -rno RECORDS; t --table totals -J | jq -c '[keys, .totals.records]'; t --table processes --ndjson | jq -c '[.record, .pid]'; t --table errors -J | jq -c .errors; t --by api --table apis -rno NAME | wc -l; t --table queues --demangle -rno PID
3 conv2d
2 relu
1 max_pool
["kernels","notes","schema"]
LAUNCHES
47
[["notes","schema","totals"],47]
["process",100]
[]
3
100
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; for t in occupancy sharers waiting; do gpq hqd --summary --table $t --csv | head -1 | cut -d, -f1-3; gpq hqd --summary --table $t -J | jq -c '[keys[0], length]'; done; gpq hqd --summary --table occupancy | head -1
gpu_id,type,xcc
["occupancy",2]
gpu_id,pid,command
["schema",2]
gpu_id,pid,command
["schema",2]
  GPU TYPE      SLOTS USED FREE USED_SHARE QUEUES OVERSUB BY
$ cd $DATA/bench; for t in latencies effects context; do gpq bench report --table $t -rn old.ndjson | head -1 | cut -d' ' -f1-3; done; gpq bench report --table context plain.ndjson | head -1; gpq bench report -J --table goals ab.ndjson | jq -c keys
queues=1 suspend 40
queues=1 40 1008.17424
gpq-lab-1795196464942-175 gpq-lab 2026-11-20T17:41:04Z
run:                  gpq-lab-1795196473011-178
["goals","looks","looks_suspended","schema"]

# For people, too: what their report shows shorter, or as text, is a table then.
$ t() { gpq trace -q "$@"; }; t --series 100ms --table tracks $DATA/amdlog/cnn.log | head -1 | cut -c-20; t --series 100ms --table intervals -n $DATA/amdlog/cnn.log | wc -l; t --compare --table findings $DATA/amdlog/{cnn,transformer}.log | head -1
> for i in $(seq 60); do printf ':3:hip_memory.cpp           :700 : %010d us: [pid:%d tid: 0x7f00] hipMalloc: Returned hipErrorOutOfMemory : \n' $i $i; done >many.log; t many.log --table errors -n | wc -l
PID HWQ_OR_ALL     D
11
FINDING
60

# Rows are of one table: the first that has the columns of -o, --filter and --sort.
$ t() { gpq trace -qn "$@" $DATA/amdlog/cnn.log; }; for o in -r -P --csv '-0 -o HWQ' '-o HWQ'; do t $o | tr '\0' '\n' | tr -d '\r' | sed 's/.*\(0x7f0000b20000\).*/\1/'; done; t -ro RECORDS; t -o KERNELS,PID; t -r --filter 'NAME =~ "^relu"' | cut -d' ' -f1-3; t -r --sort -API_ERRORS | cut -d' ' -f1-2
0x7f0000b20000
0x7f0000b20000
0x7f0000b20000
0x7f0000b20000
0x7f0000b20000
47
      3 100
2 2 1
100 47

# What is no table, or is none of those that these options print; a column that the table lacks.
$ for o in '--table nosuch' '--table threads' '--table=' '--by kernel --table queues' '--table kernels -o HWQ' '--table kernels --filter HWQ' '--table kernels --sort HWQ' '--latency --table gaps' '-o PIDS,HWQ' '-o PIDS --filter HWQ'; do gpq trace -q $o $DATA/amdlog/cnn.log; done; gpq queues --table slots
gpq: trace: --table nosuch: no such table; printed here: queues, processes, kernels, errors, totals
gpq: trace: --table threads: no such table; printed here: queues, processes, kernels, errors, totals
gpq: trace: --table (nothing): no such table; printed here: queues, processes, kernels, errors, totals
gpq: trace: --table queues: no such table; printed here: kernels
gpq: trace: unknown column HWQ in kernels; --list-columns lists them
gpq: trace: --filter: unknown column HWQ in kernels at column 1; --list-columns lists them
gpq: trace: --sort: unknown column HWQ in kernels at column 1; --list-columns lists them
gpq: trace: --table gaps: no such table; printed here: commands, queues, kernels
gpq: trace: unknown column HWQ in totals, did you mean HWQS; --list-columns lists them
gpq: trace: unknown column PIDS in queues, did you mean PID; --list-columns lists them
gpq: queues: --table slots: no such table; printed here: queues
? 2

# An object is as wide as the names of its own columns.
$ gpq trace $DATA/amdlog/cnn.log --table totals -o HIP; gpq trace $DATA/amdlog/cnn.log --table totals -o HIP,LINES
HIP: -
HIP:   -
LINES: 47

# Rows are of one table: where nothing chose it, a line names the others.
$ cd $DATA/amdlog; for o in -r --csv -P '-r -q' '-r --table totals' '-r -o HWQ' -J '--latency -r' '--by queue -r'; do gpq trace $o cnn.log 2>&1 >/dev/null; done; gpq bench report -r $DATA/bench/old.ndjson 2>&1 >/dev/null; gpq merge -r <(gpq trace --partial cnn.log) 2>&1 >/dev/null
gpq: trace: only the table queues is written, not processes, kernels, errors, totals; --table NAME chooses one
gpq: trace: only the table queues is written, not processes, kernels, errors, totals; --table NAME chooses one
gpq: trace: only the table queues is written, not processes, kernels, errors, totals; --table NAME chooses one
gpq: trace: only the table commands is written, not queues, kernels; --table NAME chooses one
gpq: bench: only the table latencies is written, not effects, cycles, saved, growth, runs, goals, histogram, context; --table NAME chooses one
gpq: merge: only the table queues is written, not processes, kernels, errors, totals; --table NAME chooses one
