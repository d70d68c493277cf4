# Sourced by the host-side scripts of tests/kernel: where things are, and how to say what went wrong.
# Everything fetched or built lives under $CACHE, outside the tree, and can be deleted at any time.
# shellcheck shell=bash

set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-~/.cache}/gpq-kernel
# Where each script starts from; overridden by tests/kernel/softgpu/build when that runs.
SELF=${0##*/}

die() { # STATUS TEXT...
	local s=$1
	shift
	echo "tests/kernel/$SELF: $*" >&2
	exit "$s"
}

say() { echo "tests/kernel/$SELF: $*" >&2; }

# The programs a step needs, or one line that names the packages to install.
need() { # PROGRAM...
	local p
	for p; do
		command -v "$p" > /dev/null || die 6 "$p is not installed: run 'make deps-kernel'"
	done
}

# One process at a time may write into a folder of the cache.
locked() { # FOLDER COMMAND...
	mkdir -p "$1"
	local f=$1/.lock
	shift
	(
		flock 9
		"$@" 9>&-
	) 9> "$f"
}

# The folder of a series (6.12, 6.1, 7.3, newest), fetched if it is not there.
kdir() { # SERIES
	"$HERE/fetch" "$1"
}

# The series of a kernel's folder, e.g. 6.12.
series_of() { # KDIR
	sed -E 's/^([0-9]+\.[0-9]+).*/\1/' "$1/VERSION"
}
