// libFuzzer target: the texts of /proc/PID that other users can influence (common/host/proc.c,
// container.c, redact.c), and names that stand for pids.
//
// The input is status, stat, cgroup, a name and docker's record of a container, a zero byte between
// them. Beside not crashing: numbers lie in their ranges, nothing but the names changes by
// redaction, no id of a container outlives it, a process whose name is any of these texts is still
// read right, and the container's name is the one that the reader of JSON finds.
#include "common/out/jsonin.h"
#include "common/holder/rundir.h"
#include "common/host/container.h"
#include "common/host/proc.h"
#include "common/host/redact.h"
#include "common/kfd/topology.h"
#include "tests/fuzz/require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STATUS, STAT, CGROUP, NAME, DOCKER, TEXTS, ID_DIGITS = 64 };

static void check_proc(const struct proc *p)
{
	require(p->ppid >= 0 && p->ns_pid >= 0 && p->tracer >= -1);
	require(p->uid <= UINT32_MAX || p->uid == UINT64_MAX);
	require(memchr(p->comm, '\0', sizeof(p->comm)) && !strchr(p->comm, '\n'));
}

static void check_same(const struct proc *p, const struct proc *q)
{
	require(p->pid == q->pid && p->ppid == q->ppid && p->ns_pid == q->ns_pid);
	require(p->depth == q->depth && p->uid == q->uid && p->tracer == q->tracer);
	require(p->memory == q->memory && p->state == q->state);
}

static void fill(struct buf *b, const char *text)
{
	b->len = 0;
	buf_puts(b, text);
}

// A process that is named like `name`, as the kernel escapes it here.
static void check_named_status(struct buf *b, const char *name)
{
	static const struct proc want = {.pid = 7,
					 .ppid = 5,
					 .ns_pid = 3,
					 .depth = 1,
					 .uid = 1000,
					 .tracer = 4711,
					 .memory = true,
					 .state = 'S'};
	struct proc p;
	fill(b, "Name:\t");
	for (const char *s = name; *s; s++)
		if (*s == '\n' || *s == '\\')
			buf_puts(b, *s == '\n' ? "\\n" : "\\\\");
		else
			buf_append(b, s, 1);
	buf_puts(b, "\nState:\tS (sleeping)\nPPid:\t5\nTracerPid:\t4711\n"
		    "Uid:\t0\t1000\t0\t0\nNSpid:\t7\t3\nVmSize:\t  8 kB\n");
	proc_parse(&p, 7, b->data);
	check_same(&p, &want);
}

static void check_status(struct redact *r, struct buf *b, const char *text)
{
	struct proc p, q;
	proc_parse(&p, 7, text);
	check_proc(&p);
	fill(b, text);
	redact_status(r, b);
	require(b->len == strlen(b->data));
	proc_parse(&q, 7, b->data);
	check_same(&p, &q);
	check_named_status(b, text);
}

static void check_stat(struct redact *r, struct buf *b, const char *text)
{
	uint64_t ticks, again;
	bool found = proc_stat_number(text, 22, &ticks);
	fill(b, text);
	redact_stat(r, b);
	require(proc_stat_number(b->data, 22, &again) == found && again == ticks);
	b->len = 0;
	buf_printf(b, "7 (%s) S 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n", text);
	require(proc_stat_number(b->data, 22, &ticks) && ticks == 4711);
}

static void check_cgroup(struct redact *r, struct buf *b, const char *text)
{
	static const char *const runtimes[] = {"",           "docker", "podman", "containerd",
					       "kubernetes", "cri-o",  "lxc",    "nspawn"};
	struct container c, again;
	bool found = container_parse(&c, text), known = false;

	require(found == (*c.id != '\0') && memchr(c.id, '\0', sizeof(c.id)));
	require(strstr(text, c.id) != NULL && !strpbrk(c.id, "\n/"));
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		known |= strcmp(c.runtime, runtimes[i]) == 0;
	require(known);
	fill(b, text);
	redact_cgroup(r, b);
	container_parse(&again, b->data);
	// A pseudonym begins with its number.
	require(strlen(c.id) != ID_DIGITS || strncmp(c.id, "00000", 5) == 0 ||
		strcmp(c.id, again.id) != 0);
}

// What is read as a number is written as that name and no other.
static void check_name(const char *name)
{
	char again[64];
	uint32_t id = 0;
	uint64_t start;
	pid_t pid, kfd_pid;
	if (proc_parse_pid(name, &pid)) {
		snprintf(again, sizeof(again), "%d", (int)pid);
		require(pid > 0 && strcmp(again, name) == 0);
		require(kfd_parse_id(name, &id) && id == (uint32_t)pid);
	} else if (kfd_parse_id(name, &id)) {
		require(id == 0 && strcmp(name, "0") == 0);
	}
	if (kfd_socket_parse(name, &kfd_pid, &start)) {
		kfd_socket_name(again, kfd_pid, start);
		require(kfd_pid > 0 && strcmp(again, name) == 0);
	}
}

// Docker writes no blanks.
static void check_docker(const char *text)
{
	struct jsonin j;
	struct jsonin_value key, v = {0};
	char name[64], want[64] = "";
	bool found = container_parse_docker(text, name, sizeof(name)), named = false;
	require(!found || memchr(name, '\0', sizeof(name)));
	if (strpbrk(text, " \t\r\n") || !jsonin_open(&j, text, strlen(text), '{'))
		return;
	while (!named && jsonin_next(&j, &key, &v))
		named = jsonin_is(&key, "Name");
	if (named && v.kind == '"') {
		const char *s = v.text + 1 + (v.text[1] == '/');
		snprintf(want, sizeof(want), "%.*s", (int)strcspn(s, "\""), s);
	}
	require(named && v.kind == '[' ? true : found == (*want != '\0'));
	require(!*want || strcmp(name, want) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text[TEXTS];
	struct redact *r = redact_new();
	struct buf b = {0};
	for (unsigned i = 0; i < TEXTS; i++) {
		size_t len = size ? strnlen((const char *)data, size) : 0;
		text[i] = calloc(1, len + 1);
		require(text[i] != NULL);
		if (len)
			memcpy(text[i], data, len);
		data += len + (len < size);
		size -= len + (len < size);
	}
	check_status(r, &b, text[STATUS]);
	check_stat(r, &b, text[STAT]);
	check_cgroup(r, &b, text[CGROUP]);
	check_name(text[NAME]);
	check_docker(text[DOCKER]);
	for (unsigned i = 0; i < TEXTS; i++)
		free(text[i]);
	buf_fini(&b);
	redact_free(r);
	return 0;
}
