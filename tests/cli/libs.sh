#!/bin/bash
# The libraries of gpq: none but the C library is loaded at its start, and without one of them only its own fields and
# options are gone. An empty file in LD_LIBRARY_PATH stands for a library that cannot be loaded.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
host=$top/tests/hosts/vm-gfx942-running
cd "$work" || exit
without() { # SONAME COMMAND...: its output, messages included, and its exit status
	mkdir -p "$1.d" && : >"$1.d/$1"
	LD_LIBRARY_PATH=$PWD/$1.d "${@:2}" 2>&1
	echo "status $?"
}
tty() { script -qec "$*" /dev/null </dev/null | tr -d '\r'; }

parts='lib(dl|pthread|rt)\.so\.[0-9]+' # of the C library, before glibc 2.34
linked=$(ldd "$(command -v gpq)" | sed 's/^[[:blank:]]*//; s/ .*//; s:.*/::' | sort | tr '\n' ' ')
if sanitized; then n=1 && echo "ok 1 - linked with the C library alone # SKIP a sanitizer brings its own"; else
	rig is "linked with the C library alone (mathematics: common/host/maths.h, others: common/host/dlopen.h)" "$(echo "$linked" | grep -o 'lib[^ ]*' | grep -vxE "$parts")" libc.so.6
fi

# https://systemd.io/ELF_DLOPEN_METADATA
objcopy -O binary --only-section=.note.dlopen "$(command -v gpq)" notes
notes=$(tr '\0' '\n' <notes | grep '^\[{')
wanted='archive recommended libarchive.so.13
demangle recommended libstdc++.so.6
drm recommended libdrm_amdgpu.so.1
elf recommended libelf.so.1
lines suggested libdw.so.1
maths required libm.so.6
pci recommended libpci.so.3
pcre2 recommended libpcre2-8.so.0
seccomp recommended libseccomp.so.2
smartcols recommended libsmartcols.so.1
stacks suggested libdw.so.1
tracefs recommended libtracefs.so.1'
is "an ELF note tells packagers of each library that is loaded on demand" \
	"$(echo "$notes" | jq -r '.[] | select(.description != "") | "\(.feature) \(.priority) \(.soname[])"' | sort)" "$wanted"
is "each is a note of its own, of FDO's type for this" "$(may 1 readelf -n "$(command -v gpq)" | grep -cE 'FDO .*(0x407c0c0a|DLOPEN)')" \
	"$(echo "$wanted" | wc -l)"
is "and no other library's name is in the program" \
	"$(strings -a "$(command -v gpq)" | grep -oE 'lib[a-z0-9_+-]+\.so\.[0-9]+' | grep -vxE 'lib(c|gcc_s|asan|ubsan)\.so\.[0-9]+' | grep -vxE "$parts" | sort -u)" \
	"$(echo "$wanted" | sed 's/.* //' | sort -u)"

gpus=$(gpq --sysroot "$host" gpus -r -n -o NODE,GPU,GFX)
is "gpus without libpci" "$(without libpci.so.3 gpq --sysroot "$host" gpus -r -n -v -o NODE,GPU,GFX,VENDOR,DEVICE | grep -v BDF)" \
	"gpq: gpus: VENDOR, DEVICE: libpci.so.3 is missing
$gpus - -
status 0"
is "and it says nothing where no name is wanted" "$(without libpci.so.3 gpq --sysroot "$host" gpus -r -n -v -o NODE,GPU,GFX | grep -v BDF)" "$gpus
status 0"
is "a regular expression without libpcre2" "$(without libpcre2-8.so.0 gpq --sysroot "$host" queues --comm mk)" \
	"gpq: queues: --comm: libpcre2-8.so.0 is missing; install libpcre2-8-0, or leave it out
status 6"
is "where no more file can be opened, libpcre2 is not missing" "$( (ulimit -n 4; exec gpq --sysroot "$host" queues --comm mk) 2>&1; echo "status $?")" \
	"gpq: queues: --comm: libpcre2-8.so.0: Too many open files
status 6"
is "a filter with one" "$(without libpcre2-8.so.0 gpq --sysroot "$host" queues --filter 'PID || COMMAND =~ "m"')" \
	"gpq: queues: --filter: at column 19: libpcre2-8.so.0 is missing; install libpcre2-8-0, or leave it out
status 6"
is "queues without libpcre2" "$(without libpcre2-8.so.0 gpq --sysroot "$host" queues -r -o PID,QID)" \
	"$(gpq --sysroot "$host" queues -r -o PID,QID)
status 0"
is "an archive without libarchive" "$(without libarchive.so.13 gpq --sysroot "$host" snapshot x.tar)" \
	"gpq: snapshot: x.tar: libarchive.so.13 is missing; install libarchive13, or name a directory instead of an archive
status 6"
gzip -c "$top/tests/data/amdlog/rocm70.log" >log.gz
is "a compressed log" "$(without libarchive.so.13 gpq trace log.gz)" \
	"gpq: trace: log.gz: is compressed (gzip); install libarchive (libarchive13), or unpack it: ... | gpq trace -
status 6"
is "a table on a terminal without libsmartcols" "$(without libsmartcols.so.1 tty "gpq --sysroot $host queues -o PID,QID,TYPE")" \
	"$(gpq --sysroot "$host" queues -o PID,QID,TYPE)
status 0"
is "and -v says what is lacking" "$(without libsmartcols.so.1 tty "gpq --sysroot $host queues -v --color=always -o PID" | grep libsmartcols)" \
	"gpq: queues: libsmartcols.so.1 is missing: this table is not coloured"

log=$top/tests/data/amdlog/mangled.log
chmod a+rx . # the child that makes names looks there as nobody
is "names of kernels without libseccomp" "$(without libseccomp.so.2 gpq trace -q --by kernel --demangle "$log")" "$(gpq trace -q --by kernel --demangle "$log")
status 0"
if ldd "$(command -v gpq)" | grep 'libstdc++' >/dev/null; then # the sanitizers' runtime needs it
	echo "ok $((n += 1)) - names of kernels without libstdc++ # SKIP this build cannot start without it"
else
	is "names of kernels without libstdc++" "$(without libstdc++.so.6 gpq trace -q --by kernel --demangle "$log")" \
		"$(gpq trace -q --by kernel "$log")
status 0"
	is "it says so where they were asked for, once" "$(without libstdc++.so.6 gpq trace --by kernel --demangle "$log" | grep libstdc)" \
		"gpq: trace: libstdc++.so.6 is missing: kernel names stay mangled; install libstdc++6"
	is "not where no name is mangled" "$(without libstdc++.so.6 gpq trace --by kernel --demangle "$top/tests/data/amdlog/rocm70.log" | grep -oE 'libstdc|LAUNCHES')" LAUNCHES
	is "and with -v on a terminal" "$(without libstdc++.so.6 tty "gpq trace --by kernel $log" | grep -c libstdc) $(without libstdc++.so.6 tty "gpq trace -v --by kernel $log" | grep -c libstdc)" "0 1"
fi

# A recorded host may hold anything.
cp -r "$host" host && pid=$(gpq --sysroot host queues -r -n -o PID | head -1)
sed -i $'1s/.*/Name:\ta\033[1mb/' "host/proc/$pid/status"
is "no control character reaches a terminal without libsmartcols" \
	"$(without libsmartcols.so.1 tty "gpq --sysroot host queues -p $pid -n -o COMMAND" | sort -u)" 'a\x1b[1mb
status 0'

finish
