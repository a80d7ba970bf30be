"""Places for work that may take long: who waits for whom, whatever the machine is doing."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from mesocosm.worlds import deadlines
from mesocosm.worlds.places import Place, Places

MOST = 8
SECONDS = 60


class Work:
    """What holds a place until it is ended for others; a processor has worked on it for so long."""

    def __init__(self, places: Places, whom: str, worked: float) -> None:
        self.ended = self.is_behind = False
        self._worked = worked
        self.place = places.take(whom)
        self.place.worker = self

    def worked(self) -> float:
        return self._worked

    def give_way(self) -> None:
        self.is_behind = True

    def kill(self) -> None:
        self.ended = True


def soon(places: Places, whom: str) -> Place:
    with deadlines.within(SECONDS):
        return places.take(whom)


@pytest.fixture
def places() -> Places:
    return Places(MOST)


def test_who_has_used_little_takes_the_place_of_who_has_used_most(places: Places) -> None:
    hostile = [Work(places, f"hostile {n}", 1.0 + n) for n in range(MOST)]
    asked = soon(places, "quiet")
    assert [one.ended for one in hostile] == [*[False] * (MOST - 1), True]
    assert not asked.is_long
    # As many again as there are, though what was ended is still on its way out.
    for n in range(MOST - 1):
        assert not soon(places, f"quiet {n}").is_long
    assert all(one.ended for one in hostile)


def test_work_that_waits_for_a_processor_is_not_ended(places: Places) -> None:
    starved = [Work(places, f"quiet {n}", 0.001) for n in range(MOST)]
    with deadlines.within(0.3), pytest.raises(deadlines.Overdue):
        places.take("another")
    assert not any(one.ended for one in starved)


def test_those_who_use_much_do_not_end_each_other_and_leave_places_for_the_others(places: Places) -> None:
    for n in range(12):  # each has used much before
        place = Work(places, f"hostile {n}", 2.0).place
        assert places.finish(place)
        places.release(place)
    with ThreadPoolExecutor(12) as pool:

        def ask(n: int) -> Work:
            with deadlines.within(SECONDS):
                return Work(places, f"hostile {n}", 0.2)

        asked: list[Future[Work]] = [pool.submit(ask, n) for n in range(12)]
        while sum(one.done() for one in asked) < MOST - 2:
            time.sleep(0.01)
        quiet = [soon(places, f"quiet {n}") for n in range(2)]
        held = [one.result() for one in asked if one.done()]
        assert len(held) == MOST - 2
        assert not any(one.ended for one in held)
        assert all(one.place.is_long for one in held)
        for place in quiet:
            places.release(place)
        while not all(one.done() for one in asked):
            time.sleep(0.01)
            for one in asked:
                if one.done() and one.result().place in places._held:
                    places.release(one.result().place)


def test_what_has_just_begun_has_its_moment_though_all_places_are_held(places: Places) -> None:
    """Nothing is known of any of them yet but how long they have been at work."""
    long = [Work(places, f"hostile {n}", 0.03 + n / 1000) for n in range(MOST)]
    for n in range(2):
        assert not soon(places, f"quiet {n}").is_long
    # As much is left as there may be; what was lost is what had worked least.
    assert [one.ended for one in long] == [True, True, *[False] * (MOST - 2)]


def test_long_work_gives_way_while_somebody_waits(places: Places) -> None:
    long = [Work(places, f"hostile {n}", 0.1) for n in range(MOST - 2)]
    short = [Work(places, f"quiet {n}", 0.001) for n in range(2)]
    with deadlines.within(0.3), pytest.raises(deadlines.Overdue):
        places.take("another")
    assert all(one.is_behind and not one.ended for one in long)
    assert not any(one.is_behind for one in short)


def test_work_that_was_ended_for_others_ends_no_other_when_it_is_begun_again(places: Places) -> None:
    held = [Work(places, f"hostile {n}", 0.1) for n in range(MOST)]
    with deadlines.within(0.3), pytest.raises(deadlines.Overdue):
        places.take("hostile", again=True)
    assert not any(one.ended for one in held)
    for one in held[:3]:
        places.release(one.place)
    with deadlines.within(SECONDS):
        assert places.take("hostile", again=True).is_long
