# Benchmarks (never part of make check) and the generators they and some tests use.

$(B)/gen-amdlog: tests/bench/gen-amdlog.c Makefile
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< $(LINK) $(LDFLAGS)

-include $(B)/gen-amdlog.d

check check-one coverage-run: $(B)/gen-amdlog

bench: bench-trace
bench-trace: gpq $(B)/gen-amdlog
	tests/bench/trace
.PHONY: bench-trace

$(B)/bench-dumps: tests/bench/bench-dumps.c $(LIB)
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(COMPILE) -o $@ $< $(LIB) $(LINK) $(LDFLAGS) $(LIBS)

bench: bench-queues
bench-queues: gpq $(B)/bench-dumps
	@tests/bench/queues $(B)/bench-dumps

bench: bench-hqd
bench-hqd: gpq $(B)/bench-dumps
	@tests/bench/hqd $(B)/bench-dumps
.PHONY: bench bench-queues bench-hqd
