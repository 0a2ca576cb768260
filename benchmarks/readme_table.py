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
    """Both recipes beside the paper's own figures."""
    paper = tomllib.loads((ROOT / "results/paper.toml").read_text())
    lines = [
        "| problem | the paper's error | its hours (A6000) | recipe `paper`: error "
        "| seconds (H200) | recipe `accurate`: error | seconds (H200) | parameters |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, figures in paper.items():
        runs = [r for r in records() if r["problem"] == name and r["seed"] == 0]
        full = max((r for r in runs if r["recipe"] == "paper"), key=lambda r: r["iterations"])
        (best,) = [r for r in runs if r["recipe"] == "accurate"]
        lines.append(
            f"| {name} | {figures['relative_l2']:.2e} | {figures['hours']} | "
            f"{full['relative_l2']:.2e} | {full['seconds']:.0f} | **{best['relative_l2']:.2e}** | "
            f"{best['seconds']:.0f} | {full['parameters']}, {best['parameters']} |"
        )
    short = [r for r in records() if r["problem"] == "burgers" and r["iterations"] == 3000]
    median = statistics.median(r["relative_l2"] for r in short)
    pace = statistics.median(1e3 * r["seconds"] / r["iterations"] for r in short)
    lines += [
        "",
        "Ours are single runs (seed 0), the paper's are means of five; seconds are training "
        "without compilation. Recipe `paper` runs as many iterations as the paper's. "
        f"Burgers after 3000 iterations of it: median error {median:.1e} over {len(short)} seeds, "
        f"{pace:.2f} ms an iteration.",
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
