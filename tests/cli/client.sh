#!/bin/bash
# libgpqclient and its examples as make install puts them, against a scheduler's socket without a scheduler.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
cc=${CC:-cc} so=$work/usr/lib/libgpqclient.so.0 sanitize=
export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig LD_LIBRARY_PATH=$work/usr/lib GPQ_SCHED_SOCKET=$work/socket
flags() { pkg-config "$@" gpqclient; }
ldd "$bin/libgpqclient.so" | grep 'san\.so' >/dev/null && sanitize="-fsanitize=address,undefined"
skip() { n=$((n + 1)) && echo "ok $n - $1 # SKIP $2"; }

ok "make install" mk install PREFIX="$work/usr"
is "its files" "$(cd "$work/usr" && find include lib/{lib,pkgconfig/}* share/gpq -type f -o -type l | sort)" "include/gpq-client.h
lib/libgpqclient.a
lib/libgpqclient.so
lib/libgpqclient.so.0
lib/pkgconfig/gpqclient.pc
share/gpq/python/gpq.py"
is "all examples" "$(cd "$work/usr/share/doc/gpq/examples" && find . -type f | sort)" "$(cd "$top/man/examples" && find . -type f | sort)"
is "the soname" "$(readelf -d "$so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" libgpqclient.so.0
is "the symbols" "$(nm -D --defined-only "$so" | sed -n 's/.* T //p' | sed 's/@.*//' | sort | xargs)" "gpq_begin gpq_begin_with gpq_close gpq_connect gpq_end gpq_status"
is "those of the archive" "$(nm -g --defined-only "$work/usr/lib/libgpqclient.a" | sed -n 's/.* T //p' | sort | xargs)" \
	"gpq_begin gpq_begin_with gpq_close gpq_connect gpq_end gpq_status"
if [ "$sanitize" ]; then skip "it needs the C library alone" "a sanitizer brings its own"; else
	of_libc='^ld-linux'
	# A part of the C library before 2.34, which -pthread names.
	[[ $(getconf GNU_LIBC_VERSION) != 'glibc 2.'@([0-2]?|3[0-3]) ]] || of_libc+='|^libpthread\.so\.0$'
	is "it needs the C library alone" "$(readelf -d "$so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE "$of_libc")" libc.so.6
fi
cflags=() libs=()
eval "cflags=($(flags --cflags)) libs=($(flags --libs))" # which are quoted as for a shell
is "the version" "$(flags --modversion)" "$(cat "$top/VERSION")"

echo '#include <gpq-client.h>' >"$work/header.c"
ok "the header is C99" "$cc" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only "${cflags[@]}" "$work/header.c"
if command -v c++ >/dev/null; then
	echo 'int main() { gpq_close(gpq_connect("/nosuch")); return 0; }' | cat "$work/header.c" - >"$work/header.cc"
	# shellcheck disable=SC2086
	ok "and C++" c++ -std=c++11 -pedantic -Wall -Wextra $sanitize "$work/header.cc" "${cflags[@]}" "${libs[@]}" -o "$work/header"
	ok "which links" "$work/header"
else skip "and C++" "no c++" && skip "which links" "no c++"; fi

examples=$work/usr/share/doc/gpq/examples
# shellcheck disable=SC2086
ok "the example of C" "$cc" -Wall -Wextra -Werror $sanitize "$examples/serving-loop.c" "${cflags[@]}" "${libs[@]}" -o "$work/loop"
is "without a scheduler it serves" "$(printf 'one\ntwo\n' | "$work/loop" 2>&1)" "offline work runs on: No such file or directory
served one
served two"
coproc SERVER { "$bin/hint-server" "$GPQ_SCHED_SOCKET"; }
heard() { local l && read -r -t 10 -u "${SERVER[0]}" l && echo "$l"; } # the server's next line
is "a scheduler" "$(heard)" ready
is "with one it has nothing to say" "$(echo one | "$work/loop" -1 2>&1)" "served one"
is "the server saw a hint, and its end" "$(heard && heard)" "active
idle"
if command -v python3 >/dev/null; then
	python() { PYTHONPATH=$(flags --variable=pythondir) PYTHONDONTWRITEBYTECODE=1 python3 "$examples/serving_loop.py" 60 2>&1; }
	is "the example of Python" "$(printf 'one\ntwo\nthree\n' | python | sort)" "served one
served three
served two"
	is "the hint of its tasks" "$(heard && heard)" "active
idle"
	engine() { PYTHONPATH=$(flags --variable=pythondir) PYTHONDONTWRITEBYTECODE=1 python3 "$examples/llm_engine.py" 60 100 2>&1; }
	is "the engine of an LLM server" "$(echo one | engine)" "100 tokens for one" # one request: two may be two bursts
	is "its hint, which each step renews" "$(heard && heard)" "active
idle"
	is "without a scheduler it serves, too" "$(echo one | GPQ_SCHED_SOCKET=/nosuch python)" "offline work runs on: No such file or directory
served one"
else for t in "the example of Python" "its hint" "an engine" "its hint" "without a scheduler"; do skip "$t" "no python3"; done; fi

# malloc and its like are counted while hints begin and end, with a scheduler and after it is gone; linked with the archive.
cat >"$work/alloc.c" <<'C'
#include <gpq-client.h>
#include <stdio.h>
#include <unistd.h>
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
static long count;
void *malloc(size_t size) { return count++, __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return count++, __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return count++, __libc_realloc(old, size); }
static int pairs(struct gpq_client *c)
{
	int r = 0;
	for (unsigned i = 0; i < 40; i++)
		r |= gpq_begin(c, i % 3, i % 2 ? -1 : 0) | gpq_end(c, i % 3);
	return r;
}
int main(void)
{
	struct gpq_client *c = gpq_connect(NULL);
	long before = count;
	int with = pairs(c), without;
	char end;
	write(1, "x", 1);
	read(0, &end, 1); // until the scheduler is gone
	without = pairs(c);
	printf(" %s, %s, %ld of %ld\n", with ? "failed" : "ok", without ? "failed" : "ok", count - before, before);
	return 0;
}
C
if [ "$sanitize" ]; then skip "begin and end do not allocate" "a sanitizer has its own malloc"; else
	"$cc" "$work/alloc.c" "${cflags[@]}" "$work/usr/lib/libgpqclient.a" -o "$work/alloc" 2>"$work/errors" || cat "$work/errors"
	mkfifo "$work/go"
	"$work/alloc" <"$work/go" >"$work/counts" &
	alloc=$!
	exec 7>"$work/go"
	until [ -s "$work/counts" ] || ! kill -0 $alloc 2>/dev/null; do sleep 0.01; done
fi
input=${SERVER[1]} server=$SERVER_PID
exec {input}>&-
wait "$server"
is "the server ends, and its socket" "$? $(test -e "$work/socket"; echo $?)" "0 1"
if [ -z "$sanitize" ]; then
	exec 7>&-
	wait $alloc
	is "begin and end do not allocate" "$(cat "$work/counts")" "x ok, failed, 0 of 1"
fi

ok "make uninstall" mk uninstall PREFIX="$work/usr"
empty "nothing is left" "$(find "$work/usr" ! -type d)"
finish
