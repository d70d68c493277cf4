// gpq trace --live -- docker exec C PROGRAM, and the like: a container does not have the
// environment of the runtime's client, so AMD_LOG_LEVEL is handed over by the client's own option
// or by env(1).
#include "cmd/trace/trace.h"

static const char *const runtimes[] = {"docker", "podman", "nerdctl", "kubectl"};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_runtime(const char *path)
{
	size_t i = 0;
	while (i < COUNT(runtimes) && strcmp(base_name(path), runtimes[i]) != 0)
		i++;
	return i < COUNT(runtimes);
}

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	SCOPED(free_at) char *copy = xstrdup(path ? path : "");
	bool found = false;
	for (char *rest = copy, *dir; !found && (dir = strsep(&rest, ":"));) {
		SCOPED(free_at) char *file = xasprintf("%s/%s", dir, name);
		found = access(file, X_OK) == 0;
	}
	return found;
}

// The place of the word `a` or `b` from argv[at] on, before any --; 0: none.
static int find_word(int argc, char **argv, int at, const char *a, const char *b)
{
	for (; at < argc; at++) {
		if (strcmp(argv[at], a) == 0 || strcmp(argv[at], b) == 0)
			return at;
		if (strcmp(argv[at], "--") == 0)
			break;
	}
	return 0;
}

// Returns argv with `n` words of `more` put in at place `at`; to be freed, without its words.
static char **with_words(int argc, char **argv, int at, int n, const char *const *more)
{
	char **v = xcalloc((size_t)(argc + n) + 1, sizeof(*v));
	memcpy(v, argv, (size_t)at * sizeof(*v));
	memcpy(v + at, more, (size_t)n * sizeof(*v));
	memcpy(v + at + n, argv + at, (size_t)(argc - at) * sizeof(*v));
	return v;
}

static int no_way_in(const char *client, const char *level)
{
	const bool pod = strcmp(client, "kubectl") == 0;
	return err_fail(GPQ_USAGE,
			pod ? "type: ... kubectl exec POD -- PROGRAM"
			    : "type: ... exec CONTAINER PROGRAM, or ... run IMAGE PROGRAM",
			"--live: %s does not reach the program by this %s command", level, client);
}

int live_inside(const struct words *containers, int argc, char **argv, char ***inside)
{
	static char level[64]; // in *inside
	const char *given = getenv("AMD_LOG_LEVEL");
	const int at = argc > 1 && strcmp(base_name(argv[0]), "sudo") == 0;
	snprintf(level, sizeof(level), "AMD_LOG_LEVEL=%.32s", given ? given : "4");
	if (is_runtime(argv[at])) {
		const char *client = base_name(argv[at]);
		const int verb = find_word(argc, argv, at + 1, "exec", "run");
		const bool pod = strcmp(client, "kubectl") == 0 && strcmp(argv[verb], "exec") == 0;
		const int behind = pod ? find_word(argc, argv, verb, "--", "--") : verb;
		if (!verb || !behind || behind + 1 == argc)
			return no_way_in(client, level);
		*inside = with_words(argc, argv, behind + 1, 2,
				     (const char *[]){pod                ? "env"
						      : client[0] == 'k' ? "--env"
									 : "-e",
						      level});
	} else if (containers->n == 1) {
		size_t i = 0;
		while (i < COUNT(runtimes) - 1 && !in_path(runtimes[i]))
			i++;
		if (i == COUNT(runtimes) - 1)
			return err_fail(
				GPQ_NOTFOUND, "say how: -- kubectl exec POD -- PROGRAM",
				"--container %s: neither docker, podman nor nerdctl is there "
				"to run %s in it",
				containers->v[0], argv[0]);
		*inside = with_words(
			argc, argv, 0, 5,
			(const char *[]){runtimes[i], "exec", "-e", level, containers->v[0]});
	}
	return GPQ_OK;
}
