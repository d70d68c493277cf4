#!/bin/bash
# gpq is built without libraries whose headers are missing, but for three: make says which and what that costs, a command that
# needs one says so. A stand-in for pkg-config knows none of the others. Built without optimization, to be quick.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
unset MAKEFLAGS MAKELEVEL MFLAGS SANITIZE DLOPEN V # of the make that runs the tests

mkdir "$work/bin" && cp -r "$top"/{Makefile,VERSION,cmd,common,man} "$work"
# Knows all but the libraries that are named in a file.
cat >"$work/bin/pkg-config" <<END
#!/bin/sh
for a; do ! grep -qxF -- "\$a" "$work/unknown" || exit 1; done
exec $(type -p pkg-config) "\$@"
END
chmod +x "$work/bin/pkg-config"
build() { make -C "$work" PKG_CONFIG="$work/bin/pkg-config" CFLAGS=-O0 "$@" 2>&1; }
unknown() { printf '%s\n' "$@" >"$work/unknown"; }
cost='smartcols: tables have no colours
libarchive: no compressed logs and cores, no archives of hosts
libseccomp: holders and readers keep all system calls
libelf: no names of kernels
libtracefs: no gpq trace --live, no gpq bench preempt --breakdown
libdw: no gpq why --stacks, no source lines of kernels'
told() { sed -n 's/^built without (pkg-config finds none; make deps installs them): //p' | sed 's/; /\n/g'; }

unknown libpci
is "without libpci nothing is built" "$(may 2 build | grep -o 'libraries are missing.*')" \
	'libraries are missing (libpci): run `make deps` first, as root or with sudo.  Stop.'
unknown libtracefs
is "one library is left out" "$(build -n | told)$(build build/plain/flags | told)" "libtracefs: no gpq trace --live, no gpq bench preempt --breakdown"
unknown libelf
is "libdw not without libelf" "$(build build/plain/flags | told)" "$(grep -E '^lib(elf|dw):' <<<"$cost")"

unknown smartcols libarchive libseccomp libelf libtracefs libdw
ok "gpq is built without six libraries" build -j2 build/plain/gpq
is "make says which, and what that costs" "$(build build/plain/gpq | told)" "$cost"
export PATH=$work/build/plain:$PATH
cd "$work" || exit
lacks() { "$@" 2>&1; echo "status $?"; }
again() { echo "build it where pkg-config finds $1 (make deps all)"; }
host=$top/tests/hosts/vm-gfx942-running
gzip -c "$top/tests/data/amdlog/rocm70.log" >log.gz && tar -cf host.tar -C "$top/tests/hosts" gfx90a-k6.12
is "an archive is not written" "$(lacks gpq --sysroot "$host" snapshot x.tar)" \
	"gpq: snapshot: x.tar: this gpq was built without libarchive.so.13; $(again libarchive), or name a directory instead of an archive
status 6"
is "nor read" "$(lacks gpq --sysroot host.tar queues | grep -o 'build it where.*')" "$(again libarchive), or unpack it with tar -xf"
is "nor is a compressed log" "$(lacks gpq trace log.gz | grep -o 'is compressed.*')" \
	"is compressed (gzip); $(again libarchive), or unpack it: ... | gpq trace -"
is "a log is read" "$(gpq trace -r -n -o HWQ --by queue "$top/tests/data/amdlog/rocm70.log" | wc -l)" 3
is "a table has no colours" "$(lacks gpq --sysroot "$host" queues -v --color=always -o PID | grep smartcols)" \
	"gpq: queues: this gpq was built without libsmartcols.so.1: this table is not coloured"
case $(id -u) in
0) is "no live trace" "$(may 1 gpq trace --live -- true 2>&1 | grep -e --live: | head -1)" \
	"gpq: trace: --live: this gpq was built without libtracefs.so.1; $(again libtracefs)" ;;
*) n=$((n + 1)) && echo "ok $n - no live trace # SKIP not root" ;;
esac
is "the note names what may be loaded" "$(objcopy -O binary --only-section=.note.dlopen build/plain/gpq /dev/stdout |
	grep -aoE 'lib[a-z0-9_+-]+\.so\.[0-9]+' | sort)" "libdrm_amdgpu.so.1
libm.so.6
libpci.so.3
libpcre2-8.so.0
libstdc++.so.6"

unknown libtracefs
is "what changes is compiled again" "$(build -n build/plain/gpq | grep -c 'CC   common/host/archive_root.c')" 1
finish
