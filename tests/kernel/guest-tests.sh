# Runs in the VM: the test scripts named as arguments, one after the other, marked so that the host can tell them apart.
# shellcheck shell=dash disable=SC1091
. /t/lib.sh
for t; do
	echo "# script $t"
	echo "script $t" > /dev/kmsg
	rm -rf /tmp/* # a result of the script before this one would be taken for its own
	began=$(uptime_ms)
	(cd /root && timeout "${SCRIPT_SECONDS:-600}" sh "/t/$t")
	echo "# end $t $?"
	echo "# $t: $((($(uptime_ms) - began) / 1000)) s, $(awk '/^processes/ { print $2 }' /proc/stat) processes so far"
	# What a script leaves behind must not decide over the next one.
	killall -q -9 mkqueue dbg gpq gpq-testing hipq blasq strace
	[ ! -e /sys/module/amdgpu/parameters/gpus ] || within 10 rmmod amdgpu
done
exit 0 # what failed is in the output
