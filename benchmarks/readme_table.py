"""Write the README's table of results from the records in results/.

python benchmarks/readme_table.py          rewrite the table
python benchmarks/readme_table.py --check  exit 1 if it is out of date
"""

import json
import statistics
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
START, END = "<!-- results: benchmarks/readme_table.py -->", "<!-- /results -->"


def table() -> str:
    """Recipe `paper`, run to its full length, beside the paper's own figures."""
    paper = tomllib.loads((ROOT / "results/paper.toml").read_text())
    lines = [
        "| problem | parameters | iterations | error, paper | error, ours "
        "| hours, paper (A6000) | seconds, ours (H200) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, figures in paper.items():
        runs = [r for r in records() if r["problem"] == name and r["recipe"] == "paper"]
        full = max((r["iterations"] for r in runs), default=0)
        (first, *_) = [r for r in runs if r["iterations"] == full]
        lines.append(
            f"| {name} | {first['parameters']} | {full} | {figures['relative_l2']:.2e} | "
            f"{first['relative_l2']:.2e} | {figures['hours']} | {first['seconds']:.0f} |"
        )
    short = [r for r in records() if r["problem"] == "burgers" and r["iterations"] == 3000]
    median = statistics.median(r["relative_l2"] for r in short)
    pace = statistics.median(1e3 * r["seconds"] / r["iterations"] for r in short)
    lines += [
        "",
        f"Burgers after 3000 iterations of the same recipe: median error {median:.1e} over "
        f"{len(short)} seeds, {pace:.2f} ms an iteration. Ours are single runs (seed 0), the "
        "paper's are means of five.",
    ]
    return "\n".join(lines)


def records() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((ROOT / "results/runs").glob("*.json"))]


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text()
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    updated = f"{before}{START}\n{table()}\n{END}{after}"
    if "--check" in sys.argv:
        return int(updated != text)
    readme.write_text(updated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
