#pragma once

#include "common/absent/absent.h"

enum { SCOLS_FL_RIGHT, SCOLS_TERMFORCE_NEVER };

struct libscols_table *scols_new_table();
struct libscols_line *scols_table_new_line();
struct libscols_cell *scols_line_get_cell();
struct libscols_column *scols_table_new_column();
int scols_cell_set_color(), scols_line_set_data(), scols_print_table_to_string(),
	scols_table_enable_colors(), scols_table_enable_noencoding(),
	scols_table_enable_noheadings(), scols_table_set_termforce();
void scols_unref_table();
