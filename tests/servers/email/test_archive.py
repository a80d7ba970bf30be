"""Exports, imports and attachments in the workspace."""

import orjson
import pytest

from mesocosm.services.calling import ToolError


def exported(mail, name="emails_export.json"):
    return orjson.loads((mail.world.workspace.root / name).read_bytes())


def write(mail, document, name="in.json"):
    (mail.world.workspace.root / name).write_bytes(orjson.dumps(document))


RECORD = {
    "subject": "Old mail",
    "from_addr": "old@friend.org",
    "to_addr": "ann@mcp.com",
    "date": "Wed, 01 Jan 2025 10:00:00 +0200",
    "body_text": "Hello",
}


def test_export_writes_the_inbox_by_default(mail):
    assert mail.export_emails() == "Successfully exported 3 emails to /workspace/emails_export.json"
    document = exported(mail)

    assert document["total_emails"] == 3
    assert [email["email_id"] for email in document["emails"]] == ["3", "2", "1"]
    assert document["emails"][2]["body_text"].startswith("The café budget")
    assert document["emails"][2]["attachments"][0]["filename"] == "budget.csv"


def test_export_takes_a_folder_a_limit_or_everything(mail):
    mail.move_email(email_id="1", target_folder="Archive")

    assert "exported 1 emails" in mail.export_emails(folder="Archive", export_path="out/a.json")
    assert exported(mail, "out/a.json")["emails"][0]["folder"] == "Archive"
    assert "exported 1 emails" in mail.export_emails(max_emails=1)
    assert "  - Archive: 1 emails" in mail.export_emails(export_all_folders=True)
    assert exported(mail)["total_emails"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folder": "Nowhere"}, "Folder not found: Nowhere"),
        ({"folder": "INBOX", "export_all_folders": True}, "Cannot specify both"),
        ({"max_emails": 0}, "max_emails must be 1 or more"),
        ({"max_emails": -5}, "max_emails must be 1 or more"),
        ({"export_path": "../out.json"}, "outside the workspace"),
        ({"export_path": "/tmp/out.json"}, "outside the workspace"),
        ({"export_path": ""}, "must not be empty"),
        ({"export_path": "."}, "/workspace is"),
    ],
)
def test_a_refused_export_writes_nothing(mail, arguments, message):
    with pytest.raises(ToolError, match=message):
        mail.export_emails(**arguments)
    assert list(mail.world.workspace.files()) == []


def test_an_export_can_be_imported_into_another_mailbox(mail):
    original = mail.read_email(email_id="1")
    mail.create_folder(folder_name="Work")
    mail.move_email(email_id="1", target_folder="Work")
    mail.export_emails(export_all_folders=True)
    mail.as_user("eve@mcp.com")
    answer = mail.import_emails(import_path="emails_export.json")
    copy = mail.read_email(email_id=mail.get_emails(folder="Work")["emails"][0]["id"])

    assert "Successfully imported 3 emails from /workspace/emails_export.json" in answer
    assert "  - Work: 1 emails" in answer
    assert {**copy, "id": "1", "folder": "INBOX"} == original


def test_import_can_put_everything_into_one_folder(mail):
    write(mail, {"emails": [{**RECORD, "folder": "Elsewhere"}, RECORD]})
    mail.import_emails(import_path="in.json", target_folder="Archive", preserve_folders=False)

    emails = mail.get_emails(folder="Archive")["emails"]
    assert [email["date"] for email in emails] == ["2025-01-01T08:00:00Z"] * 2
    assert "Elsewhere" not in mail.get_folders()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (1, "not an object"),
        ({**RECORD, "subject": None}, "'subject' is missing"),
        ({**RECORD, "from_addr": "x"}, "Invalid FROM addresses: x"),
        ({**RECORD, "to_addr": "nonsense"}, "Invalid TO addresses"),
        ({**RECORD, "date": "not a date"}, "Invalid date"),
        ({**RECORD, "is_read": "yes"}, "must be true or false"),
        ({**RECORD, "body_text": 5}, "must be text"),
        ({**RECORD, "folder": "a/b"}, "invalid character"),
        ({**RECORD, "folder": 7}, "must be text"),
        ({**RECORD, "attachments": 7}, "must be a list"),
        ({**RECORD, "attachments": [{"filename": "a"}]}, "needs 'filename' and 'content'"),
        ({**RECORD, "attachments": [{"filename": "../a", "content": ""}]}, "attachment name"),
        ({**RECORD, "attachments": [{"filename": "a", "content": "€"}]}, "not base64"),
    ],
)
def test_one_bad_record_refuses_the_whole_import(mail, record, message):
    write(mail, {"emails": [{**RECORD, "folder": "Fresh"}, record]})
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.import_emails(import_path="in.json")
    assert mail.tables() == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"notanemail": 1}', b'{"emails": {}}', b"\xff\xfe"])
def test_a_file_that_is_no_export_is_refused(mail, content):
    (mail.world.workspace.root / "in.json").write_bytes(content)
    with pytest.raises(ToolError, match=r"/workspace/in\.json is not"):
        mail.import_emails(import_path="in.json")


def test_import_needs_an_existing_file_and_folder(mail):
    write(mail, {"emails": [RECORD]})
    with pytest.raises(ToolError, match=r"No such file: /workspace/none\.json"):
        mail.import_emails(import_path="none.json")
    with pytest.raises(ToolError, match="Folder not found: Nowhere"):
        mail.import_emails(import_path="in.json", target_folder="Nowhere")
    with pytest.raises(ToolError, match="outside the workspace"):
        mail.import_emails(import_path="../world.json")


def test_download_attachment_does_not_overwrite_a_file(mail):
    first = mail.download_attachment(email_id="1", attachment_filename="budget.csv")
    second = mail.download_attachment(email_id="1", attachment_filename="budget.csv")

    assert first == {
        "filename": "budget.csv",
        "size": 20,
        "content_type": "text/csv",
        "path": "/workspace/budget.csv",
        "message": "Attachment saved to /workspace/budget.csv",
    }
    assert second["path"] == "/workspace/budget(1).csv"
    assert (mail.world.workspace.root / "budget(1).csv").read_bytes() == b"item,cost\ncoffee,40\n"


@pytest.mark.parametrize(
    ("email_id", "name", "message"),
    [
        ("99", "budget.csv", "Email not found: 99"),
        ("1", "other.csv", r"Attachment not found: other\.csv \(email 1: it has budget\.csv\)"),
        ("1", "../budget.csv", "Attachment not found"),
        ("2", "budget.csv", "it has none"),
    ],
)
def test_download_of_what_is_not_there_is_refused(mail, email_id, name, message):
    with pytest.raises(ToolError, match=message):
        mail.download_attachment(email_id=email_id, attachment_filename=name)
    assert list(mail.world.workspace.files()) == []
