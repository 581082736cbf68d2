"""What ends a command early, with the exit status that it ends with."""


class UsageError(Exception):
    """The command was wrong: one clear line that names what was wrong and what would be right. Exit status 2."""

    status = 2


class StoreError(Exception):
    """The run's folder can't take another row (a full disk, a vanished folder). The rows so far are readable."""

    status = 1


class Interrupted(Exception):
    """A signal asked for the end: `number`. Exit status 128 and that number."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number
        self.status = 128 + number


def nearest(word, known, *, count=3):
    """The known words most like `word`, best first, as a text for an error message: " (nearest: a, b)" or ""."""
    import difflib
    folded = {k.lower(): k for k in known}
    close = difflib.get_close_matches(word.lower(), folded, n=count, cutoff=0.6)
    if not close:
        close = [k for k in folded if word.lower() in k][:count]
    return f" (nearest: {', '.join(folded[c] for c in close)})" if close else ""
