// Names of kernels; kernels.h.
#include "cmd/kernels.h"

#include "common/aql/code.h"
#include "common/host/demangle.h"
#include "common/host/root.h"
#include "common/host/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kernels_choose(struct cmd *c, const struct kernels_opts *o)
{
	if (o->demangle && o->no_demangle)
		return err_fail(GPQ_USAGE, "choose one",
				"--demangle and --no-demangle exclude each other");
	c->out.demangle = o->demangle ||
			  (!o->no_demangle && c->out.mode == OUT_TABLE && isatty(STDOUT_FILENO));
	return GPQ_OK;
}

void kernels_begin(struct kernels *k, const struct rings *r, const struct out *o)
{
	*k = (struct kernels){.rings = r, .demangles = out_demangles(o)};
	k->of = xcalloc(r->nprocesses + 1, sizeof(struct code_names *));
}

const char *kernels_name(struct kernels *k, const struct ring_queue *q, uint64_t kernel_object)
{
	struct code_names **names = &k->of[q->process];
	if (!host_is_live() || k->rings->processes[q->process].error)
		return NULL;
	if (!*names) {
		*names = code_names_new(k->rings->processes[q->process].pid);
		const int error = code_names_error(*names);
		if (error)
			err_note("pid %d: names of kernels: %s",
				 (int)k->rings->processes[q->process].pid,
				 error == ENOPKG   ? "libelf is missing"
				 : error == ENOENT ? "it has loaded no HSA runtime that lists its "
						     "code objects"
						   : strerror(error));
	}
	return code_name(*names, kernel_object);
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
