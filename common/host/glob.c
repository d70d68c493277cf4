// Patterns of paths under the sysroot; see glob.h.
//
// `dir` never contains a symbolic link, so that ".." in the target of a link is resolved as the
// kernel does it; links in sysfs look like "../../devices/...".
#include "common/host/glob.h"

#include "common/host/root.h"

#include <fcntl.h>
#include <fnmatch.h>

enum { MAX_LINKS = 16 };

static int glob_walk(const struct glob_visitor *v, const char *dir, const char *rest, int links);

// Enters one name in `dir`. A link is reported, and followed unless `keep_last` forbids it.
static int glob_enter(const struct glob_visitor *v, const char *dir, const char *name,
		      const char *rest, int links)
{
	char path[PATH_MAX], target[PATH_MAX];
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return v->missing(v->arg, dir, ENAMETOOLONG);
	if (host_readlink(path, target, sizeof(target)) < 0) {
		if (errno == EINVAL)
			return glob_walk(v, path, rest, links);
		int error = errno;
		if (*rest && snprintf(target, sizeof(target), "%s/%s", path, rest) < PATH_MAX)
			return v->missing(v->arg, target, error);
		return v->missing(v->arg, path, error);
	}
	int r = v->link(v->arg, path, target);
	if (r || (!*rest && v->keep_last))
		return r;
	char next[PATH_MAX];
	bool fits = snprintf(next, sizeof(next), "%s/%s", target, rest) < PATH_MAX;
	if (links >= MAX_LINKS || !fits)
		return v->missing(v->arg, path, fits ? ELOOP : ENAMETOOLONG);
	return glob_walk(v, *target == '/' ? "" : dir, next, links + 1);
}

static int glob_enter_matching(const struct glob_visitor *v, const char *dir, const char *pattern,
			       const char *rest, int links)
{
	int fd = host_open(*dir ? dir : "/", O_RDONLY | O_DIRECTORY), r = 0;
	struct dirent **names = NULL;
	int n = fd < 0 ? -1 : scandirat(fd, ".", &names, NULL, versionsort);
	close_quietly(fd);
	if (n < 0 && errno == ENOMEM)
		xalloc_fail();
	if (n < 0) {
		char path[PATH_MAX];
		bool fits = snprintf(path, sizeof(path), "%s/%s", dir, pattern) < PATH_MAX;
		return v->missing(v->arg, fits ? path : dir, errno);
	}
	for (int i = 0; i < n; i++) {
		if (r == 0 && fnmatch(pattern, names[i]->d_name, FNM_PERIOD) == 0)
			r = glob_enter(v, dir, names[i]->d_name, rest, links);
		free(names[i]);
	}
	free(names);
	return r;
}

static int glob_walk(const struct glob_visitor *v, const char *dir, const char *rest, int links)
{
	rest += strspn(rest, "/");
	if (!*rest)
		return v->found(v->arg, *dir ? dir : "/");
	const size_t len = strcspn(rest, "/");
	const char *behind = rest + len + strspn(rest + len, "/");
	char component[NAME_MAX + 1];
	if (len > NAME_MAX)
		return v->missing(v->arg, dir, ENAMETOOLONG);
	snprintf(component, sizeof(component), "%.*s", (int)len, rest);
	if (strcmp(component, ".") == 0)
		return glob_walk(v, dir, behind, links);
	if (strcmp(component, "..") == 0) { // parent of `dir`, which has no link in it, or the root
		char up[PATH_MAX];
		const char *slash = strrchr(dir, '/');
		snprintf(up, sizeof(up), "%.*s", slash ? (int)(slash - dir) : 0, dir);
		return glob_walk(v, up, behind, links);
	}
	int r = 0;
	char *save = NULL;
	for (char *name = strtok_r(component, "|", &save); name && r == 0;
	     name = strtok_r(NULL, "|", &save))
		r = strpbrk(name, "*?[") ? glob_enter_matching(v, dir, name, behind, links)
					 : glob_enter(v, dir, name, behind, links);
	return r;
}

int host_glob(const char *pattern, const struct glob_visitor *v)
{
	return glob_walk(v, "", pattern, 0);
}
