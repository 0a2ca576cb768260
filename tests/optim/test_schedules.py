"""Warm-up, decay, and stretching over a budget."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Schedule, UserError

pytestmark = pytest.mark.usefixtures("float64")

SHORT = Schedule(2e-3, 0.5, warmup=100, decay_steps=40)


def test_it_rises_linearly_and_then_decays():
    k = np.arange(0, 400, 7)
    expected = np.where(k < 100, 2e-3 * k / 100, 2e-3 * 0.5 ** ((k - 100) / 40))
    np.testing.assert_allclose(SHORT(jnp.asarray(k)), expected, rtol=1e-13)


@pytest.mark.parametrize("warmup", [0, 1, 12.5, 1000])
def test_it_agrees_with_the_formula_at_whole_and_fractional_counts(warmup):
    schedule = Schedule(3e-3, 0.9, warmup, decay_steps=70.5)
    k = np.concatenate([np.arange(0, 3000, 7), np.linspace(0, 3000, 501), [warmup, 0.25]])
    rising = 3e-3 * k / max(warmup, 1)
    falling = 3e-3 * 0.9 ** ((k - warmup) / 70.5)
    expected = np.where(k < warmup, rising, falling)
    np.testing.assert_allclose(schedule(jnp.asarray(k)), expected, rtol=1e-12, atol=1e-18)
    stretched = Schedule(3e-3, 0.9, warmup, decay_steps=70.5, over=3000)
    np.testing.assert_allclose(stretched(0, jnp.asarray(k / 3000)), expected, rtol=1e-9, atol=1e-17)


def test_values_worked_out_by_hand():
    assert SHORT(0) == 0
    assert SHORT(25) == pytest.approx(5e-4, rel=1e-14)
    assert SHORT(140) == pytest.approx(1e-3, rel=1e-14)
    assert SHORT(120) == pytest.approx(2e-3 * np.sqrt(0.5), rel=1e-14)  # no staircase
    # A tuple printed for 100,000 iterations ends 47.5 decays below its peak.
    printed = Schedule(1e-3, 0.9, 5000, 2000)
    assert printed(100_000) == pytest.approx(1e-3 * 0.9**47.5, rel=1e-12)


def test_it_is_continuous_at_its_peak():
    assert SHORT(100) == 2e-3
    assert SHORT(99.999) == pytest.approx(2e-3, rel=1e-4)


def test_without_warm_up_it_starts_at_its_peak():
    assert Schedule(1e-3, 0.9, 0, 10)(0) == 1e-3


def test_a_decay_rate_of_one_keeps_it_constant():
    constant = Schedule(1e-3, 1.0, warmup=0)
    np.testing.assert_array_equal(constant(jnp.arange(50)), 1e-3)


def test_stretched_it_follows_the_budget_and_not_the_count():
    printed = Schedule(1e-3, 0.9, 5000, 2000)
    stretched = Schedule(1e-3, 0.9, 5000, 2000, over=100_000)
    for spent in (0.0, 0.02, 0.05, 0.3, 1.0):
        expected = float(printed(spent * 100_000))
        for count in (0, 17, 10**6):
            assert stretched(count, spent) == pytest.approx(expected, rel=1e-12)
    assert printed(17, 0.5) == printed(17)


def test_budgets_share_one_program():
    rate = jax.jit(Schedule(1e-3, 0.9, 10, 20, over=100))
    values = [float(rate(k, k / budget)) for budget in (7, 1000) for k in (1, 5)]
    assert len(set(values)) == 4
    assert rate._cache_size() == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"decay_rate": 1.5},
        {"decay_rate": 0},
        {"warmup": -1},
        {"decay_steps": 0},
        {"decay_steps": "many"},
        {"over": 0},
    ],
    ids=repr,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(UserError, match=f"{next(iter(settings))}=.*expected"):
        Schedule(**settings)
