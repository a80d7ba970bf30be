"""The application material that professors ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trials import call, failures, rows_of, sizes, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.generators.apply_phd_email.expected import ASKING, OTHERS, Expected, Request
from mesocosm.generators.apply_phd_email.params import Params

FAMILY = load_family("apply_phd_email")
Build = Callable[..., Instance]


def make(episode: Episode, request: Request, folder: str) -> list[str]:
    """Put the files together page by page, as somebody would who never merges whole documents."""
    paths = []
    for file in request.files:
        parts = []
        for ref in file.pages:
            parts.append(f"outbox/parts/{ref.path.rpartition('/')[2]}-{ref.index}.pdf")
            call(
                episode, "pdf_tools", "extract_pdf_pages",
                source_path=ref.path, page_numbers=[ref.index + 1], output_path=parts[-1],
            )  # fmt: skip
        paths.append(f"outbox/{folder}/{file.name}")
        call(episode, "pdf_tools", "merge_pdfs", pdf_paths=parts, output_path=paths[-1])
    return paths


def send_all(episode: Episode, expected: Expected, subject: str = "") -> None:
    for index, request in enumerate(expected.requests):
        call(
            episode, "email", "send_email",
            to=request.address, subject=subject or expected.subject, body="See the files.",
            attachments=make(episode, request, str(index)),
        )  # fmt: skip


@pytest.mark.parametrize("number", [14, 15, 40, 400, 3000])
def test_every_kind_of_case_occurs_at_every_size(number: int) -> None:
    fates = Params(num_professors=number).fates()
    assert len(fates) == number
    assert set(fates) == {*ASKING, *OTHERS}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", sizes(FAMILY))
def test_every_edge_case_occurs_at_every_length(build: Build, size: str, seed: int) -> None:
    expected = build(seed, num_professors=sizes(FAMILY)[size]).expected
    assert {request.fate for request in expected.requests} == set(ASKING)
    assert {other.fate for other in expected.others} == set(OTHERS)
    assert any(request.address != request.own_address for request in expected.requests)
    assert {len(request.files) for request in expected.requests} >= {1, 2, 3}, "not every layout"
    used = {ref.path for request in expected.requests for file in request.files for ref in file.pages}
    assert used & expected.older.keys(), "no document has several versions"
    assert any("/certificate_" in path for path in used), "nobody asks for the certificates in order"
    names = Counter(request.professor for request in expected.requests)
    assert any(other.name in names for other in expected.others), "no namesakes"


@pytest.mark.parametrize("seed", [2, 7, 15, 16, 88, 115])
def test_every_seed_has_room_at_the_shortest_length(seed: int, tmp_path: Path) -> None:
    number = sizes(FAMILY)["minimum"]
    bare = build_instance(FAMILY, seed, tmp_path / "bare", parameters={"num_professors": number})
    assert bare.survey.tokens < 7920, "not without a length that is over by less than a percent"
    instance = build_instance(FAMILY, seed, tmp_path / "instance", target=8000)
    assert abs(instance.survey.tokens - 8000) <= 80
    assert {request.fate for request in instance.expected.requests} == set(ASKING)
    assert {other.fate for other in instance.expected.others} == set(OTHERS)


def test_the_first_letters_lie_in_sent(instance: Instance) -> None:
    expected = instance.expected
    letters = "SELECT bcc FROM emails JOIN folders ON folders.id = folder_id WHERE folders.name = 'Sent'"
    told = ", ".join(bcc or "" for (bcc,) in rows_of(instance, "email", letters))
    wrote = [
        *(request.own_address for request in expected.requests),
        *(one.address for one in expected.others),
    ]
    assert all(address in told for address in wrote)


def test_the_number_of_those_who_ask_can_be_given() -> None:
    for number in (1, 2, 7, 39):
        fates = Params(num_professors=40, num_positive=number).fates()
        assert sum(fate in ASKING for fate in fates) == number
    with pytest.raises(ValueError, match="num_positive must be less than num_professors"):
        Params(num_professors=20, num_positive=20)


def test_more_silent_professors_leave_an_automatic_reply_alone() -> None:
    many = Counter(Params(num_professors=100, no_response_weight=5).fates())
    assert many["auto_reply"] > 30
    assert Counter(Params(num_professors=100, no_response_weight=0).fates())["auto_reply"] == 0


def test_all_may_ask_for_the_same_layout(build: Build) -> None:
    same = build(0, num_professors=40, assign_different_structures=False, structure="merged").expected
    layouts = {len(request.files) for request in same.requests if request.fate != "two_mails"}
    assert layouts == {1}


def test_other_receivers_change_nothing_besides(build: Build) -> None:
    usual, other = (build(3, num_professors=40, receiver_idx=index).expected for index in (0, 2))
    assert [request.own_address for request in usual.requests] == [r.own_address for r in other.requests]
    assert [request.files for request in usual.requests] == [request.files for request in other.requests]
    told = [pair for pair in zip(usual.requests, other.requests, strict=True) if pair[0].fate == "assistant"]
    assert told
    assert all(one.address != another.address for one, another in told)


@pytest.mark.parametrize(
    "parameters",
    [
        {"num_professors": 10, "num_positive": 2},
        {"num_professors": 30, "receiver_idx": 4, "assign_different_structures": False},
    ],
)
def test_the_solver_passes_with_the_parameters_of_the_reference(
    build: Build, tmp_path: Path, parameters: dict[str, Any]
) -> None:
    episode = Episode.create(tmp_path / "other", build(0, **parameters).path, FAMILY)
    solve(FAMILY, episode)
    assert failures(episode) == set()


def test_more_weight_makes_more_offers_of_other_positions() -> None:
    few = Counter(Params(num_professors=100, research_assistant_weight=0.5).fates())
    many = Counter(Params(num_professors=100, research_assistant_weight=4).fates())
    assert many["research_assistant"] > 2 * few["research_assistant"]


def test_a_professor_who_refuses_has_the_name_of_one_who_asks(instance: Instance) -> None:
    expected = instance.expected
    asking = {request.professor: request.own_address for request in expected.requests}
    namesakes = [other for other in expected.others if other.fate == "namesake"]
    assert namesakes
    assert all(other.name in asking and other.address != asking[other.name] for other in namesakes)


def test_a_corrected_request_differs_from_the_first(instance: Instance) -> None:
    corrected = [request for request in instance.expected.requests if request.fate == "corrected"]
    assert corrected
    assert all(request.files != request.superseded for request in corrected)


def test_no_two_files_of_a_request_have_the_same_name(instance: Instance) -> None:
    for request in instance.expected.requests:
        assert len({file.name for file in request.files}) == len(request.files)


def test_doing_what_is_asked_passes(episode: Episode, instance: Instance) -> None:
    send_all(episode, instance.expected)
    assert episode.grade().verdict == "passed"


def test_doing_nothing_fails(episode: Episode) -> None:
    assert failures(episode) == {"recipients_missing", "subject", "attachment_names", "attachment_pages"}


def test_mails_without_files_fail(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    for request in expected.requests:
        call(episode, "email", "send_email", to=request.address, subject=expected.subject, body="Later.")
    assert failures(episode) == {"attachment_names", "attachment_pages"}


def test_a_subject_that_says_more_fails(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    send_all(episode, expected, subject=f"Fwd: {expected.subject}")
    assert failures(episode) == {"subject"}


def test_text_that_calls_itself_a_pdf_file_fails(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    for index, request in enumerate(expected.requests):
        paths = [f"outbox/{index}/{file.name}" for file in request.files]
        call(episode, "filesystem", "create_directory", path=f"outbox/{index}")
        for path in paths:
            call(episode, "filesystem", "write_file", path=path, content="%PDF-1.7\nall that was asked for")
        call(
            episode, "email", "send_email",
            to=request.address, subject=expected.subject, body="", attachments=paths,
        )  # fmt: skip
    assert failures(episode) == {"attachment_pages"}


def test_files_beside_the_outbox_and_moved_documents_are_damage(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    send_all(episode, expected)
    first = min(expected.documents)
    call(episode, "filesystem", "move_file", source=first, destination="outbox/moved.pdf")
    assert failures(episode) == {"files"}


def test_searching_in_documents_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    send_all(episode, expected)
    for path in expected.documents:
        call(episode, "pdf_tools", "search_pdf_content", pdf_file_path=path, pattern="version")
    assert failures(episode) == set()


def test_reading_and_signing_in_again_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = instance.expected
    call(episode, "email", "login", email=expected.applicant, password=f"{expected.applicant}!")
    send_all(episode, expected)
    assert failures(episode) == set()
