"""Tables whose names are longer than their column: no name is cut, and no line is too long."""

from __future__ import annotations

import pytest

from engine.analysis import wording as say
from engine.analysis.analysis_text import analysis_sections
from engine.analysis.named_rows import both_named, named
from tests.engine.analysis.test_analysis import everything

LONG = "claude_code model=claude-4-sonnet,effort=high"


def test_a_name_that_fits_stands_in_its_column() -> None:
    assert named("  1  ", "sol", 6, "  50.0 %", 80) == ["  1  sol     50.0 %"]
    assert both_named("  ", "web", "sol", 6, "   7", 80) == ["  web   sol      7"]


def test_a_longer_one_stands_above_its_numbers_whole() -> None:
    assert named("  1  ", LONG, 16, "  50.0 %", 80) == [f"  1  {LONG}", " " * 21 + "  50.0 %"]
    above, below = both_named("  ", "web", LONG, 16, "  50.0 %", 80)
    assert (above, below.strip()) == (f"  web · {LONG}", "50.0 %")
    assert both_named("  ", "web and sockets", "sol", 12, "   7", 80) == ["  web and sockets · sol      7"]


def test_one_that_is_longer_than_a_line_goes_on_in_the_next() -> None:
    rows = named("  ", "日本" * 30, 16, "  7", 40)
    assert "".join(row.strip() for row in rows[:-1]) == "日本" * 30 and all(say.cells(row) <= 40 for row in rows)


@pytest.mark.parametrize("width", [56, 76, 80, 120])
def test_in_an_analysis_no_arm_is_cut(width: int) -> None:
    sections = analysis_sections(everything(LONG), width)
    assert len(sections) > 6
    for section in sections:
        if section.name in ("ranks", "index", "category", "stated", "limits", "expected", "refusals"):
            assert not [line for line in section.lines if "claude" in line and line.rstrip().endswith("…")]
    ranks = next(section for section in sections if section.name == "ranks")
    assert any(LONG in line and "%" not in line for line in ranks.lines) or width == 120
    assert all(say.cells(line) <= width for line in ranks.lines)
