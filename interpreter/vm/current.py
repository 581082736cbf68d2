"""The machine that is running in this thread."""

import threading


class Current(threading.local):
    """Per thread: the innermost machine at work, or None."""

    machine = None


current = Current()
