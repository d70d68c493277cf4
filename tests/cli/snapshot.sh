#!/bin/bash
# gpq snapshot: what it saves, in which form, and that it leaves nothing half done. TAP.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
hosts=$top/tests/hosts
cd "$work" || exit 1

# --- round trip: the snapshot of a recorded host prints what that host prints, in every command ---

listings=("gpus -J --output-all" "gpus --check -J" "queues -J -a --output-all")
for c in hqd; do ! gpq --list | grep -x $c >/dev/null || listings+=("$c -J --output-all" "$c --summary -J"); done

show() { # ROOT: all that the commands say of it, with their messages and statuses
	local l out
	for l in "${listings[@]}"; do
		# shellcheck disable=SC2086
		out=$(gpq --sysroot "$1" $l -v 2>&1)
		echo "${out:+== $l: status $?: $out}"
	done
}

asked=$(each 3 "$hosts"/*/)
for h in "$hosts"/*/; do
	h=${h%/} name=${h##*/}
	[ -d "$h/sys/class/kfd" ] || continue
	gpq --sysroot "$h" snapshot "$name" -q >log 2>&1 || cat log
	[[ $'\n'$asked$'\n' != *$'\n'$h/$'\n'* ]] || is "$name: the same listings" "$(show "$name")" "$(show "$h")"
	[ ! -d "$h/sys/kernel/debug" ] || ok "$name: the dumps are the same bytes" diff -r "$h/sys/kernel/debug" "$name/sys/kernel/debug"
	gpq --sysroot "$name" snapshot "$name.again" -q >log 2>&1 || cat log
	ok "$name: a snapshot of the snapshot is the same" \
		diff -r --no-dereference -x MANIFEST "$name" "$name.again"
done

# --- the manifest: every file with its size, what is missing with the reason ---

m=vm-gfx942-running/MANIFEST
first=$(ls "$hosts/vm-gfx942-running/sys/class/kfd/kfd/proc" | head -1)
parent=$(awk '$1 == "PPid:" { print $2 }' "$hosts/vm-gfx942-running/proc/$first/status") # not in the recorded host
listed=$(awk -F'\t' 'NF == 5 && $1 ~ /^[0-9]+$/ { print $1, $5 }' $m | sort)
there=$(cd vm-gfx942-running && find . -type f ! -name MANIFEST ! -name .order ! -name .now -printf '%s %p\n' | sed 's/ \./ /' | sort)
is "the manifest lists every file and its size" "$listed" "$there"
is "how many there are, and bytes in them" "$(gpq --sysroot "$hosts/vm-gfx942-running" snapshot counted -rno FILES,SIZE)" \
	"$(awk '{ n++; sum += $1 } END { print n, sum }' <<<"$there")"
# Times are of what is read together: the dumps and the lists of queues, also of contexts.
timed() { awk -F'\t' '$2 ~ /^[0-9]/ && $3 >= $2 { print $5 }' "$1"; }
c=vm73-gfx942-contexts
is "the manifest has times of dumps and queues alone" "$(timed $c/MANIFEST | sort)" \
	"$(cd $c && find sys -path '*/kfd/mqds' -o -path '*/kfd/hqds' -o -path '*/kfd/rls' -o -regex '.*/queues/[0-9]*/\(gpuid\|size\|type\)' | sed 's,^,/,' | sort)"
is "the dumps first" "$(timed $c/MANIFEST | head -3 | grep -c debug)" 3
is "a file that is not there is listed with its errno" \
	"$(awk -F'\t' -v file="/proc/$parent/status" '$5 == file { print $1, $4 }' $m)" "- ENOENT"
is "the dumps have the times of their reading, one after the other" "$(awk -F'\t' '
	/^dumps_ns / { split($0, w, " "); last = w[2] + 0; stop = w[3] + 0 }
	$5 ~ /^\/sys\/kernel\/debug\/kfd\/(mqds|hqds|rls)$/ { n++; if (!last || $2 + 0 < last || $3 + 0 <= $2 + 0 || $3 + 0 > stop) print "bad", $0; last = $3 + 0 }
	END { print n }' $m)" 3
is "hang_hws is never touched" "$(grep -rq hang_hws */MANIFEST || grep -rl debug/kfd/hqds */MANIFEST | head -1)" aql-gfx90a.again/MANIFEST

# What many hosts do not have is missing without a word, or when a file has the place of its folder; what is there and cannot
# be read is listed, whatever it is.
cp -r "$hosts/vm-gfx942-running" odd
rm -rf odd/sys/kernel/security odd/sys/kernel/tracing odd/proc/uptime odd/proc/sys/kernel/yama
mkdir -p odd/sys/kernel odd/proc/sys/kernel/yama
touch odd/sys/kernel/security
none=sys/class/kfd/kfd/proc/99/queues # of a process without queues
mkdir -p odd/$none
mkfifo odd/proc/sys/kernel/yama/ptrace_scope
gpq --sysroot odd snapshot odd-saved -q >/dev/null
is "optional files: absent, below a file, a pipe" "$(awk -F'\t' '$5 ~ "/(uptime|lockdown|ptrace_scope)$" { print $1, $4, $5 }' odd-saved/MANIFEST)" \
	"- ENXIO /proc/sys/kernel/yama/ptrace_scope"
is "an empty folder" "$(cd odd-saved && find $none) $(awk -v p="/$none" '$5 == p' odd-saved/MANIFEST)" "$none "

# --- creation order of queues: kept through snapshots, since qids do not tell it ---

cp -r "$hosts/vm-gfx942-running" order
echo '1 0 2' >"$(ls -d order/sys/class/kfd/kfd/proc/*/queues | head -1)/.order"
gpq --sysroot order snapshot ordered -q >/dev/null
is "creation order is kept" "$(cat "$(ls -d ordered/sys/class/kfd/kfd/proc/*/queues | head -1)/.order")" "1 0 2"

# --- what only a running host tells of a queue ---

q=$(ls -d order/sys/class/kfd/kfd/proc/"$first"/queues/1)
touch order/MANIFEST
echo '100 164 4321' >"$q/.now"
echo '7 7 -' >"$(dirname "$q")/0/.now"
is "indices, holder and state are replayed" "$(gpq --sysroot order queues -p "$first" -rno QID,READ_NOW,WRITE_NOW,BACKLOG,HOLDER,STATE | head -2)" \
	"0 7 7 0 - idle
1 100 164 64 4321 suspended"
rm -r ordered && gpq --sysroot order snapshot ordered -q >/dev/null
is "and kept in a snapshot" "$(cat ordered/sys/class/kfd/kfd/proc/"$first"/queues/[01]/.now)" "7 7 -
100 164 4321"

# --- archives ---

h=$hosts/gfx90a-k6.12
gpq --sysroot "$h" snapshot dir -q >/dev/null
for f in tar tar.gz tgz tar.zst tzst; do
	gpq --sysroot "$h" snapshot "a.$f" -q >/dev/null
	mkdir "x.$f"
	tar -C "x.$f" -xf "a.$f"
	ok "$f holds the same files" diff -r --no-dereference -x MANIFEST dir "x.$f/a"
done
touch -d '2 minutes ago' before
ok "its files are as old as the archive" test x.tar.zst/a/MANIFEST -nt before
ok ".tar.zst is zstd" zstd -qt a.tar.zst
ok ".tar.gz is gzip" gzip -t a.tar.gz
for name in .tar .tar.gz .tzst; do
	gpq --sysroot "$h" snapshot -q "$name" >/dev/null
	ok "$name alone is the name of a folder" test -f "$name/MANIFEST"
done
gpq --sysroot "$h" snapshot - -q | tar -xf -
ok "- writes a tar stream" diff -r --no-dereference -x MANIFEST dir gpq-snapshot

# --- a live host's sysfs is a web of links: they are kept as links and nothing is read twice ---

mkdir -p web/sys/class/kfd web/sys/devices/virtual/kfd web/sys/class/drm web/sys/devices/pci0/0000:0a:00.0/drm/renderD128
cp -r "$h/sys/class/kfd/kfd" web/sys/devices/virtual/kfd/kfd
ln -s ../../devices/virtual/kfd/kfd web/sys/class/kfd/kfd
ln -s ../../devices/pci0/0000:0a:00.0/drm/renderD128 web/sys/class/drm/renderD128
ln -s ../../../0000:0a:00.0 web/sys/devices/pci0/0000:0a:00.0/drm/renderD128/device
echo 0x1002 >web/sys/devices/pci0/0000:0a:00.0/vendor
ln -s loop web/sys/class/drm/renderD129
gpq --sysroot web snapshot webbed -q >/dev/null
is "links are kept" "$(cd webbed && find . -type l -printf '%p %l\n' | sort)" \
	"./sys/class/drm/renderD128 ../../devices/pci0/0000:0a:00.0/drm/renderD128
./sys/class/drm/renderD129 loop
./sys/class/kfd/kfd ../../devices/virtual/kfd/kfd
./sys/devices/pci0/0000:0a:00.0/drm/renderD128/device ../../../0000:0a:00.0"
is "and what they lead to is there" "$(cat webbed/sys/class/drm/renderD128/device/vendor)" 0x1002
is "the listing follows them" "$(gpq --sysroot webbed gpus -rno BDF)" "0000:0a:00.0"

# --- pseudonyms ---

cp -r "$h" secret
mkdir -p secret/proc/sys/kernel
echo verysecrethost >secret/proc/sys/kernel/hostname
printf 'verysecretprog\n' >secret/proc/41207/comm
sed -i 's/(.*)/(verysecret) p)/' secret/proc/41207/stat
sed -i 's/^Name:.*/Name:\tverysecretprog/' secret/proc/41207/status
printf 'verysecret\0--password=verysecret\0' >secret/proc/41207/cmdline
printf '12:name=systemd:/\n0::/system.slice/verysecret.slice/docker-%s.scope/verysecret\n' \
	116f54c41d0405dbb10e7b04ebc31e262a5b8c85c1233fcf36eaee344d91ae58 >secret/proc/41207/cgroup
echo 'verysecretuser:x:0:0:A. Secret:/home/verysecret:/bin/sh' >secret/etc/passwd
sed -i 's/"Name":"[^"]*"/"Name":"\/verysecret"/; s/}$/,"Env":["TOKEN=verysecret"]}/' secret/var/lib/docker/containers/*/config.v2.json
cp secret/proc/41207/comm secret/proc/52880/comm
gpq --sysroot secret snapshot plain -q >/dev/null
is "without --redact no secrets of docker either" "$(cat plain/var/lib/docker/containers/*/config.v2.json)" \
	'{"ID":"116f54c41d0405dbb10e7b04ebc31e262a5b8c85c1233fcf36eaee344d91ae58","Name":"/verysecret"}'
is "of a container with several processes there is one" "$(grep -c config.v2 plain/MANIFEST)" 1
is "nor other columns of passwd" "$(cat plain/etc/passwd)" "verysecretuser:x:0:0::/:"
gpq --sysroot secret snapshot redacted --redact -q >/dev/null
is "with --redact no name is left, in files or paths" "$(ls redacted/etc; find redacted | grep -e secret -e 116f54; grep -rl -e secret -e 116f54c4 redacted)" passwd
is "the same name has the same pseudonym" "$(cat redacted/proc/41207/comm)" "$(cat redacted/proc/52880/comm)"
is "in status and comm alike" "$(sed -n 's/^Name:\t//p' redacted/proc/41207/status)" "$(cat redacted/proc/41207/comm)"
is "another name another one" "$(cat redacted/proc/1/comm redacted/proc/41150/comm redacted/proc/41207/comm | sort -u | wc -l)" 3
is "one container stays one" "$(grep -oh '[0-9a-f]\{64\}' redacted/proc/{41150,41207}/cgroup redacted/var/lib/docker/containers/*/config.v2.json | sort -u | wc -l)" 1
ok "numbers stay" diff -r --no-dereference redacted/sys secret/sys
gpq --sysroot plain snapshot later --redact -q >/dev/null
ok "names can be taken out later, too" diff -r --no-dereference -x MANIFEST later redacted

# --- queues of which it is not known whether they fit: queue 3 of 41207, an SDMA queue, has no priority ---

left_out() { gpq --sysroot "$hosts/gfx90a-k6.12" snapshot -v "$@" 2>&1 >/dev/null | grep -e --prio; }
one="gpq: snapshot: --prio: left out: 1 queue of unknown priority"
is "how many queues of unknown priority are left out is told" "$(left_out --prio 5:7 untold1)" "$one"
is "... of chosen processes alone" "$(left_out --prio 5:7 -p 41207 untold2; may 1 left_out --prio 5:7 -p 52880 untold3)" "$one"
is "... of each host that is compared" "$(left_out --prio 5:7 --diff untold1 "$hosts/gfx90a-k6.12")" "$one
$one"

# --- what can go wrong ---

fails() { # NAME STATUS WANTED-MESSAGE COMMAND...
	local name=$1 status=$2 want=$3 got
	shift 3
	got=$("$@" 2>&1 >/dev/null)
	is "$name" "$? $got" "$status gpq: snapshot: $want"
}
fails "nothing is replaced" 1 "dir is there already; choose another name, or remove it first" gpq --sysroot "$h" snapshot dir
fails "no folder for it" 5 "no/x: No such file or directory; make the folder it shall lie in first" gpq --sysroot "$h" snapshot no/x
fails "no name" 2 "a name is missing; gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream" gpq --sysroot "$h" snapshot
fails "two names" 2 "b: only one name is expected; gpq snapshot --diff A B tells two apart, --compare A B runs" gpq --sysroot "$h" snapshot a b
fails "a full disk under a stream" 1 "standard output: No space left on device" bash -c 'gpq --sysroot "$1" snapshot - 3>&1 >/dev/full' _ "$h"
mkdir limit
too_large() { (trap '' XFSZ; ulimit -f 8; cd limit && exec gpq --sysroot "$h" snapshot "$1"); }
fails "no room for a file" 1 "big: File too large" too_large big
fails "no room for an archive" 1 "big.tar: File too large" too_large big.tar
is "and nothing is left behind: one with room is alone there" "$(gpq --sysroot "$h" snapshot limit/small >/dev/null; ls -A limit)" small

# Too long a name for what it is called while it is made: a folder that is called so as far as there is room is another one.
long=limit/$(printf '%0249d/' {1..17} | head -c 4077)/
mkdir -p "$long.n.partial-"
too_long() { gpq --sysroot "$h" snapshot "${long}n" || { local status=$?; rmdir "$long.n.partial-"; return "$status"; }; }
fails "a name that is too long while it is made" 1 "${long}n: File name too long" too_long
rm -r limit

# A reader that goes away; the stream is larger than a pipe holds.
gpq --sysroot "$h" snapshot - -q | head -c 10 >/dev/null
is "a reader that goes away ends it as a signal does" "${PIPESTATUS[0]}" 141

# Interrupted at any moment: either it is all there, or nothing is.
mkdir stop
for delay in 0.001 0.002 0.003 0.004 0.006 0.008 0.01 0.015; do
	for name in d t.tar.zst; do
		timeout --foreground -k 60 -s INT $delay gpq --sysroot "$hosts/vm-gfx942x8-running" snapshot "stop/$name" -q >/dev/null 2>&1
		if [ -e "stop/$name/MANIFEST" ] || { [ -f "stop/$name" ] && zstd -qt "stop/$name"; }; then rm -r "stop/$name"; fi
	done
done
is "interrupted: all or nothing" "$(gpq --sysroot "$h" snapshot stop/whole >/dev/null; ls -A stop)" whole

# Ended by the signal itself, not by a status that looks like it: a shell then ends its script, too.
ends=$(python3 - "$hosts/vm-gfx942x8-running" <<'PYTHON'
import os, signal, subprocess, sys, time
ends = set()
for delay in [d / 2000 for d in range(1, 60)]:
    p = subprocess.Popen(["gpq", "--sysroot", sys.argv[1], "snapshot", "stop/s.tar.zst", "-q"], stdout=-3, stderr=-3,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(delay)
    p.send_signal(signal.SIGINT)
    ends.add(p.wait() if p.wait() or os.path.exists("stop/s.tar.zst") else "nothing")
    subprocess.run(["rm", "-f", "stop/s.tar.zst"])
print(*sorted(ends))
PYTHON
)
ok "a signal ends it" grep -qxE -e '-2( 0)?' <<<"$ends"

fails "an archive of another kind" 2 "host.zip: no such archive can be written; archives are .tar, .tar.gz and .tar.zst" gpq --sysroot "$h" snapshot host.zip

# Somebody who may not read debugfs and another's /proc files.
cp -r "$hosts/vm-gfx942-running" user
chmod 700 user/sys/kernel/debug
pid=$(ls user/sys/class/kfd/kfd/proc | head -1)
chmod 000 "user/proc/$pid/cmdline"
chmod 755 "$work"
mkdir -m 777 drop
as_user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi; }
chown -R 65534 drop 2>/dev/null
[ "$(id -u)" = 0 ] || chmod 000 user/sys/kernel/debug
got=$(as_user gpq --sysroot user snapshot drop/u -v 2>&1 >/dev/null)
is "a user's snapshot is done" "$? $(echo "$got" | grep -c 'without the dumps of debugfs')" "0 1"
is "-v says what is missing and why" "$(echo "$got" | grep -e mqds -e cmdline | grep -v "/proc/$parent/")" \
	"gpq: snapshot: /sys/kernel/debug/kfd/mqds: not permitted
gpq: snapshot: /proc/$pid/cmdline: not permitted"
is "so does the manifest" "$(awk -F'\t' '$4 == "EACCES" { print $5 }' drop/u/MANIFEST | grep -e mqds -e cmdline)" \
	"/sys/kernel/debug/kfd/mqds
/proc/$pid/cmdline"
is "and it replays" "$(gpq --sysroot drop/u gpus -rno GPU)" "$(gpq --sysroot user gpus -rno GPU)"

# What a stranger's tree may hold.
cp -r "$h" evil
mkfifo evil/pipe
rm evil/sys/kernel/debug/kfd/mqds && ln -s ../../../../pipe evil/sys/kernel/debug/kfd/mqds
ln -sf /etc/shadow evil/proc/41207/cmdline
ln -s ../../../../../../../../../../etc evil/sys/module
# A link that was copied must not be written through: /etc would be $work/victim here.
cp -r "$h" trap
mkdir victim
rm -r trap/etc
ln -s "$work/victim" trap/etc
mkdir -p "trap$work/victim/amdgpu/parameters"
touch "trap$work/victim/amdgpu/parameters/x"
cp "$h/etc/passwd" "trap$work/victim/passwd"
ln -s ../etc trap/sys/module
is "a tree that would make gpq write elsewhere is refused" "$(gpq --sysroot trap snapshot sprung 2>&1; echo $?; ls victim sprung 2>/dev/null)" \
	"gpq: snapshot: sprung: Too many levels of symbolic links
1
victim:"
timeout 20 gpq --sysroot evil snapshot tamed -q >/dev/null 2>&1
is "pipes and links out of the tree are left alone" "$? $(grep -rl root: tamed; ls -d tamed/etc/shadow 2>/dev/null)" "0 tamed/etc/passwd"

# --- pods and cards, which ps shows and --gpu takes ---

cp -r "$h" pods
id=24c458cfb46d9a456d314c7897601e51578e43c1f9dc007adf1a745bbc15e0f5 device=pods/sys/devices/pci0000:00/0000:43:00.0
mkdir -p pods/var/log/containers $device/drm/card1
echo secret >pods/var/log/containers/vllm-0_prod_server-$id.log
ln -s ../../../0000:43:00.0 $device/drm/card1/device
ln -s ../../devices/pci0000:00/0000:43:00.0/drm/card1 pods/sys/class/drm/card1
gpq --sysroot pods snapshot pods.saved -q >/dev/null
gpq --sysroot pods snapshot pods.redacted --redact -q >/dev/null
is "the pod of a container" "$(gpq --sysroot pods.saved ps --pod prod/vllm-0 -rno PID,POD)" "52880 prod/vllm-0"
is "... and nothing of its log" "$(find pods.saved/var/log/containers -type f -printf '%f %s\n')" "vllm-0_prod_server-$id.log 0"
is "... redacted" "$(gpq --sysroot pods.redacted ps --pod pod1/pod2 -rno PID,POD)|$(grep -rlE 'vllm-0|prod' pods.redacted; find pods.redacted | grep -cE 'vllm-0|prod')" "52880 pod1/pod2|0"
cp pods/proc/52880/cgroup pods/proc/41150/
echo 0::/lxc.payload.web >pods/proc/41207/cgroup
gpq --sysroot pods snapshot pods.lxc -q >/dev/null
is "a pod has one link, and a container known by its name no file" "$(cut -f5 pods.lxc/MANIFEST | grep -e /containers/ | sed "s/$id/ID/g")" \
	"/var/log/containers/vllm-0_prod_server-ID.log
/var/lib/docker/containers/ID/config.v2.json"
docker=116f54c41d0405dbb10e7b04ebc31e262a5b8c85c1233fcf36eaee344d91ae58
for pid in 1 41150 41207 52880; do # the first, the last, and those between
	rm -rf one one.saved && cp -r "$h" one
	echo 0::/ | tee one/proc/{1,41150,41207,52880}/cgroup >/dev/null
	echo "0::/system.slice/docker-$docker.scope" >one/proc/$pid/cgroup
	gpq --sysroot one snapshot one.saved -q >/dev/null
	is "the name of a container whose only process is $pid" "$(cat one.saved/var/lib/docker/containers/*/config.v2.json)" \
		"{\"ID\":\"$docker\",\"Name\":\"/$(jq -r .Name "$h"/var/lib/docker/containers/"$docker"/config.v2.json | tr -d /)\"}"
done
is "the card of a GPU" "$(gpq --sysroot pods.saved queues --gpu card1 -rno PID | sort -u | paste -sd' ')" "41207 52880"

# --- a wrong column is told before anything is written ---

for w in "wrong" "--every 10ms --count 2 wrong"; do
	# shellcheck disable=SC2086
	is "snapshot -o NOSUCH $w writes nothing" "$(gpq --sysroot "$h" snapshot -o NOSUCH $w 2>&1; echo $?; ls wrong 2>/dev/null)" \
		"gpq: snapshot: unknown column NOSUCH in snapshots; --list-columns lists them
2"
done

finish
