"""Disturbances over the vendors' own protocols: their clients see their own exceptions, and try again."""

from __future__ import annotations

import json
import smtplib
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from campus import PEOPLE, fill_campus
from githost import fill as fill_githost
from google.auth.exceptions import RefreshError
from googleapiclient.errors import HttpError
from later import Later
from rest import mailing, test_calendar, test_google_cloud, test_google_sheet, test_snowflake
from rest.hosted import HostedWorld

from mesocosm.services.calls import COLLEAGUE

EpisodeOf = Callable[..., HostedWorld]
pygithub, canvasapi, gspread = Later("github"), Later("canvasapi"), Later("gspread")
bigquery, google = Later("google.cloud.bigquery"), Later("google.api_core.exceptions")
connector = Later("snowflake.connector")
pytestmark = pytest.mark.filterwarnings("ignore")

OFTEN = "errors=0.6"
"""So often that a client that does not try again hardly gets through."""


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients wait for nothing between two tries."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def kept_failing(hosted: HostedWorld) -> int:
    """How many calls were not made."""
    return sum(entry.status == "disturbed" for entry in hosted.journal())


def touched(hosted: HostedWorld) -> str:
    """The table in which somebody else changed a row after the last call."""
    last = hosted.journal()[-1]
    assert last.tool == COLLEAGUE
    return str(json.loads(last.result or "")["table"])


def test_pygithub(episode_of: EpisodeOf, hasty: None) -> None:
    hosted = episode_of(["codehost"], fill_githost)

    def client(**options: Any) -> Any:
        url, auth = hosted.api("codehost") + "/api/v3", pygithub.Auth.Token(hosted.id)
        return pygithub.Github(base_url=url, auth=auth, seconds_between_requests=None, **options)

    once = client(retry=None)
    for kind, expected, status in (
        ("rate_limits", pygithub.RateLimitExceededException, 403),
        ("errors", pygithub.GithubException, 502),
        ("timeouts", pygithub.GithubException, 504),
        ("sessions", pygithub.BadCredentialsException, 401),
    ):
        hosted.disturb(f"{kind}=1")
        with pytest.raises(expected) as refused:
            once.get_user().login  # noqa: B018 - asks the server
        assert refused.value.status == status
        assert kind != "rate_limits" or refused.value.headers["retry-after"] == "1"
    hosted.disturb(OFTEN)
    before = kept_failing(hosted)
    patient = client(retry=pygithub.GithubRetry(total=20))
    assert [one.name for one in patient.get_organization("acme").get_repos()] == ["app"]
    assert kept_failing(hosted) > before
    hosted.disturb("stale=1")
    issues = once.get_repo("acme/app").get_issues
    listed = [issue.title for issue in issues()]
    once.get_repo("acme/app").create_issue("Fresh")
    assert [issue.title for issue in issues()] == listed
    assert once.get_repo("acme/app").get_issue(1).title
    once.get_user().login  # noqa: B018
    assert "Fresh" in [issue.title for issue in issues()]
    hosted.disturb("colleagues=1")
    stars = [one.stargazers_count for one in once.get_organization("acme").get_repos()]
    assert touched(hosted) == "repositories"
    assert stars == [5]


def test_canvasapi(episode_of: EpisodeOf) -> None:
    hosted = episode_of(["canvas"], fill_campus)
    canvas = canvasapi.Canvas(hosted.api("canvas"), hosted.id)
    errors = Later("canvasapi.exceptions")
    for kind, expected, said in (
        ("rate_limits", errors.Forbidden, "Rate Limit Exceeded"),
        ("errors", errors.CanvasException, "status code 500"),
        ("timeouts", errors.CanvasException, "status code 504"),
        ("sessions", errors.InvalidAccessToken, "Expired access token"),
    ):
        hosted.disturb(f"{kind}=1")
        with pytest.raises(expected, match=said):
            canvas.get_current_user()
    hosted.disturb("stale=1")
    before = [one.id for one in canvas.get_conversations()]
    canvas.create_conversation([str(PEOPLE["ta"])], "Hello")
    assert [one.id for one in canvas.get_conversations()] == before
    for _ in range(3):
        canvas.get_current_user()
    assert [one.id for one in canvas.get_conversations()] != before
    hosted.disturb("colleagues=1")
    canvas.get_current_user()
    assert touched(hosted) in ("conversation_participants", "users")


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        ("rate_limits", 403, "rateLimitExceeded"),
        ("errors", 503, "backendError"),
        ("timeouts", 504, "deadlineExceeded"),
    ],
)
def test_googles_client_for_calendars(episode_of: EpisodeOf, kind: str, status: int, reason: str) -> None:
    hosted = episode_of(["calendar"], test_calendar.fill)
    hosted.disturb(f"{kind}=1")
    with test_calendar.client(hosted) as service:
        with pytest.raises(HttpError) as refused:
            service.events().list(calendarId="primary").execute()
        assert (refused.value.resp.status, refused.value.error_details[0]["reason"]) == (status, reason)
        hosted.disturb(f"{kind}=0.5")
        found = service.events().list(calendarId="primary").execute(num_retries=20)
        assert found["items"]
        hosted.disturb("colleagues=1")
        service.events().list(calendarId="primary").execute()
        assert touched(hosted) == "entries"


def test_gspread(episode_of: EpisodeOf, hasty: None) -> None:
    hosted = episode_of(["google_sheet"], test_google_sheet.fill)
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {hosted.id}"
        for host in ("https://sheets.googleapis.com/", "https://www.googleapis.com/"):
            session.mount(host, test_google_sheet._ToEpisode(hosted.api("google_sheet")))
        client = gspread.Client(auth=None, session=session)
        for kind, status, name in (
            ("rate_limits", 429, "RESOURCE_EXHAUSTED"),
            ("errors", 503, "UNAVAILABLE"),
            ("timeouts", 504, "DEADLINE_EXCEEDED"),
            ("sessions", 401, "UNAUTHENTICATED"),
        ):
            hosted.disturb(f"{kind}=1")
            with pytest.raises(gspread.exceptions.APIError) as refused:
                client.list_spreadsheet_files()
            assert (refused.value.code, refused.value.error["status"]) == (status, name)
        hosted.disturb("rate_limits=0.6,errors=0.4")
        patient = gspread.Client(auth=None, session=session, http_client=gspread.BackOffHTTPClient)
        assert "Budget 2025" in [one["name"] for one in patient.list_spreadsheet_files()]
        hosted.disturb("stale=1")
        listed = client.list_spreadsheet_files()
        client.create("Fresh")
        assert client.list_spreadsheet_files() == listed
        hosted.disturb("colleagues=1")
        client.list_spreadsheet_files()
        assert touched(hosted) == "files"


def test_bigquerys_client(episode_of: EpisodeOf, hasty: None) -> None:
    hosted = episode_of(["google_cloud"], test_google_cloud.fill)
    with bigquery.Client(**test_google_cloud.options(hosted)) as client:
        for kind, expected, name in (
            ("rate_limits", google.TooManyRequests, "RESOURCE_EXHAUSTED"),
            ("errors", google.ServiceUnavailable, "UNAVAILABLE"),
            ("timeouts", google.GatewayTimeout, "DEADLINE_EXCEEDED"),
            ("sessions", RefreshError, ""),  # it is given no secret with which to get another token
        ):
            hosted.disturb(f"{kind}=1")
            with pytest.raises(expected):
                client.get_table("shop.items", retry=None)
            told = requests.get(f"{hosted.api('google_cloud')}/bigquery/v2/projects/local-project/datasets")
            assert kind == "sessions" or told.json()["error"]["status"] == name
        hosted.disturb("rate_limits=0.8,errors=0.5")
        before = kept_failing(hosted)
        assert client.get_table("shop.items").num_rows == 25
        assert len(list(client.list_rows("shop.items"))) == 25
        assert kept_failing(hosted) > before
        hosted.disturb("stale=1")
        assert [one.dataset_id for one in client.list_datasets()] == ["shop"]
        client.create_dataset("fresh")
        assert [one.dataset_id for one in client.list_datasets()] == ["shop"]


def test_snowflakes_connector(episode_of: EpisodeOf) -> None:
    hosted = episode_of(["snowflake"], test_snowflake.fill)
    with test_snowflake.connect(hosted, schema="PUBLIC") as connection:
        cursor = connection.cursor()
        for kind, number in (("errors", 603), ("timeouts", 630)):
            hosted.disturb(f"{kind}=1")
            with pytest.raises(connector.errors.Error) as refused:
                cursor.execute("select 1")
            assert refused.value.errno == number
        for kind, often in (
            ("sessions", 12),
            ("rate_limits", 3),
        ):  # it waits a second where there are too many
            hosted.disturb(f"{kind}=0.2")
            before = kept_failing(hosted)
            for number in range(often):
                assert cursor.execute("select %s", (number,)).fetchone() == (number,)
            assert kept_failing(hosted) > before, kind
        hosted.disturb("errors=0")


@pytest.fixture
def host(tmp_path: Any) -> Iterator[mailing.MailHost]:
    with mailing.mail_host(tmp_path) as host:
        yield host


def test_imaplib_and_smtplib(host: mailing.MailHost) -> None:
    hosted = host.episode()
    with host.imap(hosted) as client:
        for kind, code in (("rate_limits", b"LIMIT"), ("errors", b"UNAVAILABLE"), ("sessions", b"EXPIRED")):
            hosted.disturb(f"{kind}=1")
            status, (said,) = client.search(None, "ALL")
            assert (status, said[: len(code) + 2]) == ("NO", b"[%b]" % code)
        hosted.disturb(OFTEN)
        answers = [client.uid("STORE", "1", "+FLAGS", r"(\Answered)")[0] for _ in range(20)]
        assert {*answers} == {"OK", "NO"}
        hosted.disturb("errors=0")
        assert mailing.found(client, "ANSWERED") == [1]
    letter = mailing.letter()
    with host.smtp(hosted) as sender:
        for kind, code in (("rate_limits", 450), ("errors", 451), ("timeouts", 451), ("sessions", 454)):
            hosted.disturb(f"{kind}=1")
            with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
                sender.send_message(letter)
            assert refused.value.recipients[mailing.BOB][0] == code
            sender.rset()
        hosted.disturb("errors=0")
        sender.send_message(letter)
