// The alternatives of compat.h to functions that older C libraries lack, also where the C library
// has them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COMPAT_ALL
#define syscall fake_syscall
#include "common/host/std.h"
#undef syscall

#include <dirent.h>
#include <fcntl.h>

static bool old_kernel; // it has no close_range(2)

long syscall(long number, ...);

long fake_syscall(long number, ...)
{
	va_list ap;
	va_start(ap, number);
	const long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
	va_end(ap);
	if (!old_kernel || number != __NR_close_range)
		return syscall(number, a, b, c);
	errno = ENOSYS;
	return -1;
}

static void names_are_those_of_the_headers(void **state)
{
	(void)state;
	assert_string_equal(compat_strerrorname_np(0), "0");
#define IS(name) assert_string_equal(compat_strerrorname_np(name), #name)
	IS(EPERM), IS(ENOENT), IS(EINVAL), IS(ERANGE), IS(EDEADLK), IS(ELOOP), IS(ENOMSG);
	IS(EBADSLT), IS(EBFONT), IS(ENODATA), IS(ENOPKG), IS(EBADMSG), IS(ENOTSOCK), IS(ETIMEDOUT);
	IS(ESTALE), IS(ECANCELED), IS(EHWPOISON);
	for (int e = -1; e <= EHWPOISON + 1; e++) {
		const char *name = compat_strerrorname_np(e);
		assert_int_equal(name != NULL, e >= 0 && e <= EHWPOISON && e != 41 && e != 58);
#if __GLIBC_PREREQ(2, 32)
		if (name)
			assert_string_equal(name, strerrorname_np(e));
#endif
	}
}

static void close_range_closes_from_first_to_last(void **state)
{
	int fds[3];
	(void)state;
	for (size_t i = 0; i < COUNT(fds); i++)
		assert_int_equal(fds[i] = fcntl(0, F_DUPFD, 200 + (int)i), 200 + (int)i);
	assert_int_equal(compat_close_range(201, 201, 0), 0);
	assert_int_equal(fcntl(200, F_GETFD), 0);
	assert_int_equal(fcntl(201, F_GETFD), -1);
	assert_int_equal(fcntl(202, F_GETFD), 0);
	assert_int_equal(compat_close_range(200, ~0u, 0), 0);
	assert_int_equal(fcntl(200, F_GETFD), -1);
	assert_int_equal(fcntl(202, F_GETFD), -1);
}

static void an_old_kernel_closes_one_after_another(void **state)
{
	old_kernel = true;
	close_range_closes_from_first_to_last(state);
	old_kernel = false;
}

static void getdents64_lists_a_folder(void **state)
{
	union {
		struct dirent64 align;
		char bytes[4096];
	} names;
	SCOPED(close_at) const int fd = open("/proc/self/ns", O_RDONLY | O_DIRECTORY);
	const struct dirent64 *e;
	bool found = false;
	ssize_t n = compat_getdents64(fd, &names, sizeof(names));
	(void)state;
	for (ssize_t at = 0; at < n; at += e->d_reclen) {
		e = (const void *)(names.bytes + at);
		found |= strcmp(e->d_name, "pid") == 0;
	}
	assert_true(found);
	assert_int_equal(compat_getdents64(-1, &names, sizeof(names)), -1);
	assert_int_equal(errno, EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_headers),
		cmocka_unit_test(close_range_closes_from_first_to_last),
		cmocka_unit_test(an_old_kernel_closes_one_after_another),
		cmocka_unit_test(getdents64_lists_a_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
