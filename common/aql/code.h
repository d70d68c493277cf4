// Names of the kernels that a process has loaded, by the addresses in its dispatch packets, with no
// log and without its help: from the list of code objects that the HSA runtime keeps for debuggers.
//
// Facts: [aql.code-list], [aql.code-uri], [aql.descriptor].
//
// Where memory that a URI names may have been freed (hipModuleLoadData needs it no longer), and
// where a file cannot be opened, the code object is read as it is loaded: from the GPU's memory, as
// far as the driver shows it to debuggers.
//
// The target is read and never stopped; what it holds is not trusted. A file is opened in the
// target's root, only where it is a regular one. A file system that the target itself serves (FUSE)
// can make this wait, as it does any reader; signals end that.
#ifndef GPQ_AQL_CODE_H
#define GPQ_AQL_CODE_H

#include <stdint.h>
#include <sys/types.h>

// Limits of one refresh. Kernels beyond them have no name.
#define CODE_OBJECTS_MOST 16384          // of a process
#define CODE_SIZE_MOST    (1ULL << 32)   // bytes of a code object; only its symbols are read
#define CODE_READ_MOST    (256ULL << 20) // bytes read of the code objects that are new
#define CODE_KERNELS_MOST 1000000        // of a process
#define CODE_NAME_MOST    65535          // bytes of a kernel's name, mangled
#define CODE_TEXT_MOST    (256ULL << 20) // bytes of all names of a process

struct code_names;

// Reads what the process has loaded now. Never NULL; code_names_error() tells what is lacking. The
// memory that is read is that of the program which runs now: after exec, and when the pid is
// another process, nothing is known until the next refresh.
struct code_names *code_names_new(pid_t pid);
void code_names_free(struct code_names *c); // NULL: nothing

// Looks again: code objects that are new get names, those that are gone lose them. Cheap where
// nothing changed: three reads for each code object. All names got before become invalid.
//
// A code object is taken for the one known before when its link, distance and URI are the same and,
// of one in memory, its first KiB, too, or it can no longer be read.
void code_names_refresh(struct code_names *c);

// The mangled name of the kernel whose descriptor holds the address, without ".kd"; NULL: unknown.
// Valid until the next refresh.
const char *code_name(struct code_names *c, uint64_t kernel_object);

// Why nothing is known, of the last refresh: 0 there is a list; ENOPKG libelf is missing; ENOENT no
// runtime that exports its list is loaded (none at all, or linked statically), or it could not be
// opened; otherwise why the memory cannot be read (EACCES, ESRCH ...).
int code_names_error(const struct code_names *c);

#endif
