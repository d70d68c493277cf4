"""The engine of an LLM server with continuous batching, which tells gpq sched when it works. Each
line on standard input is a prompt, taken by a thread of a pool, as requests of a web server are.

    llm_engine.py [TIMEOUT [TOKENS]]    seconds that a burst waits for the offline queues at most:
                                        0.002; tokens of an answer: 32

    PYTHONPATH=$(pkg-config --variable=pythondir gpqclient) python3 llm_engine.py

A generation may last longer than a hint, for which gpq sched --lease is the limit (1 m by default):
the engine renews it with each step, which does not wait. One engine has one hint, however many threads hand
requests to it. With tensor parallelism each rank has an engine, and the GPUs of its queues.
"""

import concurrent.futures
import os
import queue
import sys
import threading

import gpq

TIMEOUT = float(sys.argv[1]) if len(sys.argv) > 1 else 0.002
TOKENS = int(sys.argv[2]) if len(sys.argv) > 2 else 32


class Request:
    def __init__(self, prompt):
        self.prompt, self.tokens = prompt, []
        self.answer = concurrent.futures.Future()


class Engine(threading.Thread):
    """Takes one step after the other for all requests that have come, and sleeps without any."""

    def __init__(self):
        super().__init__(daemon=True)
        self.arrived = queue.SimpleQueue()
        self.client = gpq.Client()
        self.said = 0

    def generate(self, prompt):
        """Called by any thread. Returns the answer."""
        request = Request(prompt)
        self.arrived.put(request)
        return request.answer.result()

    def hint(self, timeout):
        """Begins the hint, or renews it. Says how it went when that changes: once, not for each step."""
        result = self.client.begin(timeout=timeout)
        if result != self.said:
            self.said = result
            print(f"offline work runs on: {os.strerror(-result) if result < 0 else result}", file=sys.stderr)

    def run(self):
        batch = []
        while True:
            if not batch:
                batch = [self.arrived.get()]
                self.hint(TIMEOUT)
            while not self.arrived.empty():
                batch.append(self.arrived.get())
            self.step(batch)
            batch = [r for r in batch if not r.answer.done()]
            if batch:
                self.hint(0)
            else:
                self.client.end()

    def step(self, batch):
        """One token more for each request: launch kernels here, and wait for them."""
        for request in batch:
            request.tokens.append(request.prompt)
            if len(request.tokens) == TOKENS:
                request.answer.set_result(f"{len(request.tokens)} tokens for {request.prompt}")


engine = Engine()
engine.start()
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for answer in pool.map(engine.generate, [line.strip() for line in sys.stdin]):
        print(answer, flush=True)
