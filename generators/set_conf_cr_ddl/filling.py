"""Fills the services with a plan and its texts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import cast

from mesocosm.families.family import Evidence
from mesocosm.generators.set_conf_cr_ddl.answering import answered
from mesocosm.generators.set_conf_cr_ddl.composing import Composer, mail_size
from mesocosm.generators.set_conf_cr_ddl.conferences import Deadline, Mail, Office, Plan, Submission
from mesocosm.generators.set_conf_cr_ddl.decoys import decoys
from mesocosm.generators.set_conf_cr_ddl.expected import (
    INFO_FILE,
    Expected,
    NotDue,
    Reason,
    Reminder,
    title_of,
)
from mesocosm.generators.set_conf_cr_ddl.letters import Letters
from mesocosm.generators.set_conf_cr_ddl.params import Params
from mesocosm.generators.set_conf_cr_ddl.planning import other_papers, plan_world
from mesocosm.generators.set_conf_cr_ddl.traffic import Appointment, Traffic, cost, reminders_held
from mesocosm.kits.mailbox import message_id
from mesocosm.kits.moments import in_words, shown_offset, utc_stamp
from mesocosm.kits.prose import Prose, RecentRuns
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.event_input import NewEvent
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.store.bulk import NewEmail
from mesocosm.services.world import World


def generate(world: World, params: Params) -> Expected:
    """Build the mailbox, the calendar and the file."""
    rng = world.rng
    prose = Prose(rng)
    plan = plan_world(params, rng, prose)
    world.set_now(plan.office.now)
    size = mail_size(params.num_target)
    memory = RecentRuns()
    letters = Letters(rng, Composer(rng, prose, size, plan.office, memory))
    written = [(one, letters.about(one)) for one in plan.submissions]
    around = world.stream("surroundings")
    other_prose = Prose(around)
    composer = Composer(around, other_prose, size, plan.office, memory)
    others = Letters(around, composer)
    misleading = decoys(plan, params.decoy_rate, composer, others, around)
    traffic = Traffic(plan, composer, others, other_prose, around)
    # First, so that they are the same however much there is around them.
    noise = traffic.noise(params.noise_emails)
    papers = other_papers(params, plan, letters.generous, around, other_prose)
    alike = traffic.papers(papers, round(params.filler_tokens * params.lookalike_share))
    rest = params.filler_tokens - sum(map(cost, alike))
    everyday = traffic.worth(rest)
    more = [*alike, *everyday, *noise]
    around_it = [*misleading, *(item for item in more if isinstance(item, Mail))]
    # What is too little for a mail of its own makes one of a conference longer.
    domains = traffic.domains
    theirs = [at for at, mail in enumerate(around_it) if mail.author.email.partition("@")[2] in domains]
    if theirs:
        around_it[theirs[-1]] = composer.longer(around_it[theirs[-1]], rest - sum(map(cost, everyday)))
    mails = [*(mail for _, some in written for mail in some), *around_it]
    events = [*reminders_held(plan.submissions, "held"), *traffic.about_camera_ready(_similar(plan))]
    events += [item for item in more if isinstance(item, Appointment)]
    _fill_mailbox(world, plan.office, mails)
    ids = _fill_calendar(world, plan.office, events)
    info = _info(plan)
    world.workspace.write(INFO_FILE, info.encode(), plan.office.now - dt.timedelta(days=2))
    evidence = [Evidence(service="filesystem", contains=info.splitlines()[0])]
    evidence += [Evidence(service="email", contains=mail.body) for _, some in written for mail in some]
    evidence += [Evidence(service="calendar", contains=ids[key]) for key in ids if key[0] == "held"]
    return _expected(plan, evidence, ids, misleading)


def _similar(plan: Plan) -> int:
    """Return the number of appointments that look like reminders."""
    return max(1, (len(plan.submissions) + 1) // 6)


# -- the services ------------------------------------------------------------------------------------------


def _info(plan: Plan) -> str:
    """The file: one line for each submission."""
    lines = [
        f"Submissions of the {plan.office.group}",
        "",
        "Conference | Track | Paper | The conference writes from",
        *(
            f"{one.edition.label} | {one.track} | {one.number} | {one.edition.conference.domain}"
            for one in plan.submissions
        ),
    ]
    return "\n".join(lines) + "\n"


def _fill_mailbox(world: World, office: Office, mails: Sequence[Mail]) -> None:
    store, user = world.store(EmailStore), office.user
    assert user.person
    store.create_account(user.email, user.name, f"{user.person.last.lower()}-{office.now.year}")
    store.sign_in(user.email)
    read = world.stream("opened")
    ordered = sorted(mails, key=lambda mail: (mail.moment, mail.author.email, mail.subject))
    received = [_mail(mail, office, is_read=read.random() < 0.7) for mail in ordered]
    sent = []
    for place, answer in answered(ordered, office, world):
        mail, new = ordered[place], received[place]
        new["message_id"] = message_id(new["sender"], mail.moment, mail.subject)
        new["is_read"] = True
        sent.append(_answer(answer, new))
    store.add_emails(user.email, "INBOX", received)
    store.add_emails(user.email, "Sent", sorted(sent, key=lambda new: (new["date"], new["subject"])))


def _answer(answer: Mail, to: NewEmail) -> NewEmail:
    """An answer as it lies in Sent."""
    return {
        "sender": f"{answer.author.name} <{answer.author.email}>",
        "to": to["sender"],
        "subject": answer.subject,
        "body": answer.body,
        "date": answer.moment,
        "is_read": True,
        "in_reply_to": to["message_id"],
        "references": to["message_id"],
    }


def _mail(mail: Mail, office: Office, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": f"{mail.author.name} <{mail.author.email}>",
        "to": f"{office.user.name} <{office.user.email}>",
        "subject": mail.subject,
        "body": mail.body,
        "date": mail.moment,
        "is_read": is_read,
    }
    if mail.thread:
        new["thread"] = mail.thread
    return new


def _fill_calendar(world: World, office: Office, events: Sequence[Appointment]) -> dict[tuple[str, int], str]:
    """Fill the calendar; returns the ids of the events that have a key."""
    store, user = world.store(CalendarStore), office.user
    store.create_account(user.email, user.name, str(office.zone))
    store.sign_in(user.email)
    made = world.stream("made")
    # By when they were made, which has nothing to do with what they are.
    dated = []
    for event in events:
        moment = event.made
        if moment is None:
            last = min(office.now, event.start) - dt.timedelta(hours=12)
            moment = last - dt.timedelta(seconds=made.randint(0, 3_600_000))
        else:
            moment += dt.timedelta(seconds=made.randint(300, 2_400))
        dated.append((moment, event))
    dated.sort(key=lambda pair: (pair[0], pair[1].title, pair[1].start))
    ids = store.add_events(user.email, [_event(event, moment, office) for moment, event in dated])
    keyed: dict[tuple[str, int], str] = {}
    for (_, event), id_ in zip(dated, ids, strict=True):
        if event.key:
            kind, number = event.key
            keyed[kind, number or len(keyed) + 10_000] = id_
    return keyed


def _event(event: Appointment, made: dt.datetime, office: Office) -> NewEvent:
    new: NewEvent = {
        "summary": event.title,
        "start": {"dateTime": utc_stamp(event.start), "timeZone": str(office.zone)},
        "end": {"dateTime": utc_stamp(event.end), "timeZone": str(office.zone)},
        "created": utc_stamp(made),
    }
    if event.description:
        new["description"] = event.description
    if event.location:
        new["location"] = event.location
    return new


# -- the truth ---------------------------------------------------------------------------------------------


def _expected(
    plan: Plan,
    evidence: Sequence[Evidence],
    ids: dict[tuple[str, int], str],
    misleading: Sequence[Mail],
) -> Expected:
    office = plan.office
    now = office.now
    return Expected(
        public={
            "user": office.user.name,
            "group": office.group,
            "now": in_words(now),
            "zone": str(office.zone),
            "offset": shown_offset(now),
        },
        evidence=list(evidence),
        now=now.astimezone(dt.UTC),
        account=office.user.email,
        reminders=[_reminder(one, ids, misleading) for one in plan.submissions if one.due],
        not_due=[_not_due(one, ids) for one in plan.submissions if not one.due],
        others=[id_ for (kind, _), id_ in ids.items() if kind != "held"],
        unlisted=[title_of(edition.label, "Main Track") for edition in plan.noise],
    )


def _reminder(one: Submission, ids: dict[tuple[str, int], str], misleading: Sequence[Mail]) -> Reminder:
    deadline = _valid(one)
    held = ids.get(("held", one.number))
    return Reminder(
        title=title_of(one.edition.label, one.track),
        deadline=deadline.instant,
        earlier=[change.before.instant for change in one.changes],
        stated=deadline.stated.replace(tzinfo=dt.UTC),
        stated_zone=deadline.zone,
        decoys=[
            mail.states
            for mail in misleading
            if mail.about == one.number and mail.states and mail.states != deadline.instant
        ],
        existing=held if one.event == "existing" else None,
        outdated=held if one.event == "outdated" else None,
    )


def _not_due(one: Submission, ids: dict[tuple[str, int], str]) -> NotDue:
    return NotDue(
        title=title_of(one.edition.label, one.track),
        reason=cast(Reason, one.fate),
        deadline=_valid(one).instant,
        needless=ids.get(("held", one.number)),
    )


def _valid(one: Submission) -> Deadline:
    assert one.deadline
    return one.deadline
