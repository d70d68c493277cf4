"""A serving loop of asyncio that tells gpq sched when it works: each line on standard input is a
request, served by a task of its own.

    serving_loop.py [TIMEOUT]    seconds that a burst waits for the offline queues at most: 0.002;
                                 late is better than never

    PYTHONPATH=$(pkg-config --variable=pythondir gpqclient) python3 serving_loop.py
"""

import asyncio
import os
import sys

import gpq

TIMEOUT = float(sys.argv[1]) if len(sys.argv) > 1 else 0.002


def report(result, last=[0]):
    """Says how it went when that changes: once, not for each request."""
    if result != last[0]:
        last[0] = result
        print(f"offline work runs on: {os.strerror(-result) if result < 0 else result}", file=sys.stderr)


async def serve(request):
    # The first task that comes in waits for the offline queues, the last one that leaves lets them
    # run.
    async with gpq.online_async(TIMEOUT) as result:
        report(result)
        await asyncio.sleep(0)  # launch kernels and await them here
        print(f"served {request}", flush=True)


async def main():
    requests = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(requests), sys.stdin
    )
    tasks = set()
    async for line in requests:
        task = asyncio.create_task(serve(line.decode().strip()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)


asyncio.run(main())
