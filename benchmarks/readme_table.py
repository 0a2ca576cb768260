"""Write the README's table of results from the records in results/.

python benchmarks/readme_table.py          rewrite the table
python benchmarks/readme_table.py --check  exit 1 if it is out of date
"""

import sys

import numpy as np

from records import (
    OURS,
    ROOT,
    Group,
    Record,
    find,
    groups,
    main_device,
    papers_table,
    plural,
    read_cells,
    read_records,
    table,
    write_or_check,
)

START, END = "<!-- results: benchmarks/readme_table.py -->", "<!-- /results -->"


def results() -> str:
    """The recipe of lowest error and the paper's own settings, beside the paper's figures."""
    everything = read_records() + read_cells(OURS)
    device = main_device(groups(everything))
    records = [record for record in everything if record["device"] == device]
    found = groups(records)
    rows = []
    for problem, figures in papers_table().items():
        same, best = find(found, problem, ["paper"]), find(found, problem, OURS)
        rows.append(
            [
                problem,
                f"{figures['relative_l2']:.2e}",
                f"{figures['hours']}",
                *_cells(same),
                *_cells(best, strong=True),
                f"`{best.recipe}`" if best else "–",
                ", ".join(str(group.runs[0]["parameters"]) for group in (same, best) if group),
            ]
        )
    header = [
        "problem",
        "the paper's error",
        "its hours (A6000)",
        "recipe `paper`: error",
        "seconds, seeds",
        "our best recipe: error",
        "seconds, seeds",
        "which",
        "parameters",
    ]
    caption = _caption(records, device) + _of_the_demo(everything)
    return "\n".join([*table(header, rows), "", caption])


def _cells(group: Group | None, strong: bool = False) -> list[str]:
    if group is None:
        return ["–", "–"]
    error = f"{group.mean('relative_l2'):.2e}"
    return [f"**{error}**" if strong else error, f"{group.mean('seconds'):.0f}, {group.seeds}"]


def _caption(records: list[Record], device: str) -> str:
    text = (
        f"Ours on one {device}; errors and seconds are means over so many seeds, the paper's over "
        "five. Seconds are training without compilation, often fewer than the recipe allows. "
        "Recipe `paper` runs as many iterations as the paper's."
    )
    short = [
        record
        for record in records
        if (record["problem"], record["recipe"], record["iterations"]) == ("burgers", "paper", 3000)
    ]
    if short:
        median = np.median([r["relative_l2"] for r in short])
        pace = np.median([1e3 * r["seconds"] / r["iterations"] for r in short])
        text += (
            f" Burgers after 3000 iterations of it: median error {median:.1e} over "
            f"{plural(len(short), 'seed')}, {pace:.2f} ms an iteration."
        )
    return text


def _of_the_demo(records: list[Record]) -> str:
    """What a minute on a CPU gives."""
    demo = find(groups(r for r in records if r["device"].startswith("CPU")), "burgers", ["fast"])
    if demo is None:
        return ""
    error, seconds = demo.mean("relative_l2"), demo.mean("seconds")
    return (
        f" The demo's run on two CPU cores: {error:.1e} after {seconds:.0f} s when it was recorded."
    )


def main() -> int:
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(START)
    _, _, after = rest.partition(END)
    return write_or_check(readme, f"{before}{START}\n{results()}\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
