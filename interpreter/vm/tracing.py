"""``sys.settrace`` and ``sys.setprofile`` of the program: the events of its own frames, as CPython tells them.

Nothing is asked for while nobody traces. While somebody does, code gets another plan: its instructions one by one,
those left out of ordinary plans for doing nothing among them, each behind ``step``, which tells the events. Frames
entered from then on are traced, and of the running ones those whose ``f_trace`` the program has set, or all if it
profiles. While the program's trace function itself runs, nothing is traced.
"""

import functools
import opcode
from bisect import bisect_left
from types import BuiltinFunctionType, MethodDescriptorType
from typing import ClassVar

from .code import plan_for
from .frame import Frame, iterator_of
from .generators import LoopEnd
from .hooks import Hook, hooked
from .ledger import Ledger
from .looking import OPCODES
from .pyframes import frame_object, live_frame, user_traceback
from .registry import HANDLERS, VERSION, Plans
from .values import NULL

TOLD = {"NOP", "RESUME"}
RETURNING = {"RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE"}
CALLING = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}


class Step:
    """An instruction of a traced plan."""

    __slots__ = ("handler", "index", "label", "line", "operand")

    def __init__(self, handler, operand, index, label, line):
        self.handler, self.operand, self.index, self.label, self.line = handler, operand, index, label, line


class Progress:
    """Where a traced frame was when it was asked last: its line, and the index of the instruction."""

    __slots__ = ("index", "line")

    def __init__(self):
        self.line, self.index = None, -1


def nothing(frame, operand):
    """An instruction that is there for its line only."""


class TracedTable(dict):
    """Handlers of a traced plan: no two instructions in one, none that leaves out a method."""

    fused: ClassVar[dict] = {}
    keeps_parts = False
    told = TOLD

    def __init__(self):
        super().__init__({**HANDLERS, **dict.fromkeys(TOLD, nothing)})

    def finish(self, plan, decoder):
        """Put ``step`` before the instructions of a plan that has just been decoded, from its first RESUME on."""
        if plan.silent:
            return
        begun = False
        for index, (handler, operand) in enumerate(plan.instructions):
            offset = plan.offsets[index]
            label = opcode.opname[decoder.code.co_code[offset]]
            begun = begun or label == "RESUME"
            if begun:
                line = plan.line_at(decoder.code, offset)
                plan.instructions[index] = step, Step(handler, operand, index, label, line)


@functools.cache
def traced_plans():
    """The traced plans of all machines; made when they are first asked for, as all handlers are known by then."""
    return Plans(TracedTable())


def step(frame, entry):
    """Tell what is to be told before an instruction, and execute it."""
    tracing = frame.machine.tracing
    if tracing is None:
        return entry.handler(frame, entry.operand)
    label = entry.label
    if label == "RESUME":
        if hasattr(frame, "traced"):
            frame.traced.line = entry.line
        else:
            frame.traced = Progress()
        frame.traced.index = entry.index
        tracing.call(frame)
        return None
    if not hasattr(frame, "traced"):  # begun while nobody traced
        frame.traced = Progress()
    progress = frame.traced
    if tracing.tracer is not None and frame.shown is not None:
        tracing.line(frame, progress, entry)
    progress.line, progress.index = entry.line, entry.index
    if label in RETURNING:
        tracing.leave(frame, entry.operand[0] if label == "RETURN_CONST" else frame.stack[-1])
    elif label in CALLING and tracing.profiler is not None:
        function = called(frame.stack, entry)
        if function is not None:
            return tracing.call_native(frame, function, entry)
    return entry.handler(frame, entry.operand)


def called(stack, entry):
    """The native function that a call is about to call, as a profile function is told of it; None for others."""
    if entry.label == "CALL_FUNCTION_EX":
        above = 2 + (entry.operand & 1)
        function, first = (stack[-above], NULL) if VERSION < (3, 13) else (stack[-above - 1], NULL)
    else:
        count = entry.operand[0] if type(entry.operand) is tuple else entry.operand
        base = len(stack) - count - (entry.label == "CALL_KW")
        function, first = stack[base - 2], stack[base - 1]
        if function is NULL:
            function, first = first, stack[base] if count else NULL
        elif first is NULL and count:
            first = stack[base]
    if type(function) is BuiltinFunctionType:
        return function
    if type(function) is MethodDescriptorType and first is not NULL:
        return function.__get__(first, type(first))
    return None


class Tracing:
    """What one machine is told to tell. ``tracer`` and ``profiler`` are the program's functions, or None."""

    def __init__(self, machine):
        self.machine = machine
        self.tracer = self.profiler = None
        self.kept, self.ledger = machine.ledger, Ledger()  # another ledger: call sites do not know plans by it
        self.ledger.calls, self.ledger.counted = machine.ledger.calls, machine.ledger.counted
        self.resting = False

    def engage(self):
        """Trace from here on, or no longer, as is wanted now."""
        machine = self.machine
        if not self.resting and (self.tracer is not None or self.profiler is not None):
            machine.tracing, machine.plans, machine.ledger = self, traced_plans(), self.ledger
        else:
            machine.ledger = self.kept
            for name in ("tracing", "plans"):
                machine.__dict__.pop(name, None)

    def tell(self, function, *event):
        """Call one of the program's functions, untraced."""
        self.resting = True
        self.engage()
        try:
            return self.machine.invoke(function, *event)
        finally:
            self.resting = False
            self.engage()

    def trace(self, frame, event, arg):
        """Tell a trace function; what it returns is told of the frame from then on."""
        shown = live_frame(frame)
        function = self.tracer if event == "call" else shown.f_trace
        if function is None or self.tracer is None:
            return
        try:
            result = self.tell(function, shown, event, arg)
        except BaseException:
            self.tracer = shown.f_trace = None
            self.engage()
            raise
        if result is not None:
            shown.f_trace = result

    def profile(self, frame, event, arg):
        """Tell the profile function."""
        if self.profiler is None:
            return
        try:
            self.tell(self.profiler, live_frame(frame), event, arg)
        except BaseException:
            self.profiler = None
            self.engage()
            raise

    def call(self, frame):
        """A frame is entered, for the first time or again."""
        self.trace(frame, "call", None)
        self.profile(frame, "call", None)

    def line(self, frame, progress, entry):
        """An instruction follows: of another line than the last, or further up?"""
        shown = frame.shown
        if shown.f_trace is None:
            return
        if entry.line is not None and shown.f_trace_lines:
            back = entry.index < progress.index and entry.label != "SEND"
            if entry.line != progress.line or back:
                self.trace(frame, "line", None)
        if frame in OPCODES:
            self.trace(frame, "opcode", None)

    def leave(self, frame, value):
        """A frame is left, for good or at a ``yield``."""
        if frame.shown is not None:
            self.trace(frame, "return", value)
        self.profile(frame, "return", value)

    def raised(self, frame, error, here, left):
        """An exception is in a frame (``here``: it has just come there), and leaves it (``left``): the exception that
        goes on, which is another one if the program's function raises."""
        if not hasattr(frame, "traced"):
            return error
        try:
            if here and frame.shown is not None:
                self.trace(frame, "exception", (type(error), error, error.__traceback__))
            if left:
                self.leave(frame, None)
        except BaseException as caught:
            caught.__traceback__ = user_traceback(caught)
            return caught
        return error

    def stopped(self, frame, error):
        """What a frame goes through has ended by an exception, which the frame's instruction takes."""
        told = error.value is not None or error.__traceback__ is not None
        if told and frame.shown is not None and hasattr(frame, "traced"):
            self.trace(frame, "exception", (type(error), error, error.__traceback__))

    def call_native(self, frame, function, entry):
        """A call of a native function, with what is told before it and after."""
        self.profile(frame, "c_call", function)
        hook = NativeCall(self, frame, function)
        try:
            result = entry.handler(frame, entry.operand)
        except BaseException as error:
            hook.raised(frame, error)
            raise
        if type(result) is Frame and result is not frame:
            return hooked(result, hook)
        self.profile(frame, "c_return", function)
        return result

    def convert(self, frame):
        """Go on with the traced plan of a frame's code."""
        plans = traced_plans()
        plan = plans.get(id(frame.code)) or plan_for(frame.code, plans)
        if frame.plan is plan or plan.silent:
            return
        following = frame.plan.executed[frame.index + 1]
        frame.traced = Progress()
        place = bisect_left(plan.executed, following)
        frame.traced.line, frame.traced.index = frame.line, place - 1
        frame_object(frame)
        frame.plan, frame.iterator = plan, iterator_of(plan.instructions)
        frame.iterator.__setstate__(place)

    def convert_running(self, labels):
        """Do so with the running frames that are to be traced; the Frame to go on in, where that is needed.

        ``labels`` are the instructions in which the topmost one may be, to be gone on with at once. A frame right below
        a Root is in the middle of an instruction, and one whose callee will come back by a hook that knows a place in
        the plan has to keep it: these stay as they are.
        """
        if self.tracer is None and self.profiler is None:
            return None
        top = frame = self.machine.frame
        free = at_top = type(top) is Frame and opcode.opname[top.code.co_code[top.offset]] in labels
        while frame is not None:
            if type(frame) is Frame:
                asked = frame.shown is not None and frame.shown.f_trace is not None
                if free and not frame.plan.silent and (asked or self.profiler is not None):
                    self.convert(frame)
                free = not points_into_plan(frame.hook)
            else:
                free = False
            frame = frame.back
        return top if at_top and hasattr(top, "traced") else None


class NativeCall(Hook):
    """A native call that a lookaside makes in frames."""

    __slots__ = ("frame", "function", "tracing")

    def __init__(self, tracing, frame, function):
        self.tracing, self.frame, self.function = tracing, frame, function

    def returned(self, back, value):
        self.tracing.profile(self.frame, "c_return", self.function)
        return value

    def raised(self, back, error):
        self.tracing.profile(self.frame, "c_exception", self.function)
        return NULL


def points_into_plan(hook):
    """Does a hook hold a place in the caller's plan, where to go on?"""
    return hook is not None and (type(hook) is LoopEnd or hasattr(hook, "operand") or hasattr(hook, "second"))


def tracing_of(machine):
    """The machine's tracing, made when it is first asked for."""
    found = machine.traces
    if found is None:
        found = machine.traces = Tracing(machine)
    return found


def begin(machine, name, function):
    """Set ``tracer`` or ``profiler``: what ``sys.settrace`` and ``sys.setprofile`` do."""
    tracing = tracing_of(machine)
    setattr(tracing, name, function)
    tracing.engage()
    if machine.tracing is None:
        return None
    frame = tracing.convert_running(CALLING)
    if frame is None:
        return None
    frame.stack.append(None)
    return frame
