// Demangles C++ names in the reader's child; see demangle.h. The child's answer is a string, empty
// if the library refuses the name, its NUL, and the processor time used, in ns (uint64_t).
//
// Facts: the Itanium C++ ABI, 3.4 (__cxa_demangle); libiberty/cp-demangle.c; setitimer(2).
#include "common/reader/demangle.h"

#include "common/host/clock.h"
#include "common/host/dlopen.h"
#include "common/reader/reader.h"

#include <sys/time.h>

// cxxabi.h is for C++ alone. The name is the ABI's.
char *__cxa_demangle(const char *name, char *to, size_t *size, int *status); // NOLINT
#define CXXABI_FUNCTIONS(X) X(__cxa_demangle)
LIB(cxxabi, "libstdc++.so.6", CXXABI_FUNCTIONS, RECOMMENDED, "demangle", "C++ names of kernels");

struct demangler {
	unsigned lost;
	uint64_t asked, took_ns; // number of names asked, processor time they took
	char answer[DEMANGLE_TO_MOST + 1];
};

struct demangler *demangler_new(void)
{
	return cxxabi_get() ? xcalloc(1, sizeof(struct demangler)) : NULL;
}

unsigned demangler_lost(const struct demangler *d)
{
	return d->lost;
}

void demangler_free(struct demangler *d)
{
	free(d);
}

// --- in the reader's child ---

// Lets SIGPROF end this process when it has used `ms` of processor time; 0: never.
static void limit_time(long ms)
{
	const struct itimerval timer = {.it_value = {.tv_usec = ms * 1000}};
	setitimer(ITIMER_PROF, &timer, NULL);
}

static int demangle_task(const void *name, size_t size, int fd)
{
	static char answer[DEMANGLE_TO_MOST + sizeof(uint64_t)];
	const uint64_t begin = clock_cpu_ns();
	int status;
	char *text;
	size_t len;
	(void)fd;
	if (!size || ((const char *)name)[size - 1])
		return EINVAL;
	limit_time(DEMANGLE_MS);
	text = cxxabi_get()->__cxa_demangle(name, NULL, NULL, &status);
	limit_time(0);
	if (status == -1) // out of memory, whatever the name is
		return ENOMEM;
	len = text ? strlen(text) : 0;
	len = len < DEMANGLE_TO_MOST ? len : 0;
	memcpy(answer, len ? text : "", len + 1);
	const uint64_t took_ns = clock_cpu_ns() - begin;
	memcpy(answer + len + 1, &took_ns, sizeof(took_ns));
	free(text);
	reader_give(answer, len + 1 + sizeof(took_ns));
	return 0;
}

// --- in gpq ---

static bool demangle_take_part(void *arg, const void *part, size_t size)
{
	struct demangler *d = arg;
	const char *end = memchr(part, 0, size);
	const size_t len = end ? (size_t)(end - (const char *)part) : size;
	uint64_t took_ns;
	if (len >= DEMANGLE_TO_MOST || size - len - 1 != sizeof(took_ns))
		return false;
	memcpy(d->answer, part, len + 1);
	memcpy(&took_ns, end + 1, sizeof(took_ns));
	d->took_ns += took_ns;
	return true;
}

const char *demangle(struct demangler *d, const char *name)
{
	const size_t len = strncmp(name, "_Z", 2) ? 0 : strnlen(name, DEMANGLE_FROM_MOST + 1);
	const struct reader_question q = {.whose = READER_NAMES,
					  .task = demangle_task,
					  .text = name,
					  .len = len + 1,
					  .fd = -1};
	if (!len || len > DEMANGLE_FROM_MOST || d->lost >= DEMANGLE_LOST_MOST ||
	    d->took_ns > DEMANGLE_ALL_NS + d->asked * DEMANGLE_EACH_NS)
		return NULL;
	d->asked++;
	if (reader_ask(&q, demangle_take_part, d) == 0)
		return d->answer[0] ? d->answer : NULL;
	d->lost++;
	return NULL;
}
