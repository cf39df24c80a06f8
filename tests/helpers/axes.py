"""The fixed design on the axes, for a harness that can't ask: what cogniload_axes.yaml holds."""

from cogniload_analysis.cogniload.capacity.capacity_design import (
    ASKED_D,
    ASKED_RHO,
    make_candidates,
)


def axes_grids(N=(10, 400)):
    """Return grids of d, N and rho (percent) with `num_puzzles` for each cell: 700 puzzles.

    60 % are on N, 20 % on d and 20 % on rho; four puzzles of d = 5 stand to one of d = 6.
    """
    statements = [candidate.N for candidate in make_candidates(N) if candidate.axis == "N"]
    at_mean_rho, at_mean_N = {"rho": [50.0]}, {"N": [71]}
    return [
        {"d": [5], "N": statements, **at_mean_rho, "num_puzzles": 17},
        {"d": [6], "N": statements, **at_mean_rho, "num_puzzles": 4},
        {
            "d": list(range(ASKED_D[0], ASKED_D[1] + 1)),
            **at_mean_N,
            **at_mean_rho,
            "num_puzzles": 14,
        },
        {"d": [5], **at_mean_N, "rho": list(ASKED_RHO), "num_puzzles": 11},
        {"d": [6], **at_mean_N, "rho": list(ASKED_RHO), "num_puzzles": 3},
    ]
