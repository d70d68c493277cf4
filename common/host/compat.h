// What gpq uses, and what glibc and kernel headers may lack since glibc 2.28 (RHEL 8); part of
// std.h. Where the C library has a function, that one is used and this one is left out, down to the
// same debug information; COMPAT_ALL, of the unit test, keeps all.
#pragma once

#include <sys/syscall.h>

// They have one number on all architectures but Alpha. libseccomp looks for __NR_.
#ifndef __NR_close_range
#define __NR_pidfd_send_signal 424
#define __NR_pidfd_open        434
#define __NR_clone3            435
#define __NR_close_range       436
#define __NR_openat2           437
#define __NR_pidfd_getfd       438
#endif
#ifndef SYS_close_range
#define SYS_pidfd_send_signal __NR_pidfd_send_signal
#define SYS_pidfd_open        __NR_pidfd_open
#define SYS_openat2           __NR_openat2
#define SYS_pidfd_getfd       __NR_pidfd_getfd
#endif

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#else
struct open_how {
	uint64_t flags, mode, resolve;
};
#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_IN_ROOT       0x10
#endif

#if !__GLIBC_PREREQ(2, 34) || defined(COMPAT_ALL)
// Kernels before 5.9 have no such call: there one descriptor is closed after another.
static inline int compat_close_range(unsigned first, unsigned last, int flags)
{
	const long most = sysconf(_SC_OPEN_MAX);
	if (syscall(__NR_close_range, first, last, flags) == 0 || errno != ENOSYS)
		return 0;
	for (long fd = first; fd <= last && fd < most; fd++)
		close((int)fd);
	return 0;
}
#endif

#if !__GLIBC_PREREQ(2, 30) || defined(COMPAT_ALL)
static inline ssize_t compat_getdents64(int fd, void *to, size_t size)
{
	return syscall(SYS_getdents64, fd, to, size);
}
#endif

#if !__GLIBC_PREREQ(2, 32) || defined(COMPAT_ALL)
// Returns the name of an errno value, "ENOENT"; NULL: there is none. Order of asm-generic/errno.h.
static inline const char *compat_strerrorname_np(int error)
{
	static const char names[] =
		"0\0EPERM\0ENOENT\0ESRCH\0EINTR\0EIO\0ENXIO\0E2BIG\0ENOEXEC\0EBADF\0ECHILD\0"
		"EAGAIN\0ENOMEM\0EACCES\0EFAULT\0ENOTBLK\0EBUSY\0EEXIST\0EXDEV\0ENODEV\0ENOTDIR\0"
		"EISDIR\0EINVAL\0ENFILE\0EMFILE\0ENOTTY\0ETXTBSY\0EFBIG\0ENOSPC\0ESPIPE\0EROFS\0"
		"EMLINK\0EPIPE\0EDOM\0ERANGE\0EDEADLK\0ENAMETOOLONG\0ENOLCK\0ENOSYS\0ENOTEMPTY\0"
		"ELOOP\0\0ENOMSG\0EIDRM\0ECHRNG\0EL2NSYNC\0EL3HLT\0EL3RST\0ELNRNG\0EUNATCH\0"
		"ENOCSI\0EL2HLT\0EBADE\0EBADR\0EXFULL\0ENOANO\0EBADRQC\0EBADSLT\0\0EBFONT\0"
		"ENOSTR\0ENODATA\0ETIME\0ENOSR\0ENONET\0ENOPKG\0EREMOTE\0ENOLINK\0EADV\0ESRMNT\0"
		"ECOMM\0EPROTO\0EMULTIHOP\0EDOTDOT\0EBADMSG\0EOVERFLOW\0ENOTUNIQ\0EBADFD\0"
		"EREMCHG\0ELIBACC\0ELIBBAD\0ELIBSCN\0ELIBMAX\0ELIBEXEC\0EILSEQ\0ERESTART\0"
		"ESTRPIPE\0EUSERS\0ENOTSOCK\0EDESTADDRREQ\0EMSGSIZE\0EPROTOTYPE\0ENOPROTOOPT\0"
		"EPROTONOSUPPORT\0ESOCKTNOSUPPORT\0EOPNOTSUPP\0EPFNOSUPPORT\0EAFNOSUPPORT\0"
		"EADDRINUSE\0EADDRNOTAVAIL\0ENETDOWN\0ENETUNREACH\0ENETRESET\0ECONNABORTED\0"
		"ECONNRESET\0ENOBUFS\0EISCONN\0ENOTCONN\0ESHUTDOWN\0ETOOMANYREFS\0ETIMEDOUT\0"
		"ECONNREFUSED\0EHOSTDOWN\0EHOSTUNREACH\0EALREADY\0EINPROGRESS\0ESTALE\0EUCLEAN\0"
		"ENOTNAM\0ENAVAIL\0EISNAM\0EREMOTEIO\0EDQUOT\0ENOMEDIUM\0EMEDIUMTYPE\0ECANCELED\0"
		"ENOKEY\0EKEYEXPIRED\0EKEYREVOKED\0EKEYREJECTED\0EOWNERDEAD\0ENOTRECOVERABLE\0"
		"ERFKILL\0EHWPOISON";
	const char *name =
		error >= 0 && error <= EHWPOISON ? text_part(names, (unsigned)error) : "";
	return *name ? name : NULL;
}
#endif

#if !__GLIBC_PREREQ(2, 30)
#define gettid()   ((pid_t)syscall(SYS_gettid))
#define getdents64 compat_getdents64
#endif
#if !__GLIBC_PREREQ(2, 32)
#define strerrorname_np compat_strerrorname_np
#endif
#if !__GLIBC_PREREQ(2, 34)
#define close_range compat_close_range
#endif
