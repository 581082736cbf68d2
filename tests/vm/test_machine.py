"""The machine by itself: counting, memory, threads, errors, the way in and out."""

import gc
import sys
import threading
import tracemalloc
import weakref

import pytest

from interpreter.interpret import interpret
from interpreter.vm import InterpreterError, Machine, registry
from interpreter.vm.code import Plan


def looped(count):
    """Calls, attributes, generators, exceptions in a loop."""

    class A:
        def __init__(self, n):
            self.n = n

        def get(self):
            return self.n

    def numbers(n):
        yield n
        yield n + 1

    total = 0
    for n in range(count):
        total += A(n).get() + sum([*numbers(n)])
        try:
            {}[n]
        except KeyError as error:
            total += len(error.args)
    return total


def test_instructions_are_counted_exactly():
    """As many as CPython's own monitoring counts, where that exists; the same in each run everywhere."""

    def program():
        return [n * n for n in range(10) if n % 2]

    def executed():
        run = interpret(program)
        run()
        return run.stats.instructions

    first = executed()
    assert first == executed()
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or sys.version_info >= (3, 13):
        return
    seen, events = [], monitoring.events
    monitoring.use_tool_id(4, "count")
    try:
        monitoring.register_callback(4, events.INSTRUCTION, lambda code, offset: seen.append(offset))
        monitoring.set_local_events(4, program.__code__, events.INSTRUCTION)
        program()
    finally:
        monitoring.set_local_events(4, program.__code__, 0)
        monitoring.free_tool_id(4)
    assert abs(len(seen) - first) <= 3


def test_nothing_accumulates():
    run = interpret(looped)
    run(200)

    def kept(count):
        gc.collect()
        tracemalloc.start()
        try:
            run(10)
            before = tracemalloc.get_traced_memory()[0]
            run(count)
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()

    assert kept(3000) < 20_000


def test_objects_do_not_grow_with_calls():
    run = interpret(looped)
    run(50)
    gc.collect()
    before = len(gc.get_objects())
    run(2000)
    gc.collect()
    assert len(gc.get_objects()) - before < 200


@pytest.mark.parametrize("calls", [50_000, pytest.param(500_000, marks=pytest.mark.long)])
def test_many_calls_leave_nothing(calls):
    """Two rounds: a million calls in the long run."""

    def program(count):
        def called(n):
            return n

        for n in range(count):
            called(n)

    run, kept = interpret(program), []
    for _ in range(2):
        run(calls)
        gc.collect()
        kept.append(len(gc.get_objects()))
    assert kept[1] - kept[0] < 50
    assert sum(row["calls"] for row in run.ledger.rows() if row["callable"].endswith("called")) == 2 * calls


def test_code_made_again_and_again_is_forgotten():
    def program():
        for n in range(50):
            exec(f"def made_again(): return {n}\nmade_again()", {})

    run, rounds = interpret(program), 40
    for _ in range(rounds):
        run()
    gc.collect()
    assert len(run.ledger.calls) <= 1000
    run.ledger.fold()
    gc.collect()
    assert sum(type(o) is Plan and o.name == "made_again" for o in gc.get_objects()) <= 2
    assert sum(row["calls"] for row in run.ledger.rows() if row["callable"] == "made_again") == 50 * rounds


def test_classes_of_the_program_are_forgotten():
    def program():
        class Thing(list):
            pass

        class Callable:
            __call__ = staticmethod(len)

        Thing([1])
        Callable()("abc")
        return [weakref.ref(Thing), weakref.ref(Callable)]

    run = interpret(program)
    made = run()
    gc.collect()
    assert [each() for each in made] == [None, None]
    assert any(row["callable"].endswith("program.<locals>.Thing") for row in run.ledger.rows())


def test_threads_interpret_at_once():
    results, errors = {}, []

    def work(number):
        try:
            results[number] = interpret(looped)(300 + number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert results == {n: looped(300 + n) for n in range(4)}


def test_threads_started_by_the_program():
    def program():
        found = []
        threads = [threading.Thread(target=lambda n=n: found.append(n * n)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found)

    assert interpret(program)() == program()


def test_a_generator_outlives_its_run():
    def make():
        def numbers():
            received = []
            while len(received) < 2:
                received.append((yield len(received)))
            return received

        it = numbers()
        next(it)
        return it

    it = interpret(make)()
    assert it.send("a") == 1
    with pytest.raises(StopIteration) as stop:
        it.send("b")
    assert stop.value.value == ["a", "b"]


def test_interpreted_inside_interpreted():
    def inner(n):
        return n + 1

    def outer():
        return interpret(inner)(1)

    assert interpret(outer)() == 2


def test_limits_are_restored():
    def program():
        def down(n):
            return down(n + 1)

        down(0)

    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        interpret(program)()
    assert sys.getrecursionlimit() == limit


def test_unknown_instruction_is_an_interpreter_error():
    class Lacking(Machine):
        handlers = {name: handler for name, handler in Machine.handlers.items() if name != "BINARY_OP"}

    def program(a):
        return a + 1

    with pytest.raises(InterpreterError, match=r"test_machine\.py:\d+: the instruction BINARY_OP"):
        Lacking().run(program, (1,))


def test_interpret_wants_a_callable():
    with pytest.raises(TypeError, match="needs a callable, not int"):
        interpret(5)


def test_the_ledger_knows_routes_and_lines():
    def helper(x):
        return x

    def program():
        helper(1)
        return "abc".upper()

    run = interpret(program)
    run()
    rows = {row["callable"].rpartition(".")[2]: row for row in run.ledger.rows()}
    line = program.__code__.co_firstlineno
    assert rows["helper"]["route"] == "interpreted"
    assert rows["helper"]["where"] == f"{__file__}:{line + 1}"
    assert rows["upper"]["route"] == "opaque"
    assert rows["upper"]["calls"] == 1


def test_importing_the_machine_does_not_import_torch():
    import subprocess

    text = (
        "import sys, interpreter, interpreter.vm; from interpreter import interpret; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_every_instruction_of_this_python_has_a_handler():
    import opcode

    silent = {"CACHE", "EXTENDED_ARG", "RESUME", "NOP", "PRECALL", "KW_NAMES", "INTERPRETER_EXIT", "RESERVED"}
    specialised = set(getattr(opcode, "_specialized_instructions", ())) | set(getattr(opcode, "_specialized_opmap", ()))
    pseudo = {name for name, number in opcode.opmap.items() if number > 255}
    wanted = {name for name in opcode.opmap if not name.startswith("INSTRUMENTED_")} - silent - specialised - pseudo
    missing = wanted - set(registry.HANDLERS)
    assert missing <= {"EXIT_INIT_CHECK", "ENTER_EXECUTOR", "DO_TRACING"}
