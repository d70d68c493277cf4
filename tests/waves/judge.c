// judge CORE|PID: the waves of a GPU core, or of a living process, as AMD's debugger library sees
// them, a line each:
//
//	queue 1 packet 5 group 0,0,0 wave 1 lanes 64 pc 0x700000003148 exec 0xffffffffffffffff at -
//	[halted] [in-barrier] [REASON ...] m0 X mode X exceptions X sgprs N s0 X sN X vcc_lo X
//	vgprs N v0 X vN X [shared N vN X vN X] [lds X X] [acc N a0 X aN X]
//
// Of registers the first and the last one: of a vector register lane 0 of the first, the last lane
// of the last one. "packet ? group ? wave ?" where the library does not know them.
//
// A process is traced until this program ends; its waves stop meanwhile. Needs amd-dbgapi.h and
// librocm-dbgapi.so.0 (see build), nothing of gpq.
#include <amd-dbgapi/amd-dbgapi.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

// A core, as a private copy, since the library writes to the waves that it looks at.
static struct {
	uint8_t *file;
	size_t size;
	const uint8_t *note; // what the library calls the core state
	size_t note_size;
} core;

static int pid, mem = -1; // a living process instead

static _Noreturn void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "judge: %s: %s\n", what, why);
	_exit(1); // the library is not to clean up
}

static void must(amd_dbgapi_status_t status, const char *what)
{
	const char *why = "?";
	if (status == AMD_DBGAPI_STATUS_SUCCESS)
		return;
	amd_dbgapi_get_status_string(status, &why);
	die(what, why);
}

// ---- a core ---------------------------------------------------------------------------------

static const Elf64_Phdr *segment(unsigned i)
{
	const Elf64_Ehdr *e = (const void *)core.file;
	return i < e->e_phnum ? (const void *)(core.file + e->e_phoff + i * sizeof(Elf64_Phdr))
			      : NULL;
}

static uint8_t *core_at(uint64_t address, size_t *size)
{
	const Elf64_Phdr *p;
	for (unsigned i = 0; (p = segment(i)); i++)
		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz) {
			*size = p->p_filesz - (address - p->p_vaddr);
			return core.file + p->p_offset + (address - p->p_vaddr);
		}
	return NULL;
}

static void find_note(void)
{
	const Elf64_Phdr *p;
	for (unsigned i = 0; (p = segment(i)); i++) {
		const uint8_t *at = core.file + p->p_offset, *end = at + p->p_filesz;
		while (p->p_type == PT_NOTE && end - at > (ptrdiff_t)sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *n = (const void *)at;
			const uint8_t *text = at + sizeof(*n) + (n->n_namesz + 3) / 4 * 4;
			if (n->n_type == 33) {
				core.note = text;
				core.note_size = n->n_descsz;
			}
			at = text + (n->n_descsz + 3) / 4 * 4;
		}
	}
}

static void open_core(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		die(path, "cannot be read");
	core.size = (size_t)st.st_size;
	core.file = mmap(NULL, core.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (core.file == MAP_FAILED || core.size < sizeof(Elf64_Ehdr) ||
	    memcmp(core.file, ELFMAG, SELFMAG) != 0)
		die(path, "is no core");
	find_note();
	if (!core.note)
		die(path, "has no GPU state");
}

static void open_process(const char *word)
{
	char path[64];
	pid = atoi(word);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0 || ptrace(PTRACE_SEIZE, pid, 0, 0) != 0)
		die(path, "cannot be traced");
}

static bool read_memory(uint64_t address, void *to, size_t size)
{
	size_t n = 0;
	if (pid)
		return pread(mem, to, size, (off_t)address) == (ssize_t)size;
	const uint8_t *at = core_at(address, &n);
	if (!at || n < size)
		return false;
	memcpy(to, at, size);
	return true;
}

// ---- what the library asks its client ---------------------------------------------------------

#ifdef AMD_DBGAPI_VERSION_0_77
static amd_dbgapi_status_t client_info(amd_dbgapi_client_process_id_t id,
				       amd_dbgapi_client_process_info_t query, size_t size,
				       void *value)
{
	(void)id;
	(void)size;
	if (pid && query == AMD_DBGAPI_CLIENT_PROCESS_INFO_OS_PID) {
		*(amd_dbgapi_os_process_id_t *)value = pid;
		return AMD_DBGAPI_STATUS_SUCCESS;
	}
	if (pid || query != AMD_DBGAPI_CLIENT_PROCESS_INFO_CORE_STATE)
		return AMD_DBGAPI_STATUS_ERROR_NOT_AVAILABLE;
	void *copy = malloc(core.note_size); // the library frees it
	if (!copy)
		return AMD_DBGAPI_STATUS_ERROR;
	*(amd_dbgapi_core_state_data_t *)value = (amd_dbgapi_core_state_data_t){
		.endianness = AMD_DBGAPI_ENDIAN_LITTLE,
		.size = core.note_size,
		.data = memcpy(copy, core.note, core.note_size),
	};
	return AMD_DBGAPI_STATUS_SUCCESS;
}

static amd_dbgapi_status_t transfer(amd_dbgapi_client_process_id_t id,
				    amd_dbgapi_global_address_t address, amd_dbgapi_size_t *size,
				    void *read, const void *write)
{
	size_t n = 0;
	(void)id;
	if (pid) {
		const ssize_t got = read ? pread(mem, read, *size, (off_t)address)
					 : pwrite(mem, write, *size, (off_t)address);
		*size = got > 0 ? (size_t)got : 0;
		return got > 0 ? AMD_DBGAPI_STATUS_SUCCESS : AMD_DBGAPI_STATUS_ERROR_MEMORY_ACCESS;
	}
	uint8_t *at = core_at(address, &n);
	if (!at)
		return AMD_DBGAPI_STATUS_ERROR_MEMORY_ACCESS;
	if (n < *size)
		*size = n;
	memcpy(read ? read : at, read ? at : write, *size);
	return AMD_DBGAPI_STATUS_SUCCESS;
}

#define CLIENT .client_process_get_info = client_info, .xfer_global_memory = transfer

#else // it opens no cores, and reads the memory of a process itself

static amd_dbgapi_status_t os_pid(amd_dbgapi_client_process_id_t id, amd_dbgapi_os_process_id_t *to)
{
	(void)id;
	*to = pid;
	return pid ? AMD_DBGAPI_STATUS_SUCCESS : AMD_DBGAPI_STATUS_ERROR_NOT_AVAILABLE;
}

#define CLIENT .get_os_pid = os_pid

#endif

static amd_dbgapi_status_t insert(amd_dbgapi_client_process_id_t id,
				  amd_dbgapi_global_address_t address,
				  amd_dbgapi_breakpoint_id_t breakpoint)
{
	(void)id;
	(void)address;
	(void)breakpoint;
	return AMD_DBGAPI_STATUS_SUCCESS;
}

static amd_dbgapi_status_t removed(amd_dbgapi_client_process_id_t id,
				   amd_dbgapi_breakpoint_id_t breakpoint)
{
	(void)id;
	(void)breakpoint;
	return AMD_DBGAPI_STATUS_SUCCESS;
}

static void message(amd_dbgapi_log_level_t level, const char *text)
{
	(void)level;
	(void)fprintf(stderr, "dbgapi: %s\n", text);
}

static amd_dbgapi_callbacks_t callbacks = {
	.allocate_memory = malloc,
	.deallocate_memory = free,
	.insert_breakpoint = insert,
	.remove_breakpoint = removed,
	.log_message = message,
	CLIENT,
};

// ---- a wave's registers, by name ----------------------------------------------------------------

struct regs {
	amd_dbgapi_wave_id_t wave;
	amd_dbgapi_register_id_t *ids;
	char **names;
	size_t n;
};

static struct regs regs_of(amd_dbgapi_wave_id_t w)
{
	struct regs r = {.wave = w};
	must(amd_dbgapi_wave_register_list(w, &r.n, &r.ids), "registers");
	r.names = calloc(r.n + 1, sizeof(*r.names));
	if (!r.names)
		die("registers", "no memory");
	for (size_t i = 0; i < r.n; i++)
		must(amd_dbgapi_register_get_info(r.ids[i], AMD_DBGAPI_REGISTER_INFO_NAME,
						  sizeof(char *), &r.names[i]),
		     "register");
	return r;
}

static void regs_free(struct regs *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->names[i]);
	free(r->names);
	free(r->ids);
}

// Reads the dword at a byte of a register.
static bool find_reg(const struct regs *r, const char *name, uint64_t byte, uint32_t *v)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->names[i], name) == 0)
			return amd_dbgapi_read_register(r->wave, r->ids[i], byte, sizeof(*v), v) ==
			       AMD_DBGAPI_STATUS_SUCCESS;
	return false;
}

static uint32_t reg(const struct regs *r, const char *name)
{
	uint32_t v;
	if (!find_reg(r, name, 0, &v))
		die(name, "no such register");
	return v;
}

// The number in the name of a register LETTERn of `bytes` bytes; -1: another register.
static int number_in(const struct regs *r, size_t i, char letter, uint64_t bytes)
{
	amd_dbgapi_size_t size = 0;
	char *end;
	const long n = strtol(r->names[i] + 1, &end, 10);
	if (r->names[i][0] != letter || end == r->names[i] + 1 || *end)
		return -1;
	must(amd_dbgapi_register_get_info(r->ids[i], AMD_DBGAPI_REGISTER_INFO_SIZE, sizeof(size),
					  &size),
	     "register's size");
	return size == bytes ? (int)n : -1;
}

// Prints how many registers LETTERn of `bytes` bytes there are, the first dword of the first one,
// and the last dword of the last one.
static void print_file(const struct regs *r, const char *file, char letter, uint64_t bytes)
{
	int first = -1, last = -1, n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const int k = number_in(r, i, letter, bytes);
		n += k >= 0;
		first = k >= 0 && (first < 0 || k < first) ? k : first;
		last = k > last ? k : last;
	}
	if (!n)
		return;
	printf(" %s %d", file, n);
	for (int i = 0; i < 2; i++) {
		char name[16];
		uint32_t v;
		(void)snprintf(name, sizeof(name), "%c%d", letter, i ? last : first);
		if (!find_reg(r, name, i ? bytes - 4 : 0, &v))
			die(name, "cannot be read");
		printf(" %s %08x", name, v);
	}
}

// ---- a wave ---------------------------------------------------------------------------------

static void print_at(amd_dbgapi_wave_id_t w, uint64_t pc)
{
	static const char *const names[] = {
		[AMD_DBGAPI_INSTRUCTION_KIND_BARRIER] = "barrier",
		[AMD_DBGAPI_INSTRUCTION_KIND_SLEEP] = "sleep",
		[AMD_DBGAPI_INSTRUCTION_KIND_HALT] = "halt",
		[AMD_DBGAPI_INSTRUCTION_KIND_TRAP] = "trap",
		[AMD_DBGAPI_INSTRUCTION_KIND_TERMINATE] = "end",
	};
	amd_dbgapi_architecture_id_t arch;
	amd_dbgapi_instruction_kind_t kind = AMD_DBGAPI_INSTRUCTION_KIND_UNKNOWN;
	uint8_t code[16];
	amd_dbgapi_size_t size = sizeof(code);
	const char *name = NULL;
	char *text = NULL;
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_ARCHITECTURE, sizeof(arch), &arch),
	     "architecture");
	if (!read_memory(pc, code, sizeof(code))) {
		printf(" at ?");
		return;
	}
	amd_dbgapi_classify_instruction(arch, pc, &size, code, &kind, NULL, NULL);
	if (kind >= 0 && kind < sizeof(names) / sizeof(*names))
		name = names[kind];
	size = sizeof(code); // it has no kind for waiting
	if (!name && amd_dbgapi_disassemble_instruction(arch, pc, &size, code, &text, NULL, NULL) ==
			     AMD_DBGAPI_STATUS_SUCCESS)
		name = strncmp(text, "s_wait", 6) == 0 ? "wait" : NULL;
	printf(" at %s", name ? name : "-");
	free(text);
}

static void print_why(amd_dbgapi_wave_id_t w)
{
	static const struct {
		uint64_t bits;
		const char *name;
	} names[] = {
		{AMD_DBGAPI_WAVE_STOP_REASON_MEMORY_VIOLATION, "memory-violation"},
		{AMD_DBGAPI_WAVE_STOP_REASON_APERTURE_VIOLATION, "address-error"},
		{AMD_DBGAPI_WAVE_STOP_REASON_ILLEGAL_INSTRUCTION, "illegal-instruction"},
		{AMD_DBGAPI_WAVE_STOP_REASON_FP_INPUT_DENORMAL |
			 AMD_DBGAPI_WAVE_STOP_REASON_FP_DIVIDE_BY_0 |
			 AMD_DBGAPI_WAVE_STOP_REASON_FP_OVERFLOW |
			 AMD_DBGAPI_WAVE_STOP_REASON_FP_UNDERFLOW |
			 AMD_DBGAPI_WAVE_STOP_REASON_FP_INEXACT |
			 AMD_DBGAPI_WAVE_STOP_REASON_FP_INVALID_OPERATION |
			 AMD_DBGAPI_WAVE_STOP_REASON_INT_DIVIDE_BY_0,
		 "math"},
		{AMD_DBGAPI_WAVE_STOP_REASON_WATCHPOINT, "watchpoint"},
		{AMD_DBGAPI_WAVE_STOP_REASON_SINGLE_STEP, "single-step"},
		{AMD_DBGAPI_WAVE_STOP_REASON_TRAP, "trap"},
		{AMD_DBGAPI_WAVE_STOP_REASON_ASSERT_TRAP, "assert"},
		{AMD_DBGAPI_WAVE_STOP_REASON_DEBUG_TRAP, "debug-trap"},
		{AMD_DBGAPI_WAVE_STOP_REASON_BREAKPOINT, "breakpoint"},
	};
	amd_dbgapi_wave_stop_reasons_t why = 0;
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_STOP_REASON, sizeof(why), &why),
	     "stop reason");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (why & names[i].bits)
			printf(" %s", names[i].name);
}

static amd_dbgapi_queue_id_t queue_of(amd_dbgapi_wave_id_t w)
{
	amd_dbgapi_queue_id_t q;
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_QUEUE, sizeof(q), &q), "queue");
	return q;
}

// The packet as an index into the ring.
static void print_place(amd_dbgapi_wave_id_t w)
{
	amd_dbgapi_dispatch_id_t d;
	amd_dbgapi_os_queue_packet_id_t packet;
	amd_dbgapi_size_t bytes;
	uint32_t group[3], number;
	if (amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_WORKGROUP_COORD, sizeof(group),
				     group) ||
	    amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_WAVE_NUMBER_IN_WORKGROUP,
				     sizeof(number), &number) ||
	    amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_DISPATCH, sizeof(d), &d)) {
		printf(" packet ? group ? wave ?");
		return;
	}
	must(amd_dbgapi_dispatch_get_info(d, AMD_DBGAPI_DISPATCH_INFO_OS_QUEUE_PACKET_ID,
					  sizeof(packet), &packet),
	     "packet");
	must(amd_dbgapi_queue_get_info(queue_of(w), AMD_DBGAPI_QUEUE_INFO_SIZE, sizeof(bytes),
				       &bytes),
	     "queue's size");
	printf(" packet %" PRIu64 " group %u,%u,%u wave %u", packet % (bytes / 64), group[0],
	       group[1], group[2], number);
}

// The first and the last word of a group's memory, in the library's own address space.
static void print_lds(amd_dbgapi_process_id_t p, amd_dbgapi_wave_id_t w)
{
	amd_dbgapi_architecture_id_t arch;
	amd_dbgapi_address_space_id_t local;
	amd_dbgapi_size_t size = 4;
	uint32_t first = 0, last = 0, next = 0;
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_ARCHITECTURE, sizeof(arch), &arch),
	     "architecture");
	must(amd_dbgapi_dwarf_address_space_to_address_space(arch, 3, &local), "local memory");
	if (amd_dbgapi_read_memory(p, w, 0, local, 0, &size, &first) || size != 4)
		return;
	for (uint64_t at = 0; at < 0x100000; at += 4) {
		size = 4;
		if (amd_dbgapi_read_memory(p, w, 0, local, at, &size, &next) || size != 4)
			break;
		last = next;
	}
	printf(" lds %08x %08x", first, last);
}

static void print_wave(amd_dbgapi_process_id_t p, amd_dbgapi_wave_id_t w)
{
	amd_dbgapi_os_queue_id_t id;
	amd_dbgapi_global_address_t pc;
	uint64_t exec = 0;
	size_t lanes = 0;
	uint32_t priv = 0;
	struct regs r = regs_of(w);
	const bool gfx12 = find_reg(&r, "state_priv", 0, &priv);
	must(amd_dbgapi_queue_get_info(queue_of(w), AMD_DBGAPI_QUEUE_INFO_OS_ID, sizeof(id), &id),
	     "queue's id");
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_PC, sizeof(pc), &pc), "pc");
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_EXEC_MASK, sizeof(exec), &exec),
	     "exec");
	must(amd_dbgapi_wave_get_info(w, AMD_DBGAPI_WAVE_INFO_LANE_COUNT, sizeof(lanes), &lanes),
	     "lanes");
	printf("queue %u", (unsigned)id);
	print_place(w);
	printf(" lanes %zu pc %#" PRIx64 " exec %#" PRIx64, lanes, pc, exec);
	print_at(w, pc);
	if (gfx12 ? priv >> 14 & 1 : reg(&r, "status") >> 13 & 1)
		printf(" halted");
	if (!gfx12 && reg(&r, "status") >> 12 & 1)
		printf(" in-barrier");
	print_why(w);
	printf(" m0 %08x mode %08x exceptions %08x", reg(&r, "m0"), reg(&r, "mode"),
	       reg(&r, gfx12 ? "excp_flag_priv" : "trapsts"));
	print_file(&r, "sgprs", 's', 4);
	printf(" vcc_lo %08x", reg(&r, "vcc"));
	print_file(&r, "vgprs", 'v', lanes * 4);
	if (lanes == 64) // each half has half of the lanes
		print_file(&r, "shared", 'v', 128);
	print_lds(p, w);
	print_file(&r, "acc", 'a', lanes * 4);
	printf("\n");
	regs_free(&r);
}

// ---- a process ------------------------------------------------------------------------------

// A wave counts as stopped once the event that says so was heard.
static void hear_events(amd_dbgapi_process_id_t p)
{
	amd_dbgapi_event_id_t e;
	amd_dbgapi_event_kind_t kind;
	for (;;) {
		amd_dbgapi_runtime_state_t state = AMD_DBGAPI_RUNTIME_STATE_LOADED_SUCCESS;
		must(amd_dbgapi_process_next_pending_event(p, &e, &kind), "event");
		if (kind == AMD_DBGAPI_EVENT_KIND_NONE)
			return;
		if (kind == AMD_DBGAPI_EVENT_KIND_RUNTIME)
			must(amd_dbgapi_event_get_info(e, AMD_DBGAPI_EVENT_INFO_RUNTIME_STATE,
						       sizeof(state), &state),
			     "runtime");
		if (state != AMD_DBGAPI_RUNTIME_STATE_LOADED_SUCCESS)
			die("the runtime", "the library does not know its version");
		must(amd_dbgapi_event_processed(e), "event");
	}
}

// Waves of a living process run until each is stopped.
static void stop_all(amd_dbgapi_process_id_t p)
{
	amd_dbgapi_wave_id_t *waves;
	size_t n;
	must(amd_dbgapi_process_set_progress(p, AMD_DBGAPI_PROGRESS_NO_FORWARD), "progress");
	must(amd_dbgapi_process_wave_list(p, &n, &waves, NULL), "waves");
	for (size_t i = 0; i < n; i++)
		amd_dbgapi_wave_stop(waves[i]);
	hear_events(p);
	free(waves);
}

int main(int argc, char **argv)
{
	amd_dbgapi_process_id_t p;
	amd_dbgapi_wave_id_t *waves;
	size_t n;
	if (argc != 2) {
		(void)fprintf(stderr, "judge CORE|PID\n");
		return 2;
	}
	if (argv[1][0] >= '1' && argv[1][0] <= '9')
		open_process(argv[1]);
	else
		open_core(argv[1]);
	amd_dbgapi_set_log_level(AMD_DBGAPI_LOG_LEVEL_WARNING);
	must(amd_dbgapi_initialize(&callbacks), "initialize");
	must(amd_dbgapi_process_attach((amd_dbgapi_client_process_id_t)&core, &p), "attach");
	hear_events(p);
	if (pid)
		stop_all(p);
	must(amd_dbgapi_process_wave_list(p, &n, &waves, NULL), "waves");
	hear_events(p);
	for (size_t i = 0; i < n; i++)
		print_wave(p, waves[i]);
	must(amd_dbgapi_process_detach(p), "detach");
	must(amd_dbgapi_finalize(), "finalize");
	return 0;
}
