#!/bin/bash
# gpq on a real Dask: a scheduler, two workers that read ranges of one log, and one of them killed meanwhile. The sum has the bytes of
# one gpq trace, and tasks that ran twice count once.
# shellcheck source=tests/cli/tap.inc
. "$(dirname "$0")/../cli/tap.inc"
if [ -z "${CLUSTER_INSIDE-}" ]; then
	[ "$(id -u)" = 0 ] || skip_all "a network of its own needs root"
	{ /usr/bin/python3 -c 'import distributed' && command -v dask-worker; } >/dev/null 2>&1 || skip_all "no Dask: make deps-cluster"
	unshare -n -p -f --mount-proc true 2>/dev/null || skip_all "no namespaces here"
	CLUSTER_INSIDE=1 unshare -n -p -f --kill-child --mount-proc "$(realpath "$0")"
	exit
fi
ip link set lo up
cd "$work" || exit
unset SLURM_PROCID OMPI_COMM_WORLD_RANK PMI_RANK RANK
gen-amdlog --release 7.0 --level 4 --lines 60000 >run.log 2>truth
gpq trace run.log >whole 2>/dev/null
counts() { gpq merge -qJ --partial-ok "$@" | jq -c '.totals | [.records, .dispatches]'; }
want=$(jq -c '[.records, .dispatches]' truth)
dask-scheduler --host 127.0.0.1 --port 8786 --no-dashboard --scheduler-file "$work/scheduler" >scheduler.log 2>&1 &
for w in 1 2; do
	dask-worker --scheduler-file "$work/scheduler" --nthreads 1 --no-nanny --no-dashboard --name w$w --local-directory "$work/w$w" >w$w.log 2>&1 &
done
digest() { # FOLDER [kill]
	mkdir "$1"
	/usr/bin/python3 "$top/tests/cluster/digest.py" "$work/scheduler" "$work/run.log" $(($(stat -c %s run.log) / 60)) "$work/$1" "${@:2}" 2>digest.log ||
		cat digest.log scheduler.log
}
digest whole_run >parts
gpq merge --expect "$(wc -l <parts)" parts >got 2>err
is "every range has a part" "$?" 0
same "the bytes of one machine" got whole
is "as the generator counted" "$(counts parts)" "$want"
digest killed kill >parts
gpq merge parts >got 2>/dev/null
same "a worker was killed: the same bytes" got whole
# One that was killed while it wrote leaves a part that is cut.
is "so are those that all tasks left, also twice" "$(counts killed/*)" "$want"
is "with those of the first run" "$(counts killed/* whole_run/*)" "$want"
rig is "a worker was killed" "$(jobs -r | wc -l)" 2
finish
