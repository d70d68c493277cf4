// GPU cores; see core.h.
#include "common/waves/core.h"

#include "common/host/number.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>

_Static_assert(sizeof(struct kfd_rinfo) == 16, "struct kfd_runtime_info");
_Static_assert(sizeof(struct kfd_device_entry) == 120, "struct kfd_dbg_device_info_entry");
_Static_assert(sizeof(struct kfd_queue_entry) == 64, "struct kfd_queue_snapshot_entry");

static const char note_name[8] = "AMDGPU";
#define NOTE_NAME_SIZE 7 // with one NUL; the other pads it

// What the note begins with [waves.core-note]. The runtime, GPUs and queues follow.
struct note_head {
	uint64_t version;
	uint32_t kfd_major, kfd_minor;
	uint64_t runtime_size;
	uint32_t num_gpus, gpu_size, num_queues, queue_size;
};

// ---- what the note tells

static const struct kfd_device_entry *find_gpu(const struct core_state *s, uint32_t gpu_id)
{
	for (uint32_t i = 0; i < s->num_gpus; i++)
		if (s->gpus[i].gpu_id == gpu_id)
			return &s->gpus[i];
	return NULL;
}

unsigned core_xccs(const struct core_state *s, const struct kfd_queue_entry *q)
{
	const struct kfd_device_entry *g = find_gpu(s, q->gpu_id);
	return g && g->num_xcc ? (unsigned)lesser(g->num_xcc, CORE_XCCS_MOST) : 1;
}

struct waves_area core_area(const struct core_state *s, const struct kfd_queue_entry *q,
			    const struct memory *m)
{
	const struct kfd_device_entry *g = find_gpu(s, q->gpu_id);
	struct waves_area a = {.gpu = g ? waves_gpu_of(g->gfx_target_version) : NULL,
			       .address = q->ctx_save_restore_address,
			       .size = q->ctx_save_restore_area_size};
	a.ttmp_setup = s->runtime.ttmp_setup || (g && g->debug_prop & KFD_DEBUG_TTMPS_ALWAYS);
	if (!memory_read(m, s->runtime.r_debug, &a.abi, sizeof(a.abi)))
		a.abi = UINT32_MAX;
	return a;
}

// ---- writing

static size_t note_size(const struct core_state *s)
{
	return sizeof(struct note_head) + sizeof(s->runtime) + s->num_gpus * sizeof(*s->gpus) +
	       s->num_queues * sizeof(*s->queues);
}

// Appends the note, all of whose parts are multiples of 4 bytes.
static void add_note(struct buf *b, const struct core_state *s)
{
	const struct note_head head = {.version = CORE_VERSION,
				       .kfd_major = s->kfd.major,
				       .kfd_minor = s->kfd.minor,
				       .runtime_size = sizeof(s->runtime),
				       .num_gpus = s->num_gpus,
				       .gpu_size = sizeof(*s->gpus),
				       .num_queues = s->num_queues,
				       .queue_size = sizeof(*s->queues)};
	const Elf64_Nhdr note = {NOTE_NAME_SIZE, (uint32_t)note_size(s), CORE_NOTE};
	buf_append(b, &note, sizeof(note));
	buf_append(b, note_name, sizeof(note_name));
	buf_append(b, &head, sizeof(head));
	buf_append(b, &s->runtime, sizeof(s->runtime));
	buf_append(b, s->gpus, s->num_gpus * sizeof(*s->gpus));
	buf_append(b, s->queues, s->num_queues * sizeof(*s->queues));
}

static uint64_t up_to_page(uint64_t n)
{
	return (n + CORE_PAGE - 1) / CORE_PAGE * CORE_PAGE;
}

// Bytes of all that is before the memory.
static uint64_t heads_size(const struct core_state *s, size_t n)
{
	return up_to_page(sizeof(Elf64_Ehdr) + (n + 1) * sizeof(Elf64_Phdr) + sizeof(Elf64_Nhdr) +
			  sizeof(note_name) + note_size(s));
}

uint64_t core_size(const struct core_state *s, const struct core_segment *v, size_t n)
{
	uint64_t size = heads_size(s, n);
	for (size_t i = 0; i < n; i++)
		size += v[i].size;
	return size;
}

static void add_heads(struct buf *b, const struct core_state *s, const struct core_segment *v,
		      size_t n)
{
	const Elf64_Ehdr elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT, CORE_OSABI},
				.e_type = ET_CORE,
				.e_machine = CORE_MACHINE,
				.e_version = EV_CURRENT,
				.e_phoff = sizeof(elf),
				.e_ehsize = sizeof(elf),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = (uint16_t)(n + 1)};
	const uint64_t size = sizeof(Elf64_Nhdr) + sizeof(note_name) + note_size(s);
	const Elf64_Phdr note = {.p_type = PT_NOTE,
				 .p_offset = sizeof(elf) + (n + 1) * sizeof(note),
				 .p_filesz = size,
				 .p_memsz = size,
				 .p_align = 4};
	uint64_t at = heads_size(s, n);
	buf_append(b, &elf, sizeof(elf));
	buf_append(b, &note, sizeof(note));
	for (size_t i = 0; i < n; at += v[i++].size) {
		const Elf64_Phdr load = {.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_W,
					 .p_offset = at,
					 .p_vaddr = v[i].address,
					 .p_filesz = v[i].size,
					 .p_memsz = v[i].size,
					 .p_align = CORE_PAGE};
		buf_append(b, &load, sizeof(load));
	}
	add_note(b, s);
	buf_fill(b, '\0', heads_size(s, n) - b->len);
}

// Writes a segment that `fill` gives piece by piece.
static int write_filled(const struct core_io *io, const struct core_segment *v)
{
	SCOPED(free_at) uint8_t *piece = xmalloc(MEMORY_BYTES_MOST);
	for (uint64_t at = 0, n; at < v->size; at += n) {
		n = lesser(v->size - at, MEMORY_BYTES_MOST);
		memset(piece, 0, n);
		if (!io->fill(io->from, v->address + at, piece, n)) {
			errno = EINTR;
			return -1;
		}
		if (io->put(io->to, piece, n))
			return -1;
	}
	return 0;
}

int core_write(const struct core_io *io, const struct core_state *s, const struct core_segment *v,
	       size_t n)
{
	SCOPED(buf_fini) struct buf heads = {0};
	errno = E2BIG;
	if (n > CORE_SEGMENTS_MOST)
		return -1;
	add_heads(&heads, s, v, n);
	int r = io->put(io->to, heads.data, heads.len);
	for (size_t i = 0; i < n && !r; i++)
		r = v[i].data ? io->put(io->to, v[i].data, v[i].size) : write_filled(io, &v[i]);
	return r;
}

// ---- reading

static bool read_at(int fd, uint64_t at, void *to, size_t size)
{
	if (at > INT64_MAX || size > INT64_MAX - at)
		return false;
	for (ssize_t n; size; to = (char *)to + n, at += (size_t)n, size -= (size_t)n) {
		n = pread(fd, to, size, (off_t)at);
		if (n <= 0)
			return false;
	}
	return true;
}

COMPARE_BY(loads_by_address, struct core_load, address)

// Returns the load that has the address, or NULL.
static const struct core_load *find_load(const struct core *c, uint64_t address)
{
	const struct core_load behind = {.address = address + 1};
	const size_t n = ARRAY_BELOW(c->loads, c->num_loads, &behind, loads_by_address);
	const struct core_load *l = n ? &c->loads[n - 1] : NULL;
	return l && address - l->address < l->size ? l : NULL;
}

static bool read_core(void *core, uint64_t address, void *to, size_t size)
{
	const struct core *c = core;
	while (size) {
		const struct core_load *l = find_load(c, address);
		if (!l)
			return false;
		const uint64_t in = address - l->address, n = lesser(size, l->size - in);
		if (!read_at(c->fd, l->offset + in, to, n))
			return false;
		to = (char *)to + n;
		address += n;
		size -= n;
	}
	return true;
}

// Reads `n` entries of `theirs` bytes to entries of `ours`: what theirs lack is 0, and what they
// have more is left out.
static bool read_entries(int fd, uint64_t *at, void *to, size_t ours, uint64_t theirs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, *at += theirs)
		if (!read_at(fd, *at, (char *)to + i * ours, lesser(ours, theirs)))
			return false;
	return true;
}

static const char *read_note(struct core *c, uint64_t at, uint64_t size)
{
	static const char cut[] = "its note is cut off";
	struct core_state *s = &c->state;
	struct note_head h;
	if (size < sizeof(h) || !read_at(c->fd, at, &h, sizeof(h)))
		return cut;
	if (h.version != CORE_VERSION)
		return "its note has a layout of another version";
	if (h.num_gpus > CORE_GPUS_MOST || h.num_queues > CORE_QUEUES_MOST || h.runtime_size > size)
		return "its note has more GPUs or queues than a host can have";
	if (size - sizeof(h) - h.runtime_size > size ||
	    (uint64_t)h.num_gpus * h.gpu_size + (uint64_t)h.num_queues * h.queue_size >
		    size - sizeof(h) - h.runtime_size)
		return cut;
	s->kfd = (struct kfd_version){h.kfd_major, h.kfd_minor};
	s->num_gpus = h.num_gpus;
	s->num_queues = h.num_queues;
	s->gpus = xcalloc(h.num_gpus + 1, sizeof(*s->gpus));
	s->queues = xcalloc(h.num_queues + 1, sizeof(*s->queues));
	at += sizeof(h);
	return read_entries(c->fd, &at, &s->runtime, sizeof(s->runtime), h.runtime_size, 1) &&
			       read_entries(c->fd, &at, s->gpus, sizeof(*s->gpus), h.gpu_size,
					    h.num_gpus) &&
			       read_entries(c->fd, &at, s->queues, sizeof(*s->queues), h.queue_size,
					    h.num_queues)
		       ? NULL
		       : cut;
}

// Looks for the note between two places of the file.
static const char *find_note(struct core *c, uint64_t at, uint64_t end)
{
	static const char none[] =
		"it has no note of a GPU's state: it is a core of a host process";
	char name[sizeof(note_name)];
	Elf64_Nhdr h;
	while (end - at >= sizeof(h) && read_at(c->fd, at, &h, sizeof(h))) {
		const uint64_t named = (h.n_namesz + UINT64_C(3)) / 4 * 4,
			       desc = (h.n_descsz + UINT64_C(3)) / 4 * 4;
		at += sizeof(h);
		if (named > end - at || desc > end - at - named)
			break;
		if (h.n_type == CORE_NOTE && h.n_namesz == NOTE_NAME_SIZE &&
		    read_at(c->fd, at, name, sizeof(name)) &&
		    memcmp(name, note_name, NOTE_NAME_SIZE) == 0)
			return read_note(c, at + named, h.n_descsz);
		at += named + desc;
	}
	return none;
}

static const char *read_segments(struct core *c, const Elf64_Ehdr *e, uint64_t size)
{
	const char *wrong = NULL;
	bool noted = false;
	c->loads = xcalloc(e->e_phnum, sizeof(*c->loads));
	for (unsigned i = 0; i < e->e_phnum && !wrong; i++) {
		Elf64_Phdr p;
		if (!read_at(c->fd, e->e_phoff + i * sizeof(p), &p, sizeof(p)) ||
		    p.p_offset > size || p.p_filesz > size - p.p_offset ||
		    p.p_filesz > UINT64_MAX - p.p_vaddr)
			return "it is cut off";
		if (p.p_type == PT_LOAD && p.p_filesz)
			c->loads[c->num_loads++] =
				(struct core_load){p.p_vaddr, p.p_filesz, p.p_offset};
		if (p.p_type == PT_NOTE && !noted) {
			wrong = find_note(c, p.p_offset, p.p_offset + p.p_filesz);
			noted = true;
		}
	}
	ARRAY_SORT(c->loads, c->num_loads, loads_by_address);
	for (size_t i = 1; i < c->num_loads; i++) // those that overlap with the next one are cut
		c->loads[i - 1].size =
			lesser(c->loads[i - 1].size, c->loads[i].address - c->loads[i - 1].address);
	return noted ? wrong : "it has no note";
}

static const char *read_elf(struct core *c)
{
	Elf64_Ehdr e;
	struct stat st;
	if (fstat(c->fd, &st) || !S_ISREG(st.st_mode))
		return "it is no file";
	if (!read_at(c->fd, 0, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
	    e.e_type != ET_CORE || e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phoff > INT64_MAX)
		return "it is no GPU core";
	return read_segments(c, &e, (uint64_t)st.st_size);
}

const char *core_open(struct core *c, int fd)
{
	*c = (struct core){.memory = {.fd = -1, .read = read_core, .arg = c}, .fd = fd};
	const char *wrong = read_elf(c);
	if (wrong)
		core_close(c);
	return wrong;
}

void core_close(struct core *c)
{
	close_quietly(c->fd);
	free(c->loads);
	free(c->state.gpus);
	free(c->state.queues);
	*c = (struct core){.fd = -1, .memory.fd = -1};
}

int core_image(const struct core *c)
{
	static const char zeros[MEMORY_BYTES_MOST];
	SCOPED(free_at) char *piece = xmalloc(MEMORY_BYTES_MOST);
	uint64_t left = CORE_IMAGE_MOST;
	const int to = memfd_create("gpq-core", MFD_CLOEXEC);
	for (size_t i = 0; i < c->num_loads && to >= 0; i++) {
		const struct core_load *l = &c->loads[i];
		if (l->size > CORE_IMAGE_SEGMENT || l->size > left)
			continue;
		left -= l->size;
		for (uint64_t at = 0, n; at < l->size; at += n) {
			n = lesser(l->size - at, MEMORY_BYTES_MOST);
			if (!read_at(c->fd, l->offset + at, piece, n) ||
			    (memcmp(piece, zeros, n) != 0 &&
			     pwrite(to, piece, n, (off_t)(l->address + at)) != (ssize_t)n))
				break; // the core is cut off, or no file can be so long
		}
	}
	return to;
}
