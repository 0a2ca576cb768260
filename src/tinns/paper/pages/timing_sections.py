"""The sections of docs/performance.md about the cost of an iteration."""

from pathlib import Path

from tinns.paper.formats import markdown_table
from tinns.paper.pages.checkout import joined
from tinns.paper.pages.timings import (
    Growth,
    Machine,
    Memory,
    Parts,
    growth_sheets,
    memory_sheet,
    parts_sheet,
    read_timings,
    steps_sheet,
)

BUSY = 1.25  # programs per core above which timings are marked as noisy


def timing_sections(folder: Path) -> list[str]:
    """All sections, device by device."""
    return [
        *(parts_section(timed) for timed in read_timings(folder, "parts")),
        *(growth_section(timed) for timed in read_timings(folder, "scaling")),
        *(memory_section(timed) for timed in read_timings(folder, "memory")),
    ]


def parts_section(timed: Parts) -> str:
    """The parts of an iteration."""
    text = (
        f"Burgers, {timed['rows']} rows, {timed['parameters']} parameters. Each part is timed "
        f"inside one compiled program, and a step tries one damping. Floors: "
        f"{timed['floors_are']}.{noise(timed)}"
    )
    tables = [markdown_table(parts_sheet(timed)), markdown_table(steps_sheet(timed))]
    return _section("Parts of an iteration", timed, text, "python benchmarks/parts.py", *tables)


def growth_section(timed: Growth) -> str:
    """The time of an iteration against its size."""
    text = (
        "One accelerated iteration, solved by Cholesky. The exponent p is that of time ~ size^p "
        "between a row of the table and the row above it. Computing JᵀJ is linear in the rows and "
        f"quadratic in the parameters.{noise(timed)}"
    )
    tables = [markdown_table(sheet) for sheet in growth_sheets(timed)]
    return _section("Growth", timed, text, "python benchmarks/scaling.py", *tables)


def memory_section(timed: Memory) -> str:
    """The peak memory of many rows."""
    text = (
        "JᵀJ and Jᵀr of many rows, in the chunks that training chooses for "
        f"{timed['free_gb']:g} GB of free memory. The peak is that of the whole process, including "
        "the interpreter and the compiler."
    )
    table = markdown_table(memory_sheet(timed))
    return _section("Memory", timed, text, "python benchmarks/scaling.py --memory", table)


def _section(title: str, timed: Machine, text: str, command: str, *tables: str) -> str:
    return joined([f"## {title}: {machine(timed)}", text, f"```\n{command}\n```", *tables])


def machine(timed: Machine) -> str:
    """The device, with the number of cores of a CPU."""
    on_cpu = timed["device"].startswith("CPU")
    return f"{timed['device']}, {timed['cores']} cores" if on_cpu else timed["device"]


def noise(timed: Machine) -> str:
    """A warning if other programs used the cores as well."""
    load, cores = timed.get("load"), timed["cores"]
    if not load or not cores or load < BUSY * cores:
        return ""
    return f" Noisy: the load was {load:.1f} on {cores} cores, including other programs."
