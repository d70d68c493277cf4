# gpq events where there is nothing to watch; the real thing is in tests/kernel/gpq/events.sh.

$ gpq events --sysroot $HOSTS/gfx90a-k6.12
gpq: events: this acts on a running host, not on a recorded one; leave out --sysroot and GPQ_SYSROOT
? 2
$ gpq events --interval 1ms --sysroot $HOSTS/gfx90a-k6.12
gpq: events: --interval: the least is 10ms; for example --interval 100ms
? 2
$ gpq events --for x
gpq: events: --for: x is not a duration such as 50ms or 2s
? 2
$ gpq events 4711
gpq: events: 4711: no operand is expected; say -p 4711
? 2
$ gpq events --json-schema | jq -c '.anyOf[0].properties.events.items.properties | .time_ns, .page, .errno'
{"type":["integer","null"],"minimum":0,"description":"CLOCK_MONOTONIC [ns]"}
{"type":["string","null"],"pattern":"^0x[0-9a-f]+$","description":"address divided by the size of a page"}
{"type":["integer","null"],"description":"of a migration: 0, or negative errno"}
