"""Bytecode instructions that CPython itself executes in a call: the yardstick for the interpreter's own count."""

from __future__ import annotations

import sys


def native_instructions(call) -> int:
    """Runs `call()` once, eagerly and slowly, and counts the instructions of all Python code it reaches in this thread.

    The count is exact and the same each time for the same path through the code. Caches and argument prefixes are not
    counted. Code that runs with tracing switched off (a debugger's own) is not seen.
    """
    return _by_monitoring(call) if hasattr(sys, "monitoring") else _by_tracing(call)


def _by_tracing(call):
    count = 0

    def local(frame, event, arg):
        nonlocal count
        if event == "opcode":
            count += 1
        return local

    def enter(frame, event, arg):
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return local

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def _by_monitoring(call):
    monitoring = sys.monitoring
    tool = next((i for i in range(6) if monitoring.get_tool(i) is None), None)
    if tool is None:
        return _by_tracing(call)
    count = 0

    def instruction(code, offset):
        nonlocal count
        count += 1

    monitoring.use_tool_id(tool, "zoobench")
    try:
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, instruction)
        monitoring.set_events(tool, monitoring.events.INSTRUCTION)
        call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return count
