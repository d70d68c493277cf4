#!/bin/bash
# The first build of a fresh machine, `make deps demo`, must be the binary that every later build makes. There the compiler
# comes while make runs; here "installing" it makes a link to the real one. Built without optimization, to be quick.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
unset MAKEFLAGS MAKELEVEL MFLAGS SANITIZE V # of the make that runs the tests

mkdir "$work/bin"
build() { # FOLDER GOAL...
	mkdir "$work/$1" && cp -r "$top"/{Makefile,VERSION,cmd,common} "$work/$1/"
	make -C "$work/$1" -j2 "${@:2}" CC="$work/bin/gcc" CFLAGS=-O0 \
		APT_INSTALL="ln -sf $(command -v gcc) $work/bin/gcc" > "$work/$1.log" 2>&1 || { tail -3 "$work/$1.log"; return 1; }
}

# Otherwise make deps installs through sudo.
[ "$(id -u)" = 0 ] || skip_all "not root"
ok "make deps all builds where the compiler comes on the way" build first deps all
ok "a second build" build second all
same "the first build is the same binary" "$work/second/build/gcc/gpq" "$work/first/build/gcc/gpq"
finish
