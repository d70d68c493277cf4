# gpq core where there is no process to take one of; the real thing is in tests/cli/holder-core.sh and tests/kernel/gpq.

$ gpq core
gpq: core: no process named; -p PID, or --container ID; gpq ps shows them
? 2
$ mkdir to; gpq core -p 999999999,999999998 to; ls to
gpq: core: pid 999999999: no such process; gpq queues lists those that own queues
gpq: core: pid 999999998: no such process; gpq queues lists those that own queues
$ gpq core -p 999999999,999999998 file
gpq: core: file: one file cannot have the cores of 2 processes; name a folder
? 2
$ gpq core -p 1 a b
gpq: core: b: only one name is expected; one FILE or DIR
? 2
$ gpq core -p 1 --light --full; gpq core -p 1 --max-hold 999us; gpq core -p 1 --max-hold 60001ms
gpq: core: --light and --full exclude each other; choose one
gpq: core: --max-hold: from 1ms to 1m; for example --max-hold 1s
gpq: core: --max-hold: from 1ms to 1m; for example --max-hold 1s
? 2
$ gpq core -p 999999999 --max-hold 1ms nowhere; gpq core -p 999999999 --max-hold 1m; gpq core -p 999999999 /nowhere/core
gpq: core: pid 999999999: no such process; gpq queues lists those that own queues
gpq: core: pid 999999999: no such process; gpq queues lists those that own queues
gpq: core: make /nowhere/core: No such file or directory
? 5
$ ls
to
