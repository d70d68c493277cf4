# Help in two sizes, and what is completed. Sizes and agreement with the man pages: tests/docs/check.sh.
$ gpq gpus -h
Usage: gpq gpus [--gpu GPU[,GPU...]] [--watch SEC]
       gpq gpus --check
List the GPUs of KFD and what they support

Options:
      --gpu GPU[,GPU...]      only these GPUs
      --check                 what stands between this user and each command
      --watch SEC             repeat, this long apart (50ms, 2s), until Ctrl-C

Shared options (-o, -J, -r ...) and columns: gpq gpus --help

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

gpq COMMAND -h lists its options; gpq --help has the options of every command,
gpq COMMAND --help also its columns; examples: man gpq-COMMAND.

# -h and --help are two options; -h with --help is --help.
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
Shared options (-o, -J, -r ...) and columns: gpq bench --help

$ gpq bench report -h; gpq bench --goal effect=5 --svg x report -h | cmp - <(gpq bench report -h)
Usage: gpq bench report [--html FILE] [--svg DIR] FILE|DIR...
       gpq bench report --compare OLD NEW
What raw samples of one or more runs say, as Markdown and as a page with plots

Options:
      --html FILE             also write a page with plots
      --svg DIR               also write each plot to a file
      --compare               compare two files or folders, the old one first
      --goal NAME=VALUE,...   limits to judge by
      --require LIMIT         a limit that decides the exit status

Shared options (-o, -J, -r ...) and columns: gpq bench report --help

$ gpq bench --help | grep -E '^(Options|Columns) of '; echo; gpq help bench report | grep -E '^(Options|Columns) of '; gpq bench report --list-columns -rn -o TABLE | uniq
Options of preempt:
Options of ab:
Options of report:
Options of every command:
Columns of latencies (* shown by default):
Columns of effects (* shown by default):
Columns of cycles (* shown by default):
Columns of runs (* shown by default):
Columns of saved (* shown by default):
Columns of online (* shown by default):
Columns of offline (* shown by default):
Columns of programs (* shown by default):
Columns of overlaps (* shown by default):
Columns of strategies (* shown by default):
Columns of goals (* shown by default):
Columns of histogram (* shown by default):
Columns of changes (* shown by default):
Columns of processes (* shown by default):

Options of every command:
Columns of latencies (* shown by default):
Columns of effects (* shown by default):
Columns of cycles (* shown by default):
Columns of runs (* shown by default):
Columns of saved (* shown by default):
Columns of online (* shown by default):
Columns of offline (* shown by default):
Columns of programs (* shown by default):
Columns of overlaps (* shown by default):
Columns of strategies (* shown by default):
Columns of goals (* shown by default):
Columns of histogram (* shown by default):
Columns of changes (* shown by default):
latencies
effects
cycles
runs
saved
online
offline
programs
overlaps
strategies
goals
histogram
changes

# Completion: what the host knows, with what it is.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; gpq --complete -- queues --gpu '' | cut -f1; gpq --complete -- hqd --gpu=0,414; gpq --complete -- queues -p 4
> gpq --complete -- suspend --container '' | sort; gpq --complete -- queues --comm P; gpq --complete -- suspend -p 52880 -Q ''
0
41460
0000:43:00.0
--gpu=0,41460	Aldebaran/MI200 [Instinct MI210]
41207	python3
116f54c41d04	trainer
24c458cfb46d	kubernetes, process 52880
trainer	docker, process 41207
python3	process 41207
0	compute, process 52880

$ gpq --complete -- --sysroot $HOSTS/gfx90a-k6.12 queues -p52880, | sort; gpq --complete -- --sysroot /nowhere queues -p ''
-p52880,41207	python3
-p52880,52880	vllm

# Names that a shell or a terminal would take for more are not offered, or as regular expressions that match them.
$ mkdir -p sly/proc/7 sly/sys/class/kfd/kfd/proc/7/queues && printf 'Name:\ta$(id) b\n' >sly/proc/7/status && printf '0::/lxc.payload.x;id/\n' >sly/proc/7/cgroup
> gpq --complete -- --sysroot sly queues --comm ''; gpq --complete -- --sysroot sly queues --container ''; gpq --complete -- --sysroot sly queues --pid ''
a..id..b	process 7
7	a$(id) b

# Words of the program: kinds and their options, types, priorities, modes; a column once for all tables that have it.
$ c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' '; echo; }; c bench ''; c bench ab --on; c bench --cycles 3 ab --modes alone,; c help b; c help bench r; c bench --g
> c queues --type ''; c suspend --prio me; c bench -o RUN; c bench report -o P5; c queues -vo qi; c queues -oQI; c resume '' | cut -d' ' -f-8
preempt ab report 
--online --online-pid --online-select --online-log 
alone,alone alone,shared alone,preempt 
bench 
report 
--gpu --gap --grace --goal 
compute sdma sdma-xgmi 
medium 
RUN RUNS 
P50 P50_OLD P50_NEW 
QID 
-oQID 
--pid --ns-pid --tree --container --cgroup --pod --user --comm

# SPEC of gpq sched: keys, and what their options take; not of gpq bench ab, whose --online is a command.
$ export GPQ_SYSROOT=$HOSTS/gfx90a-k6.12; c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' '; echo; }; c sched --offline c; c sched --online 'tree&p'; c sched --offline pid=41207,5; c sched --offline 'comm=x&container=tr' ; c sched --class b; c sched --class b=gp; c sched --offline 'gpu=4'; c bench ab --online c; c sched --ma
container= cgroup= comm= cmdline= 
tree&pid= tree&pod= 
pid=41207,52880 
comm=x&container=trainer 

b=gpu= 
gpu=41460 

--max-hold 

# The shell completes files: behind --, of commands that take FILE, behind options that do.
$ c() { gpq --complete -- "$@" | cut -f1; }; c suspend -p 1 -- -; c suspend -p 1 cmd --p; c trace ''; c trace --mark ''; c queues --mqds=; c bench report ''; c merge x ''; c que
queues
