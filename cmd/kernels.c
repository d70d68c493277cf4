// Names of kernels; see kernels.h.
#include "cmd/kernels.h"

#include "common/aql/code.h"
#include "common/host/dlopen.h"
#include "common/reader/demangle.h"

void kernels_choose(struct cmd *c, const struct kernels_opts *o)
{
	c->out.demangle = o->demangle ||
			  (!o->no_demangle && c->out.mode == OUT_TABLE && isatty(STDOUT_FILENO));
}

void kernels_begin(struct kernels *k, const struct rings *r, const struct out *o)
{
	*k = (struct kernels){.rings = r, .demangles = o && out_demangles(o)};
	k->of = xcalloc(r->nprocesses + 1, sizeof(struct code_names *));
}

static void load_kernels_of(struct kernels *k, size_t process)
{
	const pid_t pid = k->rings->processes[process].pid;
	k->of[process] = code_names_new(pid);
	const int error = code_names_error(k->of[process]);
	if (error && host_is_live())
		err_note("pid %d: names of kernels: %s", (int)pid,
			 error == ENOPKG   ? LIB_WHY("", "libelf", "libelf", "")
			 : error == ENOENT ? "it has loaded no HSA runtime that lists its "
					     "code objects"
					   : strerror(error));
}

// Returns the names of a process's kernels, read at the first call. NULL: the memory of the process
// cannot be read.
static struct code_names *names_of(struct kernels *k, size_t process)
{
	if (k->rings->processes[process].error)
		return NULL;
	if (!k->of[process])
		load_kernels_of(k, process);
	return k->of[process];
}

const char *kernels_name(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object)
{
	struct code_names *names = names_of(k, q->process);
	return names ? code_name(names, kernel_object) : NULL;
}

const char *kernels_shown(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object,
			  const struct out *o, char text[24])
{
	const char *name = kernels_name(k, q, kernel_object);
	if (name || out_mode(o) != OUT_TABLE)
		return name;
	snprintf(text, 24, "0x%" PRIx64, kernel_object);
	return text;
}

void kernels_load(struct kernels *k)
{
	for (size_t i = 0; i < k->rings->nprocesses; i++)
		names_of(k, i);
}

void kernels_move(struct kernels *k, const struct rings *r)
{
	struct code_names **of = xcalloc(r->nprocesses + 1, sizeof(struct code_names *));
	for (size_t i = 0; i < k->rings->nprocesses; i++) {
		size_t to = 0;
		while (to < r->nprocesses && r->processes[to].pid != k->rings->processes[i].pid)
			to++;
		if (to == r->nprocesses) {
			code_names_free(k->of[i]);
			continue;
		}
		of[to] = k->of[i];
		if (of[to])
			code_names_refresh(of[to]);
	}
	free(k->of);
	k->of = of;
	k->rings = r;
	kernels_load(k);
}

const char *kernels_readable(struct kernels *k, const char *name)
{
	if (!name || !k->demangles)
		return NULL;
	if (name == k->last)
		return k->text ? k->text : name;
	if (!k->begun && strncmp(name, "_Z", 2) == 0) {
		k->begun = true;
		k->demangler = demangler_new();
		if (!k->demangler)
			err_note("libstdc++.so.6 is missing: kernel names stay mangled");
	}
	const char *text = k->demangler ? demangle(k->demangler, name) : NULL;
	free(k->text);
	k->text = text ? xstrdup(text) : NULL;
	k->last = name;
	return k->text ? k->text : name;
}

void kernels_end(struct kernels *k)
{
	for (size_t i = 0; k->of && i < k->rings->nprocesses; i++)
		code_names_free(k->of[i]);
	demangler_free(k->demangler);
	free(k->of);
	free(k->text);
	*k = (struct kernels){0};
}
