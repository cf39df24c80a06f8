"""The tests of llama.cpp's server run where LLAMA_SERVER names it: by `make test-llama-cpp`."""

import os

from harness import lm_eval_random_state  # noqa: F401 (a fixture of every test)

collect_ignore_glob = [] if os.environ.get("LLAMA_SERVER") else ["test_*.py"]
