"""Numbers over generated tables, held against SciPy and statsmodels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap, norm

from engine.analysis.bootstrap import mean_interval
from engine.analysis.compare import compare
from engine.analysis.hierarchical import family_standard_error
from engine.analysis.many_arms import holm
from engine.analysis.mcnemar import mcnemar
from engine.analysis.pass_at_k import all_of, any_of
from engine.analysis.power import tasks_needed
from engine.analysis.rates import wilson
from tests.engine.analysis.making import arm, two_arms

TABLES = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda table: sum(table) > 1)


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_every_table_has_scipy_s_p_and_the_paired_difference_s_textbook_error(table: tuple[int, int, int, int]) -> None:
    both, a_only, b_only, neither = table
    n, discordant = sum(table), a_only + b_only
    found = compare(*two_arms(*table), draws=200)
    assert found.mcnemar.exact == pytest.approx(binomtest(a_only, discordant).pvalue if discordant else 1.0, rel=1e-9)
    assert found.difference.estimate == pytest.approx((a_only - b_only) / n, abs=1e-11)
    error = ((discordant - (a_only - b_only) ** 2 / n) / (n * (n - 1))) ** 0.5
    assert found.difference.standard_error == pytest.approx(error, abs=1e-12)
    assert (found.table.both, found.table.neither) == (both, neither)


@given(st.integers(1, 20_000), st.floats(0.45, 0.55))
@settings(max_examples=30, deadline=None)
def test_mcnemar_of_thousands_of_discordant_pairs_is_scipy_s(discordant: int, share: float) -> None:
    a_only = round(discordant * share)
    assert mcnemar(a_only, discordant - a_only).exact == pytest.approx(binomtest(a_only, discordant).pvalue, rel=1e-8)


@settings(deadline=None)
@given(st.integers(0, 300).flatmap(lambda passed: st.tuples(st.just(passed), st.integers(max(1, passed), 400))))
def test_wilson_is_scipy_s(pair: tuple[int, int]) -> None:
    passed, of = pair
    theirs = binomtest(passed, of).proportion_ci(method="wilson")
    assert wilson(passed, of) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=150, max_size=300), st.integers(0, 3))
def test_the_percentile_interval_is_scipy_s_within_the_noise_of_draws(fifths: list[int], seed: int) -> None:
    values = np.array(fifths) / 5
    found = mean_interval(values, seed=seed)
    if found.degenerate:
        return
    theirs = bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(seed), batch=500
    ).confidence_interval
    assert found.standard_error is not None
    noise = 0.25 * found.standard_error + 1 / len(values)  # of two times 10,000 draws; means lie on a lattice
    assert found.low == pytest.approx(theirs.low, abs=noise)
    assert found.high == pytest.approx(theirs.high, abs=noise)


@settings(deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_mean_over_every_choice_of_k_attempts(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    attempts = [True] * c + [False] * (n - c)
    chosen = list(combinations(attempts, k))
    assert any_of(n, c, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert all_of(n, c, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))


def test_planned_power_is_had_by_simulated_runs() -> None:
    """Tasks as `tasks_needed` says for eight points with a quarter discordant: z-tests find it in four of five."""
    difference, discordance = 0.08, 0.25
    tasks = tasks_needed(difference, discordance)
    assert tasks is not None
    generator = np.random.default_rng(11)
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    a_only, b_only, _ = generator.multinomial(tasks, shares, size=20_000).T
    found = np.abs(a_only - b_only) / np.sqrt(a_only + b_only) > norm.ppf(0.975)
    assert found.mean() == pytest.approx(0.8, abs=0.02)


# --- statsmodels --------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_mcnemar_is_that_of_statsmodels(table: tuple[int, int, int, int]) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables", reason="statsmodels is a dev extra")
    both, a_only, b_only, neither = table
    theirs = tables.mcnemar([[both, a_only], [b_only, neither]], exact=True)
    assert mcnemar(a_only, b_only).exact == pytest.approx(float(theirs.pvalue), rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 200).flatmap(lambda passed: st.tuples(st.just(passed), st.integers(max(1, passed), 300))))
def test_wilson_is_that_of_statsmodels(pair: tuple[int, int]) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels is a dev extra")
    passed, of = pair
    assert wilson(passed, of) == pytest.approx(proportion.proportion_confint(passed, of, method="wilson"), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is a dev extra")
    assert holm(p_values) == pytest.approx(list(multitest.multipletests(p_values, method="holm")[1]))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-5, 5)), min_size=4, max_size=80))
def test_the_error_clustered_by_family_is_that_of_statsmodels(rows: list[tuple[int, int]]) -> None:
    """CR1 of a mean, without the correction for degrees of freedom of observations: only G / (G − 1)."""
    linear = pytest.importorskip("statsmodels.regression.linear_model", reason="statsmodels is a dev extra")
    families = np.array([family for family, _ in rows])
    if len(set(families.tolist())) < 2:
        return
    values = np.array([fifths / 5 for _, fifths in rows])
    plain = linear.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": families, "use_correction": False}
    )
    groups = len(set(families.tolist()))
    theirs = float(plain.bse[0]) * (groups / (groups - 1)) ** 0.5
    assert family_standard_error(values, [str(family) for family in families]) == pytest.approx(theirs, abs=1e-10)


def test_two_attempts_of_a_task_are_one_cluster_as_in_statsmodels() -> None:
    linear = pytest.importorskip("statsmodels.regression.linear_model", reason="statsmodels is a dev extra")
    generator = np.random.default_rng(4)
    a, b = generator.integers(0, 2, size=200).astype(bool), generator.integers(0, 2, size=200).astype(bool)
    found = compare(arm("a", a.tolist(), attempts=2), arm("b", b.tolist(), attempts=2), draws=200)
    values = (a.astype(float) - b.astype(float)).reshape(100, 2)
    fit = linear.OLS(values.ravel(), np.ones(200)).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(100), 2), "use_correction": False}
    )
    theirs = float(fit.bse[0]) * (100 / 99) ** 0.5
    assert found.difference.standard_error == pytest.approx(theirs, rel=1e-9)
