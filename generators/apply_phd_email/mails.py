"""The professors' mails: requests for material, and those that only look like one."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mesocosm.generators.apply_phd_email.documents import day
from mesocosm.generators.apply_phd_email.planning import Plan, Professor, Wanted
from mesocosm.kits.mailbox import Mail, misfiled
from mesocosm.kits.prose import Prose

_PHRASES = {
    "cv": ("your CV", "your curriculum vitae"),
    "statement": ("your statement of purpose",),
    "english": ("your English test certificate",),
    "proposal": ("your complete research proposal", "all pages of your research proposal"),
    "proposal_summary": (
        "only the first page of your research proposal",
        "the first page (no more) of your research proposal",
    ),
    "bachelor": ("your Bachelor's transcript", "the transcript of your Bachelor's degree"),
    "master": ("your Master's transcript", "the transcript of your Master's degree"),
    "first_letter": ("the letter of your first referee",),
    "second_letter": ("the letter of your second referee",),
    "awards_oldest_first": ("all award certificates (oldest first)", "all award certificates, oldest first"),
    "awards_newest_first": ("all award certificates (newest first)", "all award certificates, newest first"),
}  # fmt: skip
_SUBJECTS = (
    "Re: Enquiry about a PhD position", "Your PhD enquiry", "PhD position in my group", "Re: PhD application",
    "PhD studies with us", "Re: PhD supervision",
)  # fmt: skip


class Writer:
    """Writes the professors' mails."""

    def __init__(self, plan: Plan, prose: Prose, rng: random.Random) -> None:
        self._plan = plan
        self._prose = prose
        self._rng = rng

    def mails(self) -> Iterator[Mail]:
        """Every reply, in no order."""
        for index, professor in enumerate(self._plan.professors):
            for mail in self._cases(professor):
                yield replace(mail, folder=misfiled(index))

    def _cases(self, who: Professor) -> Iterator[Mail]:
        rng = self._rng
        # The second of two mails is days later than the first.
        first, second = self._ago(13, 35), self._ago(1, 5)
        ahead = self._deadline(rng.randint(2, 30))
        match who.fate:
            case "asked" | "assistant":
                yield self._request(who, self._ago(6, 30), who.wanted, ahead)
            case "last_day":
                yield self._request(who, self._ago(6, 30), who.wanted, self._deadline(0))
            case "expired":
                yield self._request(who, first, who.wanted, self._deadline(-rng.choice((1, 1, 2, 5, 9))))
            case "corrected":
                yield self._request(who, first, who.superseded, ahead, aide=False)
                yield self._correction(who, second)
            case "two_mails":
                rest = "What else I need I will tell you in a second mail."
                yield self._request(who, first, who.wanted[:1], ahead, more=rest)
                yield self._addition(who, second)
            case "extended":
                yield self._request(who, first, who.wanted, self._deadline(-rng.randint(2, 6)))
                yield self._extension(who, second, ahead)
            case "reopened":
                yield self._refusal(who, first)
                change = "A place has become free after all, so please forget my refusal."
                yield self._request(who, second, who.wanted, ahead, before=change)
            case "withdrawn":
                yield self._request(who, first, who.wanted, ahead)
                yield self._withdrawal(who, second)
            case "declined":
                yield self._refusal(who, self._ago(1, 30))
            case "namesake":
                # Later than the request of the other one: it must not be taken for its withdrawal.
                yield self._refusal(who, second)
            case "auto_reply":
                yield self._automatic(who, self._ago(1, 30))
            case "research_assistant":
                yield self._other_position(who, self._ago(1, 30))
            case "undecided":
                yield self._undecided(who, self._ago(1, 30))

    def _ago(self, least: int, most: int) -> dt.datetime:
        return self._plan.now - dt.timedelta(minutes=self._rng.randint(least * 1440, most * 1440))

    def _deadline(self, days: int) -> str:
        date = (self._plan.now + dt.timedelta(days=days)).date()
        written = self._rng.choice((day(date), f"{date.day} {date:%B %Y}", date.isoformat()))
        return self._rng.choice(("The deadline is {}.", "I need it by {}.", "Deadline: {}.")).format(written)

    def _mail(self, who: Professor, moment: dt.datetime, text: str, *, chance: float = 0.3) -> Mail:
        if self._rng.random() < chance:
            text = f"{self._prose.sentence('research')}\n\n{text}"
        hello = self._rng.choice(("Dear", "Hello", "Hi"))
        first = self._plan.applicant.person.first
        body = f"{hello} {first},\n\n{text}\n\n{who.contact.person.name}\n{who.university}"
        return Mail(who.contact.header, moment, self._rng.choice(_SUBJECTS), body)

    def _files(self, files: Sequence[Wanted]) -> str:
        """What is to be in which file: in a sentence each, or as a list."""
        style = self._rng.randrange(3)
        lines = []
        for name, kinds in files:
            items = [self._rng.choice(_PHRASES[kind]) for kind in kinds]
            match style:
                case 0:
                    order = ", in this order: " if len(items) > 1 else " "
                    lines.append(f"a PDF file {name} with{order}{'; '.join(items)}.")
                case 1:
                    lines.append(f"- {name}: {', then '.join(items)}.")
                case _:
                    joined = " followed by ".join(items)
                    lines.append(f"{name} shall hold {joined}.")
        if style == 1:
            return "\n".join(["the following.", *lines, ""])
        head = (
            ("one PDF file. ", "two PDF files. ", "three PDF files. ")[len(files) - 1] if style == 2 else ""
        )
        return head + " And ".join(lines)

    def _request(
        self, who: Professor, moment: dt.datetime, files: Sequence[Wanted], deadline: str, *,
        before: str = "", more: str = "", aide: bool = True,
    ) -> Mail:  # fmt: skip
        offer = self._rng.choice(
            (
                "Your profile fits our PhD project.",
                "I could offer you a PhD place.",
                "A PhD position is open here.",
                "You could start a PhD with us.",
                "I can imagine supervising your PhD.",
            )
        )
        need = ("Please send me", "I need", "Send", "The committee asks for", "For the application I want")
        # With something between them in every other mail.
        between = self._prose.sentence("research") if self._rng.random() < 0.5 else ""
        please = _joined(offer, between, self._rng.choice(need))
        parts = [before, f"{please} {self._files(files)}", self._to(who) if aide else "", more, deadline]
        return self._mail(who, moment, _joined(*parts))

    def _to(self, who: Professor) -> str:
        if who.assistant is None:
            return ""
        name, email = who.assistant.person.name, who.assistant.email
        return self._rng.choice(
            (
                f"Do not send it to me, but to my assistant {name}, {email}.",
                f"{name} ({email}) collects everything for me: write there and not to me.",
            )
        )

    def _correction(self, who: Professor, moment: dt.datetime) -> Mail:
        head = self._rng.choice(
            (
                "My first list was wrong, please disregard it. Instead I need",
                "The committee has new rules. Instead of what I listed before, send",
            )
        )
        return self._mail(who, moment, _joined(head, self._files(who.wanted), self._to(who)))

    def _addition(self, who: Professor, moment: dt.datetime) -> Mail:
        head = self._rng.choice(
            ("In addition to my first list, I need", "Besides what I asked for already, send")
        )
        ending = "All of it in one mail, please."
        return self._mail(who, moment, _joined(head, self._files(who.wanted[1:]), ending))

    def _extension(self, who: Professor, moment: dt.datetime, deadline: str) -> Mail:
        head = self._rng.choice(
            ("We have more time than I wrote.", "The committee meets later than planned.")
        )
        return self._mail(who, moment, f"{head} {deadline} What I asked for stays the same.")

    def _around(self, first: Sequence[str], last: Sequence[str]) -> str:
        """Two sentences with another between them: whole mails do not repeat each other."""
        between = self._prose.sentence("research")
        return _joined(self._rng.choice(first), between, self._rng.choice(last))

    def _withdrawal(self, who: Professor, moment: dt.datetime) -> Mail:
        text = self._around(
            ("The funding was cut.", "Somebody else has got the place.", "The project has been stopped."),
            ("Please do not send anything any more.", "So I no longer need your material."),
        )
        return self._mail(who, moment, text, chance=0)

    def _refusal(self, who: Professor, moment: dt.datetime) -> Mail:
        text = self._around(
            ("Thank you for writing.", "I have read your letter.", "Sorry for the late answer."),
            (
                "I cannot take on new students.",
                "There is no vacancy in my group.",
                "But I have no open position.",
                "I do not supervise any more theses.",
                "My group is full.",
            ),
        )
        return self._mail(who, moment, text, chance=0)

    def _automatic(self, who: Professor, moment: dt.datetime) -> Mail:
        back = day((moment + dt.timedelta(days=self._rng.randint(3, 60))).date())
        text = self._around(
            (f"Automatic reply: away until {back}.", f"This automatic reply ends on {back}."),
            ("Applications for a PhD need a CV.", "PhD applicants send CV and transcripts."),
        )
        mail = self._mail(who, moment, text, chance=0)
        return replace(mail, subject=f"Automatic reply: {mail.subject}")

    def _other_position(self, who: Professor, moment: dt.datetime) -> Mail:
        text = self._around(
            (
                "No money for a PhD.",
                "No PhD is possible here.",
                "We have no PhD positions.",
            ),
            (
                "As a research assistant, send me CV.pdf.",
                "For research assistant jobs I need Resume.pdf.",
                "Become a research assistant: just send CV.pdf.",
            ),
        )
        return self._mail(who, moment, text, chance=0)

    def _undecided(self, who: Professor, moment: dt.datetime) -> Mail:
        text = self._around(
            ("It is too early to say.", "Our grant is not decided.", "I am still waiting for money."),
            ("Send nothing before I write again.", "Please wait with your PhD material."),
        )
        return self._mail(who, moment, text, chance=0)


def _joined(*parts: str) -> str:
    """Parts of a text; what follows a list begins on a line of its own."""
    return " ".join(part for part in parts if part).replace("\n ", "\n").strip()
