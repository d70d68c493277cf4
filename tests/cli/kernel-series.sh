#!/bin/bash
# tests/kernel/fetch and build: which kernel `newest` is, with a cache of empty kernels: nothing is fetched or compiled here.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
export XDG_CACHE_HOME=$work/cache GPQ_DEB_MIRROR=http://127.0.0.1:9/debian GPQ_SOFTGPU=$work/rig
kernel=$top/tests/kernel cache=$work/cache/gpq-kernel
run() { # its messages and its status
	"$@" 2>&1 </dev/null | sed "s:$work/::g"
	echo "status ${PIPESTATUS[0]}"
}

fake_kernel() { # SERIES RELEASE
	mkdir -p "$cache/$2/src/include/uapi/linux" "$cache/$2/src/include/uapi/drm"
	touch "$cache/$2/src/include/uapi/linux/kfd_ioctl.h" "$cache/$2/src/include/uapi/drm/"{drm,drm_mode}.h
	echo "$2" >"$cache/$2/VERSION"
	ln -sfn "$2" "$cache/$1"
}

# A software GPU that compiles for 7.3 and 7.5 alone.
mkdir -p "$GPQ_SOFTGPU"/{softgpu,user,stock}
cat >"$GPQ_SOFTGPU/softgpu/build" <<'B'
#!/bin/sh
case $(cat "$1/VERSION") in 7.[35].*) cp /bin/true "$2/amdgpu.ko" ;; *) echo "too new" >&2; exit 1 ;; esac
B
chmod +x "$GPQ_SOFTGPU/softgpu/build"
fake_kernel 7.3 7.3.4+deb13-amd64
fake_kernel 7.5 7.5.1+deb13-amd64
fake_kernel 7.9 7.9.2+deb13-amd64

is "a series that is none" "$(run "$kernel/fetch" 5.9)" $'tests/kernel/fetch: unknown series 5.9: 6.1, 6.12, 7.N or newest\nstatus 2'
is "a release is no series" "$(run "$kernel/fetch" 7.3.4)" $'tests/kernel/fetch: unknown series 7.3.4: 6.1, 6.12, 7.N or newest\nstatus 2'
is "6.1 has no software GPU" "$(KERNEL=6.1 run "$kernel/check")" \
	$'tests/kernel/check: KERNEL: 6.12, newest or a series like 7.3; the tests of 6.1 run with 6.12\nstatus 2'
echo 7.5 >"$cache/newest-series"
is "newest: the series of the archive" "$(run "$kernel/fetch" newest 7.3)" $'cache/gpq-kernel/7.5.1+deb13-amd64\ncache/gpq-kernel/7.3.4+deb13-amd64\nstatus 0'
echo 7.9 >"$cache/newest-series"
instead="tests/kernel/build: the newest kernel of the archive (7.9.2+deb13-amd64) does not build, log in cache/gpq-kernel/build/newest.log; taken instead:"
is "it does not build: the known series, in one line" "$(run "$kernel/build" newest)" \
	"$instead 7.3.4+deb13-amd64"$'\ncache/gpq-kernel/build/7.3.4+deb13-amd64\nstatus 0'
is "its folder is beside the module" "$(readlink -f "$cache/build/7.3.4+deb13-amd64/kernel")" "$(readlink -f "$cache/7.3")"
is "the log says why" "$(head -n 1 "$cache/build/newest.log")" "too new"
run "$kernel/build" 7.5 >"$work/out"
is "one that has built here is newer" "$(run "$kernel/build" newest)" "$instead 7.5.1+deb13-amd64"$'\ncache/gpq-kernel/build/7.5.1+deb13-amd64\nstatus 0'
echo 7.5 >"$cache/newest-series"
is "it builds" "$(run "$kernel/build" newest)" $'cache/gpq-kernel/build/7.5.1+deb13-amd64\nstatus 0'
finish
