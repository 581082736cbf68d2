"""Peak memory of a call, of the process and of the device, and the bound on what a cell may take."""

from __future__ import annotations

import contextlib
import resource


def peak_bytes(call, device: str = "cpu") -> int | None:
    """Runs `call()` and says by how much memory rose above what was held before, at most, in bytes.

    On CUDA the caching allocator's exact figure. Elsewhere the process's resident set, in whole pages and only as far
    as memory was not already there to be used again: small calls show 0. None where the kernel does not tell.
    """
    if device.startswith("cuda"):
        import torch
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - held
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = status_bytes("VmRSS")
    except OSError:
        call()
        return None
    call()
    peak = status_bytes("VmHWM")
    return max(0, peak - before) if peak is not None and before is not None else None


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
