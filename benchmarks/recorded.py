"""Records of runs, one file each, gathered into one file of results."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinns._runtime.files import write_whole


def gathered(folder: Path, results: Path, identity: Sequence[str]) -> list[dict[str, Any]]:
    """The records in a folder and those gathered before, written to `results`.

    `identity` are the entries by which records are told apart; later ones replace earlier ones.
    """
    earlier = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    paths = sorted(folder.glob("*.json"))
    here = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    newest = {tuple(each[key] for key in identity): each for each in (*earlier, *here)}
    records = [newest[key] for key in sorted(newest)]
    lines = ",\n".join(json.dumps(each, default=float) for each in records)
    write_whole(results, lambda path: path.write_text(f"[\n{lines}\n]\n", encoding="utf-8"))
    return records
