// Queue errors and failed API calls, counted by message (struct amdlog_errors in summary.h).
#include "common/amdlog/model/summary.h"

#include "common/amdlog/read/detail.h"

struct key {
	uint32_t process;
	bool of_queue;
	char text[ERRORS_TEXT_MAX];
};

// Writes "hipMalloc: hipErrorOutOfMemory" for "hipMalloc: Returned hipErrorOutOfMemory : ...".
// Returns its length; 0: the message is no return of an API call.
static size_t api_text(const struct amdlog_record *r, char *out)
{
	static const char returned[] = "Returned ";
	size_t name = r->name_len + 2u < ERRORS_TEXT_MAX / 2 ? r->name_len + 2u : 0;
	const char *word = memmem(r->msg, r->msg_len, returned, sizeof(returned) - 1);
	const char *end = r->msg + r->msg_len;
	size_t len = 0;
	if (!name || !word || name > r->msg_len)
		return 0;
	memcpy(out, r->msg, name);
	for (word += sizeof(returned) - 1; word + len < end && word[len] != ' '; len++)
		;
	if (name + len > ERRORS_TEXT_MAX)
		len = ERRORS_TEXT_MAX - name;
	memcpy(out + name, word, len);
	return name + len;
}

void amdlog_errors_merge(struct amdlog_errors *e, const struct amdlog_error *from)
{
	size_t len = from->len < ERRORS_TEXT_MAX ? from->len : ERRORS_TEXT_MAX;
	struct key key;
	memset(&key, 0, sizeof(key));
	key.process = from->process;
	key.of_queue = from->of_queue;
	memcpy(key.text, from->text, len);
	e->keys.max_entries = ERRORS_MAX;
	uint32_t n = intern_put(&e->keys, &key, offsetof(struct key, text) + len);
	if (n > e->n) {
		e->left_out += from->count;
		return;
	}
	if (n == e->n) {
		ARRAY_GROW(e->v, e->cap, n);
		e->v[e->n++] = (struct amdlog_error){
			.process = from->process,
			.of_queue = from->of_queue,
			.first_us = AMDLOG_UNKNOWN,
			.text = e->keys.entries[n].bytes + offsetof(struct key, text),
			.len = (uint32_t)len,
		};
	}
	struct amdlog_error *row = &e->v[n];
	row->count += from->count;
	row->address = from->address;
	row->first_us = from->first_us < row->first_us ? from->first_us : row->first_us;
	row->last_us = from->last_us > row->last_us ? from->last_us : row->last_us;
}

void amdlog_errors_add(struct amdlog_errors *e, uint32_t process, const struct amdlog_record *r)
{
	char text[ERRORS_TEXT_MAX];
	const char *at;
	struct amdlog_error row = {
		.process = process,
		.of_queue = r->kind == AMDLOG_QUEUE_ERROR,
		.address = AMDLOG_UNKNOWN,
		.count = 1,
		.first_us = r->time_us,
		.last_us = r->time_us == AMDLOG_UNKNOWN ? 0 : r->time_us,
		.text = text,
	};
	if (row.of_queue) {
		row.len = (uint32_t)(r->msg_len < sizeof(text) ? r->msg_len : sizeof(text));
		memcpy(text, r->msg, row.len);
		// "Callback: Queue 0x7f.. aborting" has the handle up to ROCm 6.1, then the ring.
		at = memmem(r->msg, r->msg_len, "Queue 0x", strlen("Queue 0x"));
		row.address = at ? amdlog_next_number(r, " ", &at) : AMDLOG_UNKNOWN;
	} else {
		row.len = (uint32_t)api_text(r, text);
	}
	amdlog_errors_merge(e, &row);
}

void amdlog_errors_fini(struct amdlog_errors *e)
{
	intern_fini(&e->keys);
	free(e->v);
	*e = (struct amdlog_errors){0};
}
