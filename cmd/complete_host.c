// Candidates that the host knows: processes of KFD, their containers and queues, GPUs.
#include "cmd/complete.h"

#include "common/cli/text.h"
#include "common/reader/process_cache.h"
#include "common/host/root.h"
#include "common/kfd/names.h"
#include "common/kfd/procs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Other users choose the names of processes and containers: names with characters that are special
// to a shell or a terminal are not offered.
static bool is_tame(const char *word)
{
	return *word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					   "0123456789._:/@-")];
}

static void offer_escaped(const struct typed *t, const char *word, const char *help)
{
	struct buf b = {0};
	text_escape(&b, help, strlen(help));
	buf_append(&b, "", 1);
	offer(t, word, b.data);
	buf_fini(&b);
}

typedef void each_process(const struct typed *t, const struct process_info *p);

// Calls `each` for every process with KFD open, after reading what `each` needs.
static void for_processes(const struct typed *t, unsigned want, each_process *each)
{
	struct process_cache cache = {0};
	DIR *dir = host_opendir("/sys/class/kfd/kfd/proc");
	pid_t pid;
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (proc_parse_pid(e->d_name, &pid))
			each(t, process_cache_get(&cache, pid, want));
	if (dir)
		closedir(dir);
	process_cache_fini(&cache);
}

static void offer_pid(const struct typed *t, const struct process_info *p)
{
	char word[16];
	snprintf(word, sizeof(word), "%d", (int)p->pid);
	offer_escaped(t, word, *p->proc.comm ? p->proc.comm : "process with KFD open");
}

void offer_pids(struct typed *t)
{
	skip_list(t);
	for_processes(t, PROCESS_STATUS, offer_pid);
}

// --comm takes a regular expression, in which a dot stands for any letter.
static void offer_command(const struct typed *t, const struct process_info *p)
{
	char word[sizeof(p->proc.comm)], help[32];
	snprintf(word, sizeof(word), "%s", p->proc.comm);
	for (char *c = word; *c; c++)
		if (!is_tame((char[]){*c, 0}) && (unsigned char)*c < 0x80)
			*c = '.';
	snprintf(help, sizeof(help), "process %d", (int)p->pid);
	if (is_tame(word))
		offer(t, word, help);
}

void offer_commands(struct typed *t)
{
	for_processes(t, PROCESS_STATUS, offer_command);
}

static void offer_container(const struct typed *t, const struct process_info *p)
{
	char name[128], help[160];
	const struct container *c = &p->container;
	if (!*c->id)
		return;
	bool named = container_name(c, name, sizeof(name));
	snprintf(help, sizeof(help), "%s, process %d", *c->runtime ? c->runtime : "container",
		 (int)p->pid);
	if (is_tame(p->short_id))
		offer_escaped(t, p->short_id, named ? name : help);
	if (named && is_tame(name) && strcmp(name, p->short_id) != 0)
		offer_escaped(t, name, help);
}

void offer_containers(struct typed *t)
{
	skip_list(t);
	for_processes(t, PROCESS_CONTAINER, offer_container);
}

static bool is_typed(const void *arg, pid_t pid)
{
	const struct pids *typed = arg;
	return !typed->n || pids_has(typed, pid);
}

void offer_queues(struct typed *t)
{
	char bad[32], word[16], help[48];
	struct pids pids = {0};
	struct kfd_procs p = {0};
	struct kfd_procs_how how = {.want = KFD_WANT_TYPE, .keep = is_typed, .arg = &pids};
	skip_list(t);
	if (t->pids)
		pids_add(&pids, t->pids, bad);
	if (kfd_procs_read(&p, &how) == 0) {
		for (size_t i = 0; i < p.nqueues; i++) {
			const char *type = kfd_queue_type_name(p.queues[i].type);
			snprintf(word, sizeof(word), "%" PRIu32, p.queues[i].qid);
			snprintf(help, sizeof(help), "%s, process %d", type ? type : "queue",
				 (int)p.procs[p.queues[i].proc].pid);
			offer(t, word, help);
		}
	}
	kfd_procs_fini(&p);
	free(pids.v);
}

void offer_gpus(struct typed *t)
{
	char word[24], name[160];
	struct kfd_topology topology;
	skip_list(t);
	if (kfd_topology_load(&topology, KFD_TOPOLOGY_BDF))
		return;
	struct pci_names *names = pci_names_new();
	for (size_t i = 0; i < topology.n; i++) {
		const struct kfd_gpu *g = &topology.gpus[i];
		*name = 0;
		if (names)
			pci_names_lookup(names, g->vendor_id, g->device_id, name, sizeof(name));
		if (g->index == KFD_UNKNOWN)
			continue;
		snprintf(word, sizeof(word), "%" PRIu64, g->index);
		offer_escaped(t, word, *name ? name : g->gfx);
		snprintf(word, sizeof(word), "%" PRIu64, g->gpu_id);
		offer_escaped(t, word, *name ? name : g->gfx);
		offer_escaped(t, g->bdf, *name ? name : g->gfx);
	}
	pci_names_free(names);
	kfd_topology_fini(&topology);
}
