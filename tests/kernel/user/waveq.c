// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * waveq: a queue with a kernel of its own, whose program suspends it through the debug interface
 * and reads its save area by hand: the witness against which the software GPU's waves, and gpq's
 * reader, are judged.  It shares no code with either; the layout is that of
 * ../../../common/waves/facts.md.
 *
 *     waveq [-n] [-u] [-g] WORD...     -n: no ttmps are asked for; -u: user memory; -g: wave32 of
 * gfx10+
 *
 *     dispatch=ITEMS,GROUP[,BARRIER]   a dispatch of one dimension; BARRIER 0: it need not wait
 *     dispatch3                        one of 3 * 2 * 2 groups of 8 * 4 * 2
 *     barrier                          a packet that is no dispatch
 *     skip=N                           N of those, each when the one before is done
 *     drain                            waits until the queue is empty
 *     enable, disable                  the debug session
 *     look                             suspends the queue; a line for each XCC and each wave
 *     resume
 *     poke=OFFSET                      while suspended: halts all waves at the entry + OFFSET,
 * notes in ttmp6 dump=FILE                        while suspended: the first XCC's area as it is
 *     sh=COMMAND                       its environment has KERNEL, the kernel object
 *     ms=N                             waits
 */
#include "kfdqueue.h"

#define BLOCK       32  /* hardware registers and ttmps, in dwords */
#define KERNEL      64  /* in the page of the kernel: its descriptor, */
#define ENTRY       256 /* its code */
#define GROUP_BYTES 1000
#define MOST_WAVES  1024
#define NOTE        (1u << 31)

static struct gpu gpu;
static struct queue queue;
static uint8_t *page;
static uint32_t gfx;                 /* 90010 */
static uint32_t *blocks[MOST_WAVES]; /* of the last look: waves' hardware registers */
static int n_blocks;

static uint32_t field(uint32_t word, int low, int high)
{
	return word >> low & ((2u << (high - low)) - 1);
}

/* ---- the driver ---- */

static int trap(uint32_t op, struct kfd_ioctl_dbg_trap_args *args)
{
	args->op = op;
	args->pid = (uint32_t)getpid();
	return ioctl(gpu.kfd, AMDKFD_IOC_DBG_TRAP, args);
}

static void enable(const char *unused)
{
	static int events[2];
	struct kfd_runtime_info info = {0};
	struct kfd_queue_snapshot_entry list[4];
	struct kfd_ioctl_dbg_trap_args args = {0};
	(void)unused;
	if (!events[1] && pipe2(events, O_CLOEXEC | O_NONBLOCK))
		die("pipe");
	args.enable.rinfo_ptr = (uintptr_t)&info;
	args.enable.rinfo_size = sizeof(info);
	args.enable.dbg_fd = (uint32_t)events[1];
	if (trap(KFD_IOC_DBG_TRAP_ENABLE, &args))
		die("ENABLE");
	printf("ttmp_setup %u\n", info.ttmp_setup);
	args = (struct kfd_ioctl_dbg_trap_args){0};
	args.queue_snapshot.exception_mask = KFD_EC_MASK(EC_QUEUE_NEW);
	args.queue_snapshot.snapshot_buf_ptr = (uintptr_t)list;
	args.queue_snapshot.num_queues = 4;
	args.queue_snapshot.entry_size = sizeof(list[0]);
	if (trap(KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT, &args))
		die("GET_QUEUE_SNAPSHOT");
}

static void disable(const char *unused)
{
	struct kfd_ioctl_dbg_trap_args args = {0};
	(void)unused;
	if (trap(KFD_IOC_DBG_TRAP_DISABLE, &args))
		die("DISABLE");
}

static void resume(const char *unused)
{
	struct kfd_ioctl_dbg_trap_args args = {0};
	uint32_t id = queue.id;
	(void)unused;
	args.resume_queues.queue_array_ptr = (uintptr_t)&id;
	args.resume_queues.num_queues = 1;
	if (trap(KFD_IOC_DBG_TRAP_RESUME_QUEUES, &args) != 1)
		die("RESUME_QUEUES: %x", id);
}

static void suspend(void)
{
	struct kfd_ioctl_dbg_trap_args args = {0};
	uint32_t id = queue.id;
	args.suspend_queues.queue_array_ptr = (uintptr_t)&id;
	args.suspend_queues.num_queues = 1;
	if (trap(KFD_IOC_DBG_TRAP_SUSPEND_QUEUES, &args) != 1)
		die("SUSPEND_QUEUES: %x", id);
}

/* ---- reading an area ---- */

/* What a state word says of the waves behind it. */
struct shape {
	uint32_t lanes, vgprs, acc, sgprs, lds, tail;
};

static struct shape shape_of(uint32_t state)
{
	struct shape s = {.lanes = 64};
	if (gfx >= 100000) {
		s.lanes = field(state, 24, 24) ? 32 : 64;
		s.vgprs = (field(state, 0, 5) + 1) * (s.lanes == 32 ? 8 : 4);
		s.sgprs = 128;
		s.lds = field(state, 10, 17) * 512;
		return s;
	}
	s.tail = 64;
	s.sgprs = field(state, 6, 8) * 16;
	s.lds = field(state, 9, gfx >= 90010 ? 16 : 17) * 512;
	s.vgprs = (field(state, 0, 5) + 1) * 4;
	if (gfx == 90008)
		s.acc = s.vgprs;
	if (gfx >= 90010) {
		s.vgprs = (field(state, 24, 29) + 1) * 4;
		s.acc = (field(state, 0, 5) + 1) * 8 - s.vgprs;
	}
	return s;
}

static bool is_first(uint32_t word) /* of its group */
{
	return word >> (gfx >= 100000 ? 12 : 17) & 1;
}

/* Each register of the software GPU's waves says which one it is; false: one does not. */
static bool has_numbers(const uint8_t *record, const struct shape *s, uint32_t n, bool first)
{
	const uint32_t vgprs = s->vgprs + s->acc, vgpr_words = vgprs * s->lanes;
	const uint32_t *words = (const void *)record;
	for (uint32_t i = 0; i < vgpr_words; i++)
		if (words[i] != (0x56000000 | n << 16 | i / s->lanes << 8 | i % s->lanes))
			return false;
	words += vgpr_words;
	for (uint32_t i = 0; i < s->sgprs; i++)
		if (words[i] != (0x53000000 | n << 16 | i))
			return false;
	words += s->sgprs + BLOCK;
	for (uint32_t i = 0; first && i < s->lds / 4; i++)
		if (words[i] != (0x4c000000 | n << 16 | i))
			return false;
	return true;
}

static void print_place(const uint32_t *t)
{
	if (gfx >= 120000)
		printf(" group %u,%u,%u in %u packet %u", t[9], t[7] & 0xffff, t[7] >> 16,
		       field(t[8], 25, 29), field(t[8], 0, 24));
	else
		printf(" group %u,%u,%u in %u packet %u", t[8], t[9], t[10], field(t[11], 0, 5),
		       gfx == 90402 ? field(t[11], 6, 30) : field(t[6], 0, 24));
}

/* PCs are told from the kernel's entry, others as they are. */
static void print_pc(const char *name, uint64_t pc)
{
	const uint64_t entry = (uintptr_t)page + ENTRY;
	if (pc >= entry && pc - entry < PAGE - ENTRY)
		printf(" %s +0x%llx", name, (unsigned long long)(pc - entry));
	else
		printf(" %s 0x%llx", name, (unsigned long long)pc);
}

static void print_wave(int xcc, const uint8_t *record, const struct shape *s, uint32_t word)
{
	const bool first = is_first(word), last = word >> (gfx >= 100000 ? 29 : 16) & 1;
	uint32_t *h = (uint32_t *)(record + ((s->vgprs + s->acc) * s->lanes + s->sgprs) * 4),
		 *t = h + 16;
	printf("wave %u xcc %d", h[0] & 0xff, xcc);
	print_place(t);
	print_pc("pc", h[1] | (uint64_t)h[2] << 32);
	printf(" exec %x%08x ends %d%d status %x why %x ttmp6 %x mark %x",
	       s->lanes == 32 ? 0 : h[4], h[3], first, last, h[5], h[6], t[6],
	       gfx >= 120000  ? t[8] >> 31
	       : gfx == 90402 ? t[11] >> 31
			      : 0);
	print_pc("parked", t[gfx >= 120000 ? 10 : 7] | (uint64_t)field(t[11], 7, 22) << 32);
	printf(" numbers %s\n", has_numbers(record, s, h[0] & 0xff, first) ? "yes" : "no");
	if (n_blocks < MOST_WAVES)
		blocks[n_blocks++] = h;
}

static void look_at_xcc(int xcc)
{
	const uint8_t *area = (uint8_t *)(uintptr_t)queue.made.ctx_save_restore_address +
			      (uint64_t)xcc * gpu.node.cwsr_size;
	uint32_t header[4], waves = 0, i;
	const uint32_t *stack;
	const uint8_t *end, *begin;
	struct shape s = {0};
	memcpy(header, area, sizeof(header));
	stack = (const void *)(area + header[0]);
	end = area + header[2];
	begin = end - header[3];
	for (i = 2; i < header[1] / 4; i++) {
		if (stack[i] >> 30 & 1)
			continue;
		if (stack[i] >> 31) {
			s = shape_of(stack[i]);
			i += gfx >= 100000;
			continue;
		}
		end -= ((s.vgprs + s.acc) * s.lanes + s.sgprs + BLOCK) * 4 +
		       (is_first(stack[i]) ? s.lds : 0) + s.tail;
		if (end < begin)
			break;
		print_wave(xcc, end, &s, stack[i]);
		waves++;
	}
	printf("xcc %d stack %u bytes %u waves %u lanes %u regs %u+%u,%u lds %u ends %s\n", xcc,
	       header[1], header[3], waves, s.lanes, s.vgprs, s.acc, s.sgprs, s.lds,
	       end == begin && header[0] + header[1] == gpu.node.ctl_stack_size &&
			       begin == area + gpu.node.ctl_stack_size
		       ? "right"
		       : "wrong");
}

static void look(const char *unused)
{
	(void)unused;
	suspend();
	n_blocks = 0;
	printf("look read %llu\n", (unsigned long long)*queue.read_index);
	for (uint32_t i = 0; i < gpu.node.num_xcc; i++)
		look_at_xcc((int)i);
}

static void poke(const char *offset)
{
	const uint64_t pc = (uintptr_t)page + ENTRY + strtoull(offset, NULL, 0);
	for (int i = 0; i < n_blocks; i++) {
		blocks[i][1] = (uint32_t)pc;
		blocks[i][2] = (uint32_t)(pc >> 32);
		blocks[i][5] |= gfx >= 120000 ? 1 << 14 : 1 << 13;
		blocks[i][16 + 6] |= NOTE;
	}
}

static void dump(const char *path)
{
	FILE *f = fopen(path, "we");
	if (!f ||
	    fwrite((void *)(uintptr_t)queue.made.ctx_save_restore_address, gpu.node.cwsr_size, 1,
		   f) != 1 ||
	    fclose(f))
		die("%s", path);
}

/* ---- work ---- */

static void put(struct aql_dispatch d, bool barrier)
{
	d.kernel_object = (uintptr_t)page + KERNEL;
	d.group_size = GROUP_BYTES;
	put_packet(&queue, *queue.write_index, &d);
	if (!barrier)
		*(uint16_t *)(queue.ring + *queue.write_index * PACKET % queue.ring_size) =
			AQL_HEADER_DISPATCH & ~0x100;
	ring_doorbell(&queue, 1);
}

static void dispatch(const char *text)
{
	unsigned int items, group, barrier = 1;
	if (sscanf(text, "%u,%u,%u", &items, &group, &barrier) < 2)
		die("dispatch=%s", text);
	put((struct aql_dispatch){.setup = 1,
				  .workgroup = {(uint16_t)group, 1, 1},
				  .grid = {items, 1, 1}},
	    barrier);
}

static void dispatch3(const char *unused)
{
	(void)unused;
	put((struct aql_dispatch){.setup = 3, .workgroup = {8, 4, 2}, .grid = {24, 8, 4}}, true);
}

static void barrier(const char *unused)
{
	(void)unused;
	queue_submit(&queue, 1);
}

static void drain(const char *unused)
{
	(void)unused;
	while (queue_pending(&queue))
		usleep(100);
}

static void skip(const char *n)
{
	for (int i = atoi(n); i; i--) {
		queue_submit(&queue, 1);
		drain(NULL);
	}
}

static void shell(const char *command)
{
	char kernel[32];
	snprintf(kernel, sizeof(kernel), "%llu", (unsigned long long)(uintptr_t)page + KERNEL);
	setenv("KERNEL", kernel, 1);
	if (system(command))
		die("%s", command);
}

static void wait_ms(const char *ms)
{
	usleep((useconds_t)atoi(ms) * 1000);
}

static const struct {
	const char *name;
	void (*run)(const char *argument);
} words[] = {
	{"dispatch", dispatch}, {"dispatch3", dispatch3}, {"barrier", barrier}, {"skip", skip},
	{"drain", drain},       {"enable", enable},       {"disable", disable}, {"look", look},
	{"resume", resume},     {"poke", poke},           {"dump", dump},       {"sh", shell},
	{"ms", wait_ms},
};

static void run(const char *word)
{
	const size_t n = strcspn(word, "=");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].name) == n && !strncmp(words[i].name, word, n)) {
			words[i].run(word[n] ? word + n + 1 : word + n);
			return;
		}
	errno = EINVAL;
	die("%s", word);
}

/* The descriptor of a kernel of 16 vector registers (8 in wave64 of gfx10 and later), 48 scalar
 * ones. */
static void make_kernel(bool wave32)
{
	page = gpu_memory(&gpu, PAGE);
	*(int64_t *)(page + KERNEL + 16) = ENTRY - KERNEL;
	*(uint32_t *)(page + KERNEL + 44) = 1;
	*(uint32_t *)(page + KERNEL + 48) = 1 | 5 << 6;
	*(uint16_t *)(page + KERNEL + 56) = wave32 ? 1 << 10 : 0;
}

/* What ROCr has for debuggers, which AMD's library reads: version 10, and no code objects. */
static struct {
	int32_t version;
	uint64_t map, brk;
	int32_t state;
	uint64_t base;
} debug = {.version = 10};

/* As libhsakmt does, in the header of each XCC: where memory for a debugger is, behind all areas.
 */
static void note_debugger_memory(void)
{
	const uint32_t xccs = gpu.node.num_xcc, size = gpu.node.cwsr_size;
	for (uint32_t i = 0; i < xccs; i++) {
		uint32_t *header = (void *)(uintptr_t)(queue.made.ctx_save_restore_address +
						       (uint64_t)i * size);
		header[4] = (xccs - i) * size;
		header[5] = (uint32_t)save_area_size(&gpu.node) - xccs * size;
	}
}

int main(int argc, char **argv)
{
	struct kfd_ioctl_runtime_enable_args runtime = {
		.r_debug = (uintptr_t)&debug,
		.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK |
			     KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK,
	};
	bool user = false, wave32 = false;
	struct node node;
	int option, kfd;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt(argc, argv, "nug")) != -1) {
		if (option == 'n')
			runtime.mode_mask = KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK;
		user = user || option == 'u';
		wave32 = wave32 || option == 'g';
	}
	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || nodes_read(&node, 1) != 1)
		die("/dev/kfd");
	gpu_open(&gpu, kfd, &node, user);
	gfx = node.gfx_target_version;
	if (ioctl(kfd, AMDKFD_IOC_RUNTIME_ENABLE, &runtime))
		die("RUNTIME_ENABLE");
	make_kernel(wave32);
	queue_create(&queue, &gpu, AQL, PAGE, 7);
	note_debugger_memory();
	for (int i = 0; i < (int)(PAGE / PACKET); i++)
		*(uint16_t *)(queue.ring + i * (int)PACKET) = 1; /* invalid */
	for (int i = optind; i < argc; i++)
		run(argv[i]);
	return 0;
}
