#!/bin/bash
# `make deps` and `make deps-test` where packages are RPMs: stand-ins for dnf, yum and zypper, in a PATH that has no apt-get, write
# down what they are asked for. What apt-get is asked for: first-build.sh.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir "$work/bin" && cp -r "$top"/{Makefile,VERSION,common,tests} "$work"
for tool in sh cat sed grep awk xargs sort id tr mkdir; do ln -s "$(type -P $tool)" "$work/bin/"; done
standin() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; } # NAME COMMANDS
manager() { # NAME: asked for a package in the file lacks, it installs nothing
	rm -f "$work"/bin/{dnf,yum,zypper}
	[ -z "$1" ] || standin "$1" "echo \"$1 \$*\" >>'$work/asked'; for p; do ! grep -qxF -- \"\$p\" '$work/lacks' || exit 1; done"
}
asked() { : >"$work/asked" && (cd "$work" && PATH=$work/bin "$make" "$@" </dev/null 2>&1) && cat "$work/asked"; }
make=$(type -P make)
rm "$work/bin/id" && standin id 'echo 0'
standin rpm 'exit 1'
: >"$work/lacks"
libs='pkgconfig(libpci) pkgconfig(libpcre2-8) pkgconfig(libdrm_amdgpu) pkgconfig(smartcols) pkgconfig(libarchive) pkgconfig(libseccomp) pkgconfig(libelf) pkgconfig(libtracefs) pkgconfig(libdw)'
first="gcc glibc-devel make pkgconfig ${libs%% pkgconfig(smartcols)*}"

for m in dnf yum; do
	manager $m
	is "make deps asks $m" "$(asked deps)" "$m install -q -y gcc glibc-devel make pkgconfig $libs hwdata"
done
manager zypper
is "make deps asks zypper" "$(asked deps)" "zypper -q -n install gcc glibc-devel make pkgconfig $libs hwdata"
manager dnf
is "make deps-test asks for more" "$(asked deps-test | sed -n '2s/ mandoc.*//p')" "dnf install -q -y pkgconfig(cmocka) jq zstd xz bzip2"
echo 'pkgconfig(libtracefs)' >"$work/lacks"
is "what the repositories lack is named, the rest is installed" "$(asked deps | sed 1d)" "dnf install -q -y gcc glibc-devel make pkgconfig $libs hwdata
dnf install -q -y $first
$(tr ' ' '\n' <<<"${libs#*(libdrm_amdgpu) } hwdata" | sed 's/^/dnf install -q -y /')"
is "in a line" "$(asked deps | head -1)" "not in these repositories: pkgconfig(libtracefs)"
echo 'pkgconfig(libpci)' >"$work/lacks"
is "without libpci it fails" "$(may 2 asked deps | tail -1 | grep -o 'Error.*')$(cat "$work/asked")" "Error 1dnf install -q -y gcc glibc-devel make pkgconfig $libs hwdata
dnf install -q -y $first"
standin rpm 'echo "$*" >>'"'$work/rpm'"
empty "nothing is asked for that is installed" "$(asked -s deps)"
is "which rpm knows by the same names" "$(cat "$work/rpm")" "-q --quiet --whatprovides gcc glibc-devel make pkgconfig $libs hwdata"
manager ''
is "where there is no package manager, it says the names of Debian" "$(asked deps | sed 's/ libpci-dev.*//')" "install: gcc libc6-dev make pkg-config"
finish
