import numpy as np

from tinns.solvers import History


def test_columns_grow_together_and_gaps_are_nan():
    history = History()
    history = history.extended({"iteration": np.array([1.0, 2.0]), "loss": np.array([4.0, 2.0])})
    history = history.extended({"iteration": np.array([3.0]), "relative_l2": np.array([0.5])})
    assert len(history) == 3
    np.testing.assert_array_equal(history["loss"], [4, 2, np.nan])
    np.testing.assert_array_equal(history["relative_l2"], [np.nan, np.nan, 0.5])


def test_measured_leaves_the_gaps_out():
    history = History({"iteration": np.arange(3.0), "loss": np.array([1.0, np.nan, 3.0])})
    iterations, values = history.measured("loss")
    np.testing.assert_array_equal(iterations, [0, 2])
    np.testing.assert_array_equal(values, [1, 3])
    assert history.measured("damping")[0].size == 0


def test_csv_round_trip():
    history = History(
        {
            "loss_equation": np.array([1 / 3, 2e-17, np.nan]),
            "iteration": np.array([1.0, 2.0, 3.0]),
            "relative_l2": np.array([np.nan, np.nan, 7e-7]),
        }
    )
    text = history.to_csv()
    assert text.splitlines()[0] == "iteration,relative_l2,loss_equation"
    again = History.from_csv(text)
    assert set(again.columns) == set(history.columns)
    for name, column in history.columns.items():
        np.testing.assert_allclose(again[name], column, rtol=1e-9)


def test_csv_round_trip_of_an_empty_history():
    empty = History({"iteration": np.array([]), "loss": np.array([])})
    again = History.from_csv(empty.to_csv())
    assert len(again) == 0
    assert set(again.columns) == {"iteration", "loss"}
