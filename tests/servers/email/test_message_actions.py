"""Folders, marks, moves and deletions."""

import pytest

from mesocosm.services.calling import ToolError


def ids(result):
    return [email["id"] for email in result["emails"]]


def test_get_folders_counts_what_is_there(mail):
    assert mail.get_folders().splitlines() == [
        "Available folders:",
        "1. INBOX (3 total, 2 unread)",
        "2. Sent (0 total, 0 unread)",
        "3. Drafts (0 total, 0 unread)",
        "4. Trash (0 total, 0 unread)",
        "5. Spam (0 total, 0 unread)",
        "6. Archive (0 total, 0 unread)",
    ]


def test_counts_agree_after_changes(mail):
    mail.mark_emails(email_ids=["1"], status="read")
    mail.delete_email(email_id="3")
    mail.save_draft(subject="s", body="b")
    stats = mail.get_mailbox_stats()

    assert (stats["total_emails"], stats["total_unread"]) == (4, 1)
    assert stats["folders"]["INBOX"] == {"total": 2, "unread": 0}
    assert stats["folders"]["Trash"] == {"total": 1, "unread": 1}
    assert mail.get_unread_count() == "Total unread messages: 1"
    assert mail.get_unread_count(folder_name="inbox") == "Unread messages in INBOX: 0"
    assert mail.get_mailbox_stats(folder_name="Drafts")["folders"] == {"Drafts": {"total": 1, "unread": 0}}


@pytest.mark.parametrize("tool", ["get_mailbox_stats", "get_unread_count", "delete_folder"])
@pytest.mark.parametrize("name", ["Nowhere", "", "*", "x\0"])
def test_an_unknown_folder_is_not_found(mail, tool, name):
    with pytest.raises(ToolError, match="Folder not found"):
        getattr(mail, tool)(folder_name=name)


def test_create_folder_makes_a_place_for_mail(mail):
    assert mail.create_folder(folder_name="Projekte 2025 (größer)") == (
        "Folder 'Projekte 2025 (größer)' created successfully"
    )
    moved = mail.move_email(email_id="1", target_folder="Projekte 2025 (größer)")
    assert moved["folder"] == "Projekte 2025 (größer)"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "cannot be empty"),
        (" x", "blank"),
        ("a/b", "invalid character: /"),
        ("..", r"invalid character: \.\."),
        ("*", "invalid character"),
        ("a\nb", "single line"),
        ("x" * 256, "too long"),
        ("inbox", "already exists"),
        ("Archive", "already exists"),
    ],
)
def test_create_folder_refuses_bad_and_taken_names(mail, name, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.create_folder(folder_name=name)
    assert mail.tables() == before


def test_delete_folder_removes_the_messages_in_it(mail):
    mail.create_folder(folder_name="Old")
    mail.move_email(email_id="1", target_folder="Old")

    assert mail.delete_folder(folder_name="Old") == "Folder 'Old' deleted successfully"
    assert "Old" not in mail.get_folders()
    with pytest.raises(ToolError, match="Email not found"):
        mail.read_email(email_id="1")
    assert mail.search_emails(query="budget", folder="*")["total"] == 0


@pytest.mark.parametrize("name", ["INBOX", "inbox", "Sent", "Drafts", "Trash", "Spam", "Archive"])
def test_system_folders_cannot_be_deleted(mail, name):
    with pytest.raises(ToolError, match=f"Cannot delete system folder: {name}"):
        mail.delete_folder(folder_name=name)


@pytest.mark.parametrize(
    ("status", "column", "value"),
    [
        ("read", "is_read", True),
        ("unread", "is_read", False),
        ("important", "is_important", True),
        ("not_important", "is_important", False),
    ],
)
def test_mark_emails_sets_the_flag_of_all(mail, status, column, value):
    result = mail.mark_emails(email_ids=["3", "1", "2", "1"], status=status)

    assert result["count"] == 3
    assert [email["id"] for email in result["updated_emails"]] == ["3", "1", "2"]
    assert all(email[column] is value for email in mail.get_emails()["emails"])


@pytest.mark.parametrize(
    ("tool", "rest"),
    [
        ("mark_emails", {"status": "read"}),
        ("move_emails", {"target_folder": "Archive"}),
        ("delete_emails", {}),
    ],
)
def test_a_batch_with_an_unknown_id_does_nothing(mail, tool, rest):
    before = mail.tables()
    with pytest.raises(ToolError, match=r"Email not found: nope, 99\. No email was changed"):
        getattr(mail, tool)(email_ids=["1", "nope", "99"], **rest)
    with pytest.raises(ToolError, match="at least one"):
        getattr(mail, tool)(email_ids=[], **rest)
    with pytest.raises(ToolError, match="At most 1000"):
        getattr(mail, tool)(email_ids=["1"] * 1001, **rest)
    assert mail.tables() == before


@pytest.mark.parametrize("status", ["", "bogus", "READ", "flagged"])
def test_mark_emails_refuses_an_unknown_status(mail, status):
    with pytest.raises(ToolError, match="Invalid status"):
        mail.mark_emails(email_ids=["1"], status=status)


def test_move_emails_moves_all_and_keeps_their_ids(mail):
    result = mail.move_emails(email_ids=["1", "2"], target_folder="Archive")

    assert [(email["id"], email["folder"]) for email in result["moved_emails"]] == [
        ("1", "Archive"),
        ("2", "Archive"),
    ]
    assert ids(mail.get_emails(folder="Archive")) == ["2", "1"]
    assert mail.move_email(email_id="1", target_folder="Archive")["folder"] == "Archive"


@pytest.mark.parametrize(
    ("target", "message"),
    [("Nowhere", "Folder not found: Nowhere"), ("Drafts", "Only drafts can lie in Drafts")],
)
def test_a_refused_move_leaves_no_trace(mail, target, message):
    before = mail.tables()
    with pytest.raises(ToolError, match=message):
        mail.move_emails(email_ids=["1", "2"], target_folder=target)
    with pytest.raises(ToolError, match=message):
        mail.move_email(email_id="1", target_folder=target)
    assert mail.tables() == before


def test_delete_email_moves_to_trash_and_from_there_removes_for_good(mail):
    assert mail.delete_email(email_id="1") == "Email 1 deleted successfully"
    assert mail.read_email(email_id="1")["folder"] == "Trash"
    mail.delete_email(email_id="1")
    with pytest.raises(ToolError, match="Email not found: 1"):
        mail.delete_email(email_id="1")
    assert not any("budget.csv" in line for line in mail.tables())


def test_delete_emails_counts_each_message_once(mail):
    assert mail.delete_emails(email_ids=["1", "2", "1"]) == "Successfully deleted 2 emails"
    assert ids(mail.get_emails()) == ["3"]


def test_ids_are_not_given_again(mail):
    mail.delete_email(email_id="3")
    mail.delete_email(email_id="3")
    assert mail.send_email(to="x@y.org", subject="s", body="b")["id"] == "4"
