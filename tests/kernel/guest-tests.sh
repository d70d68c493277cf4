# Runs in the VM: the test scripts named as arguments, one after the other, marked so that the host can tell them apart.
# shellcheck shell=dash disable=SC1091
. /t/lib.sh

# What both programs execute is marked in maps of 8 MiB, which go to the host as SCRIPT.PROGRAM (tests/mutate/probe.h).
empty_maps() {
	mkdir -p "$GPQ_PROBE"
	for p in gpq gpq-testing; do
		: > "$GPQ_PROBE/$p"
		dd if=/dev/null of="$GPQ_PROBE/$p" bs=8388608 seek=1 2> /dev/null
		chmod 666 "$GPQ_PROBE/$p"
	done
}
keep_maps() { # SCRIPT
	for p in gpq gpq-testing; do gzip -c "$GPQ_PROBE/$p" > "/host/${1##*/}.$p.gz"; done
}

for t; do
	[ -z "$GPQ_PROBE" ] || empty_maps
	echo "# script $t"
	echo "script $t" > /dev/kmsg
	rm -rf /tmp/* # a result of the script before this one would be taken for its own
	began=$(uptime_ms)
	# A session of its own: what signals its own group ends no other script.
	(cd /root && timeout "${SCRIPT_SECONDS:-600}" setsid sh "/t/$t")
	status=$?
	echo "# end $t $status"
	echo "# $t: $((($(uptime_ms) - began) / 1000)) s, $(awk '/^processes/ { print $2 }' /proc/stat) processes so far"
	# What a script leaves behind must not decide over the next one.
	killall -q -9 mkqueue dbg gpq gpq-testing hipq blasq strace
	[ -z "$GPQ_PROBE" ] || keep_maps "$t"
	[ ! -e /sys/module/amdgpu/parameters/gpus ] || within 10 rmmod amdgpu
	[ -z "$STOP" ] || [ "$status" -eq 0 ] || break
done
exit 0 # what failed is in the output
