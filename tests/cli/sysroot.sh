#!/bin/bash
# --sysroot of archives: what they hold is read as from a folder, nothing leaves the folder they are unpacked to, and that
# folder is gone when gpq is, however it ends.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit 1
host=$top/tests/hosts/gfx90a-k6.12
mkdir tmp
export TMPDIR=$work/tmp
left() { find tmp -mindepth 1 | wc -l; }
told() { { gpq --sysroot "$1" ps >/dev/null; } 2>&1; echo "$? $(left)"; }

# --- the same as from a folder ---

cp -r "$host" flat
for f in tar tar.gz tar.zst; do gpq --sysroot "$host" snapshot "a.$f" -q >/dev/null; done
tar -C flat -cf flat.tar .
tar -C flat -cJf flat.tar.xz sys proc etc var
tar -C "$host" -cf sys.tar sys
# shellcheck disable=SC2086
for c in "queues -J" "ps -J" "gpus -J" "hqd --regs -r" "hqd --runlist" "why -rn" "queues --comm python3 --user root -rn"; do
	gpq --sysroot "$host" $c >want 2>want.err
	[ -s want ] || echo "$c says nothing"
	for f in a.tar a.tar.gz a.tar.zst flat.tar flat.tar.xz; do
		gpq --sysroot $f $c >got 2>got.err
		cmp want got && cmp want.err got.err || echo "$c $f"
	done
done >differ 2>&1
empty "archives, with and without a folder around, say what the host says" "$(cat differ)"
is "an archive of sys alone" "$(GPQ_SYSROOT=sys.tar gpq gpus -rno GPU)" 41460
is "other files are named from the working directory" "$(gpq --sysroot a.tar hqd --mqd --mqds flat/sys/kernel/debug/kfd/mqds -rno QID 2>/dev/null | wc -l)" \
	"$(grep -c 'queue on device' flat/sys/kernel/debug/kfd/mqds)"
is "snapshot --diff of two" "$(gpq snapshot --diff a.tar.zst a.tar -a -rno QID,CHANGE | sort -u | head -2)" "$(gpq snapshot --diff "$host" "$host" -a -rno QID,CHANGE | sort -u | head -2)"
rig is "nothing is left" "$(left)" 0

# --- the folder ---

python3 - <<'PY'
import io, tarfile
def add(t, name, data=b"", **how):
    e = tarfile.TarInfo(name)
    e.size = how.get("size", len(data))
    for k, v in how.items():
        setattr(e, k, v)
    t.addfile(e, io.BytesIO(data) if how.get("type", tarfile.REGTYPE) == tarfile.REGTYPE and "size" not in how else None)
def tar(name, *entries):
    with tarfile.open(name, "w") as t:
        for e in entries:
            add(t, *e[:2], **(e[2] if len(e) > 2 else {}))
D, L, H, F = ({"type": x} for x in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE))
gpu = [("h/sys/class/kfd/kfd/topology/nodes/1/gpu_id", b"4711\n", {"mode": 0}), ("h/sys/class/kfd/kfd/topology/nodes/1/properties", b"simd_count 4\n")]
tar("modes.tar", ("h", b"", {**D, "mode": 0}), *gpu)
tar("up.tar", *gpu, ("h/../../evil", b"x"))
tar("absolute.tar", *gpu, ("ABS/evil", b"x"))
tar("through.tar", *gpu, ("h/out", b"", {**L, "linkname": "../.."}), ("h/out/evil", b"x"))
tar("odd.tar", *gpu, ("h/fifo", b"", F), ("h/hard", b"", {**H, "linkname": "../../secret"}), ("h/sys/class/kfd/kfd/topology/nodes/2/gpu_id", b"", {**H, "linkname": "/etc/passwd"}))
tar("links.tar", *gpu, ("h/proc", b"", {**L, "linkname": "/proc"}))
tar("file.tar", ("h", b"x"))
tar("link.tar", ("h", b"", {**L, "linkname": "/"}))
tar("limit.tar", *gpu, ("h/big", b"", {"size": 0}))
PY
python3 - "$work" <<'PY'
import os, sys, tarfile
os.chdir(sys.argv[1])
data = open("absolute.tar", "rb").read() # tarfile strips the slash
with tarfile.open("absolute.tar") as t:
    at = next(e for e in t if e.name == "ABS/evil").offset
name = os.path.abspath("evil").encode()
e = tarfile.TarInfo.frombuf(data[at:at + 512], "utf-8", "strict")
head = bytearray(data[at:at + 512])
head[:100] = name.ljust(100, b"\0")
head[148:156] = b" " * 8
head[148:156] = b"%06o\0 " % sum(head)
open("absolute.tar", "wb").write(data[:at] + head + data[at + 512:])
for name, size in (("fits.tar", 2 ** 30 - 18), ("over.tar", 2 ** 30 - 17)): # gpu_id and properties have 18 bytes
    data = bytearray(open("limit.tar", "rb").read())
    with tarfile.open("limit.tar") as t:
        at = next(e for e in t if e.name == "h/big").offset
    data[at + 124:at + 136] = b"%011o\0" % size
    data[at + 148:at + 156] = b" " * 8
    data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])
    open(name, "wb").write(data)
PY
is "modes of the archive do not count" "$(gpq --sysroot modes.tar gpus -rno GPU)" 4711
is "links stay within it" "$(gpq --sysroot links.tar gpus -rno GPU && (may 5 gpq --sysroot links.tar queues | wc -l))" "4711
0"
is "pipes and hard links are left out" "$(gpq --sysroot odd.tar gpus -rno GPU)" 4711
for f in up absolute through; do
	is "$f: refused" "$(told $f.tar)" "gpq: ps: sysroot $f.tar: Bad message; the archive is damaged or cut short
1 0"
done
rig ok "nothing was written outside" test ! -e evil -a ! -e tmp/evil -a ! -e ../evil
is "as many bytes as may be, of which the file has none" "$(told fits.tar | head -1)" "gpq: ps: sysroot fits.tar: Bad message; the archive is damaged or cut short"
is "one more" "$(told over.tar)" "gpq: ps: sysroot over.tar: File too large; unpack it with tar -xf: it has over 1 GiB, or over a million entries
1 0"

# --- what is none ---

size=$(stat -c %s a.tar)
for bytes in 700 5000 $((size / 2 / 512 * 512)) $((size - 1024)); do
	head -c "$bytes" a.tar >cut.tar
	is "cut behind $bytes bytes" "$(told cut.tar)" "gpq: ps: sysroot cut.tar: Bad message; the archive is damaged or cut short
1 0"
done
# A small one is a single block of zstd: cut, it has no entry at all.
for bytes in 100 $(($(stat -c %s a.tar.zst) / 2)); do
	head -c "$bytes" a.tar.zst >cut.tar.zst
	is "compressed, cut behind $bytes bytes" "$(told cut.tar.zst)" "gpq: ps: sysroot cut.tar.zst: Bad message; the archive is damaged or cut short
1 0"
done
mkfifo pipe
: >nothing
echo text >text
for f in pipe nothing text file.tar link.tar /dev/null; do
	is "$f" "$(told $f)" "gpq: ps: sysroot $f: Not a directory; name a folder or an archive that gpq snapshot wrote
5 0"
done
is "no such file" "$(told none)" "gpq: ps: sysroot none: No such file or directory; name a folder or an archive that gpq snapshot wrote
5 0"
is "in a folder that is no more" "$(mkdir gone && cd gone && rmdir ../gone && gpq --sysroot "$work/a.tar" gpus -rno GPU)" 41460
is "an empty TMPDIR is none" "$(TMPDIR='' gpq --sysroot a.tar gpus -rno GPU)" 41460
unpacks="archives are unpacked there: set TMPDIR to a folder with room that you may write to"
is "no folder to unpack in" "$(TMPDIR=$work/none told a.tar; TMPDIR=none gpq snapshot --diff a.tar a.tar 2>&1)" "gpq: ps: TMPDIR: $work/none: No such file or directory; $unpacks
5 0
gpq: snapshot: TMPDIR: none: No such file or directory; $unpacks"
is "which is no matter where no archive is" "$(TMPDIR=$work/none told none; TMPDIR=none gpq --sysroot "$host" gpus -rno GPU)" "gpq: ps: sysroot none: No such file or directory; name a folder or an archive that gpq snapshot wrote
5 0
41460"
if unshare -rm mount -t tmpfs none tmp 2>/dev/null; then
	is "no room to unpack" "$(unshare -rm sh -c 'mount -t tmpfs -o size=32k none tmp && gpq --sysroot a.tar ps; ls tmp' 2>&1)" "gpq: ps: TMPDIR: $work/tmp: No space left on device; $unpacks"
	if sanitized; then skip "without /proc: that is the cause" "sanitizers read their options there"; else
		is "without /proc: that is the cause" "$(unshare -rm sh -c 'mount -t tmpfs none /proc && { gpq --sysroot "$1" ps; echo $?; gpq --sysroot a.tar gpus; ls tmp; }' - "$host" 2>&1)" \
			"gpq: ps: sysroot $host: needs /proc to be read: No such file or directory; mount it: mount -t proc proc /proc
6
gpq: gpus: sysroot a.tar: needs /proc to be read: No such file or directory; mount it: mount -t proc proc /proc"
	fi
else
	echo "ok $((n += 1)) - no room to unpack # SKIP no mount namespaces here"
fi

# --- too few descriptors, for each of its steps ---

for few in 4 5 6 7 8 9 10 11 12; do
	(ulimit -n $few && gpq --sysroot a.tar gpus -rno GPU) >>few 2>&1
done
is "what may not be opened is told, and nothing is left" \
	"$(grep -c '^41460$' few) $(grep -q 'Too many open files' few; echo $?) $(grep -vcE '^41460$|sysroot a.tar: Too many open files$' few) $(left)" "$(grep -c '^4' few) 0 0 0"

# --- while gpq runs, and behind it ---

gpq --sysroot a.tar queues --watch 60 >out 2>&1 &
pid=$!
until [ -s out ]; do kill -0 $pid || break; done
rig is "one folder, of this user alone" "$(stat -c '%a %u' tmp/*)" "700 $(id -u)"
kill -KILL $pid
wait $pid 2>/dev/null
until [ "$(left)" = 0 ]; do [ $SECONDS -lt 60 ] || break; done
rig is "killed: it is gone" "$(left)" 0
finish
