#!/bin/bash
# gpq snapshot --compare: runs made from one recorded host, with what differs between them made by hand. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
host=$top/tests/hosts/gfx90a-k6.12
cd "$work" || exit 1

kfd=sys/class/kfd/kfd/proc

# The host with program A (queues 0 to 3, three compute and one SDMA) as PID $2 and program B (queue 0) as PID $3, or
# without one of them (-); the rest is commands that change it.
run() { # NAME PID-A PID-B [COMMAND]
	cp -r "$host" "$1"
	(
		cd "$1" || exit 1
		become 41207 "$2" "prog-a"
		become 52880 "$3" "prog-b"
		eval "${4:-}"
	)
}
become() { # OLD NEW NAME
	if [ "$2" = - ]; then
		rm -r "proc/$1" "$kfd/$1"
		return
	fi
	[ "$1" = "$2" ] || { mv "proc/$1" "proc/$2" && mv "$kfd/$1" "$kfd/$2"; }
	sed -i "s/^Process $1 /Process $2 /" sys/kernel/debug/kfd/mqds
	printf '%s\0--config\0x.yaml\0' "$3" >"proc/$2/cmdline"
	echo "$3" >"proc/$2/comm"
	sed -i "s/^Name:.*/Name:\t$3/; s/^\(Tgid\|Pid\|NSpid\):.*/\1:\t$2/" "proc/$2/status"
	sed -i "s/^[0-9]* (.*)/$2 ($3)/" "proc/$2/stat"
}
# All compute MQDs of a process get this queue priority (dword 134).
prio() { # PID HEX
	perl -pi -e 'BEGIN { ($p, $v) = splice @ARGV, 0, 2 } $on = $1 == $p if /^Process (\d+)/; $c = /Compute/ if /queue on device/;
		s/^(    00000200: (?:\S+ ){6})\S+/${1}$v/ if $on && $c' "$1" "$2" sys/kernel/debug/kfd/mqds
}
compare() { gpq snapshot --compare -J "$@" 2>err; }

# --- one program alone, the same in three runs ---

run a1 41207 -
run a2 500 -
run a3 600 -
compare a1 a2 a3 >j
is "each run is as the first" "$(jq -c '[.runs[] | [.pid, .queues, .compute, .sdma, .queue_ids, .same_ids, .same_count, .id_overlap]]' j)" \
	'[[41207,4,3,1,"0-3",true,true,1],[500,4,3,1,"0-3",true,true,1],[600,4,3,1,"0-3",true,true,1]]'
is "so the program is consistent" "$(jq -c '.programs[] | [.program, .runs, .missing, .ids_always, .ids_ever, .same_ids, .same_count, .same_slots, .consistency]' j)" \
	'["prog-a --config x.yaml",3,0,"0-3","0-3",true,true,true,1]'
is "what is shown of programs" "$(gpq snapshot --compare a1 a2 a3 -q | grep -A1 'Programs over' | tail -1 | xargs)" \
	"PROGRAM WORKER RUNS QUEUES_MIN QUEUES_MAX ALWAYS EVER PRIOS SAME_IDS SAME_COUNT SAME_SLOTS SAME_PRIOS CONSISTENCY"
is "nothing ran beside it" "$(jq -c .overlaps j)" '[]'
is "fixed ids would do" "$(jq -c '[.strategies[] | [.strategy, .works, .use]]' j)" '[["fixed-ids",true,true],["priority",null,false],["pid",true,false]]'
is "nothing is known of priorities" "$(jq -r '.strategies[1].evidence' j)" "no two programs ran side by side"

run u2 500 - "rm -r sys/kernel"
compare a1 a2 u2 >j
is "slots unknown in one run are not the same in all" "$(jq '.programs[0].same_slots' j)" null
run u3 600 - "rm $kfd/600/queues/1/type"
compare a1 u3 >j
is "one compute queue less is another number" "$(jq '.programs[0].same_count' j)" false

# --- ids that change: 0-3, 0-3 and 9 (4 of 5 the same), 1-3 (3 of 4; 3 of 5) ---

run c2 500 - "cp -r $kfd/500/queues/0 $kfd/500/queues/9"
run c3 600 - "rm -r $kfd/600/queues/0"
compare a1 c2 c3 >j
is "changed ids and counts are seen in the run" "$(jq -c '[.runs[] | [.queue_ids, .same_ids, .same_count, .id_overlap]]' j)" \
	'[["0-3",true,true,1],["0-3,9",false,false,0.8],["1-3",false,false,0.75]]'
is "and overall, with the mean of 4/5, 3/4 and 3/5" \
	"$(jq -c '.programs[] | [.queues_min, .queues_max, .ids_always, .ids_ever, .same_ids, .same_count, (.consistency * 1e6 | round)]' j)" \
	'[3,5,"1-3","0-3,9",false,false,716667]'
is "fixed ids would not do" "$(jq -c '.strategies[0] | [.works, .use, .evidence]' j)" \
	'[false,false,"prog-a --config x.yaml: ids differ between its 3 runs (3 to 5 queues)"]'
is "the PID does" "$(jq -r '.strategies[] | select(.use) | .strategy' j)" pid
# The same ids, another type.
run t2 500 - "printf 1 >$kfd/500/queues/0/type"
is "the same ids of other types are another count" "$(compare a1 t2 | jq -c '.programs[] | [.same_ids, .same_count]')" '[true,false]'

# --- two programs side by side with the same ids and priorities ---

run b1 41207 52880
run b2 500 600
compare b1 b2 >j
is "what they share" "$(jq -c '.overlaps[] | [.program, .beside, .runs, .gpus_shared, .ids_shared, .priorities_shared, .id_overlap]' j)" \
	'["prog-a --config x.yaml","prog-b --config x.yaml",2,["0"],"0",["7"],0.25]'
is "neither ids nor priority would do" "$(jq -c '[.strategies[].works]' j)" '[false,false,true]'
is "the evidence names what stands against it" "$(jq -r '.strategies[0:2][].evidence' j)" \
	"prog-a --config x.yaml and prog-b --config x.yaml share ids 0
prog-a --config x.yaml and prog-b --config x.yaml share priority 7"
# Each reason stands for itself, be there as many of one as of the other.
run e2 500 600 "prio 600 0000000b; cp -r $kfd/500/queues/0 $kfd/500/queues/9"
is "what changes and what is shared" "$(compare b1 e2 | jq -r '.strategies[0:2][] | .works, .evidence')" \
	"false
prog-a --config x.yaml: ids differ between its 2 runs (4 to 5 queues); prog-a --config x.yaml and prog-b --config x.yaml share ids 0
false
prog-b --config x.yaml: priorities differ between its runs; prog-a --config x.yaml and prog-b --config x.yaml share priority 7"
is "... and what priorities each has in any run" "$(compare b1 e2 | jq -c '[.programs[] | .priorities]')" '[["7"],["7","11"]]'

# Beside A, B once more, with queues 1 and 2, then 0 and 1: of A and B 1/4, 2/4, 1/4 and 2/4 are the same, of B and B none, then 1/2.
double() { # OLD NEW QUEUE QUEUE
	cp -r "proc/$1" "proc/$2" && mkdir -p "$kfd/$2/queues"
	for q in "$3" "$4"; do cp -r "$kfd/$1/queues/0" "$kfd/$2/queues/$q"; done
}
run b3 41207 52880 "double 52880 52881 1 2"
run b4 500 600 "double 600 601 0 1"
is "pairs of processes are means, runs with them are counted" "$(compare b3 b4 | jq -c '.overlaps[] | [.program, .beside, .runs, .ids_shared, .id_overlap]')" \
	'["prog-a --config x.yaml","prog-b --config x.yaml",2,"0-2",0.375]
["prog-b --config x.yaml","prog-b --config x.yaml",2,"0",0.25]'

# --- other priorities ---

run p1 41207 52880 "prio 52880 0000000b"
run p2 500 600 "prio 600 0000000b"
compare p1 p2 >j
is "priority would do" "$(jq -c '[.strategies[] | [.works, .use]]' j)" '[[false,false],[true,true],[true,false]]'
is "each process of each run" "$(jq -c '.runs[] | [.snapshot, .program, .worker, .pid, .command, .gpus, .queues, .compute, .sdma, .queue_ids, .priorities]' j)" \
	'["p1","prog-a --config x.yaml",0,41207,"prog-a",["0"],4,3,1,"0-3",["7"]]
["p1","prog-b --config x.yaml",0,52880,"prog-b",["0"],1,1,0,"0",["11"]]
["p2","prog-a --config x.yaml",0,500,"prog-a",["0"],4,3,1,"0-3",["7"]]
["p2","prog-b --config x.yaml",0,600,"prog-b",["0"],1,1,0,"0",["11"]]'
is "and which they are" "$(jq -r '.strategies[1].evidence' j)" "prog-a --config x.yaml: 7; prog-b --config x.yaml: 11"
run p3 700 800 "prio 800 0000000c"
is "not if one changes" "$(compare p1 p3 | jq -c '.strategies[1] | [.works, .evidence]')" \
	'[false,"prog-b --config x.yaml: priorities differ between its runs"]'
run p4 700 800 "prio 800 0000000b; for p in 700 800; do printf 'prog-%s\0' \$p >proc/\$p/cmdline; done"
is "nor of programs of one run each" "$(compare p1 p4 | jq -c '.strategies[1] | [.works, .evidence]')" '[null,"no program is in two runs"]'
run s1 41207 52880 "printf 1 >$kfd/52880/queues/0/type"
run s2 500 600 "printf 1 >$kfd/600/queues/0/type"
is "SDMA queues have none, which is known" "$(compare s1 s2 | jq -c '.strategies[1] | [.works, .evidence]')" \
	'[true,"prog-a --config x.yaml: 7; prog-b --config x.yaml: none"]'
more() { # PID: three more programs like this one
	for n in 1 2 3; do
		cp -r "proc/$1" "proc/$1$n" && cp -r "$kfd/$1" "$kfd/$1$n" && printf 'prog-%s\0' $n >"proc/$1$n/cmdline"
	done
}
run s3 41207 52880 "printf 1 >$kfd/52880/queues/0/type; more 52880"
run s4 500 600 "printf 1 >$kfd/600/queues/0/type; more 600"
is "four programs are examples" "$(compare s3 s4 | jq -r '.strategies[1].evidence')" \
	"prog-1: none; prog-2: none; prog-3: none; prog-a --config x.yaml: 7"
rm -r p1/sys/kernel p2/sys/kernel
is "without dumps it is unknown" "$(compare p1 p2 | jq -c '.strategies[1] | [.works, .evidence]')" \
	'[null,"priorities are unknown: they need the dumps of debugfs"]'

# --- ids that do not meet ---

run d1 41207 52880 "mv $kfd/52880/queues/0 $kfd/52880/queues/7"
run d2 500 600 "mv $kfd/600/queues/0 $kfd/600/queues/7"
is "fixed ids would do" "$(compare d1 d2 | jq -c '.strategies[0] | [.works, .use, .evidence]')" \
	'[true,true,"each program had the same ids in all its runs, and no two share any"]'

# --- secondary contexts: their ids count for themselves ---

contexts=$top/tests/hosts/vm73-gfx942-contexts
cp -r "$contexts" x1
cp -r "$contexts" x2
mv x2/$kfd/140/context_0/queues/2 x2/$kfd/140/context_0/queues/9
mv x2/$kfd/140/context_0/queues/1 x2/$kfd/140/context_0/queues/8
is "ids of secondary contexts are not compared" "$(compare x1 x2 | jq -c '[.runs[] | select(.pid == 140) | [.queues, .queue_ids, .same_ids]]')" \
	'[[10,"0-3",true],[10,"0-3",true]]'
is "nor are their slots" "$(compare x1 x2 | jq -c '[.runs[] | select(.pid == 140) | .same_slots]')" '[true,true]'

# --- workers, names ---

run w1 41207 52880 "cp proc/41207/cmdline proc/52880/cmdline; cp proc/41207/comm proc/52880/comm; sed -i 's/prog-b/prog-a/' proc/52880/status"
cp -r w1 w2
is "processes of one program are told apart" "$(compare w1 w2 | jq -c '[.programs[] | [.program, .worker, .runs, .queues_min]]')" \
	'[["prog-a --config x.yaml",0,2,4],["prog-a --config x.yaml",1,2,1]]'
run n2 500 - "printf 'prog-a\0--config\0y.yaml\0' >proc/500/cmdline"
is "other arguments are another program" "$(compare a1 n2 | jq -c '[[.programs[].runs], [.strategies[].works]]')" '[[1,1],[null,null,true]]'
is "which is said" "$(jq -r .message err)" "no program is in two of the 2 runs"
is "--match comm knows it again" "$(compare --match comm a1 n2 | jq -c '[.programs[] | [.program, .runs]]')" '[["prog-a",2]]'
is "--match container" "$(compare --match container a1 a2 | jq -c '[.programs[] | [.program, .runs]]')" '[["116f54c41d04",2]]'

# --- statuses, forms ---

is "one run is not enough" "$(gpq snapshot --compare a1 2>&1; echo $?)" \
	"gpq: snapshot: --compare takes a snapshot of each of two runs or more; gpq snapshot --compare RUN1 RUN2 ...
2"
is "a run that is not there" "$(gpq snapshot --compare a1 nothing 2>&1; echo $?)" \
	"gpq: snapshot: nothing: No such file or directory; name a folder or an archive that gpq snapshot wrote
5"
is "runs without queues" "$(compare "$top/tests/hosts/nogpu-k6.12" "$top/tests/hosts/nogpu-k6.12" | jq -c '[.runs, .programs, [.strategies[].works]]')" '[[],[],[null,null,null]]'
is "--table" "$(gpq snapshot --compare a1 a2 --table strategies -rno STRATEGY,WORKS | paste -sd,)" "fixed-ids yes,priority -,pid yes"
is "-o alone is about the runs" "$(gpq snapshot --compare a1 a2 -rno PID | paste -sd,)" "41207,500"
is "--table without --compare" "$(gpq snapshot --table runs x 2>&1; echo $?)" "gpq: snapshot: --table runs: no such table; printed here: snapshots
2"
is "--diff and --compare" "$(gpq snapshot --diff --compare a1 a2 2>&1; echo $?)" "gpq: snapshot: --diff and --compare exclude each other; choose one
2"

finish
