# Other users, and one's own mistakes, against gpq suspend, resume and --list: no socket's word is believed, no wait is without
# an end, no holder is overlooked.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/gpq/suspend.inc

load gfx942
echo 0 > /proc/sys/kernel/yama/ptrace_scope
chmod 666 /dev/kfd /dev/dri/renderD*
chmod 777 /tmp
as_user() { su user -c "$*"; }
THEIRS=/tmp/gpq-1000 # where a user without a session has his sockets
as_user mkdir -m 700 $THEIRS
mkdir -p -m 700 /root/elsewhere

start_time() { local s; read -r s < /proc/$1/stat; set -- ${s##*) }; echo ${20}; }
name_of() { echo "$1-$(start_time $1)"; } # PID: what its holder's socket is called

# A program of tests/kernel/user/hostile.c as the user, in the background; what it prints is in /tmp/hostile.N.
HOSTILE=0
hostile() { # ARGS...
	HOSTILE=$((HOSTILE + 1))
	as_user "exec hostile $*" > /tmp/hostile.$HOSTILE 2>&1 &
	within 10 grep -q ready /tmp/hostile.$HOSTILE || fail "hostile $* starts" "$(cat /tmp/hostile.$HOSTILE)"
}
no_hostiles() {
	killall hostile 2> /dev/null
	within 10 eval '! pidof hostile' || fail "hostile programs end" ""
	rm -rf $THEIRS
	as_user mkdir -m 700 $THEIRS
}

# Held from another folder than root's usual one, so that no socket of the usual name is in the usual place.
held_elsewhere() {
	target -q -n 1
	XDG_RUNTIME_DIR=/root/elsewhere gpq suspend -p $P > /dev/null || fail "it is held" ""
	still 0 "$1" 200
}

# ---- sockets of others

held_elsewhere "a fake holder"
hostile answer $THEIRS/$(name_of $P)
status_is "a fake holder in a user's folder: resume" 0 gpq resume -p $P
moves 0 "although a fake holder said so"
XDG_RUNTIME_DIR=/root/elsewhere gpq suspend -p $P > /dev/null
status_is "a fake holder: resume --all" 0 gpq resume --all
moves 0 "resumed by --all beside a fake holder"
unlike "the fake is not listed" "$(gpq suspend --list -r -n -o PID)" "$P"
no_hostiles
reap $P

held_elsewhere "a link to a socket of root's"
hostile answer /tmp/secret-$(name_of $P)
cp /tmp/hostile.$HOSTILE /tmp/before
as_user ln -s /tmp/secret-$(name_of $P) $THEIRS/$(name_of $P)
status_is "a link in a user's folder: resume" 0 gpq resume -p $P
moves 0 "in spite of the link"
unlike "nobody followed the link" "$(cat /tmp/hostile.$HOSTILE)" asked
no_hostiles
reap $P

# ---- waits

held_elsewhere "a FIFO as a record of --method criu"
as_user mkfifo $THEIRS/criu-$(name_of $P)
status_is "a FIFO: resume -p" 0 timeout 20 gpq resume -p $P
moves 0 "in spite of the FIFO"
status_is "a FIFO, and nothing is held: resume -p" 5 timeout 20 gpq resume -p $P
status_is "a FIFO: resume --all" 0 timeout 20 gpq resume --all
no_hostiles
reap $P

# 40 sockets that never answer, each named after a process of its own.
quiet_sockets() { # MODE N
	local i
	for i in $(seq $2); do
		sleep 1000 & SLEEPERS="$SLEEPERS $!"
		hostile $1 $THEIRS/$(name_of $!)
	done
}
SLEEPERS=
held_elsewhere "40 silent sockets"
quiet_sockets silent 40
status_is "40 silent sockets: --list within 10 s" 0 timeout 10 gpq suspend --list -r -n -o PID,STATE
like "the true one is there" "$OUT" "$P suspended"
status_is "40 silent sockets: resume -p within 10 s" 0 timeout 10 gpq resume -p $P
moves 0 "in spite of silent sockets"
no_hostiles
kill $SLEEPERS
reap $P

SLEEPERS=
held_elsewhere "sockets with a full backlog"
hostile full $THEIRS/$(name_of $P)
quiet_sockets full 4
status_is "full backlogs: --list within 10 s" 0 timeout 10 gpq suspend --list -r -n -o PID
status_is "full backlogs: resume -p within 10 s" 0 timeout 10 gpq resume -p $P
moves 0 "in spite of full backlogs"
no_hostiles
kill $SLEEPERS
reap $P

hostile lock $THEIRS
rm -f /tmp/su
as_user mkqueue -q -n 1 -k /tmp/su & W=$!
within 20 test -s /tmp/su
P=$(pidof mkqueue)
status_is "one's own folder is locked: suspend ends" 1 as_user "timeout 20 gpq suspend -p $P"
like "and says why" "$OUT" "lock the socket directory: somebody holds a lock on it"
moves 0 "nothing was suspended" /tmp/su
no_hostiles

# ---- a holder that takes nobody any more

as_user gpq suspend -p $P > /dev/null
hostile flood $THEIRS/$(name_of $P) 500
status_is "500 connections: resume" 0 as_user "timeout 60 gpq resume -p $P"
within 5 untraced $P || fail "the holder is gone" ""
moves 0 "resumed in spite of 500 connections" /tmp/su
no_hostiles

# ---- holders in other folders

as_user mkdir -m 700 -p /tmp/xdg
as_user "XDG_RUNTIME_DIR=/tmp/xdg gpq suspend -p $P" > /dev/null
like "root lists a holder with another XDG_RUNTIME_DIR" "$(gpq suspend --list -r -n -o PID,STATE,OWNER)" "$P suspended user"
status_is "root's resume --all finds it" 0 gpq resume --all
moves 0 "resumed by --all" /tmp/su
kill $P
wait $W
within 20 test ! -d $KFD/proc/$P

# ---- least privilege

target -q -n 1
gpq suspend -p $P > /dev/null
H=$(tracer $P)
within 10 locked_down || fail "a holder that holds gives up its rights" "$(cat /proc/$H/status)"
like "it has no capability but CAP_SYS_PTRACE" "$(grep Cap /proc/$H/status)" \
	"CapInh:.*0000000000000000 CapPrm:.*0000000000080000 CapEff:.*0000000000080000"
status_is "it takes requests" 0 gpq suspend -p $P --for 60
status_is "and resumes" 0 gpq resume -p $P
moves 0 "resumed by a holder that has given up its rights"
reap $P

# ---- what is left

target -q -n 1
gpq suspend -p $P > /dev/null
kill -9 $(tracer $P)
within 10 untraced $P || fail "a killed holder lets go" ""
gpq suspend --list > /dev/null
empty "the socket of a killed holder is removed" "$(ls /run/gpq)"
status_is "a deadline that cannot be armed: refused" 1 sh -c "ulimit -i 0; gpq suspend -p $P --for 60"
like "and says so" "$OUT" "deadline|timer"
moves 0 "nothing is suspended without its deadline"
within 10 no_holder || fail "and no holder is left" "$(holders)"
reap $P
unload
kernel_is_content
finish
