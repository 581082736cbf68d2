"""Well-behaved models for the tests, small and quick."""

import torch
from torch import nn


class Good(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

    def example_inputs(self):
        return (torch.randn(4, 8),)


class Marked(nn.Linear):
    """Subjects of the tests get this one wrong."""


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = nn.Linear(8, 8)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(2))
        self.blocks[1][0] = Marked(8, 8)
        self.after = nn.Linear(8, 8)

    def forward(self, x):
        x = self.before(x)
        for block in self.blocks:
            x = block(x)
        return self.after(x)

    def example_inputs(self):
        return (torch.randn(4, 8),)


class Counts(nn.Module):
    """Writes to a buffer on each call."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.linear(x)

    def example_inputs(self):
        return (torch.randn(4, 8),)


class Draws(nn.Module):
    """Random numbers, from torch's generator: repeatable under a seed."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x) * torch.rand(8)

    def example_inputs(self):
        return (torch.randn(4, 8),)


class Drifts(nn.Module):
    """Depends on how often anything of its class was called: eager, jitted and float64 runs each meet another state."""

    calls = 1000

    def forward(self, x):
        Drifts.calls += 1
        return x * Drifts.calls

    def example_inputs(self):
        return (torch.ones(2, 3),)


class Unrepeatable(nn.Module):
    """Differs from call to call by rounding, whatever the seed."""

    calls = 0

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        Unrepeatable.calls += 1
        y = self.linear(x)
        return y * (1 + 3 * torch.finfo(x.dtype).eps * (Unrepeatable.calls % 2))

    def example_inputs(self):
        return (torch.randn(4, 8),)


class Picks(nn.Module):
    """The largest of two scores. They are alike for some inputs (of seed 2, not of 1 and 3), and rounding decides."""

    always = False

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        alike = (x.sum() < 0) | self.always
        scores = self.weight * torch.where(alike, torch.tensor([1.0, 1.0]), torch.tensor([1.0, 0.5]))
        return scores.argmax(), x * 2

    def example_inputs(self):
        return (torch.randn(4),)


class AlwaysAlike(Picks):
    always = True
