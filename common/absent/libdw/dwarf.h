#pragma once

enum { DW_TAG_inlined_subroutine = 0x1d, DW_TAG_subprogram = 0x2e };
enum { DW_AT_call_file = 0x58, DW_AT_call_line = 0x59, DW_AT_linkage_name = 0x6e };
