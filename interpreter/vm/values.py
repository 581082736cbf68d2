"""The two marks that stand for "nothing here" on the stack and in the slots of locals."""


class Null:
    """An empty slot: an unbound local, or the place that a call leaves free beside its callable."""

    __slots__ = ()

    def __repr__(self):
        return "NULL"


NULL = Null()
