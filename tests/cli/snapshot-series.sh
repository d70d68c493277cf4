#!/bin/bash
# gpq snapshot with a selector, and series of snapshots (--every): on recorded hosts. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts
h=$hosts/gfx90a-k6.12
kfd=sys/class/kfd/kfd
cd "$work" || exit 1

said() { # COMMAND...: its messages and its status
	"$@" 2>&1 >/dev/null
	echo $?
}

# --- a selector: whom it saves ---

# 41207 (queues 0 to 2 compute, 3 sdma) is in a docker container and 52880 (queue 0 compute) in a pod.
pod='--pod 3f2c1a9e'
while IFS='|' read -r options want; do
	rm -rf chosen
	# shellcheck disable=SC2086 # several words
	gpq --sysroot "$h" snapshot chosen -q $options >/dev/null
	is "$options" "$(ls chosen/$kfd/proc | paste -sd' ')" "$want"
done <<EOF
-p 52880|52880
--tree -p 1|41207 52880
--ns-pid -p 31|41207
--container 116f54c41d04|41207
--cgroup /kubepods.slice|52880
$pod|52880
--comm python3 --user 0|41207
--cmdline vllm.entrypoints|52880
--type sdma|41207
--gpu 0 -Q 41207:2|41207
-p 41207,52880 --prio medium|41207 52880
EOF

gpq --sysroot "$h" snapshot one -q -p 41207 >/dev/null
is "of others no file is saved, of ancestors there is" "$(ls one/proc | paste -sd' ') $(find one | grep -c 52880)" "1 41150 41207 0"
ok "the dumps stay whole" diff -r one/sys/kernel/debug "$h/sys/kernel/debug"
is "the replay lists what the host lists with the selector" "$(gpq --sysroot one queues -J)" "$(gpq --sysroot "$h" queues -p 41207 -J)"
is "the manifest says whose it is" "$(grep -a ^chosen one/MANIFEST)" "chosen 41207"
gpq --sysroot one snapshot again -q >/dev/null
ok "a snapshot of it is the same" diff -r --no-dereference -x MANIFEST one again
is "and knows it, too" "$(grep -a ^chosen again/MANIFEST; gpq --sysroot again queues -rno PID | sort -u)" "chosen 41207
41207"
is "nobody is chosen" "$(said gpq --sysroot "$h" snapshot none --comm nobody; ls -d none 2>&1)" \
	"gpq: snapshot: the options choose nothing in this host; gpq queues -a shows whom they can choose
5
ls: cannot access 'none': No such file or directory"
is "one of two is not there" "$(said gpq --sysroot "$h" snapshot two -p 41207,4711; ls two/$kfd/proc)" \
	"gpq: snapshot: pid 4711: the options choose nothing of it in this host
3
41207"
is "-Q of several processes" "$(said gpq --sysroot "$h" snapshot none -Q 0)" \
	"gpq: snapshot: queue 0: 2 processes are chosen, and each counts its queues anew; -Q PID:ID says of which
2"
is "no such GPU" "$(said gpq --sysroot "$h" snapshot none --gpu 7)" "gpq: snapshot: there is no GPU 7; gpq gpus lists them
5"
cp -r "$h" unlisted && rm -r unlisted/$kfd/proc # as before Linux 5.8
for series in '' '--every 10ms --count 1'; do
	rm -rf all some
	is "a host that lists no processes is saved without a selector alone${series:+, also by $series}" \
		"$(gpq --sysroot unlisted snapshot all -q $series -rno PROCS,DUMPS; echo $?; said gpq --sysroot unlisted snapshot some $series -p 41207)" \
		"0 yes
0
gpq: snapshot: /$kfd/proc: No such file or directory; it was not recorded, or the kernel was older than 5.8
5"
done
cp -r "$h" idle && rm -r idle/$kfd/proc/*
gpq --sysroot idle snapshot idled -q >/dev/null
is "a host without processes is not one without a record of them" "$(gpq --sysroot idled queues -ro PID 2>&1; echo $?)" "PID
0"

# --- a selector with --diff and --compare ---

a=$hosts/vm-gfx942-running b=$hosts/vm-gfx942-suspended
is "--diff of one process" "$(gpq snapshot --diff -a "$a" "$b" -p 665 -rno PID,QID)" "665 0"
is "of some queues" "$(gpq snapshot --diff "$a" "$b" -p 664 --type sdma -rno QID,CHANGE)" "2 off"
is "-Q PID:ID" "$(gpq snapshot --diff "$a" "$b" -Q 664:1 -rno QID,CHANGE)" "1 progress"
cp -r "$h" louder
perl -pi -e 's/^(    00000200: (?:\S+ ){6})\S+/${1}0000000b/' louder/sys/kernel/debug/kfd/mqds
is "a queue that fits only afterwards did not come" \
	"$(gpq snapshot --diff "$h" louder -p 52880 --prio high -rno QID,CHANGE)" "0 priority"
is "nothing chosen" "$(said gpq snapshot --diff "$a" "$b" -p 4711)" \
	"gpq: snapshot: pid 4711: the options choose nothing of it in these snapshots
5"
is "--compare of one program" "$(gpq snapshot --compare "$a" "$b" --type compute -p 664 --table programs -rno RUNS,QUEUES_MAX,EVER)" "2 2 0-1"

# --- three and more moments ---

is "--diff goes from each to the next" "$(gpq snapshot --diff "$a" "$b" "$a" -Q 664:0 -rno SNAPSHOT,CHANGE 2>/dev/null)" \
	"$b off\\x20progress
$a on"

# --- a series ---

v=$hosts/vm-gfx942x8-running
gpq --sysroot "$v" snapshot --every 10ms --count 3 s -q >printed
is "a line for each" "$(tail -n +2 printed | cut -d' ' -f1)" "s/000001
s/000002
s/000003"
is "the index" "$(jq -c '[.snapshot, .host, .result, .error, .processes, .queues, .dumps, .consistent, .redacted]' s/index.ndjson)" \
	'[1,"gpq-lab","saved",null,2,4,true,true,false]
[2,"gpq-lab","saved",null,2,4,true,true,false]
[3,"gpq-lab","saved",null,2,4,true,true,false]'
is "times go on, and the dumps were read after them" "$(for i in 1 2 3; do
	jq -r "select(.snapshot == $i) | .monotonic_ns" s/index.ndjson; sed -n 's/^dumps_ns //p' s/00000$i/MANIFEST; done | tr ' ' '\n' | sort -nc && echo yes) $(wc -l <s/index.ndjson)" "yes 3"
is "wall time is the same moment" "$(jq -r 'select(.snapshot == 1) | .time | sub("[.][0-9]+Z"; "Z") | fromdate' s/index.ndjson)" \
	"$(date -d "$(jq -r 'select(.snapshot == 1).time' s/index.ndjson)" +%s)"
gpq --sysroot "$v" snapshot plain -q >/dev/null
for i in 1 2 3; do ok "snapshot $i is as one alone" diff -r --no-dereference -x MANIFEST plain s/00000$i; done
is "the manifests list the same files" "$(for i in 1 3; do awk -F'\t' 'NF == 5 { print $1, $5 }' s/00000$i/MANIFEST | sum; done | grep . | sort -u | wc -l)" 1
is "what cannot change is there once" "$(stat -c %h s/00000[123]/$kfd/topology/nodes/1/properties | paste -sd' ')" "3 3 3"
is "what can is not" "$(find s/*/$kfd/proc s/*/$kfd/topology/generation_id -type f -printf '%n\n' | sort -u)" 1
gpq --sysroot "$v" snapshot --every 1s --count 1 s -q >/dev/null
is "a series goes on" "$(jq .snapshot s/index.ndjson | paste -sd' ') $(ls s | paste -sd' ')" "1 2 3 4 000001 000002 000003 000004 index.ndjson"
mkdir s/000005
printf '{"snapshot":9,"resu' >>s/index.ndjson
gpq --sysroot "$v" snapshot --every 1s --for 1ms s -q >/dev/null
is "after a power cut too: half a line goes, and no number is given twice" "$(jq .snapshot s/index.ndjson | paste -sd' ')" "1 2 3 4 6"

is "--diff of a series" "$(gpq snapshot --diff s -a -Q 1170:0 -rno SNAPSHOT,QID)" "s/000002 0
s/000003 0
s/000004 0
s/000006 0"
is "--compare of a series" "$(gpq snapshot --compare s --table programs -rno RUNS,SAME_IDS 2>/dev/null)" "5 yes
5 yes"
is "series and snapshots together" "$(gpq snapshot --compare plain s --table programs -rno RUNS 2>/dev/null)" "6
6"
mkdir away
mv s/000002 s/000003 away
cp -r plain s/000009
cp s/index.ndjson index
printf 'no json\n{"snapshot":-1,"result":"saved"}\n{"snapshot":1,"result":"saved"}\n{"snapshot":9,"result":"failed"}\n{"snapshot":7,"res' >>s/index.ndjson
is "what was taken away is left out, and what is no line" "$(gpq snapshot --diff s -a -Q 1170:0 -rno SNAPSHOT 2>&1)" \
	"gpq: snapshot: s/index.ndjson: 2 lines are damaged and left out
s/000004
s/000006"
mv index s/index.ndjson

# --- while the host changes: what was linked is read anew when the topology's generation is another ---

series_while() { # FOLDER COMMAND, after the first one, with the generation's file as $g; the status is that of the series
	rm -rf moving
	cp -r "$v" moving
	exec 3< <(exec gpq --sysroot moving snapshot --every 10ms -p 1170 "$1" --ndjson 2>stopped)
	local gpq=$! g=moving/$kfd/topology/generation_id
	read -r -u 3 line
	echo other >moving/$kfd/topology/nodes/1/name
	eval "$2"
	# The snapshot that is being taken may have seen the topology before: the process goes once a later one has begun.
	local later
	later=$1/$(printf %06d $((10#$(ls "$1" | grep -E '^[0-9]+$' | tail -1) + 2)))
	until [ -e "$later" ] || ! kill -0 $gpq; do sleep 0.01; done
	rm -r moving/$kfd/proc/1170
	while read -r -u 3 line && ! grep -q '"processes":0' <<<"$line"; do :; done
	kill -TERM $gpq
	cat <&3 >/dev/null
	last=$(jq -r .path <<<"$line")
	wait $gpq
}
series_while moved-file 'cp $g g && mv g $g'
is "another file of the same generation is one of another driver" "$(cat "$last/$kfd/topology/nodes/1/name")" other
series_while moved-same :
is "what is of the same generation is not read again" "$(cat "$last/$kfd/topology/nodes/1/name")" "$(cat "$v/$kfd/topology/nodes/1/name")"
rm -r moved-same/000001 moved-file/000001 moved-file/000002
for s in same file; do gpq snapshot --diff -v moved-$s >/dev/null 2>said || :; grep -o "moved.*no longer there" said; done >left
is "those of the index that are gone are counted" "$(cat left)" "moved-same: 1 snapshots of its index are no longer there
moved-file: 2 snapshots of its index are no longer there"
series_while m 'echo 4711 >$g'
is "a signal ends it by its status" "$?" 143
is "a new generation is read anew" "$(cat "$last/$kfd/topology/nodes/1/name")" other
is "what was saved stays" "$(cat m/000001/$kfd/topology/nodes/1/name)" "$(cat "$v/$kfd/topology/nodes/1/name")"
is "without the process it goes on" "$(gpq --sysroot "$last" queues -ro PID)" PID
is "all that the index names is whole, and nothing else is there" "$(ls -A m | grep -v index)" \
	"$(jq -r 'select(.result == "saved").snapshot' m/index.ndjson | xargs -n1 printf '%06d\n')"
is "and each has its last file" "$(ls m/*/MANIFEST | wc -l)" "$(wc -l <m/index.ndjson)"
is "it says how many" "$(grep -o 'stopped after [0-9]* snapshots, all of them whole' stopped)" "stopped after $(wc -l <m/index.ndjson) snapshots, all of them whole"

# --- what can go wrong ---

every() { said gpq --sysroot "$h" snapshot --every 1s --count 1 "$@"; }
mkdir full
printf x >full/there
is "a folder with something else" "$(every full)" "gpq: snapshot: full is there already and is no series of snapshots; choose another name, or an empty folder
1"
is "a file" "$(every full/there)" "gpq: snapshot: full/there is there already and is no series of snapshots; choose another name, or an empty folder
1"
is "no folder for it" "$(every no/x)" "gpq: snapshot: no/x: No such file or directory; make the folder it shall lie in first
5"
mkdir -p odd/index.ndjson linked && ln -s ../full/there linked/index.ndjson
is "an index that is a folder" "$(every odd)" "gpq: snapshot: odd/index.ndjson: Is a directory
1"
is "an index that is a link is not followed" "$(every linked; cat full/there)" "gpq: snapshot: linked/index.ndjson: Too many levels of symbolic links
1
x"
mkdir empty
is "an empty folder" "$(every empty -q; ls empty | paste -sd' ')" "0
000001 index.ndjson"
is "two writers" "$(said flock -s empty/index.ndjson gpq --sysroot "$h" snapshot --every 1s --count 1 empty)" \
	"gpq: snapshot: empty: another gpq snapshot writes this series; name another folder
1"
is "--redact into a series with names" "$(every empty --redact | tail -n 2)" \
	"gpq: snapshot: empty: a series that is there cannot be continued with --redact: its pseudonyms would be others; name another folder
2"
gpq --sysroot "$v" snapshot --every 10ms --count 2 hidden --redact -q >/dev/null
is "one name has one pseudonym in a series" "$(grep -h . hidden/*/proc/1170/comm hidden/*/proc/sys/kernel/hostname | sort | uniq -c | tr -s ' ' | paste -sd,)" " 2 host1, 2 program1"
is "in the index too" "$(jq -r .host hidden/index.ndjson | sort -u)" host1
is "names into a series with pseudonyms" "$(every hidden)" "gpq: snapshot: hidden was made with --redact, and would get names; name another folder
2"
is "the selector chooses nothing at first" "$(every nobody --comm nobody | tail -n 2; ls nobody)" \
	"gpq: snapshot: the options choose nothing in this host; gpq queues -a shows whom they can choose
5
index.ndjson"
no_room() { (trap '' XFSZ; ulimit -f "$1"; cd "$work" && said gpq --sysroot "$h" snapshot --every 10ms --count 3 "${@:2}"); }
is "no room for a snapshot" "$(no_room 8 r1; jq -c '[.snapshot, .result, .error, .queues]' r1/index.ndjson; ls -A r1)" \
	"gpq: snapshot: r1/000001: File too large
1
[1,\"failed\",\"EFBIG\",null]
index.ndjson"
is "no room for its line" "$(no_room 0 r2; wc -c <r2/index.ndjson)" "gpq: snapshot: r2/000001: File too large
1
0"
is "which -v tells" "$(no_room 0 r2 -v | grep index)" "gpq: snapshot: r2/000001: not noted in the index: File too large"
is "a full disk under the list" "$(gpq --sysroot "$h" snapshot --every 1s --count 1 r3 2>&1 >/dev/full; echo $?)" \
	"gpq: snapshot: standard output: No space left on device
1"
while IFS='|' read -r options want; do
	# shellcheck disable=SC2086 # several words
	is "$options" "$(said gpq --sysroot "$h" snapshot $options)" "gpq: snapshot: $want
2"
done <<'EOF'
--every 1s x.tar|x.tar: a series is no archive; name a folder
--every 1s -|-: a series is no archive; name a folder
--every 1s|a name is missing; gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream
--every 1ms x|--every: the least interval is 10ms; for example --every 5s
--every 1s --for 2s --count 3 x|--for and --count exclude each other; choose one
--every 1s --count 0 x|--count 0: that is no snapshot at all
--every 1s --for 0 x|--for 0: that is no snapshot at all
--for 1s x|--for is only for --every; see gpq help snapshot
--count 1 x|--count is only for --every; see gpq help snapshot
--every 1s --diff x y|--every is only for saving; see gpq help snapshot
EOF
mkdir bare
is "without a driver a missing name is told first" "$(said gpq --sysroot bare snapshot)" \
	"gpq: snapshot: a name is missing; gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream
2"
mkdir none && : >none/index.ndjson
is "a series without a snapshot" "$(said gpq snapshot --diff none)" "gpq: snapshot: --diff takes two snapshots or more, or a series of them; gpq snapshot --diff BEFORE AFTER; / is the live host
2"

finish
