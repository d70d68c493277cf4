#!/bin/bash
# gpq sched --status, asked of something that is no scheduler, or a wicked one: one line, and no control character.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
cd "$work" || exit
export GPQ_SCHED_SOCKET=$work/socket

# answers FILE...: one connection gets the content of one file, and its end.
answers() {
	rm -f socket new
	python3 - "$@" <<'PY' &
import os, socket, sys

s = socket.socket(socket.AF_UNIX)
s.bind("new")
s.listen(1)
os.rename("new", "socket")
for name in sys.argv[1:]:
    c = s.accept()[0]
    c.recv(64)
    try:
        c.sendall(open(name, "rb").read())
    except OSError:  # it has heard enough
        pass
    c.close()
PY
	server=$!
	until [ -S socket ] || ! kill -0 "$server"; do :; done
}
says() { # NAME STATUS WANTED: one answer, in this test's file `answer`
	answers answer
	local what=--status
	[ "${4-}" = --explain ] && what=
	# shellcheck disable=SC2086 # none, or one
	is "$1" "$(gpq sched $what "${@:4}" 2>&1; echo "? $?")" "$3
? $2"
	kill "$server" 2>/dev/null
	wait "$server"
}
lines() { # CLASS COMMAND: what a scheduler may say
	printf '{"record":"scheduler","schema":1,"policy":"strict","pid":7,"up_ns":1000000000,"max_hold_ns":1000000000}\n'
	printf '{"record":"class","schema":1,"class":"%s","processes":1,"off":0,"later":"word"}\n' "$1"
	printf '{"record":"member","schema":1,"class":"%s","pid":41207,"command":"%s","state":"runs"}\nok\n' "$1" "$2"
}
strange="gpq: sched: the scheduler's statistics are not understood; use the same version of gpq"

lines offline 'a\u001b[1mb' >answer
says "names are escaped" 0 'offline 41207 a\x1b[1mb - runs -' --table members -rn
says "unknown is null" 0 '{"record":"class","class":"offline","processes":1,"holds":null,"ran_percent":null}' \
	-o CLASS,PROCS,HOLDS,RAN% --ndjson
says "no process of it" 5 "gpq: sched: pid 1 belongs to no class of the scheduler: it runs; gpq sched --status --table members lists them" --explain 1
{ lines offline 'a\u001b[1mb' | sed '$d'; printf '{"record":"job","schema":1,"class":"offline","gpu_index":0,"state":"held","for":"x\\u001b","left_ns":5}\nok\n'; } |
	sed 's/"state":"runs"/"gpus":"0",&/; s/"class":"offline","processes"/"class":"online","processes"/' >answer
says "names are escaped in sentences, too" 0 'pid 41207 (a\x1b[1mb) is of class offline
  GPU 0: held: x\x1b has work (seen in its queues or its log); 5ns more at most' --explain 41207
echo ok >answer
says "no statistics" 1 "$strange"
{ lines x y | sed '$d' && lines x y; } >answer
says "those of two" 1 "$strange"
lines "$(printf '%0100d' 0)" y >answer
says "a long name is cut" 0 "$(printf '%063d' 0)" -o CLASS -rn
printf 'hello\nok\n' >answer
says "something else" 1 "$strange"
printf '{"record":"scheduler","schema":1,"pid":"x"}\nok\n' >answer
says "a wrong type" 1 "$strange"
printf 'a\0b\033[2J\nok\n' >answer
says "bytes" 1 "$strange"
{ head -c 17000000 < <(yes '{"record":"class","schema":1,"class":"x"}') && printf '\nok\n'; } >answer
says "too much" 1 "$strange"
echo 'error limit a user may have 16 connections' >answer
says "no more connections" 1 "gpq: sched: the scheduler has as many connections as it takes, or as one user may have; try again later"
: >answer
says "nothing" 5 "gpq: sched: no scheduler runs here; --socket FILE says where it listens"
rm -f socket
is "nobody" "$(gpq sched --status 2>&1; echo "? $?")" "gpq: sched: no scheduler runs here; --socket FILE says where it listens
? 5"
finish
