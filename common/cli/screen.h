// A full-screen view on the terminal of standard output, for --watch: pages are painted over one
// another in the alternate screen, so that what was on the terminal before is there again at the
// end.
//
// The terminal is restored before a signal ends the process (SIGINT, SIGTERM, SIGHUP, SIGQUIT,
// faults) or stops it (SIGTSTP). A process has one view at most.
#pragma once

#include "common/host/std.h"

// Is standard output a terminal that can move its cursor?
bool screen_is_there(void);

// Catches the signals and gathers messages (err.h) if they would go to a terminal. Nothing is
// painted yet: a first listing that fails leaves the terminal as it is.
void screen_open(void);

// Paints a page: a head line, as many lines of `body` as fit with a line that counts the others,
// and at most three lines of messages gathered since the last page. Behind the first line of
// `body`, *top lines are left out, or fewer, and *top becomes that number, if less than a page
// would be left. A head line that is too long loses `right` first, then the end of `left`. Control
// characters in these texts are newlines and colours only. 0, or an errno value.
int screen_paint(const char *left, const char *right, const struct buf *body, size_t *top);

// Keys that are no characters.
enum { KEY_NONE, KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_OTHER };

// Waits `ns` nanoseconds, or until the page must be painted again: the window was resized, or the
// process was stopped and continues. Returns the key that was pressed meanwhile, if standard input
// is a terminal; KEY_NONE: none was.
int screen_wait(uint64_t ns);

// Returns by how many lines a page key scrolls: a line of the page before stays in sight.
size_t screen_page(void);

// Restores the terminal, then writes the messages gathered since the last page.
void screen_close(void);
