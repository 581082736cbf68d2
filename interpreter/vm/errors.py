"""What goes wrong in the machine itself, as opposed to in the program it runs."""


class InterpreterError(Exception):
    """A fault of the interpreter, never of the user's program: names the user's line and instruction and what to
    try."""
