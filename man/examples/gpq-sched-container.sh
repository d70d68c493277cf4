#!/bin/sh
# gpq sched in a container, and a client of it: docker, or podman as root (CLI=podman). What is not dropped or hidden here
# is needed, for the reason beside it. gpq itself comes from the host; the image must have the C library that it was built for,
# and PCRE2 for regular expressions.
#
#   sh gpq-sched-container.sh sched 'container=inference' 'container=train'
#   sh gpq-sched-container.sh client IMAGE COMMAND...
set -eu
CLI=${CLI:-docker}
IMAGE=${IMAGE:-debian:12-slim}
GPQ=${GPQ:-/usr/local/bin/gpq}
# Whoever may send hints is a member of this group of the host.
GROUP=$(getent group gpq-online | cut -d: -f3)

sched() { # ONLINE OFFLINE
	# --pid=host            the processes to hold, by the host's numbers, which are those of KFD
	# --cap-add=SYS_PTRACE  to be the debugger of other users' processes; it has to count in the host's user namespace:
	#                       with --userns=host where the daemon maps users, and never rootless
	# --device /dev/kfd     suspends and resumes
	# --device /dev/dri     KFD shows only the GPUs whose render node the device cgroup allows
	# --cgroupns=host       cgroup=PATH means the host's paths; container= and pod= do without it
	# apparmor=unconfined   docker-default may trace only what it confines itself. The usual seccomp profile has all
	#                       calls: it stays. Nothing is to be said to SELinux but label=disable, for the same reason.
	# --group-add, no CHOWN a member may give the socket to its group
	# --network=none        it needs none
	exec "$CLI" run --rm --name gpq-sched --pid=host --cgroupns=host --network=none --read-only \
		--cap-drop=ALL --cap-add=SYS_PTRACE --security-opt=no-new-privileges \
		--security-opt=apparmor=unconfined --security-opt=label=disable \
		--device=/dev/kfd --device=/dev/dri --group-add="$GROUP" \
		--volume=/run/gpq-sched:/run/gpq-sched --env=XDG_RUNTIME_DIR=/run/gpq-sched \
		--volume="$GPQ:/usr/local/bin/gpq:ro" "$IMAGE" \
		gpq sched --online "$1" --offline "$2" --socket /run/gpq-sched/socket --group "$GROUP"
}

client() { # IMAGE COMMAND...
	# The socket, and the right to write to it, are all that a client needs for hints: no capability, no device. The
	# folder is bound, not the socket: gpq sched makes that anew when it starts. Its GPUs (--device) are its own matter.
	exec "$CLI" run --rm --group-add="$GROUP" --volume=/run/gpq-sched:/run/gpq-sched:ro "$@"
}

case ${1-} in
sched | client) "$@" ;;
*) sed -n 's/^#   //p' "$0" | head -n 2 >&2; exit 2 ;;
esac
