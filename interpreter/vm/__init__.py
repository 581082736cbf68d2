"""The Python virtual machine: code, frames, instructions, calls, generators, errors. Pure Python; imports no torch."""

from .current import current
from .errors import InterpreterError
from .frame import Frame, Root
from .ledger import Ledger
from .machine import Machine, Stats

__all__ = ["Frame", "InterpreterError", "Ledger", "Machine", "Root", "Stats", "current"]
