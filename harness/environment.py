"""Where a run took place: machine, load, versions, the commit of each room. It decides whether runs compare."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("interpreter", "models", "harness", "results")
PACKAGES = ("torch", "litgpt", "lightning-thunder", "transformers", "numpy", "triton")

#: Processes that want a core, per core, above which the machine is called busy.
BUSY = 0.5


def environment(device: str = "cpu") -> dict:
    """All that is known about this machine and checkout, as a dict that JSON can hold."""
    return {
        "machine": machine(),
        "load": load(),
        "device": gpu(int(device.partition(":")[2] or 0)) if device.startswith("cuda") else {},
        "python": platform.python_version(),
        "packages": packages(),
        "git": git(),
        "command": sys.argv[1:],
    }


def machine() -> dict:
    """What does not change from one run to the next on the same machine."""
    return {"system": platform.system(), "release": platform.release(), "cpu": cpu_model(),
            "architecture": platform.machine(), "cores": os.cpu_count(), "usable_cores": usable_cores(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "governor": governor()}


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.lower().startswith(("model name", "hardware")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def governor() -> str | None:
    """The frequency governor of the first core, where it can be read."""
    with contextlib.suppress(OSError):
        return Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").read_text().strip()
    return None


def load() -> dict:
    """How busy the machine is before this run adds to it: processes that want a core, over the last minute."""
    average = os.getloadavg()[0]
    return {"average": round(average, 2), "per_core": round(average / usable_cores(), 2),
            "busy": average / usable_cores() > BUSY}


def packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def git(root: Path = ROOT) -> dict:
    """The commit, and whether each room has changes that no commit holds. Empty outside of a repository."""
    def ask(*args):
        command = ["git", "-C", str(root), *args]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        commit = ask("rev-parse", "HEAD")
        rooms = {}
        for room in ROOMS:
            tree = subprocess.run(["git", "-C", str(root), "rev-parse", f"HEAD:{room}"], capture_output=True, text=True,
                                  check=False)
            rooms[room] = {"tree": tree.stdout.strip() if tree.returncode == 0 else None,
                           "dirty": bool(ask("status", "--porcelain", "--", room))}
        return {"commit": commit, "subject": ask("log", "-1", "--format=%s"), "rooms": rooms}
    except (OSError, subprocess.CalledProcessError):
        return {}


def gpu(index: int) -> dict:
    """A CUDA device by NVML: name, driver, clocks (MHz), memory, and other processes on it. Empty where NVML is not."""
    try:
        import pynvml
        pynvml.nvmlInit()
    except Exception:
        return {}
    try:
        handle = visible(pynvml, index)
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        return {
            "name": as_text(pynvml.nvmlDeviceGetName(handle)),
            "driver": as_text(pynvml.nvmlSystemGetDriverVersion()),
            "clock_sm": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
            "clock_memory": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
            "memory_bytes": pynvml.nvmlDeviceGetMemoryInfo(handle).total,
            "other_processes": len([p for p in processes if p.pid != os.getpid()]),
        }
    except pynvml.NVMLError as error:
        return {"error": str(error)}
    finally:
        pynvml.nvmlShutdown()


def visible(pynvml, index: int):
    """NVML's handle of what CUDA numbers `index`: CUDA_VISIBLE_DEVICES chooses by number or by UUID, NVML sees all."""
    chosen = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    name = chosen[index] if index < len(chosen) else str(index)
    if name.isdigit():
        return pynvml.nvmlDeviceGetHandleByIndex(int(name))
    return pynvml.nvmlDeviceGetHandleByUUID(name)


def as_text(value) -> str:
    return value.decode() if isinstance(value, bytes) else value


def cuda_devices() -> list[str]:
    """Names of the CUDA devices, asked in a forked child: once CUDA is touched in a process, its forks can't use it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        names = []
        with contextlib.suppress(BaseException):
            import torch
            if torch.cuda.is_available():
                names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        with contextlib.suppress(BaseException):
            os.write(writing, json.dumps(names).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    return json.loads(data) if data else []


def incomparable(base: dict, head: dict) -> list[str]:
    """Why times of two runs can't be held against each other: what differs in machine, device or versions."""
    reasons = []
    for what in ("cpu", "cores", "usable_cores", "architecture", "governor"):
        a, b = base.get("machine", {}).get(what), head.get("machine", {}).get(what)
        if a != b:
            reasons.append(f"{what}: {a} and {b}")
    if base.get("device", {}).get("name") != head.get("device", {}).get("name"):
        reasons.append(f"device: {base.get('device', {}).get('name')} and {head.get('device', {}).get('name')}")
    if base.get("python") != head.get("python"):
        reasons.append(f"python: {base.get('python')} and {head.get('python')}")
    a, b = base.get("packages", {}), head.get("packages", {})
    reasons += [f"{name}: {a.get(name)} and {b.get(name)}" for name in sorted({*a, *b}) if a.get(name) != b.get(name)]
    return reasons
