// Queues of secondary contexts, common/holder/contexts.c: which are told of, what is said of a
// folder that cannot be read. Facts: [kfd.contexts].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/holder/holder.h"

#include <dirent.h>

static int read_error; // of getdents64(); 0: none

static ssize_t fake_getdents64(int fd, void *to, size_t size)
{
	errno = read_error ? read_error : errno;
	return read_error ? -1 : getdents64(fd, to, size);
}

#undef getdents64 // of compat.h
#define getdents64 fake_getdents64
#include "common/holder/contexts.c" // NOLINT(bugprone-suspicious-include)

#define PID 300

static char top[] = "/tmp/gpq-contexts-XXXXXX";
static struct buf told;

static void tell(const char *path, int error)
{
	buf_printf(&told, "%s %d ", path, error);
}

static void in_top(const char *command)
{
	SCOPED(buf_fini) struct buf b = {0};
	buf_printf(&b, "cd %s && %s", top, command);
	assert_int_equal(system(b.data), 0); // NOLINT(cert-env33-c)
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(top) ? host_set_root(top) : -1;
}

static int teardown(void **state)
{
	(void)state;
	in_top("rm -r sys");
	return rmdir(top);
}

// "CONTEXT:QID ..." of the queues that are not reached, then what was told.
static const char *unreached(int error)
{
	static char text[256];
	struct kfd_queue *list;
	size_t at = 0;
	read_error = error;
	told.len = 0;
	buf_puts(&told, "");
	errno = EIO; // of an earlier call: a folder that was read to its end has no error
	const ssize_t n = kfd_contexts_unreached(PID, NULL, &list);
	*text = '\0';
	for (ssize_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d:%u ", list[i].context,
				       list[i].qid);
	free(list);
	snprintf(text + at, sizeof(text) - at, "/ %s", told.data);
	return text;
}

static void test_unreached(void **state)
{
	(void)state;
	in_top("mkdir -p sys/class/kfd/kfd/proc && cd sys/class/kfd/kfd/proc && "
	       "mkdir -p 300/queues/1 400/context_6/queues/9");
	host_on_trouble(tell);
	assert_string_equal(unreached(0), "/ ");
	assert_string_equal(unreached(EIO), "/ /sys/class/kfd/kfd/proc/300 5 ");
	assert_string_equal(unreached(EACCES), "/ ");
	in_top("mkdir -p sys/class/kfd/kfd/proc/300/context_5/queues/2 "
	       "sys/class/kfd/kfd/proc/300/context_8/queues/1 "
	       "sys/class/kfd/kfd/proc/300/context_8/queues/4");
	// Many others, so that no context comes first, and one look does not reach all.
	in_top("for i in $(seq 200); do mkdir sys/class/kfd/kfd/proc/300/stats_$i; done");
	assert_string_equal(unreached(0), "5:2 8:1 8:4 / ");
	host_on_trouble(NULL);
	buf_fini(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_unreached)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
