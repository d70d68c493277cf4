// gpq gpus: a row per KFD GPU with its numbers, names and capabilities; --check: prints the
// preflight (common/kfd/check.h). Facts: [kfd.topology].
#include "cmd/command.h"

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
	{0},
};

struct row {
	struct kfd_gpu g;
	const char *sched, *name, *cwsr;
	char marketing[128], vendor[128], device[128], render[24];
};

#define ROW row
static const struct out_col cols[] = {
	COL(g.index, "INDEX", "index", U64, D | W, "place among the readable GPUs"),
	COL(g.node, "NODE", "node", U64, D | W, "KFD topology node"),
	COL(g.gpu_id, "GPU", "gpu_id", U64, D, "gpu_id, decimal as in sysfs"),
	COL(g.gpu_id, "HEX", "gpu_id_hex", HEX, D | W, "gpu_id, hexadecimal as in debugfs"),
	COL(g.bdf, "BDF", "bdf", STR, D | A, "PCI address; partitions share one"),
	COL(g.gfx, "GFX", "gfx", STR, D | A, "instruction set"),
	COL(g.cus, "CUS", "cus", U64, D, "compute units of all XCCs together"),
	COL(g.num_xcc, "XCCS", "xccs", U64, D, "accelerator complexes"),
	COL(g.cp_queues, "SLOTS", "cp_queue_slots", U64, D | W,
	    "hardware slots for compute queues per XCC"),
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
	COL(render, "RENDER", "render_node", STR, M | A, "its render node in /dev/dri"),
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
	const char *check, *status, *found, *commands, *mend;
	char command_text[128];
};

#define ROW check_row
static const struct out_col check_cols[] = {
	COL(check, "CHECK", "check", STR, D, "what is looked at"),
	COL(status, "STATUS", "status", STR, D | S, "ok, no or unknown"),
	COL(found, "FOUND", "found", STR, D, "what was found"),
	COL(commands, "COMMANDS", "commands", LIST, D,
	    "commands that need it, at least for some of what they do"),
	COL(mend, "MEND", "mend", STR, D, "how to mend it"),
};
#undef ROW
static const struct out_table check_table = {"checks", "check", OUT_COLS(check_cols)};

static const struct schema schema = {"gpq.gpus", 1, SCHEMA_TABLES(&table), NULL};
static const struct schema check_schema = {"gpq.gpus.check", 1, SCHEMA_TABLES(&check_table), NULL};

// Data that takes more files, a library or a device; read only if a column shows it.
struct wants {
	unsigned topology; // KFD_TOPOLOGY_...
	bool marketing, pci;
};

static struct wants gpus_wants(const struct out_opts *o)
{
	const bool name = out_would_want(o, &table, "NAME");
	struct wants w = {.topology = KFD_TOPOLOGY_BDF}; // --gpu takes PCI addresses
	if (out_would_want(o, &table, "ASIC"))
		w.topology |= KFD_TOPOLOGY_NAME;
	if (out_would_want(o, &table, "VRAM"))
		w.topology |= KFD_TOPOLOGY_MEMORY;
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
		err_note("node %u: %u lines of properties are no \"name value\"", node,
			 g->bad_lines);
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

static void fill_gpu_row(struct row *r, const struct kfd_gpu *g, const struct wants *w,
			 struct pci_names *pci)
{
	*r = (struct row){.g = *g};
	r->sched = !g->gfx[0] ? NULL : kfd_gpu_uses_mes(g) ? "MES" : "HWS";
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
	for (size_t i = 0; !status && i < t->n; i++) {
		struct row r;
		if (!t->gpus[i].selected)
			continue;
		fill_gpu_row(&r, &t->gpus[i], w, pci);
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

// Sets r->commands to the words of `all` that are commands of this gpq; NULL: none is.
static void keep_commands(struct check_row *r, const char *all)
{
	size_t used = 0;
	while (all && *all) {
		size_t len = strcspn(all, " ");
		if (command_find(all, len) && used + len + 2 < sizeof(r->command_text))
			used += (size_t)snprintf(r->command_text + used,
						 sizeof(r->command_text) - used, "%s%.*s",
						 used ? " " : "", (int)len, all);
		all += len + (all[len] == ' ');
	}
	r->commands = used ? r->command_text : NULL;
}

// Prints the preflight (common/kfd/check.c). Returns GPQ_OK if the report could be written,
// whatever the checks found.
static int print_checks(struct cmd *c)
{
	static const char *const words[] = {"unknown", "no", "ok"};
	struct kfd_check checks[KFD_CHECKS_MAX];
	size_t n = kfd_check_all(checks);
	c->out.schema = &check_schema;
	struct out *o = out_open(&c->out);
	int status = out_begin(o, &check_table, false);
	for (size_t i = 0; !status && i < n; i++) {
		struct check_row r = {.check = checks[i].name,
				      .status = words[checks[i].status],
				      .found = checks[i].found,
				      .mend = checks[i].mend};
		keep_commands(&r, checks[i].commands);
		out_row(o, &r);
	}
	return out_finish(o, status);
}

static int list_host_gpus(struct cmd *c)
{
	const struct gpus_opts *o = c->opts;
	struct kfd_topology t;
	if (o->check)
		return print_checks(c);
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

const struct cmd_spec gpus_spec = {
	.synopsis = "[--gpu GPU[,GPU...]] [--watch SEC]\n--check",
	.description =
		"Lists the GPUs of the KFD driver: numbers, names, what they have and whether "
		"queues can be suspended on them. With --check, tells what stands between this "
		"user on this host and each gpq command, and how to mend it.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct gpus_opts),
	.defaults = &defaults,
	.tables = SCHEMA_TABLES(&table, &check_table),
	.schemas = SCHEMAS(&schema, &check_schema),
	.needs = gpus_needs,
	.run = run_gpus,
};
