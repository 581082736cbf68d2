"""What every test shares."""

import os

# One thread of computing for a test: the models are tiny, and threads that wait for one another on a busy machine make
# some tests a hundred times slower. Set before torch is imported, which some environments do without.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# Where tests are spread over processes, what a test starts is a run of its own: pytest-benchmark refuses to measure
# in a process that it takes for one of several.
os.environ.pop("PYTEST_XDIST_WORKER", None)
