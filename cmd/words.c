// Words that people use for what gpq does, from other programs and from the driver, and which
// commands do it. Unknown commands, `gpq help WORD` and completion use this one table.
#include "cmd/command.h"

static const struct {
	const char *words; // separated by blanks
	const char *leads; // what to type, and what it does
} rows[] = {
	{"status state", "gpq queues lists queues, gpq suspend --list what is held"},
	{"processes process pids pid proc showpids showpidgpus compute-apps pmon",
	 "gpq ps lists processes, gpq queues -p PID the queues of one"},
	{"list ls get show find search query",
	 "gpq ps lists processes, gpq queues queues, gpq gpus GPUs; --filter finds rows"},
	{"describe explain debug stuck hung deadlock",
	 "gpq why tells on what each queue waits, gpq hang keeps the evidence"},
	{"top monitor dmon live", "gpq ps --watch 1 repeats the list, gpq events shows changes"},
	{"watch wait event follow",
	 "gpq events shows what happens, gpq queues --wait 1 waits, --watch 1 repeats any list"},
	{"count counts number total",
	 "gpq ps --count counts processes, gpq queues --count queues, gpq hqd --summary slots"},
	{"map mapped", "gpq hqd --runlist shows what is mapped, gpq resume maps queues again"},
	{"unmap evict dequeue preempt preemption",
	 "gpq suspend unmaps queues, gpq bench preempt measures how long that takes"},
	{"pause stop halt freeze hold drain cordon",
	 "gpq suspend takes queues off the GPU, gpq resume puts them back"},
	{"unpause unsuspend continue start restore release thaw uncordon",
	 "gpq resume puts suspended queues back"},
	{"kill delete terminate",
	 "gpq suspend -p PID takes queues off the GPU, and ends no process"},
	{"mqd mqds", "gpq hqd --mqd shows MQDs, gpq queues --mqds FILE a copy of them"},
	{"hqds slots slot occupancy", "gpq hqd shows slots, gpq hqd --summary how many are used"},
	{"kcq kcqs num_kcq num_cp_queues cp_queues oversubscription",
	 "gpq gpus --check tells what num_kcq leaves, gpq hqd --summary how many slots are used"},
	{"runlist rls mapping", "gpq hqd --runlist shows what the scheduler was told to run"},
	{"registers regs reg register", "gpq hqd --regs shows all registers of slots"},
	{"rings ring packet pm4 aql", "gpq packets shows the packets in rings"},
	{"waves wave wavefronts pc stacks stack threads",
	 "gpq why --waves shows where kernels stand, gpq why --stacks where threads sleep"},
	{"doorbell doorbells pasid vmid", "gpq queues -o +DOORBELL,PASID,VMID shows them"},
	{"priority prio nice", "gpq queues shows PRIO, gpq suspend --prio low chooses by it"},
	{"info devices device gpu static hardware discovery inventory showhw",
	 "gpq gpus lists GPUs"},
	{"topology topo showtopo partition xcc xccs node nodes",
	 "gpq gpus lists GPUs and their XCCs, gpq hqd the slots of each XCC"},
	{"metrics prometheus openmetrics exporter grafana",
	 "gpq help metrics tells of --openmetrics, gpq ps shows memory and backlog"},
	{"metric usage use utilization stats showuse memory vram showmeminfo",
	 "gpq ps shows memory and backlog, gpq hqd --sample 100 how busy slots are"},
	{"check doctor setup diagnose requirements", "gpq gpus --check tells what is missing"},
	{"containers container pods pod jobs job slurm exec",
	 "gpq ps shows containers, pods and jobs; --container, --pod, --job choose"},
	{"record save dump capture collect",
	 "gpq snapshot DIR saves a host, gpq hang what hangs, gpq core waves and memory"},
	{"log logs", "gpq trace analyses AMD_LOG_LEVEL logs, gpq events shows what happens"},
	{"diff compare", "gpq snapshot --diff compares moments, gpq snapshot --compare runs"},
	{"profile prof timeline latency",
	 "gpq why --profile 5 samples queues, gpq trace --latency reads logs"},
	{"benchmark measure ab report",
	 "gpq bench preempt, gpq bench ab measure, gpq bench report compares"},
	{"glossary terms vocabulary",
	 "gpq help words tells what queue, slot, MQD and the like are"},
	{"examples example tasks howto cookbook", "man gpq-examples has tasks, each in a line"},
	{"cluster clusters mpi ranks",
	 "man gpq-cluster tells of nodes, Slurm, containers and metrics"},
	{"security permissions permission rights sudo",
	 "man gpq-security tells who may do what, gpq gpus --check what this user lacks"},
	{"schedule scheduler share policy",
	 "gpq sched holds offline work off while online work runs"},
};

const char *word_leads(const char *word)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (text_has_word(rows[i].words, word, strlen(word)))
			return rows[i].leads;
	return NULL;
}

void words_each(void (*each)(const void *arg, const char *word, const char *leads), const void *arg)
{
	char word[32];
	for (size_t i = 0; i < COUNT(rows); i++)
		for (const char *w = rows[i].words; *w; w += strspn(w, " ")) {
			const size_t n = strcspn(w, " ");
			snprintf(word, sizeof(word), "%.*s", (int)n, w);
			each(arg, word, rows[i].leads);
			w += n;
		}
}
