# gpq core and real HIP programs: AMD's own library opens the file by itself, and lists the waves that it lists of the process; and
# the program goes on.
# shellcheck shell=dash disable=SC1091,SC2086
. /t/lib.sh
. /t/hip/hip.inc

load_hip

opens() { # FORM
	rm -f /tmp/core
	status_is "debug $debug: a core $1" 0 gpq core $1 --max-hold 10s -p $P -rno QUEUES,LEFT_OUT,SIZE /tmp/core
	note "debug $debug: queues, left out, bytes $1: $OUT"
	# Before 6.0 the GPU itself copies code to its place, which the software one does not.
	[ $SUITE != sid ] || is "debug $debug: gpq why --core $1: the kernel's name" "$(gpq why --core /tmp/core -rno FUNCTION --filter "WAVES > 0" 2> /tmp/why.err | sort -u)" \
		"$([ "$1" = --light ] && echo - || echo vector_add)"
	# Before 6.0 the library opens no cores.
	has_judge && [ $SUITE = sid ] || { skip "debug $debug: the judge $1" "AMD's debugger library cannot be had, or is too old" && return; }
	judged_waves /tmp/core > /tmp/saved
	judged_waves $P > /tmp/living
	[ "$1" != --light ] || sed -i 's/ at [^ ]* / /' /tmp/saved /tmp/living # it has no code, so no instruction
	ok "debug $debug: waves are seen $1" test -s /tmp/saved
	is "debug $debug: the library lists the same of the process $1" "$(cat /tmp/saved)" "$(cat /tmp/living)"
}

for debug in 0 1; do
	export HSA_ENABLE_DEBUG=$debug
	hip_start d$debug -s 1 -n 100 -k vector_add -u 50000 -y 1 -H 300
	within 60 launched
	object > $PARAMS/hang_object
	ok "debug $debug: the kernel hangs" within 60 hangs
	opens --light
	opens
	[ $debug = 0 ] || opens --full
	echo 0 > $PARAMS/hang_object
	hip_done d$debug
	hip_end d$debug
done
unload
kernel_is_content
finish
