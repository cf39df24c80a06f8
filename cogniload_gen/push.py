"""Another name for `cogniload_gen.hub.push.push`."""

from cogniload_gen.hub.push import push

__all__ = ["push"]
