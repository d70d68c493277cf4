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

# The library is compiled once for all targets; `make -j2 fuzz` runs two at a time.
FUZZ_CFLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_RUN    := $(patsubst %,fuzz-%,$(or $(T),$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)))
fuzz: $(FUZZ_RUN)
	@echo '$(words $(FUZZ_RUN)) passed, 0 failed'

fuzz-library:
	$(Q)$(MAKE) --no-print-directory CC=clang VARIANT=fuzz CFLAGS="$(FUZZ_CFLAGS)" build/fuzz/libgpq.a

$(FUZZ_RUN): fuzz-%: fuzz-library
	@mkdir -p build/fuzz/corpus/$*
	$(Q)clang $(CSTD) $(DEFINES) $(CPPFLAGS) $(PKG_CFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o build/fuzz/$* tests/fuzz/fuzz_$*.c \
		build/fuzz/libgpq.a $(LIBS)
	$(Q)dict=$$(ls $(CURDIR)/tests/fuzz/$*.dict 2>/dev/null); \
	(cd build/fuzz && ./$* $${dict:+-dict=$$dict} -max_total_time=$(TIME) -max_len=6000 -artifact_prefix=$*- -print_final_stats=1 \
		corpus/$* $(CURDIR)/tests/fuzz/corpus/$* 2>$*.log); status=$$?; \
	echo "fuzz $*: status $$status, $$(sed -n 's/^stat::number_of_executed_units: *//p' build/fuzz/$*.log) runs"; \
	[ $$status -eq 0 ] || { tail -40 build/fuzz/$*.log; exit 1; }

.PHONY: fuzz fuzz-library $(FUZZ_RUN)
