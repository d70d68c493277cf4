/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The options of mkqueue, as a table: a row is parsed, explained by --help and stored in `opt`.
 */
#pragma once

#include <getopt.h>
#include "kfduser.h"

static struct {
	int queues, gpus, skip, seconds;
	bool few, thread, sdma, pm4, user_memory, vram_rings, no_runtime, end_runtime, traceable;
	bool quiet;
	uint64_t rate, backlog, packets, ring, grid, burst;
	const char *progress, *priorities, *signals, *log, *release, *trigger;
	int pause_ms, requests, churn_ms;
	int wait_ms, late_ms, destroy_ms, fork_ms, exec_ms, stop_ms, finish_ms, exit_ms, drain_ms;
} opt = {.queues = 1,
	 .gpus = 1,
	 .seconds = 3600,
	 .ring = 65536,
	 .priorities = "7",
	 .release = "6.4"};

enum type { FLAG, INTEGER, COUNT, TEXT };

static const struct option_row {
	const char *name;
	char key; /* 0: only the long form */
	enum type type;
	void *value;
	const char *argument, *help;
} rows[] = {
	{"queues", 'n', INTEGER, &opt.queues, "N", "compute queues per GPU (1)"},
	{"gpus", 'G', INTEGER, &opt.gpus, "N", "use the first N GPUs (1)"},
	{"skip", 0, INTEGER, &opt.skip, "N", "... but leave out N of them first (0)"},
	{"few", 0, FLAG, &opt.few, NULL, "open no GPUs but these"},
	{"thread", 0, FLAG, &opt.thread, NULL, "a second thread, which only sleeps"},
	{"sdma", 's', FLAG, &opt.sdma, NULL, "one SDMA queue per GPU, too"},
	{"pm4", 'P', FLAG, &opt.pm4, NULL, "PM4 instead of AQL queues"},
	{"ring", 'r', COUNT, &opt.ring, "BYTES", "ring size, a power of two (65536)"},
	{"priority", 'p', TEXT, &opt.priorities, "LIST", "KFD priorities 0..15, taken in turn (7)"},
	{"user-memory", 'u', FLAG, &opt.user_memory, NULL, "user memory instead of GTT"},
	{"vram-rings", 'V', FLAG, &opt.vram_rings, NULL, "rings in the GPU's memory"},
	{"rate", 'R', COUNT, &opt.rate, "N", "packets a second per queue (as fast as the GPU)"},
	{"backlog", 'b', COUNT, &opt.backlog, "N", "packets kept waiting, at most (the ring full)"},
	{"packets", 'c', COUNT, &opt.packets, "N", "end when N packets per queue are done"},
	{"grid", 'g', COUNT, &opt.grid, "ITEMS", "packets are dispatches of so many work-items"},
	{"burst", 'B', COUNT, &opt.burst, "N",
	 "requests of N packets per queue, one when the last is done; each is told"},
	{"requests", 0, INTEGER, &opt.requests, "N", "end after N requests"},
	{"pause", 0, INTEGER, &opt.pause_ms, "MS", "between two requests (0)"},
	{"seconds", 't', INTEGER, &opt.seconds, "N", "end after N seconds (3600)"},
	{"progress", 'k', TEXT, &opt.progress, "FILE",
	 "lines \"queue rptr wptr\", rewritten always"},
	{"no-runtime", 'x', FLAG, &opt.no_runtime, NULL, "do not RUNTIME_ENABLE"},
	{"wait", 'W', INTEGER, &opt.wait_ms, "MS", "wait before RUNTIME_ENABLE"},
	{"end-runtime", 'E', FLAG, &opt.end_runtime, NULL,
	 "disable the runtime at the end, as hsa_shut_down"},
	{"late", 'l', INTEGER, &opt.late_ms, "MS", "create one more queue after MS"},
	{"destroy", 'd', INTEGER, &opt.destroy_ms, "MS", "destroy the first queue after MS"},
	{"churn", 0, INTEGER, &opt.churn_ms, "MS", "destroy the last queue and create it anew, every MS"},
	{"fork", 0, INTEGER, &opt.fork_ms, "MS", "fork a child after MS, which only sleeps"},
	{"exec", 0, INTEGER, &opt.exec_ms, "MS", "exec oneself after MS, and begin anew"},
	{"stop", 0, INTEGER, &opt.stop_ms, "MS", "SIGSTOP oneself after MS"},
	{"finish", 0, INTEGER, &opt.finish_ms, "MS", "end in good order after MS"},
	{"drain", 0, INTEGER, &opt.drain_ms, "MS", "no new packets after MS, and end without any"},
	{"exit", 0, INTEGER, &opt.exit_ms, "MS", "_exit(3) after MS, without any cleaning up"},
	{"trigger", 0, TEXT, &opt.trigger, "FILE", "all these MS count from when FILE is there"},
	{"signals", 0, TEXT, &opt.signals, "FILE", "count SIGRTMIN by value, and SIGUSR1, there"},
	{"log", 'L', TEXT, &opt.log, "FILE", "write a HIP log of level 4 ('-': standard error)"},
	{"log-release", 0, TEXT, &opt.release, "R", "its shape: 5.7, 6.2, 6.4 or 7.0 (6.4)"},
	{"traceable", 0, FLAG, &opt.traceable, NULL, "also where kernel.yama.ptrace_scope is 1"},
	{"quiet", 'q', FLAG, &opt.quiet, NULL, "do not tell about the queues"},
};
#define N_ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static void usage(void)
{
	char left[40];
	printf("usage: mkqueue [options]\nCreate KFD queues, keep them busy, misbehave on "
	       "demand.\n\n");
	for (int i = 0; i < N_ROWS; i++) {
		snprintf(left, sizeof(left), "%c%c %s--%s%s%s", rows[i].key ? '-' : ' ',
			 rows[i].key ? rows[i].key : ' ', rows[i].key ? "" : " ", rows[i].name,
			 rows[i].argument ? " " : "", rows[i].argument ? rows[i].argument : "");
		printf("  %-26s %s\n", left, rows[i].help);
	}
	printf("  %-26s %s\n", "-h --help", "this");
}

static void set_option(const struct option_row *row, const char *text)
{
	unsigned long long value = 1;
	char *end = NULL;
	if (row->type == TEXT) {
		*(const char **)row->value = text;
		return;
	}
	if (row->type != FLAG)
		value = strtoull(text, &end, 0);
	if (end && (end == text || *end || *text == '-')) {
		fprintf(stderr, "mkqueue: --%s: not a number: %s\n", row->name, text);
		exit(2);
	}
	if (row->type == FLAG)
		*(bool *)row->value = true;
	else if (row->type == COUNT)
		*(uint64_t *)row->value = value;
	else
		*(int *)row->value = (int)value;
}

static void parse(int argc, char **argv)
{
	struct option longs[N_ROWS + 2] = {0};
	char shorts[2 * N_ROWS + 2] = "h", *s = shorts + 1;
	int found;
	for (int i = 0; i < N_ROWS; i++) {
		longs[i] = (struct option){rows[i].name, rows[i].argument != NULL, NULL, 256 + i};
		if (rows[i].key)
			*s++ = rows[i].key;
		if (rows[i].key && rows[i].argument)
			*s++ = ':';
	}
	longs[N_ROWS] = (struct option){"help", 0, NULL, 'h'};
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (found == 'h') {
			usage();
			exit(0);
		}
		for (int i = 0; i < N_ROWS; i++)
			if (found == 256 + i || (rows[i].key && found == rows[i].key))
				set_option(&rows[i], optarg);
		if (found == '?')
			exit(2);
	}
	if (optind < argc) {
		fprintf(stderr, "mkqueue: what is %s?  See mkqueue --help\n", argv[optind]);
		exit(2);
	}
}

static uint32_t next_priority(void)
{
	static const char *at;
	char *end;
	unsigned long value;
	if (!at || !*at)
		at = opt.priorities;
	value = strtoul(at, &end, 0);
	if (end == at || value > 15) {
		fprintf(stderr, "mkqueue: --priority: %s: want numbers from 0 to 15\n", at);
		exit(2);
	}
	at = *end == ',' ? end + 1 : end;
	return (uint32_t)value;
}
