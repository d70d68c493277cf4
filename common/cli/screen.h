// A full-screen view on the terminal of standard output, for --watch: pages are painted over one
// another in the alternate screen, so that what was on the terminal before is there again at the
// end.
//
// Whatever ends or stops the process gives the terminal back first: SIGINT, SIGTERM, SIGHUP,
// SIGQUIT and faults, of which it then dies, and SIGTSTP. One view for a process.
#ifndef GPQ_CLI_SCREEN_H
#define GPQ_CLI_SCREEN_H

#include "common/host/buf.h"

#include <stdbool.h>
#include <stdint.h>

// Is standard output a terminal that can move its cursor?
bool screen_is_there(void);

// Catches the signals and gathers messages (err.h) if they would go to a terminal. Nothing is
// painted yet: a first listing that fails leaves the terminal as it is.
void screen_open(void);

// The page: a head line of two parts, of which `left` is cut and `right` left out where both do not
// fit, then as many lines of `body` as there is room for and a line that counts the others, then at
// most three lines of messages that were gathered since the last page. All are texts without
// control characters but for newlines and colours. 0, or an errno value.
int screen_paint(const char *left, const char *right, const struct buf *body);

// Waits so many nanoseconds; less when the page is to be painted anew: the window's size has
// changed, or the process was stopped and goes on.
void screen_wait(uint64_t ns);

// Gives the terminal back, then writes the messages gathered since the last page.
void screen_close(void);

#endif
