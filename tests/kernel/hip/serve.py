"""An online server of a real HIP runtime: serve.py CODE REQUESTS. Each request is 20 launches on four streams within gpq.online();
the queues are empty and all signals have completed when hipDeviceSynchronize() returns. Prints `requests N launches N held N missed N`, where
held counts requests that began with the offline queues off; then waits for standard input to end."""
import ctypes
import os
import sys
import time

import gpq

hip = ctypes.CDLL(os.environ["HIPLIB"])


def call(name, *arguments):
    error = getattr(hip, name)(*arguments)
    if error:
        sys.exit(f"{name}: {error}")


def main():
    code = open(sys.argv[1], "rb").read()
    module, kernel, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("hipInit", 0)
    call("hipSetDevice", 0)
    call("hipMalloc", ctypes.byref(memory), ctypes.c_size_t(4096))
    call("hipModuleLoadData", ctypes.byref(module), code)
    call("hipModuleGetFunction", ctypes.byref(kernel), module, b"k")
    streams = [ctypes.c_void_p() for _ in range(4)]
    for stream in streams:
        call("hipStreamCreateWithFlags", ctypes.byref(stream), 1)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
    held = missed = launches = 0
    for _ in range(int(sys.argv[2])):
        with gpq.online(timeout=10) as result:
            held += result == 0
            missed = max(missed, result)
            for i in range(20):
                call("hipModuleLaunchKernel", kernel, 1, 1, 1, 64, 1, 1, 0, streams[i % 4], arguments, None)
                launches += 1
            call("hipDeviceSynchronize")
        time.sleep(0.05)
    print("requests", sys.argv[2], "launches", launches, "held", held, "missed", missed, flush=True)
    sys.stdin.read()


main()
