// Readable kernel names (--demangle). Each name is demangled once, when it is first shown; filters,
// sorting and comparison use names as the log has them.
#include "cmd/trace/trace.h"

#include "common/reader/demangle.h"
#include "common/host/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int trace_demangle(struct cmd *c, bool yes, bool no)
{
	if (yes && no)
		return err_fail(GPQ_USAGE, "choose one",
				"--demangle and --no-demangle exclude each other");
	c->out.demangle = yes || (!no && c->out.mode == OUT_TABLE && isatty(STDOUT_FILENO));
	return GPQ_OK;
}

// Starts the demangler at the first call. NULL: there is none, and names stay as they are.
static struct demangler *begin_demangling(struct trace *t)
{
	static const char missing[] = "libstdc++.so.6 is missing: kernel names stay mangled";
	static bool said; // --compare has two logs
	if (t->names.begun)
		return t->names.demangler;
	t->names.begun = true;
	t->names.demangler = demangler_new();
	if (t->names.demangler || said)
		return t->names.demangler;
	said = true;
	if (t->opts->demangle)
		err_warn("install libstdc++6", missing);
	else
		err_note(missing);
	return NULL;
}

const char *trace_name_readable(struct trace *t, uint32_t kernel)
{
	struct trace_names *names = &t->names;
	const char *name = t->sum.kernels[kernel].name;
	// Logs of ROCm 6.4 and later have no such name, and need no library.
	if (strncmp(name, "_Z", 2) != 0 || !begin_demangling(t))
		return name;
	ARRAY_REACH(names->v, names->n, kernel, 0);
	if (!names->v[kernel]) {
		const char *text = demangle(names->demangler, name);
		names->v[kernel] = xstrdup(text ? text : name);
	}
	return names->v[kernel];
}

const char *trace_name_shown(struct trace *t, uint32_t kernel)
{
	return out_demangles(t->out) ? trace_name_readable(t, kernel) : NULL;
}

void trace_names_fini(struct trace *t)
{
	struct trace_names *names = &t->names;
	unsigned lost = names->demangler ? demangler_lost(names->demangler) : 0;
	if (lost)
		err_warn(
			NULL,
			"kernel names that stay mangled, as the demangler failed or took more than "
			"%d ms: %u%s",
			DEMANGLE_MS, lost,
			lost < DEMANGLE_LOST_MOST ? "" : "; those behind them were not tried");
	demangler_free(names->demangler);
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}
