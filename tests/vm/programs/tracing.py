"""``sys.settrace`` and ``sys.setprofile`` of the program."""

import sys


def _events(action, *args, opcodes=False):
    """What a trace function sees of this file's functions while an action runs."""
    seen = []

    def shown(value):
        if isinstance(value, tuple) and len(value) == 3:
            return value[0].__name__, str(value[1]), value[2] and value[2].tb_lineno
        return type(value).__name__ if callable(value) else repr(value)

    def trace(frame, event, arg):
        code = frame.f_code
        if code.co_filename != __file__:
            return None
        back = frame.f_back.f_code.co_name if event == "call" else ""
        line = frame.f_lineno - code.co_firstlineno
        seen.append((event, code.co_name, line, shown(arg), back, sorted(frame.f_locals)))
        frame.f_trace_opcodes = opcodes
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action(*args)
    except Exception as error:
        seen.append(repr(error))
    finally:
        sys.settrace(before)
    return [each for each in seen if each[1] != "_events"], sys.gettrace() is before


def lines():
    def straight(x):
        y = x + 1
        if y > 1:
            z = 2
        else:
            z = 3
        pass
        return (
            y,
            z,
        )

    def loops(n):
        total = 0
        for i in range(n):
            total += i
        while n:
            n -= 1
        for i in range(2): total += i
        return [i for i in range(2)]

    def called():
        straight(0)
        return (lambda: 1)()

    return _events(straight, 1), _events(straight, -1), _events(loops, 3), _events(called)


def exceptions():
    def fails():
        return 1 // 0

    def handles():
        try:
            fails()
        except ZeroDivisionError as error:
            x = str(error)
        else:
            x = 0
        finally:
            y = 1
        return x, y

    def passes():
        with open("/nowhere/at/all"):
            pass

    def raises():
        try:
            raise ValueError(1)
        finally:
            x = 2

    return _events(fails), _events(handles), _events(passes), _events(raises)


def generators():
    def numbers():
        received = yield 1
        try:
            yield received
        except KeyError:
            yield 3
        return 4

    def drives():
        generator = numbers()
        found = [next(generator), generator.send(2), generator.throw(KeyError(1))]
        try:
            next(generator)
        except StopIteration as stop:
            found.append(stop.value)
        for x in numbers():
            found.append(x)
        return found

    def delegates():
        yield from numbers()

    async def nothing():
        return 1

    async def awaits():
        return await nothing()

    def steps():
        try:
            awaits().send(None)
        except StopIteration:
            pass

    return _events(drives), _events(lambda: list(delegates())), _events(steps)


def classes():
    def makes():
        class Thing:
            x = 1

            def __init__(self):
                self.y = 2

            @property
            def z(self):
                return self.y

            def __add__(self, other):
                return other

            def __len__(self):
                return 3

        thing = Thing()
        return thing.z, thing + 1, len(thing), sorted([3, 1], key=lambda n: -n)

    return _events(makes)


def trace_functions_that_end_or_raise():
    def program():
        x = 1
        y = 2
        return x + y

    seen = []

    def once(frame, event, arg):
        seen.append((event, frame.f_code.co_name))
        sys.settrace(None)

    def stops(frame, event, arg):
        seen.append((event, frame.f_code.co_name))
        if event == "line":
            raise KeyError(frame.f_lineno - frame.f_code.co_firstlineno)
        return stops

    def only_lines(frame, event, arg):
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        frame.f_trace_lines = False
        return only_lines

    def run(trace):
        sys.settrace(trace)
        try:
            return program()
        except KeyError as error:
            return repr(error), sys.gettrace()
        finally:
            sys.settrace(None)

    return [run(once), run(stops), run(only_lines)], seen


def frames_that_run_already():
    seen = []

    def trace(frame, event, arg):
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return trace

    def starts():
        sys._getframe().f_trace = trace
        sys._getframe(1).f_trace = trace
        sys.settrace(trace)
        x = 1
        return x

    def outer():
        x = starts()
        y = x
        sys.settrace(None)
        return y

    return outer(), seen


def profile():
    seen = []

    def tell(frame, event, arg):
        if frame.f_code.co_filename == __file__:
            name = arg.__qualname__ if event.startswith("c_") else repr(arg)
            seen.append((event, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, name))

    def inner(n):
        return abs(n) + len("abc") + [1, 2].index(2) + max([n, 2])

    def fails():
        try:
            int("x")
        except ValueError:
            pass
        "abc".index("z")

    def numbers():
        yield 1

    def program():
        inner(-1)
        [*numbers()]
        try:
            fails()
        except ValueError:
            pass

    sys.setprofile(tell)
    program()
    told = sys.getprofile() is tell
    sys.setprofile(None)
    return seen, told, sys.getprofile()


def of_two_programs_in_turn():
    """Traced and untraced in turn: the same call sites go one way and the other."""

    def callee(n):
        return n + 1

    def program():
        return callee(1) + sum(callee(n) for n in range(2))

    def call():
        return program()

    return [call(), _events(call), call(), _events(call), call()]


def begun_in_the_middle_of_a_line():
    """By a property that the line reads, long after it got hot: the rest of the line is no line of its own."""
    seen = []

    def trace(frame, event, arg):
        seen.append((frame.f_code.co_name, event, frame.f_lineno - frame.f_code.co_firstlineno))
        return trace

    class Switch:
        turn = 0

        @property
        def value(self):
            if self.turn == 20:
                sys._getframe(1).f_trace = trace
                sys.settrace(trace)
            elif self.turn == 22:
                sys.settrace(None)
            return 1

    def program(switch):
        total = 0
        for turn in range(30):
            switch.turn = turn
            total = total + 1 + switch.value + total
            part = total * 2 - turn
            total = part - switch.value if part > 9 else 0
        return total

    try:
        return program(Switch()), seen
    finally:
        sys.settrace(None)
