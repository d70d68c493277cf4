// C++ names for people: _Z5scalePff -> scale(float*, float).
//
// The C++ library's own demangler (__cxa_demangle of libstdc++) reads the names. It was made for
// names that a compiler wrote: ninety characters from elsewhere make it try alternatives for hours,
// two hundred make it write gigabytes, and no property of a name that is cheaper to find than its
// meaning tells these apart. So the demangler runs in the reader's child (reader.h), with a limit
// of processor time for each name, which also bounds its memory, and one for all names. A name that
// ends the child stays mangled.
#ifndef GPQ_READER_DEMANGLE_H
#define GPQ_READER_DEMANGLE_H

#define DEMANGLE_FROM_MOST 4096  // bytes of a name; libstdc++ itself refuses more than 1024
#define DEMANGLE_TO_MOST   16384 // bytes of what becomes of it
#define DEMANGLE_MS        50    // of processor time for one name; usual ones take 0.05
#define DEMANGLE_LOST_MOST 4     // names that took longer, or ended the child: then it gives up
// Demangling ends when all names together took longer than the first limit plus the second one for
// each name, in ns.
#define DEMANGLE_ALL_NS  500000000u
#define DEMANGLE_EACH_NS 500000u

struct demangler;

// NULL with errno ENOPKG: there is no libstdc++.so.6.
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d); // NULL: nothing

// The name for people, valid until the next call; NULL when it is not mangled (does not begin with
// _Z), the library refuses it, or a limit above is reached. For one thread at a time.
const char *demangle(struct demangler *d, const char *name);

// Number of names so far that took too long, ended the child, or could not be given to a child.
unsigned demangler_lost(const struct demangler *d);

#endif
