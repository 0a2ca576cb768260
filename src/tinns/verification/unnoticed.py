"""What a change is that no condition of a problem notices, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tinns.geometry import TIME
from tinns.verification.changes import Changes, smallest_ratios
from tinns.verification.face_modes import faces_without_conditions
from tinns.verification.places import Place, known_at, places_at_end, places_of, with_faces
from tinns.verification.wording import counted, listed

UNNOTICED = 1e-6  # ‖A e‖ / ‖e‖ of a change that no condition notices
EXCLUDED = 1e-3  # of values that exclude a change
LEAST_SHARE = 1e-2  # of an unknown in a change

Kind = Literal["constant", "function of time", "function of space", "function", "coefficients"]


@dataclass(frozen=True)
class Undetermined:
    """A change of unknowns or coefficients that no condition notices."""

    names: tuple[str, ...]  # the unknowns and coefficients that it changes
    kind: Kind
    missing: tuple[str, ...]  # what would exclude it, as far as that is known
    sentence: str


def weakest_and_unnoticed(changes: Changes) -> tuple[float, tuple[Undetermined, ...]]:
    """The smallest ‖A e‖ / ‖e‖ of all changes e, and those that no condition notices."""
    ratios, vectors = smallest_ratios(changes.matrix)
    weakest = float(ratios[0])
    null = vectors[:, ratios < UNNOTICED]
    if null.shape[1]:
        # Noticed at other points means that the points were too few for these changes.
        elsewhere = changes.at_other_points() @ null
        _, kept, turned = np.linalg.svd(elsewhere, full_matrices=False)
        null = null @ turned[kept < 10 * UNNOTICED].T
    if not null.shape[1]:
        return weakest, _too_few_at_faces(changes)
    null_space = _NullSpace(changes, null, weakest)
    found = null_space.of_coefficients() or null_space.of_one_kind() or null_space.of_any_kind()
    return weakest, (found,) if found else ()


def _too_few_at_faces(changes: Changes) -> tuple[Undetermined, ...]:
    """Changes that oscillate too quickly for polynomials, from the number of modes at faces."""
    names, found = changes.unknowns, []
    for face, needed, given in faces_without_conditions(changes):
        wanted, has = counted(needed, "condition"), counted(given, "condition")
        says = f"the equation needs {wanted} at {face}, and the problem has {has}"
        missing = (f"{counted(needed - given, 'more condition')} at {face}",)
        found.append(Undetermined(names, "function", missing, f"{_not_determined(names)}: {says}"))
    return tuple(found)


class _NullSpace:
    """Changes that no condition notices: the columns of `null`, orthonormal."""

    def __init__(self, changes: Changes, null: np.ndarray, weakest: float) -> None:
        self.changes, self.null, self.weakest = changes, null, weakest
        self.unknowns, self.functions = changes.unknowns, changes.basis.count

    def of_coefficients(self) -> Undetermined | None:
        """Coefficients that are not determined, whatever the unknowns are."""
        names = tuple(self.changes.problem.trainable)
        if not names:
            return None
        left, sizes, turned = np.linalg.svd(self.null[-len(names) :], full_matrices=False)
        if sizes[0] < LEAST_SHARE:
            return None
        direction, change = left[:, 0], self.null @ turned[0]
        involved = np.flatnonzero(np.abs(direction) > LEAST_SHARE * np.abs(direction).max())
        chosen = tuple(names[n] for n in involved)
        if np.linalg.norm(change[: -len(names)]) > LEAST_SHARE:
            says = f"a change of {listed(chosen)} goes unnoticed if the solution changes with it"
        elif len(chosen) == 1:
            says = f"no condition notices a change of {chosen[0]}"
        else:
            parts = [_in_percent(names[n], direction[n] / direction[involved[0]]) for n in involved]
            says = f"no condition notices if {listed(parts)}"
        return Undetermined(chosen, "coefficients", (), f"{_not_determined(chosen)}: {says}")

    def of_one_kind(self) -> Undetermined | None:
        """All changes are constants, or functions of time alone or of space alone."""
        domain = self.changes.domain
        kinds: list[tuple[Kind, tuple[str, ...]]] = [
            ("constant", ()),
            ("function of time", (TIME,)),
            ("function of space", domain.space),
        ]
        for kind, axes in kinds:
            among = np.tile(self.changes.basis.among(axes, domain), len(self.unknowns))
            outside = self.null[: self.functions * len(self.unknowns)][~among]
            if np.linalg.norm(outside, 2) < 1e-3:
                names = self._involved()
                says = f"the conditions do not see {self._added(kind, names)}"
                return Undetermined(names, kind, (), f"{_not_determined(names)}: {says}")
        return None

    def of_any_kind(self) -> Undetermined | None:
        """What is known at the initial time and on the boundary excludes other changes."""
        names, start = self._involved(), _not_determined(self._involved())
        places = places_of(self.changes)
        complete, _ = self._with([*places, *places_at_end(self.changes)])
        if complete[0] < UNNOTICED:
            sentence = f"{start}: {self._too_few_equations(names)}"
            return Undetermined(names, "function", ("an equation",), sentence)
        complete, _ = self._with(places)
        if self.weakest > UNNOTICED * complete[0]:
            return None  # small because solutions grow
        missing = self._missing(places, max(UNNOTICED, 1e-4 * complete[0]))
        what = f"; {listed(with_faces(missing))} may be missing" if missing else ""
        sentence = f"{start}: no condition notices certain changes of {listed(names)}{what}"
        return Undetermined(names, "function", tuple(p.name for p in missing), sentence)

    def _added(self, kind: Kind, names: tuple[str, ...]) -> str:
        to = f"added to {listed(names)}"
        space = ", ".join(self.changes.domain.space)
        return {
            "constant": f"a constant {to}",
            "function of time": f"a constant {to} at each time (a function of t)",
            "function of space": f"a function of {space} {to} that is the same at all times",
        }[kind]

    def _too_few_equations(self, names: tuple[str, ...]) -> str:
        equations, unknowns = self.changes.equations, len(self.unknowns)
        if equations >= unknowns:
            return f"the equations allow changes of {listed(names)} inside the domain"
        verb = "is" if equations == 1 else "are"
        return f"there {verb} {counted(equations, 'equation')} for {counted(unknowns, 'unknown')}"

    def _missing(self, places: Sequence[Place], unnoticed: float) -> list[Place]:
        """Few values that exclude all changes: found one by one, and none of them superfluous."""
        missing: list[Place] = []
        while len(missing) < len(places):
            ratios, vectors = self._with(missing)
            null = vectors[:, ratios < unnoticed]
            if not null.shape[1]:
                break
            left = [self._not_excluded(null, place) for place in places]
            if min(left) == null.shape[1]:
                break
            missing.append(places[int(np.argmin(left))])
        for place in sorted(missing, key=lambda place: -place.order) if len(missing) > 1 else ():
            others = [other for other in missing if other is not place]
            if self._with(others)[0][0] >= unnoticed:
                missing = others
        return sorted(missing, key=places.index)

    def _with(self, known: Sequence[Place]) -> tuple[np.ndarray, np.ndarray]:
        """The smallest ratios if the unknowns are known at some places."""
        matrix = self.changes.matrix
        return smallest_ratios(
            np.vstack([matrix, known_at(self.changes, known)]) if known else matrix
        )

    def _not_excluded(self, null: np.ndarray, place: Place) -> int:
        """How many of these changes remain if the unknown is known at a place."""
        sizes = np.linalg.svd(known_at(self.changes, [place]) @ null, compute_uv=False)
        return null.shape[1] - int((sizes >= EXCLUDED).sum())

    def _involved(self) -> tuple[str, ...]:
        parts = np.split(self.null[: self.functions * len(self.unknowns)], len(self.unknowns))
        shares = [np.linalg.norm(part, 2) for part in parts]
        names = zip(self.unknowns, shares, strict=True)
        return tuple(name for name, share in names if share > LEAST_SHARE * max(shares))


def _not_determined(names: Sequence[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} not determined"


def _in_percent(name: str, change: float) -> str:
    size = abs(change)
    return f"{name} is {size:.3g} % {'larger' if change > 0 else 'smaller'}"
