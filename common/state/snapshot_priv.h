// Inside common/kfd/snapshot*.c.
#ifndef GPQ_STATE_SNAPSHOT_PRIV_H
#define GPQ_STATE_SNAPSHOT_PRIV_H

#include "common/state/snapshot.h"

#include <sys/types.h>

// What snapshot_save() works with.
struct saver {
	struct snapshot *s;
	struct tree *t;
	struct redact *r; // NULL: names stay
	const volatile int *stop;
};

// Puts what became of a path on the list. The entry, or NULL with ENOMEM.
struct snapshot_entry *snapshot_note(struct snapshot *s, const char *path, uint64_t size,
				     int error);

// Adds a file that was read to the tree and to the list. 0, or -1 with errno.
int snapshot_add(struct saver *v, const char *path, const struct buf *b);

// Names of users and containers that these processes have, from where only the host knows them:
// /etc/passwd with these users alone, and of docker's and podman's records, which hold passwords,
// the names alone. 0, or -1 with errno.
int snapshot_add_names(struct saver *v, const pid_t *pids, size_t n);

// /MANIFEST. 0, or -1 with errno.
int snapshot_add_manifest(struct saver *v);

#endif
