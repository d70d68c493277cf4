#!/usr/bin/env python3
"""A file whose end cannot be read: fuse_eio.py FILE OFFSET DIR COMMAND... mounts a file system on DIR with one file, `log`,
that reads like FILE up to OFFSET and fails with EIO from there on, runs COMMAND, and exits as it does; 77: cannot mount.

Protocol: include/uapi/linux/fuse.h, version 7.31. The kernel caches the pages, so that the file can be mapped."""
import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys
import threading

LOOKUP, GETATTR, OPEN, READ, STATFS, RELEASE, INIT, OPENDIR, READDIR, RELEASEDIR = 1, 3, 14, 15, 17, 18, 26, 27, 28, 29
FORGET, INTERRUPT, BATCH_FORGET = 2, 36, 42
ROOT, LOG = 1, 2
libc = ctypes.CDLL(None, use_errno=True)


def attr(node, size):
    mode = stat.S_IFDIR | 0o555 if node == ROOT else stat.S_IFREG | 0o444
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(text, limit, op, node, body):
    """The reply's body, or a negative errno."""
    size = len(text)
    if op == INIT:
        return struct.pack("<IIIIHHIIHHIIIIIII", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    if op == LOOKUP:
        if body.rstrip(b"\0") != b"log":
            return -errno.ENOENT
        return struct.pack("<QQQQII", LOG, 0, 3600, 3600, 0, 0) + attr(LOG, size)
    if op == GETATTR:
        return struct.pack("<QII", 3600, 0, 0) + attr(node, size if node == LOG else 0)
    if op in (OPEN, OPENDIR):
        return struct.pack("<QII", 1, 2 if op == OPEN else 0, 0)  # FOPEN_KEEP_CACHE
    if op == READ:
        at, n = struct.unpack_from("<QI", body, 8)
        return -errno.EIO if at + n > limit and at + n > 0 and at >= limit - n else text[at : at + n]
    if op in (RELEASE, RELEASEDIR):
        return b""
    return b"" if op == READDIR else -errno.ENOSYS


def serve(fd, text, limit):
    while True:
        try:
            request = os.read(fd, 1 << 17)
        except OSError as e:
            if e.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            return  # unmounted
        _, op, unique, node = struct.unpack_from("<IIQQ", request)
        if op in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        got = answer(text, limit, op, node, request[40:])
        error, body = (got, b"") if isinstance(got, int) else (0, got)
        try:
            os.write(fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
        except OSError:
            pass


def main():
    text, limit, where = open(sys.argv[1], "rb").read(), int(sys.argv[2]), sys.argv[3]
    try:
        fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return 77
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"gpq-test", where.encode(), b"fuse", 7, options.encode()):
        return 77
    threading.Thread(target=serve, args=(fd, text, limit), daemon=True).start()
    try:
        return subprocess.run(sys.argv[4:]).returncode
    finally:
        libc.umount2(where.encode(), 2)


sys.exit(main())
