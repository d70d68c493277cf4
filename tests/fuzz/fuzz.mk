# Fuzz targets: tests/fuzz/fuzz_NAME.c with LLVMFuzzerTestOneInput, its corpus in tests/fuzz/corpus/NAME.
#
#   make fuzz T=amdlog SECONDS=60     clang's libFuzzer with ASan and UBSan; new inputs go to build/fuzz/corpus
# `make check` replays the corpora with the ordinary compiler (tests/fuzz/replay.sh).

FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_REPLAY := $(FUZZ_SRC:tests/fuzz/fuzz_%.c=$(B)/fuzz/%)
SECONDS     ?= 60

$(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LIB)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< tests/fuzz/replay.c $(LIB) $(LDFLAGS) $(LIBS)

check: $(FUZZ_REPLAY)

fuzz:
	@mkdir -p build/fuzz/corpus/$(T)
	clang $(CSTD) $(CPPFLAGS) $(PKG_CFLAGS) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o build/fuzz/$(T) tests/fuzz/fuzz_$(T).c $(LSRC) $(LIBS)
	cd build/fuzz && ./$(T) -max_total_time=$(SECONDS) -max_len=6000 corpus/$(T) $(wildcard $(CURDIR)/tests/fuzz/corpus/$(T))

.PHONY: fuzz
