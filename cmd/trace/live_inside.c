// gpq trace --live -- docker exec C PROGRAM, and the like: a container does not have the
// environment of the runtime's client, so AMD_LOG_LEVEL is handed over by the client's own option
// or by env(1).
#include "cmd/trace/trace.h"

#include "common/host/secure.h"

static const char *const runtimes[] = {"docker", "podman", "nerdctl", "kubectl"};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_runtime(const char *name)
{
	size_t i = 0;
	while (i < COUNT(runtimes) && strcmp(name, runtimes[i]) != 0)
		i++;
	return i < COUNT(runtimes);
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

// Returns a copy of argv with the `n` words of `more` in front of argv[at]. The caller frees the
// array, which borrows its words.
static char **with_words(int argc, char **argv, int at, int n, const char *const *more)
{
	char **v = xcalloc((size_t)(argc + n) + 1, sizeof(*v));
	memcpy(v, argv, (size_t)at * sizeof(*v));
	memcpy(v + at, more, (size_t)n * sizeof(*v));
	memcpy(v + at + n, argv + at, (size_t)(argc - at) * sizeof(*v));
	return v;
}

int live_inside(const struct words *containers, int argc, char **argv, char ***inside)
{
	static const char enter[] =
		"for c in docker podman nerdctl; do\n"
		"command -v $c >/dev/null && exec $c exec -e \"$@\"\n"
		"done\n"
		"echo 'gpq: trace: --container: neither docker, podman nor nerdctl is there; "
		"say how: -- kubectl exec POD -- PROGRAM' >&2; exit 127";
	static char level[64]; // in *inside
	const char *given = host_getenv("AMD_LOG_LEVEL");
	const int at = argc > 1 && strcmp(base_name(argv[0]), "sudo") == 0;
	const char *client = base_name(argv[at]);
	snprintf(level, sizeof(level), "AMD_LOG_LEVEL=%.32s", given ? given : "4");
	if (is_runtime(client)) {
		const int verb = find_word(argc, argv, at + 1, "exec", "run");
		const bool pod = *client == 'k', env = pod && strcmp(argv[verb], "exec") == 0;
		const int behind = env ? find_word(argc, argv, verb, "--", "--") : verb;
		if (!verb || !behind || behind + 1 == argc)
			return err_fail(GPQ_USAGE,
					pod ? "type: ... kubectl exec POD -- PROGRAM"
					    : "type: ... exec CONTAINER PROGRAM, or ... run IMAGE "
					      "PROGRAM",
					"--live: %s does not reach the program by this %s command",
					level, client);
		*inside = with_words(argc, argv, behind + 1, 2,
				     (const char *[]){env   ? "env"
						      : pod ? "--env"
							    : "-e",
						      level});
	} else if (containers->n == 1) {
		*inside = with_words(
			argc, argv, 0, 6,
			(const char *[]){"sh", "-c", enter, "sh", level, containers->v[0]});
	}
	return GPQ_OK;
}
