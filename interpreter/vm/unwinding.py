"""Exceptions: from the instruction that raises to the handler, or out of the frame; and what is being handled."""

from .frame import Frame, Root
from .pyframes import frame_object, interpreted_before, link_back, part_with, traceback_entry, user_traceback
from .registry import VERSION
from .superblocks import FILENAME, placed
from .values import NULL


class Unwinding:
    """The part of the machine that deals with exceptions."""

    restored = None
    """Offset of the instruction that raises, where that is not the one that is executed: the first of two fused ones,
    or the one whose exception is raised again at the end of a ``finally``."""
    passed = None
    """id of the exception that a nested run let out last: its context is settled already."""

    def raised(self, frame, error):
        """A handler raised ``error``, or let it through from native code: find where to go on."""
        raw = error.__traceback__
        if raw is not None and raw.tb_next is not None and raw.tb_next.tb_frame.f_code.co_filename == FILENAME:
            placed(frame, raw.tb_next)
        error.__traceback__ = user_traceback(error)
        handled = self.handled(frame)
        if handled is not None:
            passed, self.passed = self.passed, None
            if passed != id(error) or not interpreted_before(error.__traceback__):
                chain_context(error, handled)
        if raw is not None and raw is error.__traceback__:
            # Made by the host only when it was caught (3.11 instantiates late): it has not come through this line.
            link_back(raw.tb_frame, frame_object(frame))
            return self.unwind(frame, error, traced=False)
        return self.unwind(frame, error)

    def throw(self, frame, error):
        """Raise ``error`` in ``frame``, as the statement ``raise`` does: what is handled now becomes its context."""
        if error.__traceback__ is not None:
            error.__traceback__ = user_traceback(error)
        handled = self.handled(frame)
        if handled is not None and handled is not error:
            set_context(error, handled)
        return self.unwind(frame, error)

    def unwind(self, frame, error, traced=True):
        """The frame to go on in after ``error`` has reached ``frame``; ``traced`` adds its line to the traceback."""
        while True:
            if type(frame) is Root:
                frame.error = error
                self.frame = frame
                return frame
            self.frame = frame
            plan, index = frame.plan, frame.index
            found = plan.handler_for(plan.offsets[index]) if index >= 0 else None
            if traced:
                traceback_entry(error, frame, found is None)
            if self.tracing is not None:
                restored = self.restored
                error = self.tracing.raised(frame, error, traced, found is None)
                self.restored = restored
            if found is None and frame.shown is not None:
                part_with(frame)
            offset, self.restored = frame.offset if self.restored is not None else None, None
            if found is not None:
                target, depth, lasti = found
                stack = frame.stack
                del stack[depth:]
                if lasti:
                    stack.append(plan.offsets[index] if offset is None else offset)
                stack.append(error)
                frame.ticks += plan.executed[index + 1] - plan.executed[target]
                frame.iterator.__setstate__(target)
                return frame
            self.stats.instructions += frame.ticks + (plan.executed[index + 1] if index >= 0 else 0)
            error = self.leave(frame, error)
            hook, back = frame.hook, frame.back
            frame.back = frame.hook = None
            traced = True
            if hook is not None:
                self.frame = back
                try:
                    result = hook.raised(back, error)
                except BaseException as caught:
                    caught.__traceback__ = user_traceback(caught)
                    error, result = caught, NULL
                if result is not NULL:
                    return self.settle(back, result)
            frame = back

    def settle(self, back, result):
        """Go on with what a hook gave: a Frame is entered, a value is pushed."""
        if type(result) is Frame or type(result) is Root:
            return result
        back.stack.append(result)
        return back

    def leave(self, frame, error):
        """An exception leaves a frame for good: the exception that its caller sees."""
        if frame.state is None:
            return error
        frame.state = "finished"
        frame.stack.clear()
        frame.fast, frame.handling = [], None
        frame.generator = None
        kind = frame.plan.kind
        leaks = type(error) is StopIteration or issubclass(type(error), StopIteration)
        if VERSION < (3, 12) and (leaks or (kind == 0x200 and issubclass(type(error), StopAsyncIteration))):
            what = {0x20: "generator", 0x80: "coroutine", 0x200: "async generator"}[kind]
            name = "StopIteration" if leaks else "StopAsyncIteration"
            wrapped = RuntimeError(f"{what} raised {name}")
            wrapped.__cause__ = wrapped.__context__ = error
            wrapped.__traceback__ = None
            return wrapped
        return error

    def handled(self, frame):
        """The exception being handled where ``frame`` is: its own or that of the nearest caller which handles one."""
        while frame is not None:
            if frame.handling is not None:
                return frame.handling
            frame = frame.back
        return None


def set_context(error, handled):
    """Make ``handled`` the context of ``error``, breaking a circle that this would close."""
    link = handled
    slow, odd = handled, False
    while link is not None:
        following = link.__context__
        if following is error:
            link.__context__ = None
            break
        link = following
        odd = not odd
        if not odd:
            slow = slow.__context__
            if slow is link:
                break
    error.__context__ = handled


def chain_context(error, handled):
    """What native code raised gets ``handled`` as context, at the end of the chain which it has made itself."""
    if error is handled:
        return
    seen, link = set(), error
    while link.__context__ is not None:
        if link is handled or id(link) in seen:
            return
        seen.add(id(link))
        link = link.__context__
    if link is not handled and not reaches(handled, link):
        link.__context__ = handled


def reaches(error, wanted):
    """Is ``wanted`` in the chain of contexts of ``error``?"""
    seen = set()
    while error is not None and id(error) not in seen:
        if error is wanted:
            return True
        seen.add(id(error))
        error = error.__context__
    return False
