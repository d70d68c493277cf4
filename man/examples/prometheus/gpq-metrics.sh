#!/bin/sh
# Writes what gpq sees of this host as metrics into the folder of node-exporter's textfile collector.
#
#   sh gpq-metrics.sh [DIR]
#   sh gpq-metrics.sh /var/lib/prometheus/node-exporter
#
# DIR gets a file gpq_NAME.prom for each listing. Files are complete at any time: they get their name at the end. Where a listing
# fails, or there is nothing to list (no scheduler runs), its file goes, and so do its series: old values would pass for new ones.
# Run it as root, by gpq-metrics.timer. gpq-alerts.yml has rules for these metrics, gpq-dashboard.json is a dashboard of Grafana.
set -u
dir=${1:-/var/lib/prometheus/node-exporter}
umask 022 # the exporter is another user
failed=0

# 0: done; 3: some values could not be read, and have no sample; 7: a queue is stuck, which its metric says; 5: nothing is there.
listing() { # NAME ARGS...
	file=$dir/gpq_$1.prom
	shift
	status=0
	new=$(mktemp "$dir/.gpq-XXXXXX") || exit # a new file: no link that somebody else put there
	gpq "$@" --openmetrics -q >"$new" || status=$?
	case $status in
	0 | 3 | 7) chmod 644 "$new" && mv -T "$new" "$file" || failed=1 ;;
	*)
		rm -f "$new" "$file"
		[ "$status" = 5 ] || failed=1
		;;
	esac
}

listing gpus gpus
listing ps ps
listing queues queues
listing hqd hqd --summary
listing why why
listing suspend suspend --list
listing sched sched --status
exit $failed
