# Who may suspend: the thread that traces. What other threads, processes and users can do, and whose exit resumes.
# Where two answers are allowed, the first is that of 6.12.95 and the second of 6.12.107 (fixed there).
# shellcheck shell=dash disable=SC1091,SC2034,SC2086
. /t/lib.sh
. /t/rig/rig.inc

# For dbg's sh=: TracerPid once the kernel has taken the tracing thread apart, a little after it was joined.
tracer_pid() { echo "n=0; until grep -q TracerPid:.0 /proc/$P/status || [ \$((n += 1)) -gt 2000 ]; do :; done; grep TracerPid /proc/$P/status"; }

threads() {
	target -n 1
	hold "res=0 -> 1 .*susp=0 -> 1" t:seize t:enable t:snap=$CLEAR_NEW t:susp=0 susp=0 t:exit \
		sh="$(tracer_pid)" susp=0 seize res=0 susp=0
	held "the tracing thread suspends" "seize -> 0 .*enable -> 0 .*susp=0 -> 1 "
	held "another thread of the debugger may not" "susp=0 -> 1 .*susp=0 -> (-1 EPERM|1) "
	held "the thread's end is the end of the tracing" "TracerPid:.0 .*susp=0 -> (-1 EPERM|1) "
	held "a new seize gives control back, without ENABLE" "seize -> 0 .*seize -> 0 .*res=0 -> 1 .*susp=0 -> 1"
	still 0 "held by the second seize"
	kill_debugger
	moves 0 "the debugger was killed"
	reap $P
}

tracer_thread_ends() {
	target -n 1
	hold "TracerPid:.0" t:seize t:enable t:snap=$CLEAR_NEW t:susp=0 t:exit sh="$(tracer_pid)"
	still 0 "the tracing thread has ended, its process lives"
	kill_debugger
	moves 0 "the process has ended, too"
	reap $P
}

second_debugger() {
	target -n 1
	hold_queues 0
	calls "a second debugger of the same target gets EPERM" "seize -> -1 EPERM .*enable -> -1 EPERM .*snap -> -1 EPERM" \
		seize enable snap
	STATUS=/tmp/s.second
	P1=$P
	target -n 1
	calls "another target has its own debugger" "enable -> 0 .*runtime_state 1 .*susp=0 -> 1 .*res=0 -> 1" \
		seize enable snap=$CLEAR_NEW susp=0 res=0
	moves 0 "the other target"
	STATUS=/tmp/s
	still 0 "the first target"
	kill_debugger
	reap $P $P1
}

# The queues belong to the process that did ENABLE, not to the one that traces.
handover() {
	target -n 1
	hold "detach -> 0" seize enable snap=$CLEAR_NEW susp=0 detach
	still 0 "its debugger detached and lives"
	calls "a second tracer needs no ENABLE" "res=0 -> 1 .*susp=0 -> 1" seize res=0 susp=0
	still 0 "the second tracer has gone, the first session lives"
	kill_debugger
	moves 0 "the process that did ENABLE has ended"
	reap $P
}

# A kernel bug: ENABLE by a second tracer fails and yet makes it the owner. Then nobody's exit resumes, and once the
# new owner is gone DISABLE writes into freed memory; so it says DISABLE while it lives.
stolen() {
	local first
	target -n 1
	hold "detach -> 0" seize enable snap=$CLEAR_NEW susp=0 detach
	first=$W
	hold "enable -> " seize enable sh="until [ -e /tmp/go ]; do usleep 20000; done" disable
	held "ENABLE of a process that is debugged already" "enable -> -1 EALREADY"
	kill -9 $first
	wait $first 2> /dev/null
	still 0 "the process that did ENABLE has ended, robbed of its session"
	: > /tmp/go
	held "the robber can end it" "disable -> 0"
	rm /tmp/go
	moves 0 "after DISABLE"
	kill_debugger
	reap $P
}

other_user() {
	chmod 666 /dev/kfd /dev/dri/*
	target -n 1
	calls "another user may not seize, enable, suspend" "seize -> -1 EPERM .*enable -> -1 EPERM .*susp=0 -> -1 EPERM" \
		uid=1000 seize enable susp=0
	hold_queues 0
	calls "another user's DISABLE" "disable -> (0|-1 EPERM)" uid=1000 disable
	kill_debugger
	moves 0 "the debugger was killed"
	reap $P
}

# Before gfx90a a GPU has one VMID for debugging. It is taken on every GPU of the machine, used by the target or not.
one_debug_vmid() { # FIRST-MODELS
	load $1 || return
	target -n 1
	P1=$P
	hold_queues 0
	STATUS=/tmp/s.second
	target -n 1
	calls "a second target's session is BUSY and suspends nothing" "enable -> 0 .*runtime_state 2 .*susp=0 -> -1 EPERM" \
		seize enable snap=$CLEAR_NEW susp=0 disable
	kill_debugger
	calls "when the first session has ended" "enable -> 0 .*runtime_state 1 .*susp=0 -> 1" \
		seize enable snap=$CLEAR_NEW susp=0
	STATUS=/tmp/s
	reap $P $P1
	unload
}

load gfx942
threads
tracer_thread_ends
second_debugger
handover
stolen
other_user
unload
one_debug_vmid gfx906
one_debug_vmid gfx942,gfx906
kernel_is_content
finish
