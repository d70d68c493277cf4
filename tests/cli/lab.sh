#!/bin/bash
# make lab, check-kernel: what is asked for wrongly, and an archive that cannot be reached, is said in one line, at once.
# Nothing is fetched or booted here.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/tap.inc"
rig_only
export XDG_CACHE_HOME=$work/cache GPQ_DEB_MIRROR=http://127.0.0.1:9/debian GPQ=$bin/gpq
kernel=$top/tests/kernel
run() { # its messages and its status
	env "$@" 2>&1 </dev/null
	echo "status $?"
}
names=$(sed -nE 's/^\| (`gfx.*`) \|.*/\1/p' "$kernel/softgpu/README.md" | tr -d '`,' | xargs)
# The names are those of the table in softgpu/README.md, in whatever order.
is "a model that there is not" "$(run GPUS=gfx942,gfx1 CMD=true "$kernel/lab" | sed 's/are .*/are/')" \
	$'tests/kernel/lab: GPUS: no model gfx1; there are\nstatus 2'
is "the models that there are" "$(run GPUS=x CMD=true "$kernel/lab" | sed -n 's/.*there are //p' | xargs -n 1 | sort)" "$(xargs -n 1 <<<"$names" | sort)"
is "a shell without a terminal" "$(run "$kernel/lab")" \
	$'tests/kernel/lab: standard input is no terminal: say what to run with CMD=\'...\'\nstatus 2'
is "files that are not there" "$(run ROOT="$work/none" CMD=true "$kernel/lab")" "tests/kernel/lab: ROOT: no folder $work/none"$'\nstatus 5'
is "a script that there is not" "$(run "$kernel/check" gpq/queues.sh gpq/nope.sh)" \
	$'tests/kernel/check: no script gpq/nope.sh; name them as in tests/kernel, e.g. gpq/queues.sh\nstatus 2'
empty "nothing was begun" "$(ls "$work")"
if command -v apt-get dpkg xz >/dev/null && [ -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
	for c in lab check; do
		out=$(run CMD=true timeout 60 "$kernel/$c")
		is "$c: no archive" "${out%%: E:*} ${out##*$'\n'}" "tests/kernel/fetch: the package archive cannot be reached ($GPQ_DEB_MIRROR) status 1"
		is "$c: in one line" "$(wc -l <<<"$out")" 2
	done
else
	pass "no archive # skip no apt-get"
fi
finish
