"""Quick ways through the most frequent instructions, for machines that do not override the methods they leave out.

They remember by the id of a type that reading an attribute runs no Python code. Should the type change, or its id come
to belong to another type, its Python code is run natively instead of interpreted, which gives the same.
"""

from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodDescriptorType, MethodType, ModuleType

from ..attributes import NATIVE, _module_get, is_plain_property, read_verdict
from ..binding import bind
from ..borrowed import LOOKING, STANDARD
from ..code import OPTIMIZED, Plan
from ..frame import Frame, iterator_of
from ..generators import FINISHED, RUNNING, SUSPENDED, LoopEnd, frame_of
from ..hooks import Missing, hooked
from ..looking import LIVE_KINDS
from ..lookups import HEAP_TYPE, as_known, lookup, special, tells_own_class
from ..names import unbound
from ..natives import NATIVES, Native, zero_argument_super
from ..pyframes import part_with
from ..registry import VERSION, fused, instruction
from ..values import NULL
from .attributes import push_method
from .calls import give_back
from .generators import yield_operand
from .iteration import UNPACK_SEQUENCE

ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None), range))
CONTAINERS = frozenset((list, tuple, dict, str, bytes))
ITERATORS = frozenset(
    type(iter(each)) for each in ([], (), {}, {}.values(), {}.items(), set(), "", b"", range(0), range(1 << 70))
) | {enumerate}
_READ = ("get_attribute", "get_python_attribute", "missing_attribute", "get_module_attribute")
NATIVE_KINDS = frozenset((BuiltinFunctionType, MethodDescriptorType))
PLAIN = frozenset((type,))
SUPER = NATIVES[super]
allocate = object.__new__
_CALLED = ("call", "enter", "note", "call_native", "call_listed", "stand_in")


def read_natively(kind, name):
    """May an attribute of instances of ``kind`` simply be read with ``getattr``?"""
    return kind is not ModuleType and kind not in LIVE_KINDS and read_verdict(kind, name) is NATIVE


def _named(decoder, raw):
    """[name, id of a type whose instances it is read of natively, id of one that has it as property, (function of that
    property, version of the type, value of the version)]"""
    return [decoder.names[raw if VERSION < (3, 12) else raw >> 1], 0, 0, None]


@instruction("LOAD_ATTR", until=(3, 11), operand=_named, instead_of=_READ)
def quick_load_attr(frame, memory):
    stack = frame.stack
    obj = stack[-1]
    kind = type(obj)
    if memory[1] == id(kind):
        stack[-1] = getattr(obj, memory[0])
        return None
    if kind is ModuleType:
        space = obj.__dict__
        if memory[0] in space:
            stack[-1] = _module_get(obj, memory[0])
            return None
    elif memory[2] == id(kind) and memory[3][1].value == memory[3][2]:
        result = frame.machine.call(memory[3][0], [obj])
        if type(result) is Frame:
            stack.pop()
            return hooked(result, Missing(obj, memory[0]))
        stack[-1] = result
        return None
    elif read_natively(kind, memory[0]):
        memory[1] = id(kind)
    elif is_plain_property(kind, memory[0]):
        memory[2:4] = id(kind), (lookup(kind, memory[0]).fget, *as_known(kind))
    stack.pop()
    result = frame.machine.get_attribute(obj, memory[0])
    if type(result) is Frame:
        return result
    stack.append(result)


@instruction(
    "LOAD_METHOD", operand=lambda decoder, raw: [decoder.names[raw], 0, 0, None], instead_of=(*_READ, "get_method")
)
def quick_load_method(frame, memory):
    stack = frame.stack
    obj = stack[-1]
    kind = type(obj)
    if memory[1] == id(kind):
        found = getattr(obj, memory[0])
        if type(found) is MethodType:
            stack[-1] = found.__func__
            stack.append(found.__self__)
        elif VERSION < (3, 13):
            stack[-1] = NULL
            stack.append(found)
        else:
            stack[-1] = found
            stack.append(NULL)
        return None
    if memory[2] == id(kind):
        stack[-1] = memory[3]
        stack.append(obj)
        return None
    if not issubclass(kind, type) and read_natively(kind, memory[0]):
        found = lookup(kind, memory[0])
        if type(found) is FunctionType:
            memory[1] = id(kind)
        elif type(found) is MethodDescriptorType and not kind.__flags__ & HEAP_TYPE and not kind.__dictoffset__:
            memory[2:4] = id(kind), found
    return push_method(frame, memory[0])


def _flagged(decoder, raw):
    return [*_named(decoder, raw), raw & 1]


@instruction("LOAD_ATTR", since=(3, 12), operand=_flagged, instead_of=(*_READ, "get_method"))
def quick_load_attr_or_method(frame, memory):
    return quick_load_method(frame, memory) if memory[4] else quick_load_attr(frame, memory)


@fused("LOAD_FAST", "LOAD_ATTR", quick=True)
def load_and_read(frame, operand):
    """An attribute of a local variable: most often ``self``."""
    index, memory, offset = operand
    obj = frame.fast[index]
    if memory[1] == id(type(obj)) and (VERSION < (3, 12) or not memory[4]):
        frame.stack.append(getattr(obj, memory[0]))
        return None
    if obj is NULL:
        frame.machine.restored = offset
        raise unbound(frame.plan.names[index])
    frame.stack.append(obj)
    return frame.machine.table["LOAD_ATTR"](frame, memory)


@fused("LOAD_FAST", "LOAD_METHOD", quick=True)
def load_and_find(frame, operand):
    """A method of a local variable."""
    index, memory, offset = operand
    obj = frame.fast[index]
    if memory[1] == id(type(obj)):
        found = getattr(obj, memory[0])
        if type(found) is MethodType:
            frame.stack += found.__func__, found.__self__
        else:
            frame.stack += NULL, found
        return None
    if obj is NULL:
        frame.machine.restored = offset
        raise unbound(frame.plan.names[index])
    frame.stack.append(obj)
    return quick_load_method(frame, memory)


@instruction("STORE_ATTR", operand=lambda decoder, raw: [decoder.names[raw], 0], instead_of=("set_attribute",))
def quick_store_attr(frame, memory):
    stack = frame.stack
    obj = stack.pop()
    kind = type(obj)
    if memory[1] == id(kind):
        setattr(obj, memory[0], stack.pop())
        return None
    if special(kind, "__setattr__") is None and lookup(kind, memory[0]) is NULL and not issubclass(kind, type):
        memory[1] = id(kind)
    return frame.machine.set_attribute(obj, memory[0], stack.pop())


@instruction("BINARY_SUBSCR", instead_of=("get_item",))
def quick_subscript(frame, operand):
    stack = frame.stack
    key = stack.pop()
    obj = stack[-1]
    if type(obj) in CONTAINERS:
        stack[-1] = obj[key]
        return None
    stack.pop()
    result = frame.machine.get_item(obj, key)
    if type(result) is Frame:
        return result
    stack.append(result)


@instruction("STORE_SUBSCR", instead_of=("set_item",))
def quick_store_subscript(frame, operand):
    stack = frame.stack
    key = stack.pop()
    obj = stack.pop()
    kind = type(obj)
    if kind is list or kind is dict:
        obj[key] = stack.pop()
        return None
    return frame.machine.set_item(obj, key, stack.pop())


def _loop_operand(decoder, raw):
    jump = decoder.jump(*decoder.row)
    return (*jump, LoopEnd(*jump))


@instruction("CONTAINS_OP", instead_of=("contains",))
def quick_contains(frame, inverted):
    stack = frame.stack
    container = stack.pop()
    item = stack[-1]
    kind = type(container)
    plain = kind is str or (kind is tuple and len(container) < 9 and ATOMS.issuperset(map(type, container)))
    if type(item) in ATOMS and (plain or kind is dict or kind is set or kind is frozenset):
        answer = item in container
    else:
        answer = frame.machine.contains(item, container)
    stack[-1] = not answer if inverted else answer


@instruction("FOR_ITER", operand=_loop_operand, instead_of=("advance", "step", "put_back", "call"))
def quick_for_iter(frame, operand):
    """The same, without an exception for the end of native iterators."""
    stack = frame.stack
    iterator = stack[-1]
    kind = type(iterator)
    if kind is GeneratorType:
        inner = frame_of(iterator)
        if inner is not None and inner.state is not FINISHED:
            machine = frame.machine
            if inner.state is not SUSPENDED or frame.depth >= machine.limit:
                return machine.step(iterator, inner, None, operand[2])
            inner.machine, inner.back, inner.hook, inner.generator = machine, frame, operand[2], iterator
            inner.state, inner.depth = RUNNING, frame.depth + 1
            inner.stack.append(None)
            return inner
    elif kind not in ITERATORS:
        function = special(kind, "__next__")
        if function is not None:
            result = frame.machine.call(function, [iterator])
            if type(result) is Frame:
                return hooked(result, operand[2])
            stack.append(result)
            return None
    value = next(iterator, NULL)
    if value is NULL:
        stack.pop()
        frame.ticks += operand[1]
        frame.iterator.__setstate__(operand[0])
        return None
    stack.append(value)


@instruction("UNPACK_SEQUENCE", instead_of=("unpack",))
def quick_unpack(frame, count):
    stack = frame.stack
    source = stack[-1]
    if type(source) is tuple and len(source) == count:
        stack.pop()
        stack += source[::-1]
        return None
    return UNPACK_SEQUENCE(frame, count)


@instruction("CALL", operand=lambda decoder, raw: [raw, decoder.index, None, None, None, None], instead_of=_CALLED)
def quick_call(frame, memory):
    """A plain Python function gets its frame right here; native ones that can lead to no Python code are called.

    ``memory`` is [count of arguments, index of the instruction] and of the last call: the ledger, its key and its
    counter there, and the code of the function, if it was one that needs no more than positional arguments, or whether
    the native function has no lookaside.
    """
    stack = frame.stack
    base = len(stack) - memory[0]
    function = stack[base - 2]
    if function is NULL:  # until 3.12
        function, args = stack[base - 1], stack[base:]
    elif stack[base - 1] is NULL:  # from 3.13 on
        args = stack[base:]
    else:
        args = stack[base - 1 :]
    del stack[base - 2 :]
    machine = frame.machine
    kind = type(function)
    if kind is FunctionType:
        code = function.__code__
        if code is memory[5] and memory[2] is machine.ledger and len(args) == memory[3].argcount:
            plan = memory[3]
            memory[4][0] += 1
            if plan.blank:
                args += plan.blank
        else:
            plan = machine.plan(code)
            slots = None if function in machine.routes else prepared(machine, frame, memory, function, code, plan, args)
            if slots is None:
                return finish_call(frame, machine.call(function, args, None))
            args = slots
        new = allocate(Frame)
        new.machine, new.code, new.plan, new.function, new.fast = machine, code, plan, function, args
        new.globals = function.__globals__
        new.builtins = function.__builtins__
        new.back = frame
        new.depth = depth = frame.depth + 1
        new.stack = []
        new.iterator = iterator_of(plan.instructions)
        new.namespace = new.handling = new.hook = new.shown = new.state = None
        new.ticks = 0
        if depth > machine.limit:
            raise RecursionError("maximum recursion depth exceeded")
        return new
    if kind in NATIVE_KINDS and (frame.builtins is STANDARD or frame.plan.silent):
        if memory[3] is function and memory[2] is machine.ledger and (memory[5] or harmless(function, args)):
            memory[4][0] += 1
            stack.append(function(*args))
            return None
        if leads_nowhere(machine, function, args):
            listed = function in machine.routes
            remember(machine, frame, memory, function, "lookaside" if listed else "opaque")
            memory[5] = not listed
            stack.append(function(*args))
            return None
    elif function is type and len(args) == 1 and type not in machine.routes:
        count(machine, frame, memory, type, "opaque")
        stack.append(type(args[0]))
        return None
    elif function is super and not args and machine.routes.get(super) is SUPER:
        count(machine, frame, memory, super, "lookaside")
        stack.append(zero_argument_super(frame))
        return None
    return finish_call(frame, machine.call(function, args, None))


def finish_call(frame, result):
    """Push a value; enter a Frame."""
    if type(result) is Frame:
        return result
    frame.stack.append(result)
    return None


def prepared(machine, frame, memory, function, code, plan, args):
    """The locals for a call of a Python function that may be entered at once; None where it takes more than that."""
    if plan.own or not plan.flags & OPTIMIZED:
        return None
    slots = bind(function, plan, args, None)
    if slots is None:
        return None
    remember(machine, frame, memory, plan, "interpreted")
    memory[5] = code if plan.plain and memory[3] is plan else None
    return slots


def leads_nowhere(machine, function, args):
    """Is it certain that no Python code can run in a native call, and that it looks at no frames?"""
    route = machine.routes.get(function)
    if route is None:
        owner = function.__self__ if type(function) is BuiltinFunctionType else None
        if function.__name__ in LOOKING:
            return False
        return owner is None or type(owner) is ModuleType and owner.__name__ != "_abc"
    if type(route) is Native:
        return False
    return harmless(function, args)


def harmless(function, args):
    """Can none of the arguments of a native function lead to Python code?"""
    if function is len and len(args) == 1:
        return type(args[0]) in CONTAINERS
    if function is isinstance and len(args) == 2:
        obj, classes = args
        plain = type(classes) is type or (type(classes) is tuple and PLAIN.issuperset(map(type, classes)))
        return plain and tells_own_class(type(obj))
    return ATOMS.issuperset(map(type, args))


def count(machine, frame, memory, key, route):
    """Count a call in the ledger, by the counter that is kept from the last one if it was of the same callable."""
    if memory[3] is key and memory[2] is machine.ledger:
        memory[4][0] += 1
    else:
        remember(machine, frame, memory, key, route)


def remember(machine, frame, memory, key, route):
    """Count a call in the ledger, and keep its counter for further ones from the same place."""
    if frame.plan.silent or (key.__class__ is Plan and key.silent):
        machine.note(key, route)
        return
    memory[2], memory[3], memory[5] = machine.ledger, key, None
    memory[4] = counter = machine.ledger.counter(key, route, frame.plan, memory[1])
    counter[0] += 1


@instruction("YIELD_VALUE", operand=yield_operand, instead_of=("step",))
def quick_yield(frame, operand):
    passed, frame.delegating = operand
    back = frame.back
    back.stack.append(frame.stack.pop())
    frame.state = SUSPENDED
    frame.back = frame.hook = None
    frame.machine.stats.instructions += frame.ticks + passed
    frame.ticks = -passed
    frame.generator = None  # last, as the generator may die of it, and then closes this frame
    return back


@instruction("RETURN_VALUE", operand=lambda decoder, raw: decoder.passed, instead_of=("call",))
def quick_return(frame, passed):
    if frame.hook is None and frame.state is None:
        if frame.shown is not None:
            part_with(frame)
        else:
            frame.fast.reverse()
        frame.machine.stats.instructions += frame.ticks + passed
        back = frame.back
        back.stack.append(frame.stack.pop())
        return back
    return give_back(frame, frame.stack.pop(), passed)
