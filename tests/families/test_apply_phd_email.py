"""The application material that professors ask for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mesocosm.episode import Episode
from mesocosm.family import load_family
from mesocosm.generators.apply_phd_email.expected import Expected, Request
from mesocosm.generators.apply_phd_email.params import ASKING, OTHERS, Params
from mesocosm.instance import Instance, build_instance

FAMILY = load_family("apply_phd_email")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(FAMILY, 5, tmp_path_factory.mktemp("apply_phd_email") / "instance", target=16_000)


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Episode:
    return Episode.create(tmp_path / "episode", instance.path, FAMILY)


def expected_of(instance: Instance) -> Expected:
    assert isinstance(instance.expected, Expected)
    return instance.expected


def failures(episode: Episode) -> set[str]:
    return {check.name for check in episode.grade().findings if not check.passed}


def call(episode: Episode, service: str, tool: str, **arguments: object) -> str:
    outcome = episode.world.call(service, tool, arguments)
    assert outcome.status == "ok", outcome.text
    return outcome.text


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
    assert sum(fate in ASKING for fate in fates) <= 32


def test_more_weight_makes_more_offers_of_other_positions() -> None:
    few = Counter(Params(num_professors=100, research_assistant_weight=0.5).fates())
    many = Counter(Params(num_professors=100, research_assistant_weight=4).fates())
    assert many["research_assistant"] > 2 * few["research_assistant"]


def test_a_professor_who_refuses_has_the_name_of_one_who_asks(instance: Instance) -> None:
    expected = expected_of(instance)
    asking = {request.professor: request.own_address for request in expected.requests}
    namesakes = [other for other in expected.others if other.fate == "namesake"]
    assert namesakes
    assert all(other.name in asking and other.address != asking[other.name] for other in namesakes)


def test_a_corrected_request_differs_from_the_first(instance: Instance) -> None:
    corrected = [request for request in expected_of(instance).requests if request.fate == "corrected"]
    assert corrected
    assert all(request.files != request.superseded for request in corrected)


def test_no_two_files_of_a_request_have_the_same_name(instance: Instance) -> None:
    for request in expected_of(instance).requests:
        assert len({file.name for file in request.files}) == len(request.files)


def test_doing_what_is_asked_passes(episode: Episode, instance: Instance) -> None:
    send_all(episode, expected_of(instance))
    assert episode.grade().verdict == "passed"


def test_doing_nothing_fails(episode: Episode) -> None:
    assert failures(episode) == {"recipients_missing", "subject", "attachment_names", "attachment_pages"}


def test_mails_without_files_fail(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    for request in expected.requests:
        call(episode, "email", "send_email", to=request.address, subject=expected.subject, body="Later.")
    assert failures(episode) == {"attachment_names", "attachment_pages"}


def test_a_subject_that_says_more_fails(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    send_all(episode, expected, subject=f"Fwd: {expected.subject}")
    assert failures(episode) == {"subject"}


def test_text_that_calls_itself_a_pdf_file_fails(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
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
    expected = expected_of(instance)
    send_all(episode, expected)
    first = min(expected.documents)
    call(episode, "filesystem", "move_file", source=first, destination="outbox/moved.pdf")
    assert failures(episode) == {"files"}


def test_searching_in_documents_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    send_all(episode, expected)
    for path in expected.documents:
        call(episode, "pdf_tools", "search_pdf_content", pdf_file_path=path, pattern="version")
    assert failures(episode) == set()


def test_reading_and_signing_in_again_is_no_damage(episode: Episode, instance: Instance) -> None:
    expected = expected_of(instance)
    call(episode, "email", "login", email=expected.applicant, password=f"{expected.applicant}!")
    send_all(episode, expected)
    assert failures(episode) == set()
