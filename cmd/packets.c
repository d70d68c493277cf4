// gpq packets: options and columns. common/why/rings.h finds the rings, common/aql decodes packets.
#include "cmd/kernels.h"

struct packets_opts {
	struct pick_opts pick;
	struct pick_queues_opts queues;
	struct kernels_opts kernels;
	bool attach;
	uint64_t around; // packets shown before and behind the next one
	uint64_t watch;  // ns, WATCH_OFF without --watch
};

static const struct packets_opts defaults = {.around = 8, .watch = WATCH_OFF};

static const struct opt opts[] = {
	PICK_OPTS(packets_opts),
	PICK_QUEUES_OPTS(packets_opts),
	OPT(packets_opts, around, "around", 0, OPT_U64, "N",
	    "packets before and behind the next one (8)"),
	RINGS_ATTACH_OPT(packets_opts),
	KERNELS_OPTS(packets_opts),
	WATCH_OPT(packets_opts),
	{0},
};

static const struct opt_rule rules[] = {
	KERNELS_RULE,
	RULE_RANGE("around", 0, RING_AROUND_MAX, "no ring has more than 65536 packets",
		   "--around %v: too many"),
	ATTACH_RULE,
	WATCH_RULES,
	{0},
};

// A packet. Members are null if they are unknown, or if this kind of packet does not have them.
struct packet_row {
	struct queue_row q; // the queue whose ring has the packet
	uint64_t ring, read, write;
	uint64_t index;
	int64_t ahead;
	const char *state, *type;
	uint64_t header, format;
	int8_t barrier;
	const char *acquire, *release;
	const char *kernel, *demangled;
	uint64_t object, kernarg, private_bytes, group_bytes;
	char grid[48], workgroup[48], clusters[48], cluster[48];
	char deps[160], dep_values[160], condition[160];
	uint64_t signal;
	int64_t signal_value;
	uint64_t writes, bytes, address;
};

#define ROW packet_row
static const struct out_col cols[] = {
	RING_OWNER_COLS(M),
	COL(ring, "RING_ADDR", "ring_addr", HEX, M, "address of the ring in the process"),
	COL(read, "READ", "read", U64, M,
	    "read index of the queue: AQL packets, SDMA bytes, PM4 dwords"),
	COL(write, "WRITE", "write", U64, M, "write index of the queue"),
	COL(index, "PACKET_ID", "packet_id", U64, D, "index of the packet, as the queue counts"),
	COL(ahead, "AHEAD", "ahead", I64, D | W, "the same less the read index: 0 is the next"),
	COL(state, "STATE", "state", STR, D | S,
	    "taken (by the GPU), next, queued, unpublished (its header is not written), "
	    "overwritten (while it was read), unreadable"),
	COL(type, "TYPE", "type", STR, D,
	    "dispatch, barrier-and, barrier-or, barrier-value, ext-dispatch, agent-dispatch, "
	    "pm4-buffer, vendor, invalid, unknown; sdma-...; pm4-..."),
	COL(header, "HEADER", "header", HEX, M, "header of an AQL packet"),
	COL(format, "VENDOR_FORMAT", "vendor_format", U64, M, "format of a vendor packet"),
	COL(barrier, "BARRIER", "barrier", BOOL, D,
	    "it waits until all packets before it are complete"),
	COL(acquire, "ACQUIRE", "acquire", STR, M | W,
	    "scope of its acquire fence: none, agent, system"),
	COL(release, "RELEASE", "release", STR, M | W, "scope of its release fence"),
	COL(kernel, "KERNEL", "kernel", STR, D | T | OUT_MANGLED,
	    "name of the kernel, by the code objects that the process has loaded"),
	COL(demangled, "DEMANGLED", "demangled", STR, T | OUT_DEMANGLED, "the same for people"),
	COL(object, "KERNEL_OBJECT", "kernel_object", HEX, M, "address of its descriptor"),
	COL(grid, "GRID", "grid", STR, D | W | A, "work-items of a dispatch"),
	COL(workgroup, "WORKGROUP", "workgroup", STR, D | W | A, "work-items of a workgroup"),
	COL(clusters, "CLUSTERS", "clusters", STR, M | A,
	    "clusters of an extended dispatch, which has no grid"),
	COL(cluster, "CLUSTER", "cluster", STR, M | A, "workgroups of a cluster"),
	COL(kernarg, "KERNARG", "kernarg", HEX, M, "address of the kernel's arguments"),
	COL(private_bytes, "PRIVATE", "private_bytes", SIZE, M, "private memory of a work-item"),
	COL(group_bytes, "GROUP", "group_bytes", SIZE, M, "memory of a workgroup (LDS)"),
	COL(deps, "DEPS", "deps", LIST, D | T | A,
	    "signals that it waits for; SDMA: the address that it polls"),
	COL(dep_values, "DEP_VALUES", "dep_values", LIST, D | W | A,
	    "their values now; -: not readable, or no signal"),
	COL(condition, "CONDITION", "condition", STR, D | W | A,
	    "what must be true of them before it begins"),
	COL(signal, "SIGNAL", "signal", HEX, D | W,
	    "its completion signal, which is decremented when it is complete"),
	COL(signal_value, "SIGNAL_VALUE", "signal_value", I64, D | W, "value of that signal now"),
	COL(writes, "WRITES", "writes", HEX, M,
	    "address that an SDMA fence, atomic or timestamp writes"),
	COL(bytes, "SIZE", "bytes", SIZE, M, "bytes of the packet; null: not known"),
	COL(address, "ADDRESS", "address", HEX, M, "address of the packet in the process"),
};

static const struct out_table packets_table = {"packets", "packet", OUT_COLS(cols)};
static const struct out_table *const tables[] = {&packets_table, NULL};
static const struct schema schema = {"gpq.packets", 1, tables, NULL};

// --- the row of a packet ---

static const char *scope_word(unsigned bits)
{
	static const char *const names[] = {"none", "agent", "system", "reserved"};
	return names[bits & 3];
}

static void set_shape(char to[48], uint32_t x, uint32_t y, uint32_t z)
{
	snprintf(to, 48, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, x, y, z);
}

static void fill_dispatch(struct packet_row *r, const struct packet *p)
{
	r->object = p->kernel_object;
	r->kernarg = p->kernarg;
	r->private_bytes = p->private_bytes;
	r->group_bytes = p->group_bytes;
	set_shape(r->workgroup, p->workgroup[0], p->workgroup[1], p->workgroup[2]);
	if (p->kind == PACKET_DISPATCH) {
		set_shape(r->grid, p->grid[0], p->grid[1], p->grid[2]);
		return;
	}
	set_shape(r->clusters, p->clusters[0], p->clusters[1], p->clusters[2]);
	set_shape(r->cluster, p->cluster[0], p->cluster[1], p->cluster[2]);
}

// Fills in the signals of a packet and their values. Returns how many values are unknown.
static unsigned fill_signals(struct packet_row *r, const struct packet *p, const struct memory *m)
{
	unsigned unknown = 0;
	size_t addresses = 0, values = 0;
	int64_t value = 0;
	for (unsigned i = 0; i < p->ndeps; i++) {
		const char *blank = i ? " " : "";
		const size_t room = sizeof(r->deps);
		const bool known = memory_signal(m, p->deps[i], &value);
		unknown += !known;
		addresses += (size_t)snprintf(r->deps + addresses, room - addresses, "%s0x%" PRIx64,
					      blank, p->deps[i]);
		values += (size_t)snprintf(r->dep_values + values, room - values,
					   known ? "%s%" PRId64 : "%s-", blank, value);
	}
	if (p->completion) {
		r->signal = p->completion;
		r->signal_value = memory_signal(m, p->completion, &value) ? value : I64_NULL;
		unknown += r->signal_value == I64_NULL;
	}
	return unknown;
}

static unsigned fill_poll(struct packet_row *r, const struct packet *p, const struct memory *m)
{
	uint32_t word = 0;
	snprintf(r->deps, sizeof(r->deps), "0x%" PRIx64, p->polls);
	const bool known = memory_read(m, p->polls, &word, sizeof(word));
	snprintf(r->dep_values, sizeof(r->dep_values), known ? "%" PRIu32 : "-", word);
	return !known;
}

static void set_condition(struct packet_row *r, const struct packet *p)
{
	const uint64_t all = p->waits == PACKET_WAITS_MEMORY ? UINT32_MAX : UINT64_MAX;
	const char *compare = packet_compare_text(p->compare);
	const size_t size = sizeof(r->condition);
	if (p->waits == PACKET_WAITS_ALL || p->waits == PACKET_WAITS_ANY)
		snprintf(r->condition, size, p->waits == PACKET_WAITS_ALL ? "all 0" : "any 0");
	else if (p->waits != PACKET_WAITS_NOT && p->mask == all)
		snprintf(r->condition, size, "%s %" PRId64, compare, p->value);
	else if (p->waits != PACKET_WAITS_NOT)
		snprintf(r->condition, size, "& 0x%" PRIx64 " %s %" PRId64, p->mask, compare,
			 p->value);
}

// Fills in what a decoded packet has. Returns how many values of signals are unknown.
static unsigned fill_decoded(struct packet_row *r, const struct packet *p, const struct memory *m)
{
	const bool aql = p->kind != PACKET_SDMA && p->kind != PACKET_PM4;
	r->type = p->type;
	r->bytes = p->bytes ? p->bytes : U64_NULL;
	if (aql) {
		r->header = p->header;
		r->format = (p->header & 0xff) == 0 ? p->format : U64_NULL;
	}
	// Fences and the barrier bit in the header of a free slot belong to no packet.
	if (aql && p->kind != PACKET_INVALID && !p->left) {
		r->barrier = p->barrier;
		r->acquire = scope_word(p->acquire);
		r->release = scope_word(p->release);
	}
	if (p->kind == PACKET_DISPATCH || p->kind == PACKET_EXT_DISPATCH)
		fill_dispatch(r, p);
	unsigned unknown = fill_signals(r, p, m);
	if (p->waits == PACKET_WAITS_MEMORY)
		unknown += fill_poll(r, p, m);
	set_condition(r, p);
	r->writes = p->writes ? p->writes : U64_NULL;
	return unknown;
}

static unsigned fill_packet_row(struct packet_row *r, const struct ring_queue *q,
				const struct ring_look *l, const struct ring_packet *p,
				const struct memory *m)
{
	out_clear(&packets_table, r);
	r->q = *q->row;
	r->ring = q->ring.base;
	r->read = l->at.read;
	r->write = l->at.write;
	r->index = p->index;
	r->ahead = (int64_t)(p->index - l->at.read);
	r->state = ring_state_word(p->state);
	r->address = p->address;
	return p->packet.type ? fill_decoded(r, &p->packet, m) : 0;
}

// --- listing packets ---

static void print_packets_of(struct out *o, const struct rings *rings, const struct ring_queue *q,
			     struct kernels *kernels, uint64_t around, bool *partial,
			     const struct ring_queue **first)
{
	const struct memory *m = &rings->processes[q->process].memory;
	SCOPED(ring_look_fini) struct ring_look l;
	struct packet_row r;
	unsigned unknown = 0, lost = 0;
	char text[24];
	ring_look(&q->ring, m, around, around, &l);
	if (l.problem) {
		*partial = true;
		rings_warn(rings, q, l.problem);
	} else if (!l.n) {
		err_note("pid %d: queue %" PRIu64 ": its ring is empty", (int)q->row->pid,
			 q->row->qid);
	}
	for (size_t i = 0; i < l.n; i++) {
		unknown += fill_packet_row(&r, q, &l, &l.v[i], m);
		lost += l.v[i].state == RING_LOST;
		if (r.object != U64_NULL)
			r.kernel = kernels_shown(kernels, q, r.object, o, text);
		r.demangled = kernels_readable(kernels, r.kernel);
		const struct packet *p = &l.v[i].packet;
		if (!out_fits(o) || l.v[i].state != RING_TAKEN || p->kind != PACKET_INVALID)
			out_row(o, &r);
		if (l.v[i].state == RING_NEXT && p->waits != PACKET_WAITS_NOT && !*first)
			*first = q;
	}
	if (lost)
		err_note("pid %d: queue %" PRIu64 ": %u packet%s cannot be read, nor what follows",
			 (int)q->row->pid, q->row->qid, lost, text_s(lost));
	if (unknown)
		err_note("pid %d: queue %" PRIu64
			 ": unknown: %u value%s of signals that cannot be read, or are none",
			 (int)q->row->pid, q->row->qid, unknown, text_s(unknown));
}

static int list_packets(struct cmd *c)
{
	const struct packets_opts *o = c->opts;
	const struct rings_how how = {
		.pick = &o->pick,
		.queues = &o->queues,
		.attach = o->attach,
	};
	SCOPED(rings_fini) struct rings rings = {0};
	struct kernels kernels = {0};
	bool partial = false;
	const struct ring_queue *first = NULL; // whose next packet waits for a signal
	c->out.fits = o->watch == WATCH_OFF;
	struct out *out = out_open(&c->out);
	int status = out_begin(out, &packets_table, false);
	if (!status)
		status = rings_load(&rings, &how);
	if (!status || status == GPQ_PARTIAL) {
		kernels_begin(&kernels, &rings, out);
		for (size_t i = 0; i < rings.n; i++)
			print_packets_of(out, &rings, &rings.v[i], &kernels, o->around, &partial,
					 &first);
		kernels_end(&kernels);
	}
	if (partial)
		status = rings_unread(&rings);
	out_end(out);
	if (first && out_fits(out))
		out_title(out, "gpq why -Q %d:%" PRIu64 " tells on what it waits",
			  (int)first->row->pid, first->row->qid);
	const int written = out_close(out);
	return written ? written : status;
}

static int run_packets(struct cmd *c)
{
	const struct packets_opts *o = c->opts;
	kernels_choose(c, &o->kernels);
	return watch_run(c, o->watch, list_packets);
}

const struct cmd_spec packets_spec = {
	.synopsis = "-p PID [-Q ID] [--around N] [--attach] [--watch SEC]\n"
		    "[--container ID|NAME] [--comm REGEX] [--gpu GPU] [--type TYPE]",
	.description = "Shows the packets around the read index of each queue, decoded from the "
		       "memory of\n"
		       "the process, which goes on running. As root; else with --attach.",
	.opts = opts,
	.rules = rules,
	.opts_size = sizeof(struct packets_opts),
	.defaults = &defaults,
	.tables = tables,
	.schemas = SCHEMAS(&schema),
	.run = run_packets,
};
