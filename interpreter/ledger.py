"""The ledger of routes: see interpreter.vm.ledger, where the machine keeps it."""

from .vm.ledger import Ledger, qualified_name

__all__ = ["Ledger", "qualified_name"]
