#!/bin/bash
# gpq with file capabilities, and set-user-ID, run by another user: no variable that names something counts, no file is opened
# and no command run by name. And what every build keeps: one getenv(), no test switch in a release.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"

# proc.c moves the environment, and reads nothing of it; the client library is linked to others, and has secure_getenv().
rig is "getenv() is called in common/host/secure.c alone" \
	"$(cd "$top" && { may 1 grep -rlE '\b(secure_)?getenv *\([^0-9]' --include='*.[ch]' --exclude-dir=client cmd common
		may 1 grep -rlE '\benviron *[[;=]' --include='*.[ch]' --exclude=proc.c --exclude-dir=client cmd common; } | sort -u)" common/host/secure.c
counts=$(sed -n '/harmless\[\] =/,/;/p' "$top/common/host/secure.c" | grep -oE '"[A-Z_]+"' | tr -d '"' | sort | xargs)
rig is "gpq-security(7) names the variables that count" "$(sed -n 's/^Of the environment gpq obeys only \(.*\): they choose.*/\1/p' \
	"$top/man/gpq-security.7" | grep -oE '[A-Z_]+' | sort | xargs)" "$counts"
rig is "a release has no test switch" "$(grep -ac GPQ_TEST "$bin/gpq")" 0
[ ! -x "$top/build/testing/gpq" ] || rig ok "a test build has them" grep -aq GPQ_TEST_STOP "$top/build/testing/gpq"
# A new word: does it name a file or a command? Then it belongs into names_file() in common/cli/opts.c.
is "arguments of options, of which FILE, DIR and CMD are refused" "$( (gpq --help && for c in $(gpq --list); do gpq "$c" --help; done) |
	sed -nE 's/^  (-.,|   ) --[a-z-]+ ([^ ]+).*/\2/p' | sort -u | tr '\n' ' ')" \
	"CLOCK CMD COLS DIR EXPR FILE GOAL GPU[,GPU...] GROUP ID|NAME JOB[.STEP] LEVEL[,LEVEL...]|MIN[:MAX] LIMIT LOGPID=KERNELPID[,...] METHOD MODE,... N NAME \
NAME=N NAME=SPEC NAME=VALUE,... NAME|UID N[,N...] N|TIME|all OFFSET:LEN PATH PERCENT PID PID[,PID...] REGEX SEC SPEC TIME TYPE[,TYPE...] UNIT UP:DOWN USER \
WHAT WHEN [PID:]ID,... "

[ "$(id -u)" = 0 ] || skip_all "file capabilities and set-user-ID root are root's to give"
! findmnt -no OPTIONS -T "$work" | grep -qw nosuid || skip_all "$work is mounted nosuid"

host=$top/tests/hosts/gfx90a-k6.12
cp -r "$host" "$work/host"
cp "$bin/gpq" "$work/plain"
mkdir -m 777 "$work/out" "$work/lib"
echo 'int puts(const char *); __attribute__((constructor)) static void f(void) { puts("loaded"); }' |
	${CC:-cc} -shared -fPIC -xc -o "$work/lib/libsmartcols.so.1" - 2>/dev/null
chmod -R go+rX "$work"

export ASAN_OPTIONS=detect_leaks=0
run() { (cd "$work/out" && setpriv --reuid 65534 --regid 65534 --clear-groups env "GPQ_SYSROOT=$work/host" "$work/$raised" "$@" 2>&1 </dev/null); }
without() { (cd "$work/out" && setpriv --reuid 65534 --regid 65534 --clear-groups "$work/$raised" "$@" 2>&1 </dev/null); }
loaded() { # how often a library of the user's was loaded, for a table on a terminal
	TERM=xterm script -qec "setpriv --reuid 65534 --regid 65534 --clear-groups env 'LD_LIBRARY_PATH=$work/lib' '$work/$raised' queues --list-columns" \
		/dev/null </dev/null | grep -oE 'loaded|COLUMN ' | sort | paste -sd' '
}

refused() { # WHAT ARGS...
	local out
	out=$(run "${@:2}")
	is "$raised: $1 is refused" "$? $(grep -c 'refused, because this gpq is set-user-ID or has file capabilities: .*; use a copy' <<<"$out") $(wc -l <<<"$out")" "2 1 1"
}

attack() {
	is "$raised: GPQ_SYSROOT does not count" "$(run queues -rno PID)" "$(without queues -rno PID)"
	is "$raised: nor in completion" "$(run --complete -- queues --pid | cut -f1) $(run --complete -- queues -p '')" "--pid $(without --complete -- queues -p '')"
	is "$raised: LD_LIBRARY_PATH does not count" "$(loaded)" "COLUMN "
	refused --sysroot queues --sysroot "$work/host"
	refused "--sysroot before the command" --sysroot "$work/host" queues
	refused "--sysroot /" queues --sysroot=/
	refused --install --install .
	refused "suspend -- COMMAND" suspend -p $$ -- touch ran
	refused "a COMMAND behind a link" suspend -p $$ touch ran
	refused "suspend --marks" suspend -p $$ --marks marks -- true
	refused "queues --mqds" queues --mqds /etc/shadow
	refused "hqd --hqds" hqd --hqds /etc/shadow
	refused "trace FILE" trace /etc/shadow
	refused "trace --svg" trace --series 1s --svg x.svg
	refused "trace --html" trace --compare --html x.html a b
	refused "why --flame" why --profile 1 --flame x.svg
	refused "trace --ftrace FILE" trace --ftrace /etc/shadow
	refused "trace --live" trace --live --for 1
	refused "trace --live -- COMMAND" trace --live -- touch ran
	refused "merge FILE" merge /etc/shadow
	refused "snapshot DIR" snapshot dir
	refused "sched --socket" sched --status --socket "$work/out/socket"
	refused "sched --log" sched --offline comm=x --log /etc/shadow
	refused "gpq core" core -p 1
	refused "bench report FILE" bench report /etc/shadow
	refused "bench ab" bench ab --online-cmd 'touch ran' --offline-cmd 'touch ran'
	is "$raised: help is there, and nothing was written or run" "$(ls -A "$work/out"; run suspend --help | head -1)" "$(gpq suspend --help | head -1)"
	is "$raised: so is the list of holders" "$(run suspend --list -J | jq -c .holders)" "[]"
}

raised=plain
is "without rights of its own GPQ_SYSROOT counts" "$(run queues -rno PID | sort -u | tr '\n' ' ')" "41207 52880 "
is "LD_LIBRARY_PATH too" "$(loaded)" "COLUMN  loaded"
raised=setuid
cp "$bin/gpq" "$work/setuid"
chmod 4755 "$work/setuid"
attack
raised=capable
cp "$bin/gpq" "$work/capable"
if ! command -v setcap >/dev/null; then
	pass "file capabilities # skip setcap (libcap2-bin) is not installed"
elif ! setcap cap_sys_ptrace,cap_dac_read_search+ep "$work/capable" 2>/dev/null; then
	pass "file capabilities # skip $(stat -f -c %T "$work") has none here"
else
	attack
fi
finish
