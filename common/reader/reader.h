// A child process that reads what belongs to others, so that gpq never waits for it.
//
// Memory and files of a process can lie on a file system that its owner serves (FUSE) or that is
// dead (NFS): a read then sleeps in the kernel, and SIGKILL does not end that sleep. A dump of
// debugfs waits likewise for a driver that waits for a GPU. So a child process reads: gpq gives it
// open descriptors and a question; if the answer does not come in time, gpq kills the child, leaves
// it behind, and what it was asked about counts as silent until the kernel has let go of that
// child.
//
// The child also parses what others may have forged (ELF files, names to be demangled). It has no
// capabilities, not root's user id, no files but those of its question, and a filter of system
// calls (libseccomp). Its answers are trusted no more than what it reads.
//
// Facts: unix(7) (SOCK_SEQPACKET, SCM_RIGHTS), proc(5); fs/fuse/dev.c (request_wait_answer: no
// signal ends the wait for a server that has read the request), fs/fuse/file.c (FLUSH, at close,
// waits likewise); fs/proc/base.c (mem_rw, get_mm_cmdline).
#pragma once

#include "common/host/std.h"

#define READER_PART 73728 // greatest size of a question, and of a part of an answer, in bytes

// Deadlines (ms) for one part of an answer; ten times as long while the child runs instead of
// sleeping.
#define READER_MS        2000
#define READER_DRIVER_MS 3000 // for questions about the driver
// Budget in ms for all waits that had no answer; it regains a tenth of the time that passes. When
// it is used up, a question has READER_LAST_MS.
#define READER_ALL_MS  6000
#define READER_LAST_MS 50

// Whom a question is about: a PID, or one of these; devices are READER_DEVICE and numbers below it.
enum { READER_DRIVER = 0, READER_NAMES = -1, READER_DEVICE = -2 };

// Runs in the child. `fd`: the question's descriptor, or what its `open` returned. Returns 0 or an
// errno.
typedef int reader_task(const void *text, size_t len, int fd);

// Opens a file, in a child of its own that still has the rights of gpq. The descriptor never
// reaches gpq, as closing it may block, too. Returns -1 with errno if it fails.
typedef int reader_open(const void *text, size_t len);

struct reader_question {
	pid_t whose;
	reader_task *task;
	reader_open *open; // NULL: the question has `fd`, or no file
	const void *text;
	size_t len;
	int fd; // descriptor for the task; -1: none
};

// Takes a part of the answer. Returns false if the answer makes no sense.
typedef bool reader_take(void *arg, const void *part, size_t len);

// Asks, and waits. Returns 0, or an errno: ETIMEDOUT no answer came in time; EIO the child died of
// the question (both are reported by host_trouble(), but of names and devices); EPROTO the answer
// makes no sense; else the task's.
int reader_ask(const struct reader_question *q, reader_take *take, void *arg);

// For `open`: limits what the task may allocate, in bytes, and its processor time, in seconds (0:
// as before). Beyond them calls fail with ENOMEM, and the child ends.
void reader_limit(uint64_t bytes, unsigned seconds);

// For tasks, in the child: adds data to the answer, READER_PART bytes at most, which come in one
// part; and tells gpq that the task goes on, with what was added so far. Outside of a child
// reader_alive() does nothing.
void reader_give(const void *data, size_t len);
void reader_alive(void);

// ---- many questions on their way, for loops that never wait

struct reader;
struct reader *reader_new(void);
void reader_free(struct reader *r); // NULL: does nothing

// Returns a descriptor for poll(2) that is readable when an answer came; -1: no child runs.
int reader_fd(const struct reader *r);

// Sends a question without `open`. `tag` comes back with the answer, which has one part. Returns
// false with errno: ETIMEDOUT what the question is about is silent, another: it cannot be sent now.
bool reader_post(struct reader *r, const struct reader_question *q, void *tag);

// Returns the next answer, in the order of the questions, and its *tag and *error: as of
// reader_ask(), or EAGAIN: ask again, as another question ended the child. NULL: none yet. Valid
// until the next call.
const void *reader_next(struct reader *r, void **tag, size_t *len, int *error);

// Drops the questions with this tag whose answers have not come.
void reader_forget(struct reader *r, const void *tag);

// ---- files.c

// As host_read(), for a file of another process below /proc, or of debugfs. errno ETIMEDOUT: no
// answer came in time.
ssize_t reader_read(struct buf *b, const char *path);
// As reader_read(), for a file that is open; `path` says whose it is.
ssize_t reader_read_fd(struct buf *b, int fd, const char *path);

// Reads a command line, cut at `size`, with blanks between the arguments. Returns its length; 0 for
// kernel threads and zombies; -1 with errno. The target's own memory holds it.
ssize_t proc_cmdline(pid_t pid, char *text, size_t size);

// Returns the processor time of the child of `r`, in ns; NULL: of the child of reader_ask() and of
// all that ended.
uint64_t reader_cpu_ns(const struct reader *r);
