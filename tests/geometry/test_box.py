import math

import pytest

from tinns import Box, UserError


def test_time_is_the_last_axis_however_it_was_given():
    assert Box(t=(0, 2), y=(0, 1), x=(-1, 1)).axes == ("y", "x", "t")
    assert Box(t=(0, 2), y=(0, 1), x=(-1, 1)).space == ("y", "x")


def test_intervals_and_start():
    box = Box(x=(-1, 1), t=(0.5, 2))
    assert box.interval("x") == (-1.0, 1.0)
    assert box.start == 0.5


def test_faces_with_outward_signs():
    faces = Box(x=(-1, 3), y=(0, 2), t=(0, 1)).faces
    assert [(f.name, f.value, f.outward) for f in faces] == [
        ("x-", -1, -1),
        ("x+", 3, 1),
        ("y-", 0, -1),
        ("y+", 2, 1),
    ]


def test_a_periodic_axis_has_no_faces():
    box = Box(x=(-1, 1), y=(0, 1), t=(0, 1), periodic="x")
    assert box.periodic == ("x",)
    assert [f.axis for f in box.faces] == ["y", "y"]
    assert Box(x=(0, 1), y=(0, 1), t=(0, 1), periodic=("x", "y")).faces == ()


def test_a_face_by_name():
    box = Box(x=(-1, 3), y=(0, 2), t=(0, 1), periodic="y")
    assert box.face("x+").value == 3
    with pytest.raises(UserError, match=r"y\+.*x-, x\+"):
        box.face("y+")


def test_equal_boxes_are_equal_and_hashable():
    assert Box(x=(0, 1), t=(0, 1)) == Box(t=(0, 1), x=(0, 1))
    assert hash(Box(x=(0, 1), t=(0, 1))) == hash(Box(t=(0, 1), x=(0, 1)))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"x": (1, 1), "t": (0, 1)}, r"x.*\(1, 1\)"),
        ({"x": (0, 1), "t": (0, -1)}, r"t.*\(0, -1\)"),
        ({"x": (0, math.nan), "t": (0, 1)}, r"x.*nan"),
        ({"x": (0, math.inf), "t": (0, 1)}, r"x.*inf"),
        ({"x": (0, 1)}, "no time axis"),
        ({"t": (0, 1)}, "0 space axes"),
        ({a: (0, 1) for a in "wxyzt"}, "4 space axes.*w, x, y, z"),
        ({"xy": (0, 1), "t": (0, 1)}, "'xy'"),
        ({"X": (0, 1), "t": (0, 1)}, "'X'"),
        ({"x": (0, 1, 2), "t": (0, 1)}, r"\(0, 1, 2\)"),
        ({"x": 3, "t": (0, 1)}, "x.*3"),
        ({"x": (0, 1), "t": (0, 1), "periodic": "y"}, "'y'"),
        ({"x": (0, 1), "t": (0, 1), "periodic": "t"}, "'t'"),
    ],
)
def test_a_bad_box_is_an_error_that_names_the_value(settings, named):
    with pytest.raises(UserError, match=named):
        Box(**settings)
