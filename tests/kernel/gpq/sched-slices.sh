# gpq sched: jobs that take turns, by users and weights, hints with deadlines, and a goal for requests. Judges: read pointers that
# the software GPU moves.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh

has_turns() { [ "$(gpq sched --status --table jobs -n -r -o STATE | sort -u | tr '\n' ' ')" = 'held runs ' ]; }
is_held() { [ "$(gpq sched --status --table jobs -n -r -o STATE)" = held ]; }
# Of who has written /tmp/hint, which is to be empty before: it may start late.
has_answers() { [ "$(wc -l < /tmp/hint)" = "$1" ]; }
# How far each came, in per cent of all packets: S0 S1 S2. An emulated processor does not take equally many in equal times: the bounds
# below tell a third from a half, and a half from three quarters.
measure() {
	local a b c sum
	look_at_rptr 0 /tmp/a; a=$RPTR
	look_at_rptr 0 /tmp/b; b=$RPTR
	look_at_rptr 0 /tmp/c; c=$RPTR
	sleep 20
	look_at_rptr 0 /tmp/a; a=$((RPTR - a))
	look_at_rptr 0 /tmp/b; b=$((RPTR - b))
	look_at_rptr 0 /tmp/c; c=$((RPTR - c))
	sum=$((a + b + c))
	S0=$((100 * a / sum)) S1=$((100 * b / sum)) S2=$((100 * c / sum))
	note "of $sum packets: $S0 $S1 $S2 %"
}
between() { # DESCRIPTION N LEAST MOST
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then pass "$1"; else fail "$1" "$2 is not $3 to $4 % ($S0 $S1 $S2)"; fi
}

load gfx942
chmod 666 /dev/kfd /dev/dri/renderD*
su user -c 'exec mkqueue -q -k /tmp/a -n 1' &
A=$!
su user -c 'exec mkqueue -q -k /tmp/b -n 1' &
B=$!
mkqueue -q -k /tmp/c -n 1 &
C=$!
for f in a b c; do within 20 test -s /tmp/$f || fail "mkqueue starts: $f"; done

# ---- turns

sched --offline pid=$A,$B,$C --job-by process --slice 200ms --max-hold 1h
within 30 has_turns || fail "one runs, the others are held" "$(gpq sched --status --table jobs)"
measure
between "each job has a third: the first" $S0 21 42
between "each job has a third: the second" $S1 21 42
between "each job has a third: the last" $S2 21 42
waits() { gpq sched --explain $A | grep -q 'the turn of another job of its class'; }
ok "it says why a job waits" within 20 waits
end_sched "three jobs"
for f in a b c; do moves 0 "afterwards" /tmp/$f; done

sched --offline pid=$A,$B,$C --job-by process --tenant-by user --slice 200ms --max-hold 1h
within 30 has_turns || fail "one runs, the others are held (users)" "$(gpq sched --status --table jobs)"
measure
between "a user with two jobs has as much as one with one: the first" $S0 15 32
between "a user with two jobs has as much as one with one: the second" $S1 15 32
between "and the other one has half" $S2 42 60
end_sched "users"

sched --offline pid=$A,$B,$C --job-by process --tenant-by user --weight root=3 --slice 200ms --max-hold 1h
within 30 has_turns || fail "one runs, the others are held (weights)" "$(gpq sched --status --table jobs)"
measure
between "three times the weight is three quarters" $S2 64 86
between "and the other user's jobs have the rest" $((S0 + S1)) 14 36
end_sched "weights"
for f in a b c; do moves 0 "afterwards" /tmp/$f; done

# One that a hint of its own gives a deadline has its turns first; the others wait twice as long as three jobs explain, 1.2 s.
reap $C
sched --offline comm=mkqueue --job-by process --slice 200ms --max-hold 1h
rm /tmp/c
hint $SOCKET 'begin 1 deadline=1h class=offline' exec mkqueue -q -k /tmp/c -n 1 > /tmp/hint &
C=$!
within 20 test -s /tmp/c || fail "mkqueue starts with a hint" "$(cat /tmp/sched.err)"
within 30 members_are 3 || fail "all are found" "$(gpq sched --status)"
within 30 has_turns || fail "one runs, the others are held (deadline)" "$(gpq sched --status --table jobs)"
measure
between "the one with a deadline has three turns of four" $S2 58 88
between "and the others have some" $((S0 + S1)) 12 42
end_sched "a job with a deadline"
for f in a b c; do moves 0 "afterwards" /tmp/$f; done

# ---- deadlines

sched --offline pid=$A,$B,$C --max-hold 1h --idle 1ms
within 30 members_are 3 || fail "it has found them" "$(gpq sched --status)"
: > /tmp/hint
hint $SOCKET 'begin 1 deadline=30s' 'wait 300' 'end 1' 'begin 2 deadline=30s' > /tmp/hint &
H=$!
within 30 has_answers 3 || fail "its answers" "$(cat /tmp/hint)"
like "while nothing is known of what requests need, all is off at the answer" "$(sed -n 1p /tmp/hint)" '^ok off=3 missed=0 '
like "then nothing is" "$(sed -n 3p /tmp/hint)" '^ok off=0 missed=0 '
for f in a b c; do moves 0 "while a deadline leaves time" /tmp/$f; done
is "its hint counts later" "$(gpq sched --status --table clients -n -r -o HINTS,LATER | sort | tail -n 1)" '1 1'
kill $H
wait $H 2> /dev/null
: > /tmp/hint
hint $SOCKET 'begin 1 deadline=4s' > /tmp/hint &
H=$!
within 20 test -s /tmp/hint || fail "an answer" "$(cat /tmp/sched.err)"
moves 0 "at first" /tmp/a
within 20 is_held || fail "held before the deadline" "$(gpq sched --status --table jobs)"
for f in a b c; do still 0 "when no more time is left" 300 /tmp/$f; done
kill $H
wait $H 2> /dev/null
for f in a b c; do moves 0 "after the hint" /tmp/$f; done
end_sched "deadlines"

# ---- a goal for requests

part() { gpq sched --status --table scheduler -n -r -o POLICY | sed 's/.*://'; } # of the lower classes, per cent
part_is() { part | awk "{ exit !(\$1 $1) }"; } # CONDITION
request() { # MILLISECONDS; the answer to its begin is then the first line
	: > /tmp/hint
	hint $SOCKET 'begin 1' "wait $1" 'end 1' > /tmp/hint &
	H=$!
	within 60 has_answers 2 || fail "a request of $1 ms is answered" "$(cat /tmp/hint)"
	kill $H
	wait $H 2> /dev/null
}
total() { awk -v what="$1" '$1 == what { n += $2 } END { print n + 0 }' /tmp/bursts; }

sched --offline pid=$A,$B,$C --slo 'p90 < 2s' --idle 1ms --max-hold 1h
within 30 members_are 3 || fail "it has found them (--slo)" "$(gpq sched --status)"
is "at first nothing is given" "$(part)" 0
request 10
is "and a request holds all" "$(sed 's/ ns=.*//' /tmp/hint | head -n 1)" 'ok off=3 missed=0'
: > /tmp/bursts
# After the 20th short request it is 2.5 %, then a quarter more each time: until it can be halved once before it is nothing, and one
# request ran beside the offline work.
for n in $(seq 30); do
	hint $SOCKET 3000 10 10 1 >> /tmp/bursts
	part_is '>= 6' && [ "$(total begun-off)" -lt "$(total bursts)" ] && break
done
most=$(part)
note "$(total bursts) short requests, of which $(total begun-off) held all and $(total moved) packets were taken: $(gpq sched --status --table scheduler -n -r -o POLICY)"
ok "short requests keep the goal, and the part grows" part_is '>= 6'
ok "some run beside the offline work" [ "$(total begun-off)" -lt "$(total bursts)" ]
ok "which takes packets then" [ "$(total moved)" -gt 0 ]
least=$most
for n in $(seq 40); do
	request 2200
	part_is '== 0' && break
	least=$(part)
done
note "after $n long requests: $least, then $(part)"
ok "requests longer than the goal take the part back" [ "$(echo "$least $most" | awk '{ print ($1 < $2) }')" = 1 ]
is "to the end" "$(part)" 0
for n in 1 2 3; do
	request 10
	is "then each request holds all: $n" "$(sed 's/ ns=.*//' /tmp/hint | head -n 1)" 'ok off=3 missed=0'
done
: > /tmp/hint
hint $SOCKET 'begin 1' > /tmp/hint &
H=$!
within 30 has_answers 1
for f in a b c; do still 0 "during a request" 300 /tmp/$f; done
kill $H
wait $H 2> /dev/null
end_sched "--slo"
for f in a b c; do moves 0 "after --slo" /tmp/$f; done

reap $A $B $C
unload
kernel_is_content
finish
