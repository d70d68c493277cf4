#!/bin/bash
# make check-deep STEPS=packages, as root: Debian packages, built by an ordinary user without a network in a root of their own, and
# installed, tested by autopkgtest, upgraded and purged in fresh ones of Debian and Ubuntu; an arm64 cross build; an RPM. The roots come
# over the network (debootstrap; MIRROR= and UBUNTU= name other mirrors) and stay in build/packages. NOCHECK=1: the packages are built
# without their tests.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/cli/tap.inc"
rig_only
[ "$(id -u)" = 0 ] || skip_all "chroot is root's"
command -v debootstrap >/dev/null || skip_all "no debootstrap: apt-get install debootstrap"
[ -e "$top/.git" ] || skip_all "the packages are of what is committed: no git checkout here"
cd "$top" || exit 1
version=$(packaging/version) roots=$top/build/packages debs=$top/build/packages/debs
revision=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$roots"
rm -rf "$debs" "$roots"/*.log

inside() { # ROOT USER COMMAND: without a network, in namespaces of its own; the root is a mount, which /proc/PID/mountinfo lists
	# shellcheck disable=SC2016
	unshare -m -n -p -f --kill-child bash -c 'mount --make-rprivate / && mount --bind "$1" "$1" && mount -t proc proc "$1/proc" &&
		mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$1/dev/pts" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
		exec chroot --userspec="$2" "$1" env -i HOME=/nonexistent USER="$2" LOGNAME="$2" PATH=/usr/bin:/bin:/usr/sbin:/sbin sh -c "$3"' \
		- "$roots/$1" "$2" "$3"
}
apt() { chroot "$roots/$1" apt-get -qq -y --no-install-recommends "${@:2}" >>"$roots/$1.log" 2>&1 || { tail -n 20 "$roots/$1.log"; return 1; }; } # ROOT ...
# A fresh root of a release. Services are not started in it, and dpkg need not outlive a power cut. All suites of Ubuntu are made by
# one script, gutsy, of which a debootstrap that is older than the suite has no link.
base() { # SUITE
	local from=("${MIRROR:-http://deb.debian.org/debian}")
	[ "$1" != noble ] || from=("${UBUNTU:-http://archive.ubuntu.com/ubuntu}" gutsy)
	[ ! -e "$roots/$1/.made" ] || return 0
	rm -rf "${roots:?}/$1"
	debootstrap --variant=minbase --components=main${from[1]:+,universe} "$1" "$roots/$1" "${from[@]}" >"$roots/$1.log" 2>&1 || return 1
	echo force-unsafe-io >"$roots/$1/etc/dpkg/dpkg.cfg.d/unsafe"
	printf '#!/bin/sh\nexit 101\n' >"$roots/$1/usr/sbin/policy-rc.d" && chmod 755 "$roots/$1/usr/sbin/policy-rc.d"
	rm -f "$roots/$1"/var/cache/apt/archives/*.deb
	touch "$roots/$1/.made"
}
derive() { # NEW OLD
	rm -rf "${roots:?}/$1" && cp -a "$roots/$2" "$roots/$1"
}
release() { # ROOT FOLDER: the tree of `make dist`, of the builder
	rm -rf "${roots:?}/$1$2" && mkdir -p "$roots/$1$2" && git archive HEAD | tar -xC "$roots/$1$2" && chroot "$roots/$1" chown -R builder: "$2"
}
skip() { pass "$1 # skip $2"; } # NAME REASON
# FUNCTION: runs beside what follows, until `told`. All else waits for the second build, which comes first.
beside() { (renice -n 10 "$BASHPID" && n=0 bad=0 && "$1") >"$work/$1" 2>&1 & }
told() { # FUNCTION: what it said
	cat "$work/$1"
	n=$((n + $(may 1 grep -cE '^(not )?ok ' "$work/$1"))) bad=$((bad + $(may 1 grep -c '^not ok ' "$work/$1")))
}

base bookworm || skip_all "no Debian 12 from the mirror: $(tail -n 1 "$roots/bookworm.log")"

# ---- build: with the tests, beside all else; and in another place without them, which is what is installed

[ -e "$roots/build/.ready" ] || { derive build bookworm && chroot "$roots/build" useradd -m builder; }
cp -R packaging "$roots/build/"
ok "what building needs" eval 'apt build update && apt build install dpkg-dev lintian && apt build build-dep ./packaging && touch "$roots/build/.ready"'
[ -e "$roots/cross/.ready" ] || { derive cross build && chroot "$roots/cross" dpkg --add-architecture arm64; }
release build /one && release build /another/place && release cross /one

built() {
	ok "packages are built${NOCHECK:+, without their tests}" inside build builder "cd /one && ${NOCHECK:+DEB_BUILD_OPTIONS=nocheck} packaging/deb"
	ok "lintian" inside build builder 'cd /one/build/deb && lintian --fail-on error,warning *.changes'
}

# qemu-user has no ptrace and no seccomp, memory of others is read as its own, and three tests take minutes.
not_emulated='code|code_elf|code_place|grep|holder|reader|stacks|tracee|tracefs|amdlog_reading'
arm64() {
	cp -R packaging "$roots/cross/" && apt cross update && apt cross install crossbuild-essential-arm64 qemu-user-static libcmocka-dev:arm64 &&
		apt cross build-dep -aarm64 -Pcross,nocheck ./packaging && touch "$roots/cross/.ready" ||
		{ skip "arm64: packages are built" "no cross compiler or libraries from the mirror"; return; }
	ok "arm64: packages are built" inside cross builder 'cd /one && DEB_BUILD_OPTIONS=nocheck packaging/deb -aarm64 -Pcross,nocheck'
	units=$(cd tests/unit && printf '%s\n' test_*.c | sed 's/\.c$//' | grep -vxE "test_($not_emulated)")
	# shellcheck disable=SC2016
	is "arm64: unit tests that can be emulated" "$(inside cross builder 'cd /one/build/deb/gpq-'"$version"' && u=build/aarch64-linux-gnu-gcc/unit &&
		eval "$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-architecture -aarm64 -f -c dpkg-buildflags --export=sh)" && make -s -j2 \
			CC=aarch64-linux-gnu-gcc PKG_CONFIG=aarch64-linux-gnu-pkg-config $(printf "$u/%s " '"$(xargs <<<"$units")"') >&2 &&
		for t in '"$(xargs <<<"$units")"'; do ! timeout 300 qemu-aarch64-static $u/$t >&2 || echo $t; done' 2>"$roots/units.log")" "$units"
}

# What the spec file says, not what gcc makes of it: without optimization.
rpm() {
	[ -e "$roots/build/usr/bin/rpmbuild" ] || apt build install rpm >/dev/null ||
		{ skip "an RPM is built" "no rpmbuild from the mirror"; return; }
	mkdir -p "$roots/build/rpm/SOURCES" && git archive --prefix="gpq-$version/" -o "$roots/build/rpm/SOURCES/gpq-$version.tar.gz" HEAD
	chroot "$roots/build" chown -R builder: /rpm
	ok "an RPM is built" inside build builder 'rpmbuild --nodeps -bb --define "_topdir /rpm" --define "optflags -O0" /one/packaging/gpq.spec'
	is "which" "$(cd "$roots/build/rpm/RPMS/x86_64" && printf '%s\n' *.rpm)" "gpq-$version-1.x86_64.rpm
libgpqclient-$version-1.x86_64.rpm
libgpqclient-devel-$version-1.x86_64.rpm"
	rm -rf "$roots/build/rpm"
}
cross() { arm64; rpm; }
beside built
beside cross

ok "another build" inside build builder 'cd /another/place && umask 077 && DEB_BUILD_OPTIONS="nocheck parallel=1" TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 packaging/deb'
mkdir "$debs" && cp "$roots"/build/another/place/build/deb/*.deb "$debs"
is "which" "$(cd "$debs" && printf '%s\n' *.deb | grep -v dbgsym)" "gpq_${revision}_amd64.deb
libgpqclient-dev_${revision}_amd64.deb
libgpqclient0_${revision}_amd64.deb
python3-gpq_${revision}_all.deb"
of() { dpkg-deb -f "$debs/$1"_*.deb "$2"; } # PACKAGE FIELD
libraries="libarchive13, libdrm-amdgpu1, libelf1, libpci3, libpcre2-8-0, libseccomp2, libsmartcols1, libstdc++6, libtracefs1"
is "gpq recommends what it loads" "$(of gpq Recommends)" "pci.ids, $libraries"
is "and suggests the rest" "$(of gpq Suggests)" "libdw1, python3-gpq"
is "it depends on the C library of its relocations" "$(of gpq Depends | grep -o 'libc6 (>= 2.36)')" "libc6 (>= 2.36)"
dpkg-deb -x "$debs"/gpq_*.deb "$work/gpq" && dpkg-deb -x "$debs"/libgpqclient0_*.deb "$work/gpq"
is "position-independent, bound at once" "$(readelf -h -d -W "$work/gpq/usr/bin/gpq" | grep -oE 'DYN|Flags: .*PIE|BIND_NOW' | sort -u | xargs)" "BIND_NOW DYN Flags: NOW PIE"
for f in usr/bin/gpq usr/lib/x86_64-linux-gnu/libgpqclient.so.0; do
	is "fortified, with guards of the stack: $f" "$(nm -D "$work/gpq/$f" | grep -oE '__(snprintf|stack)_chk' | sort -u | xargs)" "__snprintf_chk __stack_chk"
done

# ---- install, upgrade, purge

mkdir "$roots/debs/old" "$work/old"
for p in gpq libgpqclient0 libgpqclient-dev python3-gpq; do
	dpkg-deb -R "$debs/$p"_*.deb "$work/old/$p" && sed -i "s/$revision/$version-0/" "$work/old/$p/DEBIAN/control" && dpkg-deb -b "$work/old/$p" "$roots/debs/old" >/dev/null
done
for suite in bookworm trixie noble; do
	base $suite || { skip "$suite: install, upgrade, purge" "no $suite from the mirror: $(tail -n 1 "$roots/$suite.log")"; continue; }
	derive guest $suite && mkdir "$roots/guest/debs" && cp -R "$debs"/* "$roots/guest/debs"
	rm "$roots"/guest/debs/*dbgsym*
	there() { chroot "$roots/guest" find / -xdev -name '*gpq*' ! -path '/debs/*' ! -path '/src/*' ! -path '/var/cache/*' ! -path '/var/lib/systemd/deb-systemd-helper-*'; }
	files() { (cd "$roots/guest" && printf '/%s\n' "$1"/*.deb); } # FOLDER: those there
	# shellcheck disable=SC2046 # their names are words
	ok "$suite: the older version is installed, with what is recommended" \
		eval 'apt guest update && apt guest install --install-recommends $(files debs/old)'
	versions() { chroot "$roots/guest" dpkg-query -Wf '${Version} ${db:Status-Status}\n' gpq libgpqclient0 libgpqclient-dev python3-gpq | sort | uniq -c | xargs; }
	is "$suite: all of it" "$(versions)" "4 $version-0 installed"
	gid=$(chroot "$roots/guest" getent group gpq-online)
	# shellcheck disable=SC2046
	ok "$suite: it is upgraded" apt guest install $(files debs)
	is "$suite: to this one" "$(versions)" "4 $revision installed"
	is "$suite: the group is the same" "$(chroot "$roots/guest" getent group gpq-online)" "$gid"
	ok "$suite: purged" apt guest purge gpq libgpqclient0 libgpqclient-dev python3-gpq
	empty "$suite: nothing is left" "$(there)"
	# Debian keeps the names of system users and groups: another one must not get the number. group- and gshadow- are older copies.
	is "$suite: but the group" "$(chroot "$roots/guest" grep -rlw gpq-online /etc | grep -v -- '-$' | sort | xargs) $(chroot "$roots/guest" getent group gpq-online)" "/etc/group /etc/gshadow $gid"
done

# ---- autopkgtest, which installs the packages itself, with the dependencies that packaging/debian/tests/control names

for suite in bookworm trixie noble; do
	[ -e "$roots/$suite/.made" ] || { skip "$suite: autopkgtest" "no $suite from the mirror"; continue; }
	derive guest $suite && mkdir "$roots/guest/src" && git archive HEAD | tar -xC "$roots/guest/src" && mv "$roots/guest/src/packaging/debian" "$roots/guest/src/"
	cp "$debs"/*.deb "$roots/guest/src" && rm "$roots"/guest/src/*dbgsym*
	apt guest update && apt guest install autopkgtest || { skip "$suite: autopkgtest" "no autopkgtest from the mirror"; continue; }
	mount -t proc proc "$roots/guest/proc"
	chroot "$roots/guest" sh -c 'cd /src && autopkgtest -U *.deb . -- null' >"$roots/autopkgtest-$suite.log" 2>&1
	is "$suite: autopkgtest" "$? $(grep -aE '^[a-z]+ +(PASS|FAIL)' "$roots/autopkgtest-$suite.log" | sort -u | xargs)" "0 smoke PASS" # its words: autopkgtest-SUITE.log
	umount "$roots/guest/proc"
done

# ---- what ran beside

wait
told built
for p in "$debs"/*.deb; do ok "the other build has the same bytes: ${p##*/}" cmp "$p" "$roots/build/one/build/deb/${p##*/}"; done
told cross
if [ -e "$roots/cross/.ready" ]; then
	is "arm64: which" "$(cd "$roots/cross/one/build/deb" && printf '%s\n' *_arm64.deb | grep -v dbgsym | xargs)" \
		"gpq_${revision}_arm64.deb libgpqclient-dev_${revision}_arm64.deb libgpqclient0_${revision}_arm64.deb"
	dpkg-deb -x "$roots"/cross/one/build/deb/gpq_*.deb "$work/arm64"
	is "arm64: the program is one" "$(readelf -h "$work/arm64/usr/bin/gpq" | sed -n 's/.*Machine: *//p')" AArch64
	is "arm64: it recommends the same" "$(dpkg-deb -f "$roots"/cross/one/build/deb/gpq_*.deb Recommends)" "$(of gpq Recommends)"
	for page in man1/gpq-queues.1.gz man1/gpq-trace.1.gz; do
		is "arm64: the same columns in ${page##*/}" "$(zcat "$work/arm64/usr/share/man/$page" | sum)" "$(zcat "$work/gpq/usr/share/man/$page" | sum)"
	done
fi
finish
