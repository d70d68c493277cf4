// Memory that processes share, by what they have mapped; see shared.h, why.h.
//
// The maps of a process are what its owner made them: they may be long, overlap, or change while
// they are read. Then a place is found in no process, or one that is no signal there.
//
// Facts: proc(5): device and inode say which file is mapped, also of memfds, shared anonymous
// memory and dma-bufs, which have an inode each; [kfd.mmap-offsets].
#include "common/why/why.h"

#include "common/host/root.h"

struct shared_mapping {
	uint64_t start, size, offset, device, inode;
	bool named; // it is a file, as in /dev/shm, or a memfd: no memory of a device
};

COMPARE_BY_BOTH(by_file, struct shared_mapping, device, inode)

void shared_maps_fini(struct shared_maps *m)
{
	free(m->v);
	*m = (struct shared_maps){0};
}

static bool mapping_is_in(const struct mapping *m, const char *name)
{
	const char *slash = memrchr(m->path, '/', m->len);
	const size_t len = strlen(name);
	return (size_t)(m->path + m->len - slash) > len && memcmp(slash + 1, name, len) == 0;
}

// Does every ROCm process have this mapping? KFD's doorbells and events, and what libhsakmt keeps
// in /dev/shm, tell of no common work.
static bool is_of_runtime(const struct mapping *m)
{
	return mapping_is_in(m, "kfd") || mapping_is_in(m, "hsakmt_") ||
	       mapping_is_in(m, "sem.hsakmt_");
}

static bool mapping_begins(const struct mapping *m, const char *path)
{
	return m->len >= strlen(path) && memcmp(m->path, path, strlen(path)) == 0;
}

// Is the mapping memory of a device: of a GPU, or of a network card? Shared anonymous memory is
// shown as /dev/zero, and is none.
static bool is_of_device(const struct mapping *m)
{
	const bool file = mapping_begins(m, "/dev/shm/") || mapping_begins(m, "/dev/zero");
	return (mapping_begins(m, "/dev/") && !file) || mapping_is_in(m, "renderD");
}

static void read_maps(struct shared_maps *m, pid_t pid)
{
	SCOPED(buf_fini) struct buf text = {0};
	struct mapping line;
	m->read = true;
	if ((host_is_live() || reader_read(&text, PATH("/proc/%d/shared", (int)pid)) <= 0) &&
	    reader_read(&text, PATH("/proc/%d/maps", (int)pid)) <= 0)
		return;
	for (const char *s = text.data; *s;)
		if (mapping_parse(s, &s, &line) && line.shared && line.start < line.end &&
		    !is_of_runtime(&line))
			*ARRAY_ADD(m->v, m->cap, m->n) = (struct shared_mapping){
				line.start, line.end - line.start, line.offset, line.device,
				line.inode, !is_of_device(&line)};
}

void shared_maps_text(const struct shared_maps *m, struct buf *to)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct shared_mapping *at = &m->v[i];
		buf_printf(to,
			   "%" PRIx64 "-%" PRIx64 " rw-s %" PRIx64 " %" PRIx64 ":%" PRIx64
			   " %" PRIu64 " /%s\n",
			   at->start, at->start + at->size, at->offset, at->device >> 32,
			   at->device & UINT32_MAX, at->inode, at->named ? "" : "renderD");
	}
}

void shared_maps_with(const struct pids *of, const struct pids *others, struct pids *to)
{
	struct shared_maps with = {0};
	for (size_t i = 0; i < of->n; i++)
		read_maps(&with, of->v[i]);
	ARRAY_SORT(with.v, with.n, by_file);
	for (size_t i = 0; i < others->n && with.n; i++) {
		SCOPED(shared_maps_fini) struct shared_maps m = {0};
		bool meets = false;
		read_maps(&m, others->v[i]);
		for (size_t k = 0; k < m.n && !meets; k++)
			meets = m.v[k].named &&
				bsearch(&m.v[k], with.v, with.n, sizeof(*with.v), by_file);
		if (meets)
			pids_push(to, others->v[i]);
	}
	shared_maps_fini(&with);
}

static const struct shared_maps *maps_of(struct why *w, size_t process)
{
	struct shared_maps *m = &w->processes[process].maps;
	if (!m->read)
		read_maps(m, w->rings->processes[process].pid);
	return m;
}

bool why_place_of(struct why *w, size_t process, uint64_t address, struct why_place *place)
{
	const struct shared_maps *m = maps_of(w, process);
	for (size_t i = 0; i < m->n; i++) {
		const struct shared_mapping *at = &m->v[i];
		if (address - at->start >= at->size)
			continue;
		*place = (struct why_place){at->device, at->inode,
					    at->offset + (address - at->start), at->named};
		return true;
	}
	return false;
}

uint64_t why_address_of(struct why *w, size_t process, const struct why_place *place, size_t *next)
{
	const struct shared_maps *m = maps_of(w, process);
	while (*next < m->n) {
		const struct shared_mapping *at = &m->v[(*next)++];
		if (at->device == place->device && at->inode == place->inode &&
		    place->offset - at->offset < at->size)
			return at->start + (place->offset - at->offset);
	}
	return 0;
}
