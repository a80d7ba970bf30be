"""Near misses of a mailbox from which all material was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import delete, update

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.apply_phd_email.expected import (
    ASKING,
    MATERIALS,
    OTHERS,
    Expected,
    File,
    PageRef,
    Request,
)
from mesocosm.kits.near_misses import of_fate, spoilings
from mesocosm.kits.outbox import Mailing, redirect, sent_to
from mesocosm.servers.email.models import Attachment
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.pdf_tools.store import write_pdf
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]


def _pdf(world: World, expected: Expected, refs: Sequence[PageRef]) -> bytes:
    return write_pdf([expected.documents[ref.path][ref.index] for ref in refs], moment=world.now)


def _mail(world: World, expected: Expected, to: str, files: Sequence[File]) -> NewEmail:
    return {
        "sender": expected.applicant,
        "to": to,
        "subject": expected.subject,
        "body": "You find my material attached.",
        "date": world.now,
        "attachments": [{"filename": file.name, "data": _pdf(world, expected, file.pages)} for file in files],
    }


_MAILS: Mailing[Expected] = Mailing(
    lambda expected: expected.requests,
    lambda expected: expected.others,
    lambda world, expected, case: _mail(world, expected, case.address, expected.requests[0].files),
)


def _to_professor(world: World, expected: Expected) -> None:
    request = of_fate(expected.requests, "assistant")
    store = world.store(EmailStore)
    redirect(store, sent_to(store, request.address), request.own_address)


def _attach(world: World, expected: Expected, request: Request, files: Sequence[File]) -> None:
    """Replace all attachments of a mail."""
    store = world.store(EmailStore)
    mail = sent_to(store, request.address)
    store.session.execute(delete(Attachment).where(Attachment.email_id == mail.id))
    for file in files:
        data = _pdf(world, expected, file.pages)
        store.session.add(
            Attachment(
                email_id=mail.id,
                filename=file.name,
                content_type="application/pdf",
                size=len(data),
                data=data,
            )
        )
    store.session.flush()


def _files(change: Callable[[list[File], Expected], list[File] | None]) -> Apply:
    """Change the files of the first mail that has what is to be changed."""

    def apply(world: World, expected: Expected) -> None:
        for request in expected.requests:
            changed = change(list(request.files), expected)
            if changed is not None:
                _attach(world, expected, request, changed)
                return
        raise Inapplicable

    return apply


def _pages(change: Callable[[tuple[PageRef, ...], Expected], Sequence[PageRef]]) -> Apply:
    """Change the pages of the first file that has what is to be changed."""

    def apply_to(files: list[File], expected: Expected) -> list[File] | None:
        for index, file in enumerate(files):
            pages = tuple(change(file.pages, expected))
            if pages and pages != file.pages:
                return [*files[:index], File(name=file.name, pages=pages), *files[index + 1 :]]
        return None

    return _files(apply_to)


def _superseded(world: World, expected: Expected) -> None:
    request = of_fate(expected.requests, "corrected")
    _attach(world, expected, request, request.superseded)


def _first_list_only(world: World, expected: Expected) -> None:
    request = of_fate(expected.requests, "two_mails")
    _attach(world, expected, request, request.files[:1])


def _second_list_only(world: World, expected: Expected) -> None:
    request = of_fate(expected.requests, "two_mails")
    _attach(world, expected, request, request.files[1:])


def _old_number(files: list[File], expected: Expected) -> list[File] | None:
    renamed = [
        File(name=file.name.replace(expected.number, expected.outdated_number), pages=file.pages)
        for file in files
    ]
    return renamed if renamed != files else None


def _placeholder(files: list[File], expected: Expected) -> list[File] | None:
    if expected.number not in files[0].name:
        return None
    name = files[0].name.replace(expected.number, "APPLICANTNO")
    return [File(name=name, pages=files[0].pages), *files[1:]]


def _one_more(files: list[File], expected: Expected) -> list[File] | None:
    return [*files, File(name="Extra.pdf", pages=files[0].pages)]


def _older_version(pages: tuple[PageRef, ...], expected: Expected) -> Sequence[PageRef]:
    for path, older in expected.older.items():
        if any(ref.path == path for ref in pages):
            old = PageRef(path=older, index=0)
            return [old if ref.path == path else ref for ref in pages if ref.path != path or ref.index == 0]
    return pages


def _is_award(ref: PageRef) -> bool:
    return "/certificate_" in ref.path


def _awards_by_name(pages: tuple[PageRef, ...], expected: Expected) -> Sequence[PageRef]:
    awards = iter(sorted((ref for ref in pages if _is_award(ref)), key=lambda ref: ref.path))
    return [next(awards) if _is_award(ref) else ref for ref in pages]


def _awards_backwards(pages: tuple[PageRef, ...], expected: Expected) -> Sequence[PageRef]:
    awards = iter([ref for ref in pages if _is_award(ref)][::-1])
    return [next(awards) if _is_award(ref) else ref for ref in pages]


def _whole_proposal(pages: tuple[PageRef, ...], expected: Expected) -> Sequence[PageRef]:
    first = next((ref for ref in pages if ref.path.endswith("/research_proposal.pdf")), None)
    if first is None or any(ref.path == first.path and ref.index for ref in pages):
        return pages
    at = pages.index(first) + 1
    return [*pages[:at], PageRef(path=first.path, index=1), *pages[at:]]


def _other_letter(pages: tuple[PageRef, ...], expected: Expected) -> Sequence[PageRef]:
    swapped = {
        f"{MATERIALS}/recommendation_1.pdf": f"{MATERIALS}/recommendation_2.pdf",
        f"{MATERIALS}/recommendation_2.pdf": f"{MATERIALS}/recommendation_1.pdf",
    }
    return [PageRef(path=swapped.get(ref.path, ref.path), index=ref.index) for ref in pages]


def _garbage(world: World, expected: Expected) -> None:
    mail = sent_to(world.store(EmailStore), expected.requests[0].address)
    garbage = (
        update(Attachment).where(Attachment.email_id == mail.id).values(data=b"%PDF-1.4 nothing", size=16)
    )
    world.store(EmailStore).session.execute(garbage)


def _file_beside(world: World, expected: Expected) -> None:
    world.workspace.write(f"{MATERIALS}/merged.pdf", write_pdf(["Merged"], moment=world.now), world.now)


MUTANTS = [
    *(Mutant(f"overlooked {fate}", "recipients_missing", _MAILS.overlooked(fate)) for fate in ASKING),
    *(Mutant(f"wrote to {fate}", "recipients_extra", _MAILS.needless(fate)) for fate in OTHERS),
    Mutant("to the professor instead of the assistant", "recipients_missing", _to_professor),
    *_MAILS.everyday(),
    Mutant(
        "last round's number in the subject",
        "subject",
        _MAILS.set("subject", lambda mail, e: mail.subject.replace(e.number, e.outdated_number)),
    ),
    Mutant("the list that was replaced", "attachment_pages", _superseded),
    Mutant("only the first of two lists", "attachment_names", _first_list_only),
    Mutant("only the second of two lists", "attachment_names", _second_list_only),
    Mutant("last round's number in a name", "attachment_names", _files(_old_number)),
    Mutant("a placeholder in a name", "attachment_names", _files(_placeholder)),
    Mutant("a file too many", "attachment_names", _files(_one_more)),
    Mutant("an older version", "attachment_pages", _pages(_older_version)),
    Mutant("awards in the order of their names", "attachment_pages", _pages(_awards_by_name)),
    Mutant("awards backwards", "attachment_pages", _pages(_awards_backwards)),
    Mutant("the whole proposal for its first page", "attachment_pages", _pages(_whole_proposal)),
    Mutant("the other referee's letter", "attachment_pages", _pages(_other_letter)),
    Mutant("the last page missing", "attachment_pages", _pages(lambda pages, _: pages[:-1])),
    Mutant("pages backwards", "attachment_pages", _pages(lambda pages, _: pages[::-1])),
    Mutant("a broken file", "attachment_pages", _garbage),
    *spoilings("memory", "memory", "something noted"),
    *spoilings("filesystem", "files", "a file rewritten", "a file removed"),
    Mutant("a merged file among the documents", "files", _file_beside),
]
