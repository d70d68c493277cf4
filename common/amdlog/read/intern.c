// Interning of byte strings (see intern.h): open addressing over an array of entries, bytes in
// chunks.
#include "common/amdlog/read/intern.h"

#define CHUNK_SIZE 65536

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, size;
	char bytes[];
};

static inline uint64_t load_word(const char *p)
{
	uint64_t w;
	memcpy(&w, p, sizeof(w));
	return w;
}

// Mixes sixteen bytes in: each half of a product depends on all bits of both factors.
static inline uint64_t hash_mix(uint64_t h, uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ h);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t intern_hash(const void *bytes, size_t len)
{
	const char *p = bytes, *end = p + len;
	uint64_t h = (uint64_t)len * UINT64_C(0xc4ceb9fe1a85ec53), other = ~h;
	if (len < 16) {
		uint64_t a = 0, b = 0;
		memcpy(&a, p, len < 8 ? len : 8);
		if (len > 8)
			memcpy(&b, p + 8, len - 8);
		h = hash_mix(h, a, b);
		return (uint32_t)(h ^ h >> 32);
	}
	// Two independent chains of hash_mix(), for speed: kernel names are hundreds of bytes long.
	for (; end - p > 32; p += 32) {
		h = hash_mix(h, load_word(p), load_word(p + 8));
		other = hash_mix(other, load_word(p + 16), load_word(p + 24));
	}
	if (end - p > 16)
		other = hash_mix(other, load_word(p), load_word(p + 8));
	h = hash_mix(h ^ other << 1, load_word(end - 16), load_word(end - 8));
	return (uint32_t)(h ^ h >> 32);
}

// The slot that holds the string, or the free one where it would go.
static uint32_t *slot_of(const struct intern *in, const void *bytes, size_t len, uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		uint32_t *slot = &in->slots[i & (in->nslots - 1)];
		if (!*slot)
			return slot;
		const struct intern_entry *e = &in->entries[*slot - 1];
		if (e->hash == hash && e->len == len && !memcmp(e->bytes, bytes, len))
			return slot;
	}
}

static void grow_slots(struct intern *in)
{
	uint32_t nslots = in->nslots ? in->nslots * 2 : 64;
	uint32_t *slots = xcalloc(nslots, sizeof(*slots));
	for (uint32_t e = 0; e < in->n; e++) {
		uint32_t i = in->entries[e].hash;
		while (slots[i & (nslots - 1)])
			i++;
		slots[i & (nslots - 1)] = e + 1;
	}
	free(in->slots);
	in->slots = slots;
	in->nslots = nslots;
}

static const char *store_bytes(struct intern *in, const void *bytes, size_t len)
{
	struct intern_chunk *c = in->chunks;
	if (!c || c->size - c->used < len + 1) {
		size_t size = len + 1 > CHUNK_SIZE ? len + 1 : CHUNK_SIZE;
		c = xmalloc(sizeof(*c) + size);
		*c = (struct intern_chunk){.next = in->chunks, .size = size};
		in->chunks = c;
	}
	char *at = c->bytes + c->used;
	memcpy(at, bytes, len);
	at[len] = 0;
	c->used += (len + 8) & ~(size_t)7; // aligned to 8: numbers are stored too
	if (c->used > c->size)
		c->used = c->size;
	in->bytes += len;
	return at;
}

static bool room_for(struct intern *in, size_t len)
{
	if ((in->max_entries && in->n >= in->max_entries) ||
	    (in->max_bytes && in->bytes + len > in->max_bytes))
		return false;
	if (in->n >= INTERN_NONE / 4)
		xalloc_fail();
	if (in->n + in->n / 2 >= in->nslots)
		grow_slots(in);
	ARRAY_GROW(in->entries, in->cap, in->n);
	return true;
}

uint32_t intern_find(const struct intern *in, const void *bytes, size_t len)
{
	if (!in->nslots)
		return INTERN_NONE;
	return *slot_of(in, bytes, len, intern_hash(bytes, len)) - 1;
}

uint32_t intern_put(struct intern *in, const void *bytes, size_t len)
{
	return intern_put_hashed(in, bytes, len, intern_hash(bytes, len));
}

uint32_t intern_put_hashed(struct intern *in, const void *bytes, size_t len, uint32_t hash)
{
	uint32_t *slot = in->nslots ? slot_of(in, bytes, len, hash) : NULL;
	if (slot && *slot)
		return *slot - 1;
	if (!room_for(in, len))
		return INTERN_NONE;
	in->entries[in->n] = (struct intern_entry){store_bytes(in, bytes, len), (uint32_t)len, hash,
						   INTERN_NONE};
	*slot_of(in, bytes, len, hash) = in->n + 1;
	return in->n++;
}

uint32_t intern_value(const struct intern *in, const void *bytes, size_t len)
{
	uint32_t n = intern_find(in, bytes, len);
	return n == INTERN_NONE ? INTERN_NONE : in->entries[n].value;
}

bool intern_set(struct intern *in, const void *bytes, size_t len, uint32_t value)
{
	uint32_t n = intern_put(in, bytes, len);
	if (n != INTERN_NONE)
		in->entries[n].value = value;
	return n != INTERN_NONE;
}

void intern_fini(struct intern *in)
{
	while (in->chunks) {
		struct intern_chunk *next = in->chunks->next;
		free(in->chunks);
		in->chunks = next;
	}
	free(in->entries);
	free(in->slots);
	*in = (struct intern){0};
}
