# gpq suspend and resume on a real HIP program that goes on launching [kernel.hip-held], and next to strace and gdb
# [kernel.tracers].
# shellcheck shell=dash disable=SC1091,SC2012,SC2086
. /t/lib.sh
. /t/hip/hip.inc

# The GPU's own count of completed packets, which no tool can make up.
stands() { # WHEN
	local n end
	usleep 300000
	n=$(dispatches)
	end=$(($(uptime_ms) + 2000))
	while [ "$(uptime_ms)" -lt $end ]; do usleep 100000; done
	is "no dispatch is completed in 2 s ($1)" "$(dispatches)" $n
}

goes_on() { # WHEN
	local n
	n=$(dispatches)
	ok "dispatches are completed ($1)" within 20 more_than $n
}

untraced() { grep -q '^TracerPid:[^0-9]*0$' /proc/$P/status; }

load_hip
hip_start s -s 4 -P -n 100000000 -u 500 -k k
goes_on "no tool"
status_is "suspend" 0 gpq suspend -p $P
stands suspended
ok "the program lives" kill -0 $P
like "strace cannot attach meanwhile" "$(timeout 5 strace -p $P 2>&1)" 'Operation not permitted'
status_is "resume" 0 gpq resume -p $P
goes_on resumed
within 20 untraced || fail "it is untraced after resume" "$(grep Tracer /proc/$P/status)"

# Off while a command runs, back whatever becomes of it.
OUT=$(gpq suspend -p $P -- sh -c 'sleep 1; exit 7' 2>&1)
is "suspend -- COMMAND gives the command's status" $? 7
goes_on "after the command"

timeout 60 strace -f -o /dev/null -p $P &
S=$!
within 30 sh -c "! grep -q '^TracerPid:[^0-9]*0\$' /proc/$P/status"
gpq suspend -p $P > /tmp/out 2>&1
is "a process under strace: not permitted" $? 4
is "one line says why" "$(wc -l < /tmp/out)" 1
kill $S
wait $S
within 20 untraced
goes_on "strace has gone"
status_is "then it can be suspended" 0 gpq suspend -p $P
killall -9 gpq-holder 2> /dev/null || pkill -9 gpq-holder
goes_on "its holder was killed"
within 20 untraced
like "gdb can attach afterwards" "$(timeout 100 gdb -q -batch -nx -ex 'info threads' -p $P 2>&1)" 'Thread|LWP|process'
goes_on "gdb has gone"
reap $P
unload
kernel_is_content
finish
