"""Where a run took place, as far as the machine tells; the GPU is one of the test's own making."""

import sys
import types

import pytest

from harness import environment


@pytest.fixture
def nvml(monkeypatch):
    """Two devices, the second with a process of somebody else's."""
    class Absent(Exception):
        pass

    class Process:
        pid = 1

    devices = {0: ("first", []), 1: ("second", [Process]), "GPU-abc": ("second", [Process])}
    module = types.ModuleType("pynvml")
    module.NVMLError, module.NVML_CLOCK_SM, module.NVML_CLOCK_MEM = Absent, 1, 2
    module.nvmlInit = module.nvmlShutdown = lambda: None
    module.nvmlDeviceGetHandleByIndex = module.nvmlDeviceGetHandleByUUID = lambda name: devices[name]
    module.nvmlDeviceGetName = lambda handle: handle[0].encode()
    module.nvmlSystemGetDriverVersion = lambda: "1.2"
    module.nvmlDeviceGetClockInfo = lambda handle, clock: 1000 * clock
    module.nvmlDeviceGetMemoryInfo = lambda handle: types.SimpleNamespace(total=80)
    module.nvmlDeviceGetComputeRunningProcesses = lambda handle: handle[1]
    monkeypatch.setitem(sys.modules, "pynvml", module)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.parametrize(("device", "chosen", "name", "others"), [
    ("cuda:0", None, "first", 0), ("cuda:1", None, "second", 1), ("cuda:0", "1,0", "second", 1),
    ("cuda:1", "1, 0", "first", 0), ("cuda:0", "GPU-abc", "second", 1),
])
def test_the_device_is_the_one_that_cuda_means(nvml, monkeypatch, device, chosen, name, others):
    if chosen:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    found = environment.environment(device)["device"]
    assert (found["name"], found["other_processes"]) == (name, others)
    assert (found["clock_sm"], found["clock_memory"]) == (1000, 2000)


def test_a_machine_without_nvml_has_no_device(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert environment.gpu(0) == {}
    assert environment.environment("cpu")["device"] == {}


def test_a_busy_machine_is_said_to_be_busy(monkeypatch):
    cores = environment.usable_cores()
    for average, busy in ((0.1 * cores, False), (2.0 * cores, True)):
        monkeypatch.setattr("os.getloadavg", lambda average=average: (average, 0, 0))
        assert environment.load()["busy"] == busy


def test_each_room_has_its_commit_and_dirt():
    rooms = environment.git()["rooms"]
    assert set(rooms) == {"interpreter", "models", "harness", "results"}
    assert all(type(state["dirty"]) is bool for state in rooms.values())
