// gpq hqd --regs, --fields, --raw-regs: every register of the slots that are shown, or every dword
// of the MQDs with --mqd.
#include "cmd/hqd/hqd.h"

#include "common/debugfs/decode.h"

struct line {
	struct hqd_row slot;
	const char *field, *text, *unit, *meaning;
	uint64_t address, dw, value, number;
	char reg[64], bits[16];
};

#define ROW line
#define WHERE                                                                                    \
	COL(slot.q.gpu_id, "GPU", "gpu_id", U64, D | W, "GPU as KFD numbers it (its gpu_id)"),   \
		COL(slot.xcc, "XCC", "xcc", U64, D | W, "XCC of the GPU, counted from 0"),       \
		COL(slot.slot, "SLOT", "slot", STR, D | A,                                       \
		    "p0q2 (pipe and queue), e1r0 (SDMA engine and RLC) or hiq"),                 \
		COL(slot.q.pid, "PID", "pid", I64, D | W, "process that owns the queue"),        \
		COL(slot.q.qid, "QID", "qid", U64, D | W, "queue id, within the process"),       \
		COL(slot.q.gpu.index, "INDEX", "gpu_index", U64, M,                              \
		    "index of the GPU, as in gpq gpus"),                                         \
		COL(slot.q.type, "TYPE", "type", STR, M,                                         \
		    "compute, sdma, sdma-xgmi, hiq (the scheduler's own queue), diq (MQDs: the " \
		    "debugger's)")
#define ADDRESS                                                                                 \
	COL(address, "ADDRESS", "address", HEX, D, "byte address of the register, as in hqds"), \
		COL(dw, "DWORD", "dword", U64, M, "dword of the MQD that is its image")

static const struct out_col reg_cols[] = {
	WHERE,
	COL(reg, "REGISTER", "register", STR, D | A, "name in the driver's MQD structures"),
	COL(value, "VALUE", "value", HEX, D, "content"),
	ADDRESS,
};
static const struct out_col raw_cols[] = {
	WHERE,
	ADDRESS,
	COL(value, "VALUE", "value", HEX, D, "content"),
};
static const struct out_col field_cols[] = {
	WHERE,
	COL(reg, "REGISTER", "register", STR, D | A, "name in the driver's MQD structures"),
	COL(field, "FIELD", "field", STR, D, "bit field; null: the whole register or pair"),
	COL(bits, "BITS", "bits", STR, M | A, "its bits, highest and lowest"),
	COL(text, "CONTENT", "content", STR, D | T, "content in plain words"),
	COL(number, "NUMBER", "number", U64, M, "content as a number, in UNIT"),
	COL(unit, "UNIT", "unit", STR, D, "bytes, dwords, address, flag, units of a mask"),
	COL(meaning, "MEANING", "meaning", STR, D, "what it is"),
};

const struct out_table hqd_regs_table = {"registers", "register", OUT_COLS(reg_cols)};
const struct out_table hqd_raw_table = {"raw_registers", "raw_register", OUT_COLS(raw_cols)};
const struct out_table hqd_fields_table = {"fields", "field", OUT_COLS(field_cols)};

struct printer {
	struct out *o;
	struct line line;
};

static void fill_reg_line(struct line *l, const struct decoded_reg *r)
{
	snprintf(l->reg, sizeof(l->reg), "%s", r->reg ? r->reg->name : "");
	// Registers that no MQD has are numbered beyond its end (SLOT in common/debugfs/regs.c).
	l->dw = r->dw < (r->from->sdma ? 130 : 512) ? r->dw : U64_NULL;
	l->address = r->address == DECODE_NONE ? U64_NULL : r->address;
	l->value = r->known ? r->value : U64_NULL;
}

static void print_reg(void *arg, const struct decoded_reg *r)
{
	struct printer *p = arg;
	fill_reg_line(&p->line, r);
	out_row(p->o, &p->line);
}

static void print_field(void *arg, const struct decoded_reg *r, const struct decoded_field *f)
{
	struct printer *p = arg;
	struct line *l = &p->line;
	fill_reg_line(l, r);
	// A pair is named "cp_hqd_pq_base", without the "_lo" of its low half.
	const size_t len = strlen(l->reg);
	if (f->width == 64 && len > 3 && strcmp(l->reg + len - 3, "_lo") == 0)
		l->reg[len - 3] = '\0';
	l->field = *f->name ? f->name : NULL;
	l->text = f->text;
	l->number = f->number;
	l->unit = f->unit;
	l->meaning = f->meaning;
	snprintf(l->bits, sizeof(l->bits), f->width == 1 ? "%u" : "%u:%u", f->lsb + f->width - 1u,
		 f->lsb);
	out_row(p->o, l);
}

static void print_fields_of(void *arg, const struct decoded_reg *r)
{
	decode_fields(r, print_field, arg);
}

int hqd_print_regs(struct hqd_view *v, struct out *o)
{
	const bool fields = v->opts->fields;
	const struct slot_rows *l = &v->list;
	const decode_reg_fn fn = fields ? print_fields_of : print_reg;
	for (size_t i = 0; i < l->n; i++) {
		const struct hqd_row *r = &l->rows[i];
		struct printer p = {.o = o, .line = {.slot = *r}};
		if (r->q.hidden)
			continue;
		decode_source(&r->from, fn, &p);
	}
	return GPQ_OK;
}
