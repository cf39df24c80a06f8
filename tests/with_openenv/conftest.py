"""OpenEnv has an environment of its own: `make test-openenv` runs these."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("openenv") else ["test_*.py"]
