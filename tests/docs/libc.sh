#!/bin/bash
# gpq builds with glibc 2.28 (RHEL 8) and later: what it takes from the C library is as old, or common/host/compat.h has an alternative.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
rig_only
alternatives=("$top/common/host/compat.h" "$top"/tests/unit/*.c) # of gpq, of unit tests

# Functions that got a new version after 2.28, as they moved into libc.so or changed inside: glibc 2.28 has them, too.
moved='dladdr dlclose dlerror dlopen dlsym
fstat fstat64 fstatat fstatat64 lstat lstat64 mknod mknodat stat stat64
__libc_start_main
pthread_create pthread_detach pthread_getname_np pthread_join pthread_key_create pthread_kill pthread_mutex_trylock pthread_mutexattr_init
pthread_mutexattr_settype pthread_once pthread_setname_np pthread_sigmask pthread_timedjoin_np
sem_init sem_post sem_wait shm_open shm_unlink
timer_create timer_delete timer_getoverrun timer_gettime timer_settime'

# Lines "FUNCTION VERSION" of what the files take from a glibc after 2.28. objdump -T: "... GLIBC_2.34) dlopen", or without the bracket.
newer() {
	objdump -T "$@" | sed -nE 's/.*\*UND\*.*[( ]GLIBC_2\.([0-9]+)(\.[0-9]+)?\)? +(\S+)$/\3 2.\1/p' | awk '{ split($2, v, "."); if (v[2] > 28) print }' | sort -u
}
# Those of them that neither moved nor have an alternative; "#if !__GLIBC_PREREQ(2, N)" stands above each of these.
lacking() {
	newer "$@" | while read -r name version; do
		grep -qwF "$name" <<<"$moved" ||
			awk -v name="$name" -v line="#if !__GLIBC_PREREQ(2, ${version#2.})" '$0 == line { on = 1 } /^#endif/ { on = 0 }
				on && $1 == "#define" && $2 ~ "^" name "(\\(\\))?$" { found = 1 } END { exit !found }' "${alternatives[@]}" || echo "$name $version"
	done
}

# A program that takes something new is found.
new() { printf '#define _GNU_SOURCE\n%s\n' "$1" | gcc -x c - -o "$work/new" 2>/dev/null && lacking "$work/new"; }
case $(getconf GNU_LIBC_VERSION) in
'glibc 2.'[0-2]? | 'glibc 2.3'[0-5]) n=$((n + 1)) && echo "ok $n - what came after 2.28 is found # SKIP this C library is too old" ;;
*)
	rig is "what came after 2.28 is found" "$(new '#include <stdlib.h>
		int main(void) { return (int)arc4random(); }')" "arc4random 2.36"
	rig empty "what has an alternative, or moved, is not" "$(new '#include <unistd.h>
		#include <pthread.h>
		int main(void) { return gettid() && close_range(3, 4, 0) && pthread_join(pthread_self(), 0); }')"
	;;
esac
ok "gpq takes something from the C library" test "$(objdump -T "$(command -v gpq)" | grep -c 'UND.*GLIBC_')" -gt 100
empty "gpq needs nothing that glibc 2.28 lacks" "$(lacking "$(command -v gpq)")"
# Unit tests, too, are built there.
mapfile -t tests < <(find "$(dirname "$(command -v gpq)")/unit" -maxdepth 1 -type f -name 'test_*' -perm -u+x)
ok "unit tests are built" test ${#tests[@]} -gt 0
empty "nor do they" "$(lacking "${tests[@]}")"
finish
