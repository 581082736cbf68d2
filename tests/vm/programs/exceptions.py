"""Raising, handling, cleaning up: contexts, causes, groups, tracebacks."""

import sys


def context_and_cause():
    try:
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError:
        raise TypeError("third")


def suppressed_context():
    try:
        1 / 0
    except ZeroDivisionError:
        raise ValueError from None


def nested_functions():
    def outer():
        try:
            inner()
        finally:
            print("cleaned")

    def inner():
        raise LookupError("deep")

    outer()


def reraise():
    try:
        try:
            raise KeyError(1)
        except KeyError:
            raise
    except LookupError as error:
        error.add_note("a note")
        raise


def finally_and_return():
    def f(kind):
        for n in range(3):
            try:
                if kind == "return":
                    return n
                if kind == "raise":
                    raise ValueError(n)
                if kind == "break":
                    break
                if kind == "continue":
                    continue
            except ValueError:
                return "caught"
            finally:
                print("finally", kind, n)
        else:
            return "else"
        return "end"

    return [f(kind) for kind in ("return", "raise", "break", "continue", "none")]


def return_overrides_exception():
    def f():
        try:
            raise ValueError
        finally:
            return 1

    return f()


def what_is_handled():
    def current():
        return type(sys.exc_info()[1]).__name__, type(sys.exception()).__name__ if hasattr(sys, "exception") else ""

    log = [sys.exc_info()[0]]
    try:
        raise KeyError
    except KeyError:
        log.append(current()[0])
        try:
            raise ValueError
        except ValueError:
            log.append(current()[0])
        log.append(current()[0])
    return [*log, sys.exc_info()[0]]


def name_is_deleted():
    try:
        raise ValueError
    except ValueError as error:
        pass
    return error


def no_active_exception():
    raise


def raise_no_exception():
    raise 5


def cause_no_exception():
    raise ValueError from 5


def catch_no_class():
    try:
        raise ValueError
    except "text":
        pass


def groups():
    log = []
    try:
        raise ExceptionGroup("many", [ValueError(1), TypeError(2), ExceptionGroup("inner", [KeyError(3), OSError(4)])])
    except* (ValueError, KeyError) as group:
        log.append(group)
    except* TypeError as group:
        log.append(group)
        raise SyntaxError("new")
    finally:
        print(log)


def naked_exception_in_group():
    try:
        raise ValueError(1)
    except* ValueError as group:
        found = group
    return found


def unmatched_group():
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* KeyError:
        pass


def exception_in_native_callback():
    def key(item):
        if item == 3:
            raise ValueError(item)
        return -item

    return sorted([1, 2, 3], key=key)


def exception_through_native_code():
    class Bad:
        def __repr__(self):
            raise RuntimeError("no repr")

    return repr([Bad()])


def assertions():
    assert 1 + 1 == 2
    assert [] == [1], "lists differ"


def attributes_of_errors():
    try:
        object().missing
    except AttributeError as error:
        found = [error.name, type(error.obj).__name__]
    try:
        undefined_name
    except NameError as error:
        return [*found, error.name]


def traceback_lines():
    import traceback

    def f(n):
        if n:
            f(n - 1)
        else:
            raise ValueError("bottom")

    try:
        f(3)
    except ValueError as error:
        return [(entry.name, entry.line) for entry in traceback.extract_tb(error.__traceback__)]


def error_in_class_body():
    class A:
        x = 1
        y = x / 0


def error_in_comprehension():
    return [1 / n for n in (1, 0)]


def error_in_generator():
    def numbers():
        yield 1
        raise ValueError("inside")

    return list(numbers())
