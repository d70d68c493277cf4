// gpq gpus: a row per KFD GPU with its numbers, names and capabilities; --check: prints the
// preflight (common/kfd/check.h). Facts: [kfd.topology].
#include "cmd/command.h"

#include "common/cli/text.h"
#include "common/kfd/check.h"
#include "common/kfd/names.h"
#include "common/kfd/topology.h"
#include "common/pick/pick.h"

struct gpus_opts {
	struct words gpu;
	bool check;
	uint64_t watch; // ns, WATCH_OFF without --watch
};

static const struct gpus_opts defaults = {.watch = WATCH_OFF};

static const struct opt opts[] = {
	OPT(gpus_opts, gpu, "gpu", 0, OPT_WORDS, "GPU[,GPU...]",
	    "only these GPUs:\nindex, gpu_id (decimal or hex) or PCI address"),
	OPT(gpus_opts, check, "check", 0, OPT_FLAG, "",
	    "what stands between this user and each command"),
	WATCH_OPT(gpus_opts),
	{0},
};

static const struct opt_rule rules[] = {
	RULE_EXCLUDES("check", "gpu", "leave one of them out",
		      "--check looks at the whole host: it takes no --gpu"),
	WATCH_RULES,
	{0},
};

struct row {
	struct kfd_gpu g;
	const char *sched, *name, *cwsr, *slots;
	char marketing[128], vendor[128], device[128], render[24], partition[8];
};

#define ROW row
static const struct out_col cols[] = {
	COL(g.index, "INDEX", "gpu_index", U64, D | W, "place among the readable GPUs"),
	COL(g.node, "NODE", "node", U64, D | W, "KFD topology node"),
	COL(g.gpu_id, "GPU", "gpu_id", U64, D, "gpu_id, decimal as in sysfs"),
	COL(g.gpu_id, "HEX", "gpu_id_hex", HEX, D | W, "gpu_id, hexadecimal as in debugfs"),
	COL(g.bdf, "BDF", "bdf", STR, D | A, "PCI address; partitions share one"),
	COL(g.gfx, "GFX", "gfx", STR, D | A, "instruction set"),
	COL(g.cus, "CUS", "cus", U64, D, "compute units of all XCCs together"),
	COL(g.num_xcc, "XCCS", "xccs", U64, D, "accelerator complexes"),
	COL(partition, "PARTITION", "compute_partition", STR, M | OUT_RARE | A,
	    "how its XCCs are divided into GPUs: SPX (not at all), DPX, TPX, QPX, CPX (one each)"),
	COL(g.cp_queues, "SLOTS", "cp_queue_slots", U64, D | W,
	    "hardware slots for compute queues per XCC"),
	COL(slots, "SLOTS_FROM", "cp_queue_slots_from", STR, M,
	    "where that comes from: property, or guess: one of all XCCs, divided by them"),
	COL(g.sdma_engines, "SDMA", "sdma_engines", U64, D | W, "SDMA engines for PCIe"),
	COL(g.sdma_xgmi, "XGMI", "sdma_xgmi_engines", U64, D | W, "SDMA engines for XGMI"),
	COL(g.sdma_queues, "SDMAQ", "sdma_queues_per_engine", U64, M, "queues of one SDMA engine"),
	COL(sched, "SCHED", "scheduler", STR, M,
	    "who maps queues: HWS (runlist) or MES (command per queue)"),
	COL(g.can_suspend, "SUSPEND", "suspend", BOOL, D | S,
	    "can queues be suspended: capability bits 0x8000 and 0x20000000"),
	COL(g.capability, "CAPABILITY", "capability", HEX, M, "capability bits of KFD"),
	COL(g.debug_prop, "DEBUG_PROP", "debug_prop", HEX, M, "debug properties of KFD"),
	COL(g.mec_fw, "MEC_FW", "mec_fw", U64, M, "version of the compute firmware"),
	COL(g.sdma_fw, "SDMA_FW", "sdma_fw", U64, M, "version of the SDMA firmware"),
	COL(g.cwsr_bytes, "CWSR", "cwsr_bytes", SIZE, M,
	    "area that the waves of a queue are saved to, per XCC"),
	COL(g.ctl_stack_bytes, "CTL_STACK", "ctl_stack_bytes", SIZE, M,
	    "its part for the control stack"),
	COL(cwsr, "CWSR_FROM", "cwsr_from", STR, M,
	    "where these sizes come from: property, or formula on older drivers"),
	COL(g.unique_id, "UNIQUE_ID", "unique_id", HEX, M, "serial number of the GPU"),
	COL(g.hive_id, "HIVE", "hive_id", HEX, M, "XGMI hive"),
	COL(g.vram_bytes, "VRAM", "vram_bytes", SIZE, D, "memory of the GPU"),
	COL(g.wave_front_size, "WAVE", "wave_front_size", U64, M, "work-items of a wave"),
	COL(g.max_engine_mhz, "MHZ", "max_engine_mhz", U64, M, "greatest engine clock"),
	COL(render, "RENDER", "render_node", STR, D | W | A,
	    "its render node in /dev/dri; like its card, a name of the GPU"),
	COL(g.vendor_id, "VENDOR_ID", "vendor_id", HEX, M, "PCI vendor number"),
	COL(g.device_id, "DEVICE_ID", "device_id", HEX, M, "PCI device number"),
	COL(vendor, "VENDOR", "vendor", STR, M | T | A, "PCI vendor name"),
	COL(device, "DEVICE", "device", STR, M | T | A, "PCI device name"),
	COL(marketing, "MARKETING", "marketing_name", STR, M | T | A,
	    "name by libdrm_amdgpu, if the render node opens"),
	COL(g.name, "ASIC", "asic", STR, M | A, "KFD's own name of the node"),
	COL(name, "NAME", "name", STR, D | T, "marketing name, else PCI device name"),
};

#undef ROW
static const struct out_table table = {"gpus", "gpu", OUT_COLS(cols)};

struct check_row {
	const char *check, *status, *found, *commands, *must, *mend;
	char command_text[2][128], mend_text[64];
};

#define ROW check_row
static const struct out_col check_cols[] = {
	COL(check, "CHECK", "check", STR, D, "what is looked at"),
	COL(status, "STATUS", "status", STR, D | S, "ok, no or unknown"),
	COL(found, "FOUND", "found", STR, D | T, "what was found"),
	COL(commands, "COMMANDS", "commands", LIST, D | W | T,
	    "commands that need it, at least for some of what they do"),
	COL(must, "STOPS", "stops", LIST, M, "those of them that can do nothing without it"),
	COL(mend, "FIX", "fix", STR, D | OUT_BELOW, "how to fix it"),
};
#undef ROW
static const struct out_table check_table = {"checks", "check", OUT_COLS(check_cols)};

static const struct schema schema = {"gpq.gpus", 1, SCHEMA_TABLES(&table), NULL};
static const struct schema check_schema = {"gpq.gpus.check", 1, SCHEMA_TABLES(&check_table), NULL};

// Data that takes more files, a library or a device; read only if a column shows it.
struct wants {
	unsigned topology; // KFD_TOPOLOGY_...
	bool marketing, pci, partition;
};

static struct wants gpus_wants(const struct out_opts *o)
{
	const bool name = out_would_want(o, &table, "NAME");
	struct wants w = {.topology = KFD_TOPOLOGY_BDF}; // --gpu takes PCI addresses
	if (out_would_want(o, &table, "ASIC"))
		w.topology |= KFD_TOPOLOGY_NAME;
	if (out_would_want(o, &table, "VRAM"))
		w.topology |= KFD_TOPOLOGY_MEMORY;
	w.partition = out_would_want(o, &table, "PARTITION");
	w.marketing = name || out_would_want(o, &table, "MARKETING");
	w.pci = name || out_would_want(o, &table, "VENDOR") || out_would_want(o, &table, "DEVICE");
	return w;
}

static void note_errors(const struct kfd_gpu *g)
{
	unsigned node = (unsigned)g->node;
	if (g->error)
		err_note("node %u: %s: %s%s", node, g->error_file, strerror(g->error),
			 g->error == EPERM ? " (the device cgroup of this container denies the GPU)"
					   : "");
	if (!g->error && !g->good_lines)
		err_note("node %u: properties: %s", node,
			 g->bad_lines ? "nothing that is a property" : "empty");
	if (g->bad_lines)
		err_note("node %u: %u line%s of properties %s no \"name value\"", node,
			 g->bad_lines, text_s(g->bad_lines), text_are(g->bad_lines));
	if (g->cwsr_computed)
		err_note("node %u: CWSR: this driver does not tell it; computed as the driver and "
			 "the runtime do",
			 node);
	if (g->bdf[0] && !g->bdf_of_device)
		err_note("node %u: BDF: from location_id, since /sys/class/drm does not lead to "
			 "the device; of a partition, the last digit is its number",
			 node);
	if (g->can_suspend == 0)
		err_note("node %u: SUSPEND: no: capability lacks %s", node,
			 g->capability & KFD_CAP_TRAP_DEBUG
				 ? "0x20000000: the GPU's firmware is too old for debugging"
				 : "0x8000: the driver cannot debug on this GPU");
}

// Notes why values of a GPU are unknown, of those columns that are shown.
static void note_extras(const struct row *r, const struct wants *w, const struct pci_names *pci,
			int marketing_error)
{
	const struct kfd_gpu *g = &r->g;
	if ((w->topology & KFD_TOPOLOGY_MEMORY) && g->vram_bytes == KFD_UNKNOWN && !g->error)
		err_note("node %u: VRAM: neither local_mem_size nor mem_banks tell it",
			 (unsigned)g->node);
	if (w->marketing && !*r->marketing)
		err_note("node %u: MARKETING: %s: %s", (unsigned)g->node,
			 *r->render ? r->render : "no render node",
			 !host_is_live()              ? "a recorded host cannot be asked"
			 : marketing_error == -ENOPKG ? NAMES_LIBDRM " is missing"
						      : strerror(-marketing_error));
	if (pci && !pci_names_broken(pci) && !*r->device && g->device_id <= 0xffff &&
	    g->vendor_id <= 0xffff)
		err_note("node %u: DEVICE: the PCI ID database does not know %04x:%04x; "
			 "update-pciids may help",
			 (unsigned)g->node, (unsigned)g->vendor_id, (unsigned)g->device_id);
}

static void fill_names(struct row *r, const struct wants *w, struct pci_names *pci)
{
	const struct kfd_gpu *g = &r->g;
	int error = 0;
	if (w->pci) {
		pci_names_lookup(pci, g->vendor_id, KFD_UNKNOWN, r->vendor, sizeof(r->vendor));
		pci_names_lookup(pci, g->vendor_id, g->device_id, r->device, sizeof(r->device));
	}
	if (w->marketing)
		error = drm_marketing_name(g->render_minor, r->marketing, sizeof(r->marketing));
	// "AMD Radeon Graphics" is what libdrm calls every GPU that its table does not have.
	bool generic = !*r->marketing || strcmp(r->marketing, "AMD Radeon Graphics") == 0;
	r->name = generic && *r->device ? r->device : *r->marketing ? r->marketing : NULL;
	note_errors(g);
	note_extras(r, w, pci, error);
}

// Reads the partition mode of a GPU; "": unknown. The file belongs to the PCI device
// (drivers/gpu/drm/amd/amdgpu/amdgpu_gfx.c), and of the GPUs that a device is divided into only the
// first has a render node that leads there.
static void read_partition(char mode[8], const struct kfd_topology *t, const struct kfd_gpu *g)
{
	*mode = '\0';
	for (size_t i = 0; i < t->n && g->bdf[0] && !*mode; i++)
		if (t->gpus[i].render_minor <= UINT32_MAX && strcmp(t->gpus[i].bdf, g->bdf) == 0)
			host_read_line(
				mode, 8,
				PATH("/sys/class/drm/renderD%u/device/current_compute_partition",
				     (unsigned)t->gpus[i].render_minor));
	if (strlen(mode) != strlen("SPX")) // "UNKNOWN"
		*mode = '\0';
}

// Is a selected GPU a part of one?
static bool is_divided(const struct kfd_topology *t)
{
	char mode[8];
	bool divided = false;
	for (size_t i = 0; i < t->n && !divided; i++) {
		if (!t->gpus[i].selected)
			continue;
		read_partition(mode, t, &t->gpus[i]);
		divided = *mode && strcmp(mode, "SPX") != 0;
	}
	return divided;
}

static void fill_gpu_row(struct row *r, const struct kfd_gpu *g, const struct wants *w,
			 struct pci_names *pci)
{
	*r = (struct row){.g = *g};
	r->sched = !g->gfx[0] ? NULL : kfd_gpu_uses_mes(g) ? "MES" : "HWS";
	if (g->cp_queues != KFD_UNKNOWN)
		r->slots = g->slots_guessed ? "guess" : "property";
	if (g->cwsr_bytes != KFD_UNKNOWN)
		r->cwsr = g->cwsr_computed ? "formula" : "property";
	if (g->render_minor <= UINT32_MAX)
		snprintf(r->render, sizeof(r->render), "renderD%u", (unsigned)g->render_minor);
	// KFD prints 0 for "none".
	if (g->unique_id == 0)
		r->g.unique_id = KFD_UNKNOWN;
	if (g->hive_id == 0)
		r->g.hive_id = KFD_UNKNOWN;
	fill_names(r, w, pci);
}

static int print_gpus(struct cmd *c, const struct kfd_topology *t, const struct wants *w)
{
	struct out *o = out_open(&c->out);
	struct pci_names *pci = w->pci ? pci_names_new() : NULL;
	if (w->pci && !pci)
		err_note("VENDOR, DEVICE: %s",
			 errno == ENOPKG ? NAMES_LIBPCI " is missing" : strerror(errno));
	int status = out_begin(o, &table, false);
	if (!status && w->partition && !is_divided(t))
		out_leave_out(o, "PARTITION");
	for (size_t i = 0; !status && i < t->n; i++) {
		struct row r;
		if (!t->gpus[i].selected)
			continue;
		fill_gpu_row(&r, &t->gpus[i], w, pci);
		if (w->partition)
			read_partition(r.partition, t, &r.g);
		out_row(o, &r);
	}
	if (pci_names_broken(pci))
		err_warn("see -v; lspci -n reads the same database",
			 "VENDOR, DEVICE, NAME: " NAMES_LIBPCI
			 " gave up: out of memory, or a damaged database");
	pci_names_free(pci);
	return out_finish(o, status);
}

static int list_gpus(struct cmd *c, struct kfd_topology *t, const struct wants *w)
{
	const struct gpus_opts *o = c->opts;
	if (!t->n) {
		int status = c->out.mode == OUT_JSON ? print_gpus(c, t, w) : GPQ_OK;
		return status ? status
			      : err_fail(GPQ_NOTFOUND,
					 "is one plugged in, and passed in if this is a "
					 "container? see dmesg",
					 "the KFD driver is here but has no GPU (CPU nodes: %zu)",
					 t->cpu_nodes);
	}
	int status = pick_select_gpus(t, &o->gpu);
	return status ? status : print_gpus(c, t, w);
}

// Writes to `text` the words of `all` that are commands of this gpq; returns NULL if none is.
static const char *keep_commands(char text[128], const char *all)
{
	size_t used = 0;
	while (all && *all) {
		size_t len = strcspn(all, " ");
		if (command_find(all, len) && used + len + 2 < 128)
			used += (size_t)snprintf(text + used, 128 - used, "%s%.*s", used ? " " : "",
						 (int)len, all);
		all += len + (all[len] == ' ');
	}
	return used ? text : NULL;
}

// Lists the checks that `command` (NULL: any) needs, those that say no first; on a screen last.
// Returns their number.
static size_t order_checks(const struct kfd_check *ordered[KFD_CHECKS_MAX],
			   const struct kfd_check *checks, size_t n, const char *command,
			   bool screen)
{
	size_t used = 0;
	for (unsigned rest = 0; rest < 2; rest++)
		for (size_t i = 0; i < n; i++)
			if ((checks[i].status != KFD_CHECK_NO) == (rest != screen) &&
			    (!command ||
			     text_has_word(checks[i].commands, command, strlen(command))))
				ordered[used++] = &checks[i];
	return used;
}

// Returns what mends the check of this place. People are led to the line that says the same.
static const char *mend_of(const struct kfd_check *const *ordered, size_t place, char text[64],
			   bool people, bool screen)
{
	const char *mend = ordered[place]->mend;
	people &= mend && strncmp(mend, "see ", 4) != 0;
	for (size_t i = 0; people && i < place; i++)
		if ((!screen || ordered[i]->status != KFD_CHECK_UNKNOWN) && ordered[i]->mend &&
		    strcmp(ordered[i]->mend, mend) == 0) {
			snprintf(text, 64, "see the line %s", ordered[i]->name);
			return text;
		}
	return mend;
}

// Does a check that says no stop the command from doing anything?
static bool is_stopped(const struct kfd_check *const *ordered, size_t n, const char *command)
{
	for (size_t i = 0; i < n; i++)
		if (ordered[i]->status == KFD_CHECK_NO &&
		    text_has_word(ordered[i]->must, command, strlen(command)))
			return true;
	return false;
}

// Ends the table for people: with the commands that can do nothing here, and on a screen with the
// names of unknown checks, which it does not show.
static void tell_verdict(const struct kfd_check *const *ordered, size_t n, const char *command,
			 bool screen)
{
	size_t with[3] = {0};
	SCOPED(buf_fini) struct buf unknown = {0}, idle = {0};
	for (size_t i = 0; i < n; i++) {
		with[ordered[i]->status]++;
		if (screen && ordered[i]->status == KFD_CHECK_UNKNOWN)
			buf_printf(&unknown, "%s%s", unknown.len ? " " : " (", ordered[i]->name);
	}
	if (unknown.len)
		buf_puts(&unknown, ")");
	const char *names = unknown.len ? unknown.data : "";
	for (const struct command *k = gpq_commands; k->name && !command; k++)
		if (is_stopped(ordered, n, k->name))
			buf_printf(&idle, "%s%s", idle.len ? " " : "cannot work here: ", k->name);
	buf_puts(&idle, idle.len ? "; " : "");
	if (with[KFD_CHECK_NO] && unknown.len)
		err_hint("FIX tells what helps", "%schecks that say no: %zu; unknown checks: %zu%s",
			 idle.data, with[KFD_CHECK_NO], with[KFD_CHECK_UNKNOWN], names);
	else if (with[KFD_CHECK_NO])
		err_hint("FIX tells what helps", "%schecks that say no: %zu", idle.data,
			 with[KFD_CHECK_NO]);
	else
		err_hint(!with[KFD_CHECK_UNKNOWN] ? NULL
			 : host_is_live()         ? "run it as root"
						  : "run it on that host, as root",
			 "nothing known forbids gpq%s%s; unknown checks: %zu%s", command ? " " : "",
			 command ? command : "", with[KFD_CHECK_UNKNOWN], names);
}

// Prints the preflight (common/kfd/check.c), with `command` what that needs. Returns
// GPQ_UNSUPPORTED if `command` can do nothing here; without a command GPQ_OK, whatever the checks
// found.
static int print_checks(struct cmd *c, const char *command)
{
	static const char *const words[] = {"unknown", "no", "ok"};
	struct kfd_check checks[KFD_CHECKS_MAX];
	const struct kfd_check *ordered[KFD_CHECKS_MAX];
	const bool people = c->out.mode == OUT_TABLE;
	SCOPED(buf_fini) struct buf stopped = {0};
	c->out.schema = &check_schema;
	c->out.fits = !c->out.filter && !c->out.sort && !c->out.columns;
	struct out *o = out_open(&c->out);
	const bool screen = out_fits(o);
	const size_t n = order_checks(ordered, checks, kfd_check_all(checks), command, screen);
	int status = out_begin(o, &check_table, false);
	if (command && !status)
		out_leave_out(o, "COMMANDS");
	for (size_t i = 0; !status && i < n; i++) {
		const struct kfd_check *k = ordered[i];
		struct check_row r = {
			.check = k->name, .status = words[k->status], .found = k->found};
		r.mend = mend_of(ordered, i, r.mend_text, people && !c->out.filter, screen);
		r.commands = keep_commands(r.command_text[0], k->commands);
		r.must = keep_commands(r.command_text[1], k->must);
		if (!screen || k->status != KFD_CHECK_UNKNOWN)
			out_row(o, &r);
		if (command && k->status == KFD_CHECK_NO &&
		    text_has_word(r.must, command, strlen(command)))
			buf_printf(&stopped, "%s%s", stopped.len ? ", " : "", r.check);
	}
	status = out_finish(o, status);
	if (!status && !stopped.len && people && !c->out.to) // not again with --watch
		tell_verdict(ordered, n, command, screen);
	return status || !stopped.len
		       ? status
		       : err_fail(GPQ_UNSUPPORTED, "FIX tells what helps",
				  "gpq %s cannot work here: %s", command, stopped.data);
}

static int list_host_gpus(struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	struct kfd_topology t;
	if (o->check)
		return print_checks(c, c->argc ? c->argv[0] : NULL);
	const struct wants w = gpus_wants(&c->out);
	int r = kfd_topology_load(&t, w.topology);
	if (r)
		return err_sys(-r, NULL, "/sys/class/kfd/kfd/topology/nodes");
	int status = list_gpus(c, &t, &w);
	kfd_topology_fini(&t);
	return status;
}

static int run_gpus(struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	return watch_run(c, o->watch, list_host_gpus);
}

static unsigned gpus_needs(const struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	return o->check ? 0 : NEED_KFD;
}

static const struct out_table *const *gpus_prints(const struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	return o->check ? check_schema.tables : schema.tables;
}

static int check_gpus_operand(struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	if (c->argc && (!o->check || c->argc > 1))
		return cmd_refuse_operand(c, c->argv[o->check]);
	return c->argc && !command_find(c->argv[0], strlen(c->argv[0]))
		       ? err_fail(GPQ_USAGE, "gpq --list names them", "--check: %s is no command",
				  c->argv[0])
		       : GPQ_OK;
}

const struct cmd_spec gpus_spec = {
	.synopsis = "[--gpu GPU[,GPU...]] [--watch SEC]\n--check [COMMAND]",
	.description =
		"Lists the GPUs of the KFD driver: numbers, names, what they have and whether "
		"queues can be suspended on them. With --check, tells what stands between this "
		"user on this host and each gpq command, and how to mend it; of one COMMAND, exit "
		"status 6: it cannot work.",
	.operands = "COMMAND",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct gpus_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&table, &check_table),
	.schemas = SCHEMAS(&schema, &check_schema),
	.needs = gpus_needs,
	.prints = gpus_prints,
	.check = check_gpus_operand,
	.run = run_gpus,
};
