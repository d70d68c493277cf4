// Text made safe for terminals, quantities as people read and write them, and sparklines.
#pragma once

#include "common/host/number.h"

// Length in bytes of the valid UTF-8 sequence at `s` (1 to 4), or 0.
size_t text_utf8(const char *s, size_t len);

// Length of the prefix of `s` that needs no escape for terminals or JSON strings: printable ASCII
// without quotes and backslashes.
size_t text_plain(const char *s, size_t len);

// Appends `s` with every control character and every byte that is no UTF-8 written as \xNN.
void text_escape(struct buf *out, const char *s, size_t len);

// The end of a noun behind the number n.
static inline const char *text_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

// The verb behind it: "3 queues are", "1 queue is".
static inline const char *text_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}

// Appends `s` as text_escape() does, and made safe for HTML and SVG.
void text_html(struct buf *out, const char *s, size_t len);

// Formats bytes in binary units with at most one decimal: "16K", "1.5M", "0B".
char *text_size(char out[16], uint64_t bytes);

// Formats nanoseconds: "950ns", "12.3us", "4.56ms", "7.8s", "2m05s".
char *text_ns(char out[24], uint64_t ns);

// Reads "50ms", "2s", "1.5s", "100us", "1m", "1h" as nanoseconds. A number without a unit is
// refused unless it is 0.
bool parse_duration(const char *s, uint64_t *ns);

// As parse_duration(), but a number without a unit counts seconds.
bool parse_seconds(const char *s, uint64_t *ns);

// Reads "64", "4K", "16M", "2G" (binary units) as bytes.
bool parse_size(const char *s, uint64_t *bytes);

// Appends `len` bytes of text as whole words, in lines of at most 80 columns that end with a
// newline. The first line continues behind `column` columns that are written already; the others
// begin with `indent` blanks. A [ ... ] counts as one word if it fits a line. Newlines in the text
// count as blanks.
void text_wrap(struct buf *out, size_t column, size_t indent, const char *text, size_t len);

// The same for another width.
void text_wrap_to(struct buf *out, size_t width, size_t column, size_t indent, const char *text,
		  size_t len);

// Returns the entry of `words` (NULL-terminated) of which `s` is most likely a typo, or NULL.
const char *text_suggest(const char *s, const char *const *words);

// Sparklines: numbers as a row of characters, "·▁▂▅█", or ".:-*@" where the locale is not UTF-8.

// Does the environment (LC_ALL, LC_CTYPE, LANG) say that the terminal shows UTF-8?
bool spark_utf8(void);

// Appends a character for each value from 0 to `max`. 0 has a character of its own, NaN is a blank.
void spark_line(struct buf *out, const double *values, size_t n, double max, bool utf8);

// Is the word of `len` bytes one of `words`, which are separated by single blanks? NULL: no words.
bool text_has_word(const char *words, const char *word, size_t len);
