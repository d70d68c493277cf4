// gpq hqd: options, filters, and the listing of hardware queue slots. Facts: [debugfs.hqds-slots],
// [debugfs.join].
#include "cmd/hqd/hqd.h"

#define SAMPLE_OFF UINT64_MAX // --sample was not given

static const struct hqd_opts defaults = {
	.sample = SAMPLE_OFF, .interval = 10000000, .watch = WATCH_OFF};

static const struct opt opts[] = {
	PICK_OPTS(hqd_opts),
	PICK_QUEUES_OPTS(hqd_opts),
	OPT(hqd_opts, xccs, "xcc", 0, OPT_WORDS, "N[,N...]", "\nonly slots of these XCCs"),
	OPT(hqd_opts, all, "all", 'a', OPT_FLAG, "", "all slots, also those without a queue"),
	OPT(hqd_opts, active, "active", 0, OPT_FLAG, "",
	    "\nonly slots that have a queue (the default but for --mqd and --raw-regs)"),
	OPT(hqd_opts, sdma, "sdma", 0, OPT_FLAG, "", "\nonly slots of SDMA engines"),
	OPT(hqd_opts, hiq, "hiq", 0, OPT_FLAG, "",
	    "\nonly the scheduler's own queues;\nwith --sdma: both"),
	OPT(hqd_opts, mqd, "mqd", 0, OPT_FLAG, "",
	    "the queues' MQDs in memory, not the slots;\none for each XCC"),
	OPT(hqd_opts, regs, "regs", 0, OPT_FLAG, "", "all registers by name and value"),
	OPT(hqd_opts, fields, "fields", 0, OPT_FLAG, "", "\nwhat the bits of the registers mean"),
	OPT(hqd_opts, raw_regs, "raw-regs", 0, OPT_FLAG, "",
	    "\nall registers by address, for every GPU"),
	OPT(hqd_opts, summary, "summary", 0, OPT_FLAG, "",
	    "how full the slots are, who shares them,\nand which queues are in none"),
	OPT_ONE_OF(hqd_opts, by, "by", 0, "WHAT",
		   "\nof --summary: slots by gpu, with a total, or by xcc", "gpu\0xcc"),
	OPT(hqd_opts, runlist, "runlist", 0, OPT_FLAG, "",
	    "what the schedulers were told to run,\npacket by packet"),
	OPT(hqd_opts, sample, "sample", 0, OPT_U64, "N",
	    "read N times;\nhow often was a queue in its slot, and moving?"),
	OPT(hqd_opts, interval, "interval", 0, OPT_NS, "TIME", "\ntime between samples (10ms)"),
	OPT(hqd_opts, likely, "likely", 0, OPT_FLAG, "",
	    "\nshow the likeliest queue of an MQD\nwhere it is not certain which it is"),
	OPT(hqd_opts, hqds, "hqds", 0, OPT_STR, "FILE",
	    "\na copy of debugfs hqds instead of this host;\n- is standard input"),
	OPT(hqd_opts, mqds, "mqds", 0, OPT_STR, "FILE", "\na copy of debugfs mqds, likewise"),
	OPT(hqd_opts, rls, "rls", 0, OPT_STR, "FILE", "\na copy of debugfs rls, likewise"),
	WATCH_OPT(hqd_opts),
	{0},
};

#define ROW hqd_row
static const struct out_col cols[] = {
	COL(q.gpu_id, "GPU", "gpu_id", U64, D, "GPU as KFD numbers it (its gpu_id)"),
	COL(q.type, "TYPE", "type", STR, D,
	    "compute, sdma, sdma-xgmi, hiq (the scheduler's own queue), diq (MQDs: the "
	    "debugger's)"),
	COL(xcc, "XCC", "xcc", U64, D, "XCC of the GPU, counted from 0"),
	COL(mec, "MEC", "mec", U64, D | W, "micro engine of the compute slot"),
	COL(pipe, "PIPE", "pipe", U64, D, "its pipe; SDMA: the engine"),
	COL(queue, "QUEUE", "queue", U64, D, "its queue; SDMA: the RLC"),
	COL(active, "ACTIVE", "active", BOOL, D | W | S, "the slot has a queue"),
	OWNER_COLS(q),
	COL(q.v[MQD_V_VMID], "VMID", "vmid", U64, D | W,
	    "address space on the GPU, given anew at each map"),
	COL(q.v[MQD_V_RING], "RING_ADDR", "ring_addr", HEX, D | W,
	    "address of the ring in the process"),
	COL(q.v[MQD_V_RING_BYTES], "RING", "ring_bytes", SIZE, D, "size of the ring"),
	COL(q.v[MQD_V_RPTR], "RPTR", "rptr", U64, D | W,
	    "read pointer: dword in the ring; SDMA: bytes"),
	COL(q.v[MQD_V_WPTR], "WPTR", "wptr", U64, D | W,
	    "write pointer: dwords in all; SDMA: bytes"),
	COL(q.v[MQD_V_DOORBELL], "DOORBELL", "doorbell", HEX, D | W,
	    "byte offset of the doorbell in its PCI region"),
	PRIO_COLS(q),
	COL(q.cu_mask, "CU_MASK", "cu_mask", STR, OUT_RARE,
	    "CUs the queue may use: all, or a hex word for each shader engine; / between XCCs"),
	COL(q.cus_on, "CUS_ON", "cus_on", STR, OUT_RARE,
	    "how many CUs these are, of how many: 52/104"),
	COL(errors, "ERROR", "error", STR, D | T | A,
	    "errors the hardware noted, none without any"),
	COL(q.gpu.index, "INDEX", "gpu_index", U64, M, "index of the GPU, as in gpq gpus"),
	COL(q.gpu.node, "NODE", "node", U64, M, "KFD topology node"),
	COL(slot, "SLOT", "slot", STR, M | A,
	    "p0q2 (pipe and queue), e1r0 (SDMA engine and RLC) or hiq"),
	COL(q.v[MQD_D_BACKLOG], "BACKLOG", "backlog", U64, M,
	    "what waits between the pointers: AQL packets, PM4 dwords, SDMA bytes"),
	COL(idle, "IDLE", "idle", BOOL, M, "nothing to do and no wave running"),
	COL(q.packets, "PACKET_FORMAT", "packet_format", STR, M, "aql or pm4; null of SDMA queues"),
	COL(q.v[MQD_V_BASE], "MQD_ADDR", "mqd_addr", HEX, M, "GPU address of the MQD"),
	COL(q.v[MQD_V_PIPE_PRIO], "PIPE_PRIO", "pipe_prio", U64, M,
	    "pipe priority: 0 low, 1 medium, 2 high"),
	COL(q.v[MQD_V_ERROR], "ERROR_BITS", "error_bits", HEX, M, "cp_hqd_error"),
	COL(match, "MATCH", "match", STR, M,
	    "how the owner was found: mqd (its address and ring), ring (and doorbell)"),
	COL(q.gpu.bdf, "BDF", "bdf", STR, 0, "PCI address of the GPU"),
	COL(q.gpu.gfx, "GFX", "gfx", STR, 0, "instruction set of the GPU"),
	COL(q.v[MQD_V_RPTR_ADDR], "RPTR_ADDR", "rptr_addr", HEX, 0,
	    "address of the read index in the process"),
	COL(q.v[MQD_V_WPTR_ADDR], "WPTR_ADDR", "wptr_addr", HEX, 0,
	    "address of the write index in the process"),
	COL(q.v[MQD_V_CTX_BASE], "CWSR_ADDR", "cwsr_addr", HEX, 0,
	    "address of the area to save waves in, of this XCC"),
	COL(q.v[MQD_V_CTX_BYTES], "CWSR", "cwsr_bytes", SIZE, 0, "its size"),
};

static const struct out_table slots_table = {"slots", "slot", OUT_COLS(cols)};

static const struct out_table *const tables[] = {&slots_table,           &hqd_regs_table,
						 &hqd_raw_table,         &hqd_fields_table,
						 &hqd_summary_tables[0], &hqd_summary_tables[1],
						 &hqd_summary_tables[2], &hqd_runlist_table,
						 &hqd_sample_table,      NULL};

#define SCHEMA(form, name, version, ...)                                     \
	static const struct schema form##_schema = {"gpq.hqd" name, version, \
						    SCHEMA_TABLES(__VA_ARGS__), NULL}
SCHEMA(slots, "", 1, &slots_table);
SCHEMA(regs, ".regs", 1, &hqd_regs_table);
SCHEMA(raw, ".raw-regs", 1, &hqd_raw_table);
SCHEMA(fields, ".fields", 1, &hqd_fields_table);
SCHEMA(summary, ".summary", 1, &hqd_summary_tables[0], &hqd_summary_tables[1],
       &hqd_summary_tables[2]);
SCHEMA(runlist, ".runlist", 1, &hqd_runlist_table);
SCHEMA(sample, ".sample", 1, &hqd_sample_table);

static int print_slots(struct hqd_view *v, struct out *o)
{
	for (size_t i = 0; i < v->list.n; i++)
		if (!v->list.rows[i].q.hidden)
			out_row(o, &v->list.rows[i]);
	if (v->nameless && !v->opts->likely && out_is_on_screen(o) && !host_only_dumps())
		err_hint("gpq hqd --likely takes the likeliest",
			 "QID: not certain for %zu slot%s: several queues fit", v->nameless,
			 text_s(v->nameless));
	return GPQ_OK;
}

// The forms of output. The first one whose option is given is printed.
struct form {
	const char *option;
	const struct schema *schema; // print() begins the tables itself if there are several
	int (*print)(struct hqd_view *v, struct out *o);
	bool by_row; // the form shows the rows of slots or MQDs
};

static const struct form forms[] = {
	{"regs", &regs_schema, hqd_print_regs, true},
	{"fields", &fields_schema, hqd_print_regs, true},
	{"raw-regs", &raw_schema, hqd_print_regs, true},
	{"summary", &summary_schema, hqd_print_summary, false},
	{"runlist", &runlist_schema, hqd_print_runlist, false},
	{"sample", &sample_schema, hqd_print_sample, false},
	{NULL, &slots_schema, print_slots, true},
};

static const struct form *form_of(const struct cmd *c)
{
	const struct form *f = forms;
	while (f->option && !opts_given(f->option, c->sets, 0))
		f++;
	return f;
}

// --- which slots are shown ---

bool hqd_gpu_chosen(const struct hqd_view *v, uint64_t gpu_id)
{
	return pick_has_gpu(v->list.captured ? NULL : &v->list.queues.gpus, &v->opts->queues.gpus,
			    gpu_id);
}

bool hqd_pid_chosen(const struct hqd_view *v, int64_t pid)
{
	return !pick_asks(v->pick.opts) || (pid >= 0 && pick_keeps(&v->pick, (pid_t)pid));
}

bool hqd_xcc_chosen(const struct hqd_view *v, uint64_t xcc)
{
	const struct hqd_opts *o = v->opts;
	uint64_t n;
	for (size_t i = 0; i < o->xccs.n; i++)
		if (parse_u64(o->xccs.v[i], &n) && n == xcc)
			return true;
	return !o->xccs.n;
}

bool hqd_queue_chosen(const struct hqd_view *v, const struct queue_row *q)
{
	return hqd_gpu_chosen(v, q->gpu_id) && hqd_pid_chosen(v, q->pid) &&
	       pick_queues_keeps(&v->queues, q) == KFD_ANSWER_YES;
}

static bool slot_is_chosen(const struct hqd_view *v, const struct hqd_row *r)
{
	const struct hqd_opts *o = v->opts;
	const bool type = (!o->sdma && !o->hiq) || (o->sdma && queue_row_is_sdma(&r->q)) ||
			  (o->hiq && strcmp(r->q.type, "hiq") == 0);
	return type && hqd_xcc_chosen(v, r->xcc) && hqd_queue_chosen(v, &r->q);
}

int hqd_begin(const struct hqd_view *v, struct out *o, const struct out_table *t)
{
	const struct slot_rows *l = &v->list;
	bool contexts = false, levels = false, masks = false;
	const int status = out_begin(o, t, false);
	if (status)
		return status;
	for (size_t i = 0; i < l->queues.n; i++)
		contexts |= l->queues.rows[i].context != KFD_UNKNOWN;
	for (size_t i = 0; i < l->n; i++) {
		levels |= l->rows[i].q.level != NULL;
		masks |= queue_row_is_masked(&l->rows[i].q);
	}
	for (size_t i = 0; l->has_mqds && i < l->queues.mqds.nqueues; i++)
		levels |= l->queues.summaries[i].v[MQD_V_PIPE_PRIO] != MQD_UNKNOWN;
	// LEVEL is shown only where the priority is unknown.
	if (!levels || l->has_prios)
		out_leave_out(o, "LEVEL");
	if (!contexts)
		out_leave_out(o, "CONTEXT_ID");
	if (!masks) {
		out_leave_out(o, "CU_MASK");
		out_leave_out(o, "CUS_ON");
	}
	return GPQ_OK;
}

void hqd_apply_filter(struct hqd_view *v)
{
	// --mqd does not filter by use, as each MQD is a queue's, nor does --raw-regs, as it is not
	// known whether slots of unknown GPUs are in use.
	const struct hqd_opts *o = v->opts;
	const bool active = o->active || !(o->all || o->mqd || o->raw_regs);
	v->shown = v->empty = v->unclear = v->nameless = 0;
	for (size_t i = 0; i < v->list.n; i++) {
		struct hqd_row *r = &v->list.rows[i];
		const bool asked = slot_is_chosen(v, r);
		r->q.hidden = !asked || (active && r->active != 1);
		v->shown += !r->q.hidden;
		v->nameless +=
			!r->q.hidden && r->q.pid >= 0 && r->q.qid == KFD_UNKNOWN && r->active == 1;
		v->empty += asked && active && r->active == 0;
		v->unclear += asked && active && r->active < 0 && !slot_row_is_unused(r);
	}
}

// --- nothing found ---

// Warns that slots which may be in use were left out, or hints that none is in use.
static void explain_left_out(const struct hqd_view *v)
{
	if (v->unclear)
		err_warn(v->opts->active ? "-a instead of --active shows them" : "-a shows them",
			 "left out: %zu %s%s of which the dump does not tell whether in use",
			 v->unclear, v->opts->mqd ? "MQD" : "slot", text_s(v->unclear));
	else if (!v->shown && v->empty && !pick_asks(v->pick.opts) && v->opts->watch == WATCH_OFF)
		err_hint("-a shows them", "none of %zu slots is in use", v->empty);
}

// Counts queues (for --summary, which needs no slot), or else rows that are shown: those of a
// process, or with -1 of all that the options choose.
static size_t count_found(const struct hqd_view *v, bool queues, pid_t pid)
{
	const struct slot_rows *l = &v->list;
	size_t n = 0;
	for (size_t i = 0; queues && i < l->queues.n; i++) {
		const int64_t owner = l->queues.rows[i].pid;
		n += pid < 0 ? hqd_pid_chosen(v, owner) : owner == pid;
	}
	for (size_t i = 0; !queues && i < l->n; i++)
		n += !l->rows[i].q.hidden && (pid < 0 || l->rows[i].q.pid == pid);
	return n;
}

static int explain_pid_without_slot(const struct hqd_view *v, pid_t pid)
{
	struct proc p;
	const size_t n = count_found(v, true, pid);
	if (n)
		return err_fail(GPQ_NOTFOUND, "gpq hqd --summary tells which are not, and why",
				"pid %d: none of its %zu queue%s is in a slot that was asked for",
				(int)pid, n, text_s(n));
	if (v->list.captured || host_only_dumps())
		return err_fail(GPQ_NOTFOUND, NULL, "pid %d: owns no queue in %s", (int)pid,
				host_only_dumps() ? host_only_dumps()
				: v->opts->mqds   ? v->opts->mqds
						  : "the dump: --mqds FILE tells owners");
	if (proc_read(&p, pid))
		return err_fail(GPQ_NOTFOUND, "gpq queues lists those that own queues",
				"pid %d: no such process", (int)pid);
	return err_fail(GPQ_NOTFOUND, "gpq queues -a shows who has KFD open",
			"pid %d: owns no queue", (int)pid);
}

static int check_slots_found(const struct hqd_view *v)
{
	const struct pick *p = &v->pick;
	const bool summary = v->opts->summary, any = count_found(v, summary, -1) > 0;
	const size_t n = v->opts->pick.tree ? 0 : p->pids.n; // --tree: any row will do
	int status = GPQ_OK;
	for (size_t i = 0; i < n; i++)
		if (!count_found(v, summary, p->pids.v[i]))
			status = explain_pid_without_slot(v, p->pids.v[i]);
	if (!n && !any && pick_asks(p->opts))
		return err_fail(GPQ_NOTFOUND, NULL, "no process that was asked for %s",
				summary ? "owns a queue" : "has a queue in a slot");
	return status && any ? GPQ_PARTIAL : status;
}

// --- what options name must exist ---

static bool dumps_have_gpu(const struct slot_rows *l, const struct words *w)
{
	const struct queue_rows *q = &l->queues;
	for (size_t i = 0; i < l->hqds.nnodes; i++)
		if (pick_has_gpu(NULL, w, l->hqds.nodes[i].gpu_id))
			return true;
	for (size_t i = 0; i < q->mqds.nqueues; i++)
		if (pick_has_gpu(NULL, w, q->mqds.queues[i].gpu_id))
			return true;
	for (size_t i = 0; i < q->rls.nnodes; i++)
		if (pick_has_gpu(NULL, w, q->rls.nodes[i].gpu_id))
			return true;
	return false;
}

static int check_hqd_gpus(struct hqd_view *v)
{
	const struct words *w = &v->opts->queues.gpus;
	if (!v->list.captured && !host_only_dumps())
		return pick_select_gpus(&v->list.queues.gpus, w);
	for (size_t i = 0; i < w->n; i++) {
		const struct words one = {.v = &w->v[i], .n = 1};
		if (!dumps_have_gpu(&v->list, &one))
			return err_fail(GPQ_NOTFOUND,
					"dumps name GPUs by gpu_id alone, not by index or address",
					"there is no GPU %s in the files", w->v[i]);
	}
	return GPQ_OK;
}

// Checks -Q against the chosen processes: ID needs a single one, PID:ID must name one of them.
static int check_hqd_ids(const struct hqd_view *v)
{
	struct pids pids = {0};
	for (size_t i = 0; i < v->list.n && v->queues.n; i++)
		if (v->list.rows[i].q.pid >= 0 && hqd_pid_chosen(v, v->list.rows[i].q.pid))
			pids_push(&pids, (pid_t)v->list.rows[i].q.pid);
	const int status = pids.n ? pick_queues_check(&v->queues, &pids) : GPQ_OK;
	free(pids.v);
	return status;
}

static int check_xccs_there(const struct hqd_view *v)
{
	const struct words *w = &v->opts->xccs;
	for (size_t i = 0; i < w->n; i++) {
		bool any = false, found = false;
		uint64_t n = 0;
		parse_u64(w->v[i], &n);
		for (size_t k = 0; k < v->list.n; k++) {
			const struct hqd_row *r = &v->list.rows[k];
			any |= hqd_gpu_chosen(v, r->q.gpu_id);
			found |= hqd_gpu_chosen(v, r->q.gpu_id) && r->xcc == n;
		}
		if (any && !found)
			return err_fail(GPQ_NOTFOUND, "they are counted from 0",
					"no GPU that was asked for has an XCC %s", w->v[i]);
	}
	return GPQ_OK;
}

// --- one reading of the host ---

static int load_view(struct hqd_view *v)
{
	const struct hqd_opts *o = v->opts;
	v->how = (struct slot_rows_how){.hqds_file = o->hqds,
					.mqds_file = o->mqds,
					.rls_file = o->rls,
					.likely = o->likely,
					// Runlists need no slots.
					.memory = o->mqd || o->runlist};
	int status = pick_init(&v->pick, &o->pick, &v->processes);
	if (!status)
		status = pick_queues_init(&v->queues, &o->queues);
	if (!status)
		status = slot_rows_load(&v->list, &v->processes, &v->how);
	if (!status && o->mqd && v->list.queues.mqds_error && !v->list.captured)
		status = host_lacks_dump(MQDS_PATH, v->list.queues.mqds_error);
	if (!status && o->runlist && host_only_dumps() && !v->list.captured &&
	    host_access(RLS_PATH, F_OK))
		status = host_lacks_dump(RLS_PATH, ENOENT);
	if (!status)
		status = check_hqd_gpus(v);
	if (!status)
		status = check_hqd_ids(v);
	return status ? status : check_xccs_there(v);
}

static int list_hqd_once(struct cmd *c)
{
	struct hqd_view v = {.cmd = c, .opts = c->opts};
	const struct form *f = form_of(c);
	const struct out_table *const *tables_of = f->schema->tables;
	c->out.schema = f->schema;
	struct out *o = out_open(&c->out);
	int status = load_view(&v);
	if (!status) {
		hqd_apply_filter(&v);
		status = tables_of[1] ? GPQ_OK : hqd_begin(&v, o, tables_of[0]);
	}
	if (!status)
		status = f->print(&v, o);
	out_end(o);
	if (!status) {
		bool damaged = slot_rows_explain(&v.list);
		if (f->by_row)
			explain_left_out(&v);
		if (!v.how.memory && (!f->option || v.opts->summary))
			hqd_tell_inversion(&v);
		status = f->by_row || v.opts->summary ? check_slots_found(&v) : GPQ_OK;
		status = !status && damaged ? GPQ_PARTIAL : status;
	}
	int written = out_close(o);
	pick_fini(&v.pick);
	pick_queues_fini(&v.queues);
	slot_summary_fini(&v.summary);
	slot_rows_fini(&v.list);
	process_cache_fini(&v.processes);
	return written ? written : status;
}

// --- options of gpq hqd ---

#define FILE_NAMES "hqds mqds rls"
#define FORMS      "regs fields raw-regs summary runlist sample"

#define SLOTS_ONLY(with, without)                                 \
	RULE("xcc active all hiq", with, without, "leave it out", \
	     "--%1 is about slots, --runlist about what is to get one")

static const struct opt_rule rules[] = {
	RULE("hqds=- mqds=- rls=-", "", "", "", "only one of the files can be standard input",
	     .several = true),
	RULE_EXCLUDES(PICK_HOST_NAMES, FILE_NAMES, "leave it out, or the files",
		      "only -p chooses processes of files: the other options need a host"),
	RULE_EXCLUDES("watch sample", FILE_NAMES, "",
		      "--watch and --sample need a host: a file does not change"),
	RULE("runlist", "hqds mqds", "rls", "add --rls FILE", "--runlist needs a copy of rls"),
	RULE("mqd", "hqds rls", "mqds", "add --mqds FILE", "--mqd needs a copy of mqds"),
	RULE(FORMS, "rls", "runlist hqds mqds", "add --hqds FILE, --mqds FILE or both",
	     "--%1 needs a copy of hqds or mqds"),
	RULE_CHOOSE(FORMS),
	RULE_EXCLUDES("summary runlist sample", "mqd", "leave one of them out",
		      "--mqd shows MQDs in memory, --%1 is about something else"),
	SLOTS_ONLY("runlist", ""),
	SLOTS_ONLY("rls", "hqds mqds"),
	RULE_CHOOSE("active all"),
	RULE_NEEDS("by", "summary", "add --summary", "--by is of --summary"),
	RULE_RANGE("sample", 1, 1000000, "for example --sample 20",
		   "--sample: a number from 1 to 1000000"),
	WATCH_RULES,
	{0},
};

static int check_xccs(struct cmd *c)
{
	const struct hqd_opts *o = c->opts;
	uint64_t n;
	for (size_t i = 0; i < o->xccs.n; i++)
		if (!parse_u64(o->xccs.v[i], &n))
			return err_fail(GPQ_USAGE, "they are counted from 0, for example --xcc 0,1",
					"--xcc %s: not a number", o->xccs.v[i]);
	return GPQ_OK;
}

static const struct out_table *const *hqd_prints(const struct cmd *c)
{
	struct hqd_opts *o = c->opts;
	// With --mqds alone there are no slots to show, with --rls alone only packets of runlists.
	o->mqd |= o->mqds && !o->hqds && !o->runlist && !o->summary;
	o->runlist |= o->rls && !o->hqds && !o->mqds;
	return form_of(c)->schema->tables;
}

static unsigned hqd_needs(const struct cmd *c)
{
	const struct hqd_opts *o = c->opts;
	if (o->hqds || o->mqds || o->rls)
		return 0;
	return (host_only_dumps() ? 0 : NEED_KFD) | NEED_DEBUGFS |
	       (o->sample != SAMPLE_OFF ? NEED_LIVE : 0);
}

static int run_hqd(struct cmd *c)
{
	struct hqd_opts *o = c->opts;
	return watch_run(c, o->watch, list_hqd_once);
}

const struct cmd_spec hqd_spec = {
	.synopsis = "[-p PID[,PID...]] [--gpu GPU] [--xcc N] [-a] [--sdma] [--mqd]\n"
		    "--regs | --fields | --raw-regs ...\n"
		    "--summary\n"
		    "--runlist\n"
		    "--sample N [--interval TIME]",
	.description =
		"Shows the hardware's queue slots (HQDs): which are in use, whose queue is in "
		"them, and what their registers hold, in plain words.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct hqd_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&slots_schema, &regs_schema, &raw_schema, &fields_schema,
			   &summary_schema, &runlist_schema, &sample_schema),
	.needs = hqd_needs,
	.prints = hqd_prints,
	.check = check_xccs,
	.run = run_hqd,
};
