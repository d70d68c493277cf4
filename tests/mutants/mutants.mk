# make mutants: each small fault of the tables must make the test fail that its row names; see run.py. T=PATTERN: those rows.

mutants: all
	@tests/mutants/run.py -j $$(nproc) $(T)

.PHONY: mutants
