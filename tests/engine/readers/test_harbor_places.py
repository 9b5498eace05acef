"""Numbers of attempts, and names for trials that have no folder yet."""

from __future__ import annotations

from engine.readers.harbor_places import TrialPlaces

PAIR, OTHER = ("org/one", "a"), ("org/one", "b")


def test_a_number_that_was_given_back_is_given_again_and_none_is_given_twice() -> None:
    """Case 89."""
    places = TrialPlaces()
    assert [places.take(name, PAIR) for name in "abc"] == [1, 2, 3]
    places.give_back("b")
    places.give_back("a")
    assert (places.taken(PAIR), places.taken(OTHER)) == (1, 0)
    assert [places.take(name, PAIR) for name in "def"] == [1, 2, 4]
    assert places.take("g", OTHER) == 1


def test_what_begins_takes_the_place_of_the_first_that_waits() -> None:
    places = TrialPlaces()
    for _ in range(3):
        places.take(places.wait(PAIR), PAIR)
    assert list(places.pending) == [f"org_one~not-started-{number}" for number in (1, 2, 3)]
    assert (places.taken(PAIR), places.begun(PAIR)) == (3, 0)
    first = places.waiting(PAIR)
    assert first == "org_one~not-started-1"
    places.give_back(first)
    assert places.take("one__aaaaaaa", PAIR) == 1
    assert (places.taken(PAIR), places.begun(PAIR)) == (3, 1)
    assert places.waiting(OTHER) is None
    assert places.wait(OTHER) == "org_one~not-started-4"
