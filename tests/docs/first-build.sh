#!/bin/bash
# The first build of a fresh machine, `make deps demo`, must be the binary that every later build makes. There the compiler
# comes while make runs; here apt-get is a stand-in that makes a link to the real one. Of gpq's sources, these stand for
# all: their flags depend on the processor's functions, the libraries' folders and the compiler.
sources=(common/client/client.c common/amdlog/read/block_lines{,_avx2}.c common/out/outtable.c common/kfd/names.c)
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
unset MAKEFLAGS MAKELEVEL MFLAGS SANITIZE DLOPEN V # of the make that runs the tests

# Not ccache, which looks for a compiler of the link's name.
gcc=$(type -ap gcc | xargs -d '\n' readlink -f | grep -vm1 '/ccache$')
mkdir "$work/bin"
standin() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; } # NAME COMMANDS
standin apt-get "echo \"\$*\" >>$work/asked; [ \"\$1\" != install ] || ln -sf $gcc $work/bin/cc1st"
standin dpkg-query 'echo installed; echo "dpkg-query: no packages found matching gcc"'
standin id 'echo 0'
standin sudo 'exit 1'
setup() { : >"$work/asked" && PATH=$work/bin:$PATH make -C "$work/first" "$@" CC="$work/bin/cc1st" CFLAGS=-O0 HOT= </dev/null 2>&1; }
asked() { sed -n 's/^install .*--no-install-recommends //p' "$work/asked"; }

mkdir "$work/first"
cp -r "$top"/{Makefile,VERSION,cmd,common,man} "$work/first/"
for source in $(cd "$top" && find cmd common -name '*.c'); do [[ " ${sources[*]} " == *" $source "* ]] || rm "$work/first/$source"; done
echo 'int main(void) { return 0; }' >"$work/first/cmd/gpq.c"
ok "make deps all builds where the compiler comes on the way" setup -j2 deps all
is "it asks apt-get for a compiler and libraries" "$(asked | tr ' ' '\n' | grep -xE 'gcc|libpci-dev' | sort)" "gcc
libpci-dev"
empty "and for nothing that only tests need" "$(asked | grep -oE 'clang|cmocka|valgrind|jq|python3|zsh')"
mv "$work/first/build/cc1st" "$work/built"
ok "a later build" make -C "$work/first" -j2 CC="$work/bin/cc1st" CFLAGS=-O0 HOT=
for made in gpq "${sources[@]/%.c/.o}"; do same "the first build makes the same $made" "$work/first/build/cc1st/$made" "$work/built/$made"; done
case $(gcc -dumpmachine) in
x86_64*) is "with the vector code" "$(objdump -d "$work/first/build/cc1st/common/amdlog/read/block_lines_avx2.o" | grep -om1 ymm | head -1)" ymm ;;
*) n=$((n + 1)) && echo "ok $n - with the vector code # SKIP not x86-64" ;;
esac
compiled() { make -C "$work/first" -j2 CC="$work/bin/cc1st" HOT= "$@" 2>&1 | may 1 grep -c '^  CC'; }
is "other flags of the builder compile all anew" "$(compiled CFLAGS=-O0 CPPFLAGS="-DX='\"a\"'")" $((${#sources[@]} + 1))
is "the same flags nothing" "$(compiled CFLAGS=-O0 CPPFLAGS="-DX='\"a\"'")" 0

setup deps-test >/dev/null
is "make deps-test asks for what building needs, then for what tests need" "$(asked | grep -oE '^gcc |^libcmocka-dev ')" "gcc 
libcmocka-dev "
standin dpkg-query 'echo installed'
empty "nothing is asked for that is installed" "$(setup -s deps-test)$(cat "$work/asked")"
standin dpkg-query 'echo not-installed'
standin id 'echo 1000'
is "without root it says what to ask for" "$(may 2 setup -s deps | sed -n 's/ libc6-dev.*//p')" "no root here; ask for: apt-get install gcc"
finish
