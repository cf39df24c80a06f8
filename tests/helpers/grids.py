"""Grids as tests ask for them, by the benchmarks' records."""

from dataclasses import replace

from cogniload_gen import benchmarks


def cogniload_grid(d=None, N=None, rho=None, **settings):
    """Return a grid of CogniLoad; what is None is the paper's."""
    knobs = {"d": d, "N": N, "rho": rho}
    asked = {name: value for name, value in knobs.items() if value is not None}
    return benchmarks.named("cogniload").select(**asked, **settings)


def factor_grid(suite="symbolic", **parameters):
    """Return a grid of one of FACTOR's suites."""
    benchmark, asked = benchmarks.datasets()["factor"].choose({"suite": suite} | parameters)
    return benchmark.select(**asked)


def source(grid, **options):
    """Return the puzzles of a grid or a training set."""
    return benchmarks.named(grid.benchmark).source(replace(grid, options=options))


def addresses(selection, start=0, stop=None):
    """Return the cell and the index of each row of a grid or a training set."""
    batch = selection.batch(start, len(selection) if stop is None else stop)
    return list(zip(batch.cells, batch.indices, strict=True))


def all_keys(selection):
    """Return the keys of all rows."""
    return selection.batch(0, len(selection)).keys
