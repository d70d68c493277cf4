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

for h in "$hosts"/*/; do
	h=${h%/} name=${h##*/}
	[ -d "$h/sys/class/kfd" ] || continue
	gpq --sysroot "$h" snapshot "$name" -q >log 2>&1 || cat log
	is "$name: the same listings" "$(show "$name")" "$(show "$h")"
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
is "a file that is not there is listed with its errno" \
	"$(awk -F'\t' -v file="/proc/$parent/status" '$5 == file { print $1, $4 }' $m)" "- ENOENT"
is "the dumps have the times of their reading, one after the other" "$(awk -F'\t' '
	$5 ~ /^\/sys\/kernel\/debug\/kfd\/(mqds|hqds|rls)$/ { n++; if ($2 + 0 < last || $3 + 0 < $2) print "bad", $0; last = $3 + 0 }
	END { print n }' $m)" 3
is "hang_hws is never touched" "$(grep -rq hang_hws */MANIFEST || grep -rl debug/kfd/hqds */MANIFEST | head -1)" aql-gfx90a.again/MANIFEST

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
ok ".tar.zst is zstd" zstd -qt a.tar.zst
ok ".tar.gz is gzip" gzip -t a.tar.gz
gpq --sysroot "$h" snapshot - -q | tar -xf -
ok "- writes a tar stream" diff -r --no-dereference -x MANIFEST dir gpq-snapshot
is "--sysroot of an archive says what to do" "$(gpq --sysroot a.tar.zst gpus 2>&1)" \
	"gpq: gpus: sysroot a.tar.zst: Not a directory; --sysroot takes a directory: unpack an archive with tar -xf"

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
fails "two names" 2 "b: only one name is expected; gpq snapshot DIR, or FILE.tar.zst, or - for a tar stream" gpq --sysroot "$h" snapshot a b
fails "a full disk under a stream" 1 "standard output: No space left on device" bash -c 'gpq --sysroot "$1" snapshot - 3>&1 >/dev/full' _ "$h"
mkdir limit
too_large() { (trap '' XFSZ; ulimit -f 8; cd limit && exec gpq --sysroot "$h" snapshot "$1"); }
fails "no room for a file" 1 "big: File too large" too_large big
fails "no room for an archive" 1 "big.tar: File too large" too_large big.tar
is "and nothing is left behind: one with room is alone there" "$(gpq --sysroot "$h" snapshot limit/small >/dev/null; ls -A limit)" small

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

# --- a wrong column is told before anything is written ---

for w in "wrong" "--every 10ms --count 2 wrong"; do
	# shellcheck disable=SC2086
	is "snapshot -o NOSUCH $w writes nothing" "$(gpq --sysroot "$h" snapshot -o NOSUCH $w 2>&1; echo $?; ls wrong 2>/dev/null)" \
		"gpq: snapshot: unknown column NOSUCH in snapshots; --list-columns lists them
2"
done

finish
