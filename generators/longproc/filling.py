"""Spreads a case over sheets among others, in the document store or in the workspace."""

from __future__ import annotations

from mesocosm.families.family import Evidence
from mesocosm.generators.longproc.expected import Expected
from mesocosm.generators.longproc.params import Delivery, Params
from mesocosm.kits.paging import read_whole
from mesocosm.kits.procedures import make_instance
from mesocosm.kits.procedures.sheets import CaseSheet, Clerk
from mesocosm.kits.prose import Prose
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calling import Tools, decode
from mesocosm.services.world import World

USER, CLERK, SPACE = "reader@example.org", "clerk@example.org", "cases"
FOLDER = "cases"
ANSWER_FILE = "answer.txt"
_OVERHEAD = {"documents": 75, "filesystem": 16}
"""About how many tokens a sheet costs besides its text: its place on the list."""
_PAGE = 100
_FILE_LINES = 1_000

_WHERE = {
    "documents": f"Its input is spread over sheets in the document store, in the space whose id is {SPACE}: "
    "list_folder lists the sheets there, page by page, and read_document reads one.",
    "filesystem": f"Its input is spread over sheets in the workspace, in the folder {FOLDER}: list_directory "
    "lists the sheets there, page by page, and read_text_file reads one.",
}
_HAND_IN = {
    "answer": "When you are done, call submit_answer once, with the whole answer in the format above and "
    "nothing else.",
    "record": "Write the answer in the format above into the record, line by line: append_lines takes up to "
    "20 lines a call, read_lines shows what you wrote, remove_lines takes back a line and all after it. When "
    "you are done, call claim_done: the last answer in the record is judged.",
    "file": f"Write the answer in the format above into the file {ANSWER_FILE} of the workspace. When you "
    "are done, call claim_done: the last answer in that file is judged.",
}


def generate(world: World, params: Params) -> Expected:
    """Fill the store or the workspace with the sheets of all cases."""
    made = make_instance(params.procedure, params.output_tokens, world.manifest.seed)
    other = make_instance(params.procedure, params.output_tokens, world.manifest.seed + 1_000_003)
    service = "filesystem" if params.delivery == "file" else "documents"
    rng = world.stream("sheets")
    clerk = Clerk(rng, Prose(world.stream("notes")), made.procedure, _OVERHEAD[service])
    own = clerk.sheets(made.case)
    others, left = clerk.distractors(params.output_tokens, params.distractor_cases, params.filler_tokens)
    sheets = clerk.padded([*own, *others], left)
    names = {sheet.name for sheet in own}
    sheets.sort(key=lambda sheet: sheet.name)
    _put(world, sheets, params.delivery)
    evidence = [sheet for sheet in sheets if sheet.name in names]
    return Expected(
        public={
            "rules": made.rules,
            "reference": own[0].reference,
            "where": _WHERE[service],
            "question": made.procedure.question(made.case),
            "hand_in": _HAND_IN[params.delivery],
        },
        evidence=[Evidence(service=service, contains=sheet.head) for sheet in evidence],
        procedure=params.procedure,
        delivery=params.delivery,
        level=params.output_tokens,
        output_tokens=made.output_tokens,
        case=made.case.model_dump(mode="json"),
        gold=made.gold,
        other_gold=other.gold,
        sheets=[sheet.name for sheet in sheets],
        own_sheets=[sheet.name for sheet in evidence],
    )


def _put(world: World, sheets: list[CaseSheet], delivery: Delivery) -> None:
    if delivery == "file":
        files = ((f"{FOLDER}/{sheet.name}.txt", sheet.text.encode()) for sheet in sheets)
        world.workspace.fill(files, world.now)
        return
    store = world.store(DocumentsStore)
    store.items.create_user(CLERK, "Clerk")
    store.items.create_user(USER, "Reader")
    store.sign_in(USER)
    store.items.create_space("Cases", owner=CLERK, space_id=SPACE)
    store.sharing.give(SPACE, USER, "viewer")
    store.filling.add_documents(
        SPACE,
        [{"title": sheet.name, "content": sheet.text, "file_id": f"sheet-{sheet.name}"} for sheet in sheets],
    )


def survey(tools: Tools, expected: Expected) -> None:
    """List the sheets and read each."""
    if expected.delivery == "file":
        pages = max(1, -(-len(expected.sheets) // _FILE_LINES))
        for page in range(1, pages + 1):
            tools.look("filesystem", "list_directory", {"path": FOLDER, "page": page})
        for name in expected.sheets:
            tools.look("filesystem", "read_text_file", {"path": f"{FOLDER}/{name}.txt"})
        return
    page, total = 1, len(expected.sheets)
    while (page - 1) * _PAGE < max(total, 1):
        shown = tools.look("documents", "list_folder", {"folder_id": SPACE, "page": page, "per_page": _PAGE})
        total = decode(str(shown[0])).get("total", total)
        page += 1
    for name in expected.sheets:
        read_whole(tools, f"sheet-{name}")
