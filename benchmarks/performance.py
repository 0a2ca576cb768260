"""Write docs/performance.md from the measurements in results/.

python benchmarks/performance.py          rewrite the page
python benchmarks/performance.py --check  exit 1 if it is out of date
"""

import json
import sys
from typing import Any

from records import ROOT, Group, groups, paper, read_records, table, write_or_check

RECIPES = ("paper", "fast", "accurate")
OPENING = """# Performance

Every number on this page is generated from the records in `results/` by
`python benchmarks/performance.py`; none is typed by hand."""


def page() -> str:
    sections = [OPENING, _errors(), _untuned(), _optimizers()]
    sections += [_parts(measured) for measured in _measured("parts")]
    sections += [_scaling(measured) for measured in _measured("scaling")]
    sections += [_memory(measured) for measured in _measured("memory")]
    return "\n\n".join(section for section in sections if section) + "\n"


def _measured(name: str) -> list[dict[str, Any]]:
    """What a benchmark wrote, device by device."""
    paths = sorted((ROOT / "results/benchmarks").glob(f"{name}-*.json"))
    return [json.loads(path.read_text()) for path in paths]


def _section(title: str, text: str, command: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", text, "", "```", command, "```", "", *lines])


def _errors() -> str:
    found = groups(read_records())
    rows = [
        _error_row(group, figures)
        for problem, figures in paper().items()
        for recipe in RECIPES
        for group in found
        if (group.problem, group.method, group.recipe) == (problem, "tinn", recipe)
        and group.is_scored
    ]
    header = [
        "problem",
        "recipe",
        "device",
        "error",
        "seeds",
        "seconds",
        "ms per iteration",
        "parameters",
        "the paper's error",
        "its hours (A6000)",
        "paper's error / ours",
        "seconds to the paper's error",
    ]
    return _section(
        "Errors",
        "Relative L2 errors at the end of a run, mean over seeds; the paper's are means of five. "
        "Seconds are training without compilation, as long as the run was allowed to be: a longer "
        "one may be better. The last column is when the mean curve passes the paper's error for "
        "good, which is measured about twice a second on a coarser grid; – where it does not.",
        "python benchmarks/record.py burgers --recipe accurate --seeds 0 1 2 3 4 --seconds 30",
        table(header, rows),
    )


def _untuned() -> str:
    found = [g for g in groups(read_records()) if g.recipe == "default"]
    if not found:
        return ""
    header = ["problem", "device", "error", "seeds", "seconds", "parameters", "seconds to 1e-6"]
    rows = []
    for group in found:
        passed = group.seconds_to(1e-6)
        rows.append(
            [
                group.problem,
                group.device,
                f"{group.mean('relative_l2'):.2e}",
                str(group.seeds),
                _span(group),
                f"{group.runs[0]['parameters']}",
                "–" if passed is None else _digits(passed),
            ]
        )
    return _section(
        "Problems nobody tuned",
        "Three problems with exact solutions, written as a user would and solved by the default "
        "recipe: what to expect of a problem of one's own.",
        "python benchmarks/untuned.py --seconds 60",
        table(header, rows),
    )


def _error_row(group: Group, figures: dict[str, Any]) -> list[str]:
    error, papers, hours = (
        group.mean("relative_l2"),
        figures.get("relative_l2"),
        figures.get("hours"),
    )
    passed = group.seconds_to(papers) if papers else None
    return [
        group.problem,
        f"`{group.recipe}`",
        group.device,
        f"{error:.2e}",
        str(group.seeds),
        _span(group),
        f"{group.pace:.2f}",
        f"{group.runs[0]['parameters']}",
        f"{papers:.2e}" if papers else "–",
        f"{hours}" if hours else "–",
        _digits(papers / error) if papers else "–",
        "–" if passed is None else _digits(passed),
    ]


def _optimizers() -> str:
    if not (ROOT / "docs/images/optimizers.png").exists():
        return ""
    return _section(
        "Optimisers",
        "Error against training seconds, problem by problem, of whatever is recorded. Recipes "
        "differ in points and, for `accurate`, in networks, so only lines of the same recipe "
        "compare optimisers alone.",
        "python benchmarks/optimizers.py run burgers --seconds 60\n"
        "python benchmarks/optimizers.py draw",
        ["![Error against training seconds](images/optimizers.png)"],
    )


def _parts(measured: dict[str, Any]) -> str:
    parts, floors, ratios = measured["parts"], measured["floors"], measured["ratios"]
    lines = table(
        ["part", "ms", "floor, ms", "ratio"],
        [
            [
                name,
                _digits(spent),
                *(_digits(f[name]) if name in f else "" for f in (floors, ratios)),
            ]
            for name, spent in parts.items()
        ],
    )
    whole = table(
        ["whole step / all floors", "ratio", "target"],
        [
            [name.removesuffix(" / all floors"), f"{ratio:.2f}", _target(measured, name)]
            for name, ratio in ratios.items()
            if name.endswith(" / all floors")
        ],
    )
    return _section(
        f"Parts of an iteration: {_device(measured)}",
        f"Burgers, {measured['rows']} rows, {measured['parameters']} parameters, each part timed "
        f"inside one compiled program. Floors: {measured['floors_are']}. A step tries one damping."
        f"{_others(measured)}",
        "python benchmarks/parts.py",
        [*lines, "", *whole],
    )


def _target(measured: dict[str, Any], name: str) -> str:
    return f"at most {measured['target'][name]:g}" if name in measured["target"] else ""


def _scaling(measured: dict[str, Any]) -> str:
    tables = []
    for kind, by in (("rows", "rows"), ("widths", "parameters")):
        rows = [
            [
                *(str(point[name]) for name in ("rows", "width", "parameters")),
                _digits(point["ms"]),
                f"{point['exponent']:.2f}" if "exponent" in point else "",
            ]
            for point in measured[kind]
        ]
        header = ["rows", "hidden width", "parameters", "ms", f"exponent in {by}"]
        tables += ["", *table(header, rows)]
    return _section(
        f"Growth: {_device(measured)}",
        "One accelerated iteration, solved by Cholesky. The exponent p is that of time ~ size^p "
        "between a line and the one above: JᵀJ is linear in rows and quadratic in parameters."
        f"{_others(measured)}",
        "python benchmarks/scaling.py",
        tables[1:],
    )


def _memory(measured: dict[str, Any]) -> str:
    counts = {"rows": "rows", "parameters": "parameters", "rows in a chunk": "chunk"}
    rows = [
        *([label, str(measured[name])] for label, name in counts.items()),
        ["the whole Jacobian would be", f"{measured['whole_jacobian_gb']:.2f} GB"],
        ["peak of the process", f"{measured['peak_gb']:.2f} GB"],
        ["target", f"under {measured['ceiling_gb']:g} GB"],
        ["seconds", f"{measured['seconds']:.1f}"],
    ]
    return _section(
        f"Memory: {_device(measured)}",
        "JᵀJ and Jᵀr of many rows, in the chunks that training would choose for "
        f"{measured['free_gb']:g} GB of free memory. The peak is that of the whole process, "
        "interpreter and compiler included.",
        "python benchmarks/scaling.py --memory",
        table(["JᵀJ in chunks", ""], rows),
    )


def _device(measured: dict[str, Any]) -> str:
    on_cpu = measured["device"].startswith("CPU")
    return f"{measured['device']}, {measured['cores']} cores" if on_cpu else measured["device"]


def _others(measured: dict[str, Any]) -> str:
    """A warning where other programs held the cores too."""
    load, cores = measured.get("load"), measured["cores"]
    if not load or not cores or load < 1.25 * cores:
        return ""
    return f" Noisy: the load was {load:.1f} on {cores} cores, other programs' work included."


def _span(group: Group) -> str:
    """The seconds of the runs, which may have been of different length."""
    seconds = sorted(run["seconds"] for run in group.runs)
    first, last = f"{seconds[0]:.0f}", f"{seconds[-1]:.0f}"
    return first if first == last else f"{first} to {last}"


def _digits(number: float) -> str:
    """Three significant digits, without exponent."""
    return f"{float(f'{number:.3g}'):g}"


def main() -> int:
    return write_or_check(ROOT / "docs/performance.md", page())


if __name__ == "__main__":
    sys.exit(main())
