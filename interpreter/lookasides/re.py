"""re: replacements that are functions."""
from __future__ import annotations

import re

from interpreter.lookasides.hooks import native
from interpreter.lookasides.registry import lookaside
from interpreter.vm.reentry import reenter


def replaces_by_calling(args, kwargs):
    """``needed`` of sub and subn."""
    return not issubclass(type(args[1]), (str, bytes)) and not native(args[1])


@lookaside(re.Pattern.sub, needed=replaces_by_calling)
def sub_(self, repl, string, count=0):
    """The string with each match replaced by what the function makes of it."""
    return re.Pattern.sub(self, reenter(repl), string, count)


@lookaside(re.Pattern.subn, needed=replaces_by_calling)
def subn_(self, repl, string, count=0):
    """The same, with the number of replacements."""
    return re.Pattern.subn(self, reenter(repl), string, count)
