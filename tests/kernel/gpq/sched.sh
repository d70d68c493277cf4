# gpq sched on the real driver. Judges: the software GPUs, which say what queues they have and what they took; hint.c, which is
# the online work and looks at them; mkqueue's own account.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

SAID=/tmp/judge

# A line of hint's account.
said() { sed -n "s/^$1 //p" $SAID; }

# Columns of a class: CLASS COLUMN...
of_class() {
	local name=$1
	shift
	gpq sched --status -n -r -o CLASS,$(echo $* | tr ' ' ,) | sed -n "s/^$name //p"
}

# A client that says begin and stays, in the background: H is its pid. Its answer comes into /tmp/stuck.
begin() {
	rm -f /tmp/stuck
	hint $SOCKET begin > /tmp/stuck &
	H=$!
	within 60 test -s /tmp/stuck
}

members_off() { [ "$(of_class offline OFF)" = "$1" ]; }

load gfx942,gfx942
workers=
for n in 1 2 3 4; do
	mkqueue -q -n 2 -R 200 -b 20 -G 2 -k /tmp/w$n &
	workers=$workers,$!
	last=$!
done
within 60 test -s /tmp/w4

# ---- hints ---------------------------------------------------------------------------------------------------------------

# Times are a slow machine's here: cost/sched.sh judges them.
sched --offline pid=${workers#,} --idle 5ms --max-hold 10m
within 60 members_are 4 || fail "it has found the workers" "$(gpq sched --status)"
is "attached, and nothing is held" "$(of_class offline OFF HOLDS)" "0 0"
moves 0 "attached to" /tmp/w1
hint $SOCKET 20x 60 60 2 > $SAID
is "bursts: each begins with all offline queues off" "$(said begun-off)" "$(said bursts)"
is "bursts: no packet was taken then" "$(said moved)" 0
is "bursts: nobody was missed" "$(said missed)" 0
is "bursts: all" "$(said bursts)" 20
moves 0 "after the bursts" /tmp/w1
# A client that dies.
begin
like "begin is answered when all are off" "$(cat /tmp/stuck)" '^ok off=4 missed=0 ns=[0-9]+'
kill -9 $H
within 60 members_off 0 || fail "the end of a client ends its hints" "$(gpq sched --status)"
# Newcomers, and what ends.
mkqueue -q -n 1 -k /tmp/w5 &
N=$!
reap $last
within 60 members_are 3 || fail "a worker that ended is no member" "$(gpq sched --status)"
moves 0 "a process that was not named is left alone" /tmp/w5
reap $N
end_sched "hints"
for n in 1 2 3; do moves 1 "after gpq sched" /tmp/w$n; done

sched --offline pid=${workers#,} --max-hold 1h --lease 4s
within 60 members_are 3
# A client that only begins.
begin
within 60 members_off 3 || fail "a hint holds all" "$(gpq sched --status)"
within 60 members_off 0 || fail "a hint that never ends holds for --lease" "$(gpq sched --status)"
moves 0 "beside a hint that never ends" /tmp/w1
moves 1 "beside a hint that never ends" /tmp/w3
kill $H
wait $H 2> /dev/null
end_sched "a hint that never ends"
for n in 1 2 3; do moves 1 "after gpq sched" /tmp/w$n; done

sched --offline pid=${workers#,} --max-hold 4s
within 60 members_are 3
begin
within 60 members_off 3 || fail "a hint holds all" "$(gpq sched --status)"
kill -STOP $S
for n in 1 2 3; do moves 0 "gpq sched hangs" /tmp/w$n; done
kill -CONT $S
kill $H
wait $H 2> /dev/null
within 60 members_off 0 || fail "it hung, and goes on" "$(gpq sched --status)"
end_sched "it hung"

# ---- a holder that does not answer -------------------------------------------------------------------------------------------

ALL=${workers#,}
FIRST=${ALL%%,*}
sched --offline pid=$ALL --max-hold 10m
within 60 members_are 3
begin
like "all are held" "$(cat /tmp/stuck)" '^ok off=3 missed=0 '
kill $H
wait $H 2> /dev/null
within 60 members_off 0 || fail "and run" "$(gpq sched --status)"
T=$(sed -n 's/^TracerPid:.//p' /proc/$FIRST/status)
kill -STOP $T
begin
like "a hint is answered without it" "$(cat /tmp/stuck)" '^ok off=2 missed=1 '
kill $H
wait $H 2> /dev/null
for n in 2 3; do moves 0 "beside a holder that does not answer" /tmp/w$n; done
begin
like "and is not waited for again" "$(cat /tmp/stuck)" '^ok off=2 missed=1 ns=1?[0-9]{1,9} '
like "it is shown" "$(gpq sched --status --table members -r -n -o PID,STATE,REASON)" "$FIRST missed .*did.*not.*answer"
kill $H
wait $H 2> /dev/null
within 60 members_off 0 || fail "the others run" "$(gpq sched --status)"
is "it is said once" "$(grep -c "pid $FIRST: the holder did not answer" /tmp/sched.err)" 1
kill -CONT $T
members_missed() { [ "$(of_class offline MISSED)" = "$1" ]; }
within 60 members_missed 0 || fail "its late answer is taken" "$(gpq sched --status)"
moves 0 "whose holder answers again" /tmp/w1
begin
like "and all are held" "$(cat /tmp/stuck)" '^ok off=3 missed=0 '
kill $H
wait $H 2> /dev/null
end_sched "a holder that does not answer"

# ---- newcomers; the online queues themselves ------------------------------------------------------------------------------

mkqueue -q -n 1 -B 10 --pause 300 -t 600 > /tmp/online 2>&1 &
ON=$!
sched --online pid=$ON --offline comm=mkqueue --idle 20ms
seen_bursts() { [ "$(of_class online BURSTS)" -gt 3 ] && [ "$(of_class offline HOLDS)" -gt 1 ]; }
within 60 seen_bursts || fail "it sees the online work in its queues, and holds for it" "$(gpq sched --status)"
is "the online process is not among the offline ones" "$(of_class offline PROCS)" 3
mkqueue -q -n 1 -k /tmp/w6 &
N=$!
within 60 members_are 4 || fail "a newcomer is taken in" "$(gpq sched --status)"
kill -9 $S
wait $S 2> /dev/null
within 60 sh -c '! ps | grep -q "[g]pq-holder"' || fail "killed: no holder is left" "$(ps)"
for n in 1 2 3 6; do moves 0 "gpq sched was killed" /tmp/w$n; done
sched --offline comm=mkqueue
end_sched "the socket of a killed one is taken over"
reap $N $ON

# ---- classes; a log --------------------------------------------------------------------------------------------------------

mkqueue -q -n 1 -B 10 --pause 300 -t 600 -k /tmp/middle &
MID=$!
within 60 test -s /tmp/middle
sched --class middle=pid=$MID --offline pid=${workers#,} --idle 20ms --max-hold 10m
middle_goes_first() { [ "$(of_class middle BURSTS)" -gt 3 ] && [ "$(of_class offline HOLDS)" -gt 1 ]; }
within 60 middle_goes_first || fail "a class holds those below it for its work" "$(gpq sched --status)"
is "nobody holds it meanwhile" "$(of_class middle HOLDS)" 0
begin
like "a hint holds both classes below" "$(cat /tmp/stuck)" '^ok off=4 missed=0 '
is "the class in the middle is off" "$(of_class middle OFF)" 1
kill $H
wait $H 2> /dev/null
within 60 members_off 0 || fail "both go on" "$(gpq sched --status)"
end_sched "three classes"
moves 0 "after three classes" /tmp/middle
reap $MID

# Lines as the runtime writes them, and others.
echo ':4:rocvirtual.cpp :1116: 1 us: [pid:1 tid:0x1] SWq=0x7f, HWq=0x7f, id=1, Dispatch Header = 0xb02' > /tmp/log
sched --log /tmp/log --offline pid=${workers#,} --idle 500ms --max-hold 10m
within 60 members_are 3 || fail "it has found the workers" "$(gpq sched --status)"
echo ':3:hip_stream.cpp :451: 2 us: [pid:1 tid:0x1] hipStreamSynchronize: Returned hipSuccess :' >> /tmp/log
usleep 500000
is "a log: old packets and other lines are no work" "$(of_class offline HOLDS)" 0
while :; do
	echo ':4:rocvirtual.cpp :1116: 3 us: [pid:1 tid:0x1] SWq=0x7f, HWq=0x7f, id=1, Dispatch Header = 0xb02' >> /tmp/log
	usleep 5000
done &
L=$!
within 60 members_off 3 || fail "a log: packets are" "$(gpq sched --status)"
kill $L
wait $L 2> /dev/null
within 60 members_off 0 || fail "a log: no packets for --idle, and all run" "$(gpq sched --status)"
end_sched "a log"

# ---- what can be wrong ---------------------------------------------------------------------------------------------------

status_is "no --offline" 2 gpq sched --online pid=1
status_is "nothing says that there is work" 2 gpq sched --offline comm=x --no-socket
status_is "no such key" 2 gpq sched --offline come=x
status_is "no scheduler" 5 gpq sched --status
sched --offline comm=mkqueue
status_is "a second one on the same socket" 1 gpq sched --offline comm=mkqueue
like "says that the first is there" "$OUT" 'another'
end_sched "the first"
reap $(echo ${workers#,} | tr , ' ')
unload
kernel_is_content
finish
