"""The machine that is running in this thread."""

import threading


class Current(threading.local):
    """Per thread: the innermost machine at work, or None."""

    machine = None


current = Current()


def is_interpreting() -> bool:
    """Whether the calling code is run by the machine. Run natively, it is not; the machine answers for itself."""
    return False
