# Fuzz targets: tests/fuzz/fuzz_NAME.c with LLVMFuzzerTestOneInput, its corpus in tests/fuzz/corpus/NAME, and its
# words, if it has any, in tests/fuzz/NAME.dict.
#
#   make fuzz TIME=60 [T="amdlog rls"]     each target, or those, for so many seconds: clang's libFuzzer with ASan and UBSan;
#                                          new inputs go to build/fuzz/corpus, what fails to build/fuzz/NAME-*
# `make check` replays the corpora with the ordinary compiler (tests/fuzz/replay.sh).

FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_REPLAY := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/fuzz/%)
TIME        ?= 60

$(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LIB)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< tests/fuzz/replay.c $(LIB) $(LINK) $(LDFLAGS) $(LIBS)

check: $(FUZZ_REPLAY)

# The library is compiled once for all targets.
fuzz:
	@mkdir -p build/fuzz
	$(Q)$(MAKE) --no-print-directory CC=clang VARIANT=fuzz CFLAGS="$(FUZZ_CFLAGS)" build/fuzz/libgpq.a
	$(Q)for t in $(or $(T),$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)); do \
		mkdir -p build/fuzz/corpus/$$t && \
		clang $(CSTD) $(DEFINES) $(CPPFLAGS) $(PKG_CFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o build/fuzz/$$t tests/fuzz/fuzz_$$t.c \
			build/fuzz/libgpq.a $(LIBS) || exit 1; \
		dict=$$(ls $(CURDIR)/tests/fuzz/$$t.dict 2>/dev/null); \
		(cd build/fuzz && ./$$t $${dict:+-dict=$$dict} -max_total_time=$(TIME) -max_len=6000 -artifact_prefix=$$t- -print_final_stats=1 \
			corpus/$$t $(CURDIR)/tests/fuzz/corpus/$$t 2>$$t.log); status=$$?; \
		echo "fuzz $$t: status $$status, $$(sed -n 's/^stat::number_of_executed_units: *//p' build/fuzz/$$t.log) runs"; \
		[ $$status -eq 0 ] || { tail -40 build/fuzz/$$t.log; exit 1; }; \
	done
FUZZ_CFLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

.PHONY: fuzz
