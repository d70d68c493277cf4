// libFuzzer target: pickles (common/out/picklein.c), as programs of others write them.
//
// Beside not crashing: what is accepted is JSON, of one value and without bytes below a blank.
#include "common/out/jsonin.h"
#include "common/out/picklein.h"
#include "tests/fuzz/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf json = {0}, list = {0};
	struct jsonin j;
	struct jsonin_value v;
	if (pickle_to_json(&json, (const char *)data, size)) {
		buf_printf(&list, "[%s]", json.data);
		require(strlen(list.data) == list.len);
		require(jsonin_open(&j, list.data, list.len, '['));
		require(jsonin_next(&j, NULL, &v) && v.len == json.len);
		require(!jsonin_next(&j, NULL, &v) && !j.failed);
	}
	buf_fini(&json);
	buf_fini(&list);
	return 0;
}
