# Completion, candidate by candidate; what else is completed: help.t, frame.t.
# Commands, and `help` of them; then kinds; options where an operand is not expected; where none is known, nothing.
$ c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' ' | sed 's/\(--[a-z-]*\) --.*/\1 .../'; echo; }; c ''; c help ''; c help he; c help queues ''; c help bench ''; c help bench ab ''; c bench ab ''; c gpus ''; c gpus x; c gpus --check he; c gpus --check sus; c trace ''; c trace -
bench core events gpus hang hqd merge packets ps queues resume sched snapshot suspend trace why help 
bench core events gpus hang hqd merge packets ps queues resume sched snapshot suspend trace why selectors filters output watching metrics json exit words 


preempt ab report 

--dry-run ...
--gpu ...


suspend 

--breakdown ...


$ diff <(gpq --complete -- '' | cut -f1 | grep -v help) <(gpq --list); gpq --complete -- help | tr '\t' :; gpq --complete -- gpus --j | tr '\t' :
help:show the help of a command or a topic
--json:one JSON document
--json-schema:print the JSON Schema of --json, or with --ndjson of its lines, and exit

# Words for what commands do, where no command begins so, and behind help; each names commands and options that there are, and no
# command of its own.
$ gpq --complete -- kcq | tr '\t' :; gpq --complete -- showp | cut -f1; gpq --complete -- help uns | cut -f1; gpq --complete -- que | cut -f1; gpq --complete -- queues kcq
kcq:gpq gpus --check tells what num_kcq leaves, gpq hqd --summary how many slots are used
kcqs:gpq gpus --check tells what num_kcq leaves, gpq hqd --summary how many slots are used
showpids
showpidgpus
unsuspend
queues
$ for a in {a..z}; do gpq --complete -- help $a; done | grep $'\tgpq ' >words; cut -f1 words | sort | uniq -d; comm -12 <(cut -f1 words | sort) <(gpq --list | sort); [ "$(wc -l <words)" -gt 100 ] && cut -f2 words | grep -oE 'gpq [^,;]*' | sort -u | grep -oE 'gpq [a-z]+|--?[a-z]+' | while read -r a; do case $a in 'gpq help') gpq help words >/dev/null ;; gpq*) c=${a#gpq }; gpq $c -h >/dev/null || echo "no $c" ;; *) gpq $c --help | grep -qE -e "^ .*$a( |,|\$)" || echo "$c has no $a" ;; esac; done

# A filter: a column where a value may stand, an operator behind a value, nothing in a string or a number.
$ f() { gpq --complete -- queues --filter "$1" | tr '\t' :; echo .; }; f 'QID == 1 '; f 'PID  ' | tail -2; for e in PIP '(PIP' '!PIP' 'QID<PIP' 'QID> PIP' 'QID == PIP' 'QID =~PIP' 'QID && PIP' 'QID ||PIP' 'COMMAND == "x" && pip' 'COMMAND == "PIP' 'QID == 1' 'QID PIP'; do f "$e"; done
QID == 1 ==:operator
QID == 1 !=:operator
QID == 1 <:operator
QID == 1 <=:operator
QID == 1 >:operator
QID == 1 >=:operator
QID == 1 =~:operator
QID == 1 !~:operator
QID == 1 &&:operator
QID == 1 ||:operator
.
PID  ||:operator
.
PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
(PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
!PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID<PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID> PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID == PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID =~PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID && PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
QID ||PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
COMMAND == "x" && PIPE_PRIO:pipe priority, 0 to 2 (MQD)
.
.
.
.

# --sort: a minus stays; of a list the last part.
$ c() { gpq --complete -- "$@" | cut -f1; }; c queues --sort -PIP; c queues --sort QID,-PIP; c queues --sort QID,PIP; c queues --sort -QID,PIP
-PIPE_PRIO
QID,-PIPE_PRIO
QID,PIPE_PRIO
-QID,PIPE_PRIO

# Queues, of the processes that are typed; GPUs by index, id and address; where there is no driver, none.
$ c() { gpq --complete -- --sysroot $HOSTS/$H "$@" | tr '\t' : | sort; }; H=gfx90a-k6.12; c queues -Q ''; c queues -p 41207 -Q '3,'; c queues -p 41207,9 -Q 0 ; c queues -p 9 -Q ''; c gpus --gpu '4' | cut -d: -f1; c gpus --gpu=0000 | cut -d: -f1-3; H=nowhere; c gpus --gpu ''; c queues -Q ''; c queues -p ''
0:compute, process 41207
0:compute, process 52880
1:compute, process 41207
2:compute, process 41207
3:sdma, process 41207
3,0:compute, process 41207
3,1:compute, process 41207
3,2:compute, process 41207
3,3:sdma, process 41207
0:compute, process 41207
41460
--gpu=0000:43:00.0

% 740f Aldebaran/MI200
$ gpq --complete -- --sysroot $HOSTS/gfx90a-k6.12 gpus --gpu=0000 | cut -f1 -d[
--gpu=0000:43:00.0	Aldebaran/MI200 

# Tables, each name once; of a kind its own.
$ c() { gpq --complete -- "$@" | cut -f1 | tr '\n' ' '; echo; }; c trace --table k; c trace --table q; c hqd --table ''; c --table ''; c bench ab --table o; c bench report --table r; c queues --table=
kernels 
queues queue_intervals 
slots registers raw_registers fields occupancy sharers waiting packets samples 

online offline overlaps 
runs 
--table=queues --table=processes --table=totals 

# Words that an option takes, all of them, each with what it is.
$ for o in '--prio' '--type'; do gpq --complete -- queues $o '' | tr '\t' :; done; gpq --complete -- bench ab --modes '' | tr '\t' :
low:level of priority
medium:level of priority
high:level of priority
compute:type of queue
sdma:type of queue
sdma-xgmi:type of queue
alone:mode of the experiment
shared:mode of the experiment
preempt:mode of the experiment
