"""Designs in the words of the comparison."""

from __future__ import annotations

import pytest

from engine.analysis.design import NoDesign, design, design_lines


def test_66_tasks_with_16_discordant_detect_about_17_points_and_two_points_need_4757() -> None:
    found = design(tasks=66, discordant=16, difference=0.02)
    assert found.detectable == pytest.approx(0.17, abs=0.005) and found.tasks_needed == 4757
    assert design_lines(found)[:2] == [
        "this design detects 17.0 points (80 % power; 16 of 66 tasks discordant)",
        "2 points need 4,757 tasks (80 % power; 16 of 66 tasks discordant)",
    ]


def test_an_assumed_discordance_is_called_so() -> None:
    found = design(difference=0.05)
    assert found.assumed and "25.0 % of tasks discordant, assumed" in design_lines(found)[0]
    assert not design(difference=0.05, discordance=0.25).assumed


def test_several_attempts_are_planned_from_the_clustered_error() -> None:
    found = design(tasks=80, standard_error=0.03272, difference=0.02)
    assert found.detectable == pytest.approx(0.09, abs=0.005)
    assert found.tasks_needed == pytest.approx(80 * (found.detectable or 0) ** 2 / 0.02**2, abs=1)


def test_what_can_not_be_planned_for_is_said() -> None:
    assert "can't be planned for" in design_lines(design(difference=0.4, discordance=0.2))[0]
    assert design_lines(design(tasks=10, discordant=0))[0].startswith("nothing disagrees")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give --tasks"),
        ({"discordant": 3}, "how many tasks"),
        ({"tasks": 3, "discordant": 5}, "5 of 3 tasks"),
        ({"tasks": 3, "discordant": 1, "discordance": 0.1}, "say the same"),
        ({"standard_error": 0.1, "difference": 0.1}, "needs the --tasks"),
    ],
)
def test_half_a_design_is_refused_with_what_is_missing(given: dict[str, float], words: str) -> None:
    with pytest.raises(NoDesign, match=words):
        design(**given)  # type: ignore[arg-type]
