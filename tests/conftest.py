"""What every test shares."""

import os

# One thread of computing for a test: the models are tiny, and threads that wait for one another on a busy machine make
# some tests a hundred times slower. Set before torch is imported, which some environments do without.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
