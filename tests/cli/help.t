# Help in two sizes, and what is completed. Sizes and agreement with the man pages: tests/docs/check.sh.
$ gpq gpus -h
Usage: gpq gpus [--gpu GPU[,GPU...]] [--watch SEC]
       gpq gpus --check [COMMAND]
List the GPUs of KFD and what they support

Options:
      --gpu GPU[,GPU...]      only these GPUs
      --check                 what stands between this user and each command
      --watch SEC             repeat, this long apart (50ms, 2s), until Ctrl-C

Shared options (-o, -J, -r ...) and columns: gpq gpus --help | less

# --help has what follows the first line of an option's text, the shared options and the columns.
$ gpq gpus --help >all; gpq help gpus | cmp - all; sed -n '/^ .*--gpu /,/^$/p' all; grep -c '^  -J, --json  *one JSON document$' all; grep '^  . BDF' all
      --gpu GPU[,GPU...]      only these GPUs: index, gpu_id (decimal or hex) or
                              PCI address
      --check                 what stands between this user and each command
      --watch SEC             repeat, this long apart (50ms, 2s), until Ctrl-C

1
  * BDF            PCI address; partitions share one

$ gpq -h | tail -4
  why        what each queue does now, and on what it waits

gpq COMMAND -h lists its options, gpq COMMAND --help also its columns. gpq help
lists the options of every command, and topics. Examples: man gpq-COMMAND.

$ gpq --help | tail -5

Options of a command: gpq COMMAND -h; its columns, too: gpq COMMAND --help, or
gpq help COMMAND.
Exit statuses: gpq help exit. Tasks, each in a line: man gpq-examples. On
clusters: man gpq-cluster. Rights and promises: man gpq-security.

# Usage lines: all, or two where a screen has no room for four.
$ gpq snapshot -h | sed '/^Save/,$d'; for c in 'hqd -h' 'suspend -h' 'trace -h' 'trace --help'; do gpq $c | grep -c "^ *\(Usage:\)* gpq"; done
Usage: gpq snapshot [--redact] DIR|FILE.tar[.gz|.zst]|-
       gpq snapshot --every SEC [--for SEC|--count N] [--redact] DIR
       gpq snapshot --diff [-a] [--exit-code] BEFORE AFTER...|SERIES
       gpq snapshot --compare [--match WHAT] RUN...|SERIES
2
4
2
10

# -h and --help are two options; -h with --help is --help.
# Topics; a word that is like one, or like a command; one that is like none.
$ gpq help exit | sed -n '1p;8,9p'; gpq help filter; gpq help queus; gpq help exit x; gpq help ''
  0           done
  4           not permitted
  5           not found: no such process, queue, GPU or file
gpq: no topic filter, did you mean filters; gpq help lists topics
gpq: unknown command queus, did you mean queues; gpq -h lists them
gpq: x: no operand is expected; gpq -h shows what is
gpq: unknown command (nothing); gpq -h lists them
? 2

# A word for what a command does: what to type.
$ gpq help glossary; gpq help words | grep -cE '^  (MQD|HQD, slot|CWSR|XCC|doorbell|ring|runlist|suspend, hold)( |$)'
gpq help words tells what queue, slot, MQD and the like are
8
$ gpq help kcq; gpq help status; gpq help show x
gpq gpus --check tells what num_kcq leaves, gpq hqd --summary how many slots are used
gpq queues lists queues, gpq suspend --list what is held
gpq: x: no operand is expected; gpq -h shows what is
? 2

$ gpq queues --usage | cmp - <(gpq queues -h) && gpq queues -h --help | cmp - <(gpq queues --help) && gpq -h --help | cmp - <(gpq --help)

# Kinds of bench: what they are for; the options of one, wherever its name stands.
$ gpq bench -h | sed -n '/^Kinds/,$p'
Kinds:
  preempt    suspend a process, or several at once, watch their queues stand
             still, hold, resume, watch them go on; many times
  ab         run online and offline work alone, together, and with the offline
             work suspended while the online work needs the GPU
  report     what raw samples of one or more runs say, as Markdown and as a page
             with plots

gpq bench KIND -h lists the options of one kind.
Shared options (-o, -J, -r ...) and columns: gpq bench --help | less

$ gpq bench report -h; gpq bench --goal effect=5 --svg-dir x report -h | cmp - <(gpq bench report -h)
Usage: gpq bench report [--html FILE] [--svg-dir DIR] FILE|DIR...
       gpq bench report --compare [--html FILE] OLD NEW
What raw samples of one or more runs say, as Markdown and as a page with plots

Options:
      --html FILE             also write a page with plots
      --svg-dir DIR           also write each plot to a file
      --compare               compare two files or folders, the old one first
      --goal NAME=VALUE,...   limits to judge by
      --require LIMIT         a limit that decides the exit status

Tables (--table): latencies, effects, cycles, saved, growth, online, offline,
                  programs, overlaps, strategies, runs, goals, histogram,
                  changes
Shared options (-o, -J, -r ...) and columns: gpq bench report --help | less

$ gpq bench --help | grep -E '^(Options|Columns) of '; echo; gpq help bench report | grep -E '^(Options|Columns) of '; gpq bench report --list-columns -rn -o TABLE | uniq
Options of preempt:
Options of ab:
Options of report:
Options of every command:
Columns of latencies (* shown by default):
Columns of effects (* shown by default):
Columns of cycles (* shown by default):
Columns of saved (* shown by default):
Columns of growth (* shown by default):
Columns of online (* shown by default):
Columns of offline (* shown by default):
Columns of programs (* shown by default):
Columns of overlaps (* shown by default):
Columns of strategies (* shown by default):
Columns of runs (* shown by default):
Columns of goals (* shown by default):
Columns of histogram (* shown by default):
Columns of changes (* shown by default):
Columns of processes (* shown by default):

Options of every command:
Columns of latencies (* shown by default):
Columns of effects (* shown by default):
Columns of cycles (* shown by default):
Columns of saved (* shown by default):
Columns of growth (* shown by default):
Columns of online (* shown by default):
Columns of offline (* shown by default):
Columns of programs (* shown by default):
Columns of overlaps (* shown by default):
Columns of strategies (* shown by default):
Columns of runs (* shown by default):
Columns of goals (* shown by default):
Columns of histogram (* shown by default):
Columns of changes (* shown by default):
latencies
effects
cycles
saved
growth
online
offline
programs
overlaps
strategies
runs
goals
histogram
changes

# Completion: what the host knows, with what it is.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq --complete -- queues --gpu '' | cut -f1; gpq --complete -- hqd --gpu=0,414 | cut -f1; gpq --complete -- queues -p 4
> gpq --complete -- suspend --container '' | sort; gpq --complete -- suspend --container x,t; gpq --complete -- queues --comm P; gpq --complete -- suspend -p 52880 -Q ''
0
41460
0000:43:00.0
--gpu=0,41460
41207	python3
116f54c41d04	trainer
24c458cfb46d	kubernetes, process 52880
trainer	docker, process 41207
x,trainer	docker, process 41207
python3	process 41207
0	compute, process 52880

% 740f Aldebaran/MI200 [Instinct MI210]
$ gpq --complete -- --sysroot $HOSTS/gfx90a-k6.12 hqd --gpu=0,414
--gpu=0,41460	Aldebaran/MI200 [Instinct MI210]

$ gpq --complete -- --sysroot $HOSTS/gfx90a-k6.12 queues -p52880, | sort; gpq --complete -- --sysroot /nowhere queues -p ''
-p52880,41207	python3
-p52880,52880	vllm

# Names that a shell or a terminal would take for more are not offered, or as regular expressions that match them.
$ mkdir -p sly/proc/7 sly/sys/class/kfd/kfd/proc/7/queues && printf 'Name:\ta$(id) b\n' >sly/proc/7/status && printf '0::/lxc.payload.x;id/\n' >sly/proc/7/cgroup
> gpq --complete -- --sysroot sly queues --comm ''; gpq --complete -- --sysroot sly queues --container ''; gpq --complete -- --sysroot sly queues --pid ''
a..id..b	process 7
7	a$(id) b

# A name in place of an id is offered once; of an id alone the runtime may be unknown.
$ id=$(printf '%064d' 0 | tr 0 e); mkdir -p lxc/proc/7 lxc/proc/8 lxc/sys/class/kfd/kfd/proc/{7,8}/queues; echo 0::/lxc.payload.web >lxc/proc/7/cgroup; echo 0::/x/$id >lxc/proc/8/cgroup
> gpq --complete -- --sysroot lxc queues --container '' | sort
eeeeeeeeeeee	container, process 8
web	lxc, process 7

# Words of the program: kinds and their options, types, priorities, modes; a column once for all tables that have it.
$ c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' '; echo; }; c bench ''; c bench ab --on; c bench --cycles 3 ab --modes alone,; c help b; c help bench r; c bench --g
> c queues --type ''; c suspend --prio me; c bench -o RUN; c bench report -o P5; c queues -vo qi; c queues -oQI; c resume '' | cut -d' ' -f-8
preempt ab report 
--online-cmd --online-pid --online --online-log 
alone,alone alone,shared alone,preempt 
bench benchmark 
report 
--gpu --gap --grace --goal 
compute sdma sdma-xgmi 
medium 
RUNS RUN RUNS_OLD RUNS_NEW 
P50 P50_LOW P50_HIGH 
QID 
-oQID 
--pid --ns-pid --tree --container --cgroup --pod --job --user

# SPEC of gpq sched and gpq bench ab: keys, and what their options take.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' '; echo; }; c sched --offline c; c sched --online 'tree,p'; c sched --offline pid=41207,5; c sched --offline 'comm=x,container=tr'; c sched --offline 'comm=x,cont'; c sched --offline pid=5,t; c sched --offline 'comm=x,type=c'; c sched --class b; c sched --class b=gp; c sched --offline 'gpu=4'; c bench ab --online c; c sched --ma
container= cgroup= comm= cmdline= 
tree,pid= tree,pod= 
pid=41207,52880 
comm=x,container=trainer 
comm=x,container= 
pid=5,tree 


b=gpu= 
gpu=41460 
container= cgroup= comm= cmdline= 
--max-hold 

# The shell completes files: behind --, of commands that take FILE, behind options that do.
$ c() { gpq --complete -- "$@" | cut -f1; }; c suspend -p 1 -- -; c suspend -p 1 cmd --p; c trace ''; c trace --mark ''; c queues --mqds=; c bench report ''; c merge x ''; c que
queues
