"""Problems without recipes of their own, by the default recipe.

    python benchmarks/untuned.py --seconds 20

Runs are recorded as by `python -m tinns.paper.record`; their errors appear in docs/performance.md.
"""

import argparse
from pathlib import Path

from tinns import Problem
from tinns.paper.record import RUNS, Run, record_all
from tinns.paper.untuned_problems import FisherKPP, Heat, SineGordon

PROBLEMS: list[Problem] = [Heat(), FisherKPP(), SineGordon()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--archive", type=Path, help="also bundle the files as .tgz")
    parser.add_argument("--out", type=Path, default=RUNS)
    given = parser.parse_args()
    runs = [
        Run(problem, seed=seed, iterations=given.iterations, seconds=given.seconds)
        for problem in PROBLEMS
        for seed in given.seeds
    ]
    record_all(runs, given.out, given.archive)


if __name__ == "__main__":
    main()
