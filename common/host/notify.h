// What systemd is told by a service of Type=notify: the datagrams of sd_notify(3), without
// libsystemd.
#pragma once

#include "common/host/std.h"

// Tells the service manager "READY=1", "STOPPING=1" or "WATCHDOG=1". Does nothing where none asks
// (NOTIFY_SOCKET), or where it cannot be told; never waits.
void notify(const char *state);

// How often the manager wants "WATCHDOG=1": half of the time after which it ends the service; 0:
// it does not (WATCHDOG_USEC, WATCHDOG_PID).
uint64_t notify_watchdog_ns(void);
