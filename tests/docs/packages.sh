#!/bin/bash
# What packaging says of the tree: one version everywhere, and no build for a host that amdkfd does
# not know. What is in which package: tests/cli/install.sh. Whether packages build: tests/packages.sh (make check-deep).
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
soname=$(cut -d. -f1 "$top/VERSION")
ok "VERSION, changelogs and the spec file name one version" "$top/packaging/version"
mkdir -p "$work/other/common" && cp -R "$top"/{packaging,VERSION,CHANGELOG.md} "$work/other" && cp -R "$top/common/client" "$work/other/common" && echo 9.8 >"$work/other/VERSION"
is "another one is told of each" "$("$work/other/packaging/version" 2>&1)" "CHANGELOG.md: names version $(cat "$top/VERSION"), VERSION has 9.8
packaging/debian/changelog: names version $(cat "$top/VERSION"), VERSION has 9.8
packaging/gpq.spec: names version $(cat "$top/VERSION"), VERSION has 9.8
packaging/gpq.spec: names soname $soname, VERSION has 9.8
packaging/debian/control: names soname $soname, VERSION has 9.8
common/client/gpqclient.map: names soname $soname, VERSION has 9.8
9.8"

# Each source includes this header.
refused() { may 1 gcc -fsyntax-only "$@" -x c "$top/common/host/std.h" 2>&1 | sed -n 's/.*error: #error "\(.*\)"$/\1/p'; }
if gcc -m32 -fsyntax-only -x c /dev/null 2>/dev/null; then
	is "no build for a 32-bit host" "$(refused -m32)" "gpq needs a 64-bit host: amdkfd is for no other"
else pass "no build for a 32-bit host # skip gcc has no -m32 here"; fi
is "no build for a big-endian host" "$(refused -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__)" \
	"gpq needs a little-endian host: rings and MQDs are read in the GPU's byte order"
finish
