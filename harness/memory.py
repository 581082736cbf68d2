"""Peak memory of a call, of the process and of the device, and the bound on what a cell may take."""

from __future__ import annotations

import contextlib
import os
import resource


def peak_bytes(call, device: str = "cpu") -> int | None:
    """By how many bytes the memory of tensors rises above what was held before `call()`, at most.

    It is what torch's allocators count, exact and the same each time: the caching allocator's own figure on CUDA, the
    allocations and releases that the profiler notes on the CPU. There the call is made twice, since the profiler knows
    only of the release of what it saw being allocated, such as the last step's gradients. None where torch has no
    profiler.
    """
    if device.startswith("cuda"):
        import torch
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - held
    return [profiled(call), profiled(call)][1]


def profiled(call) -> int | None:
    """The peak of one call on the CPU."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    from torch.autograd.profiler import profile
    from torch.profiler import kineto_available
    if not kineto_available():
        call()
        return None
    with profile(profile_memory=True) as seen:
        call()
    events = [event for event in seen.kineto_results.events() if event.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


def status_bytes(key: str, pid: int | str = "self") -> int | None:
    """A figure of /proc/PID/status in bytes; None where there is none."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return None


def bound(limit: int, device: str = "cpu"):
    """From here on this process may allocate `limit` bytes more, and `limit` bytes on the device.

    A refused allocation is an error inside the process, with a traceback. Memory that this does not cover (shared
    mappings) is watched from outside by the runner.
    """
    if device.startswith("cuda"):
        import torch
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total), device)
        return
    held = status_bytes("VmData")
    if held is None:
        return
    most = held + limit
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
