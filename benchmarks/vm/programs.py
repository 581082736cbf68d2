"""Pure-Python programs of four kinds, each a function of a size: what the machine's speed is measured on."""

from dataclasses import dataclass, field


def n_body(steps: int) -> float:
    """Five bodies that attract each other, floats in lists; the energy at the end."""
    bodies = [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47),
        ([4.84, -1.16, -0.10], [0.60, 2.81, -0.02], 0.037),
        ([8.34, 4.12, -0.40], [-1.01, 1.82, 0.008], 0.011),
        ([12.89, -15.11, -0.22], [1.08, 0.86, -0.01], 0.0017),
        ([15.37, -25.91, 0.17], [0.97, 0.59, -0.03], 0.002),
    ]
    pairs = [(bodies[i], bodies[j]) for i in range(len(bodies)) for j in range(i + 1, len(bodies))]
    for _ in range(steps):
        for (place, speed, mass), (other_place, other_speed, other_mass) in pairs:
            x, y, z = place[0] - other_place[0], place[1] - other_place[1], place[2] - other_place[2]
            pull = 0.01 / ((x * x + y * y + z * z) * ((x * x + y * y + z * z) ** 0.5))
            first, second = mass * pull, other_mass * pull
            speed[0] -= x * second
            speed[1] -= y * second
            speed[2] -= z * second
            other_speed[0] += x * first
            other_speed[1] += y * first
            other_speed[2] += z * first
        for place, speed, _mass in bodies:
            for axis in range(3):
                place[axis] += 0.01 * speed[axis]
    return sum(mass * sum(v * v for v in speed) / 2 for _, speed, mass in bodies)


class Parser:
    """Recursive descent over arithmetic: digits, + - * /, brackets."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self):
        char = self.peek()
        self.at += 1
        return char

    def number(self):
        start = self.at
        while self.peek().isdigit():
            self.at += 1
        return int(self.text[start : self.at])

    def atom(self):
        if self.peek() == "(":
            self.take()
            value = self.sum()
            if self.take() != ")":
                raise SyntaxError("a bracket is open")
            return value
        return self.number()

    def product(self):
        value = self.atom()
        while self.peek() in ("*", "/"):
            if self.take() == "*":
                value *= self.atom()
            else:
                value //= self.atom()
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                value += self.product()
            else:
                value -= self.product()
        return value


def parser(repeats: int) -> int:
    """The same expression parsed again and again."""
    text = "(12+3)*4-(56/(7+1))*(2+3*(4-1))+99*(1+2+3)-18/(3*(1+1))"
    return sum(Parser(text).sum() for _ in range(repeats))


def numbers(limit):
    """The integers below ``limit``."""
    n = 0
    while n < limit:
        yield n
        n += 1


def kept(source, divisor):
    """Those of ``source`` that ``divisor`` does not divide."""
    for n in source:
        if n % divisor:
            yield n


def in_pairs(source):
    """Pairs of neighbours."""
    source = iter(source)
    for first in source:
        second = next(source, 0)
        yield first, second


def generator_pipeline(limit: int) -> int:
    """Generators that feed each other."""
    total = 0
    for first, second in in_pairs(kept(kept(numbers(limit), 3), 5)):
        total += first * second % 7
    return total


@dataclass(order=True)
class Item:
    """An order with a price and tags."""

    price: float
    name: str = "item"
    tags: list = field(default_factory=list)

    @property
    def cost(self):
        return self.price * (1 + len(self.tags) / 10)


@dataclass(frozen=True)
class Pair:
    """Two items, compared and hashed by value."""

    left: str
    right: int


def dataclass_heavy(count: int) -> float:
    """Objects made, compared, hashed and read through properties."""
    items = [Item(n * 37 % 101 / 10, f"n{n % 7}", ["a"] * (n % 3)) for n in range(count)]
    best = items[0]
    for item in items:
        if item.price >= 0 and item < best:
            best = item
    seen = {}
    for n in range(count):
        pair = Pair(items[n].name, n % 5)
        seen[pair] = seen.get(pair, 0) + 1
    return sum(item.cost for item in items) + best.price + len(seen)


PROGRAMS = {n_body: 300, parser: 60, generator_pipeline: 6000, dataclass_heavy: 600}
"""Each program with a size that takes CPython a few milliseconds."""
