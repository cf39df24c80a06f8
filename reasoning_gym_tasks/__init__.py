"""Data sets for reasoning-gym: importing this registers one for each benchmark, by its name.

`reasoning_gym.create_dataset("cogniload", d=3, N=20, rho=[25, 75], seed=42)` then makes puzzles;
"factor_symbolic" and "factor_realistic" are FACTOR's suites. Puzzles and scores are those of the
tasks for lm-eval.
"""

from reasoning_gym_tasks.datasets import PuzzleConfig, PuzzleCurriculum, PuzzleDataset

__all__ = ["PuzzleConfig", "PuzzleCurriculum", "PuzzleDataset"]
