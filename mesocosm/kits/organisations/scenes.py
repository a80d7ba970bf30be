"""Scenes: messages written by hand that tell the events of a story. Read from YAML, and looked through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mesocosm.errors import UsageError
from mesocosm.kits.organisations.conditions import Condition, ConditionError, condition

LEVELS = ("explicit", "described", "referring", "spread")
CHANNELS = ("mail", "announcement", "conversation")
FILES = ("slides", "paper", "sheet", "photo", "form")
SPLITS = ("train", "test")
SLOT = re.compile(r"<([A-Za-z_][A-Za-z0-9_.]*)>")
_VALUE = re.compile(r"<\w+\.(?:due|start|span|shift|room|length)\b")
"""A slot that a proposal fills."""
_SERVING = {
    "explicit": ("explicit", "any", "described", "referring"),
    "described": ("described", "any", "referring", "explicit"),
    "referring": ("referring", "any", "described", "explicit"),
    "spread": ("any", "referring", "described", "explicit"),
}
"""Blocks that serve a level, the best first."""
_ARTICLE = re.compile(r"\b(?:the|a|an|my|our|your|his|her|their|this|that) <c>", re.IGNORECASE)
"""An article before a class, which may be "the Tuesday class"."""
_BEFORE_EXAM = re.compile(r"\ban? <exam>", re.IGNORECASE)
"""A final, or an oral."""
_PART = re.compile(r"\n\s*\n")
OTHER = "other"
"""Role of the thing that an aside names."""


def _alternates(given: Any) -> tuple[str, ...]:
    """The alternates of a block, which blank lines part."""
    if not isinstance(given, str):
        raise ValueError("a text is needed, its alternates parted by blank lines")
    return tuple(" ".join(part.split()) for part in _PART.split(given.strip()))


def _condition(given: Any) -> Condition | None:
    if given is None or isinstance(given, Condition):
        return given
    try:
        return condition(str(given))
    except ConditionError as error:
        raise ValueError(str(error)) from None


def _several(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Text = Annotated[tuple[str, ...], BeforeValidator(_alternates)]
When = Annotated[Any, BeforeValidator(_condition)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, populate_by_name=True
    )


class Beat(_Strict):
    """A unit of a message with alternates: something said, or an event told at several levels."""

    say: Text | None = None
    maybe: Text | None = None
    """Left out at will."""
    # Readings hold for what a scene says: a field that it does not use is no part of that.
    aside: Text | None = Field(default=None, exclude_if=lambda given: given is None)
    """A remark that names another thing than the one that the scene is about; mostly left out."""
    tell: str | None = None
    """The role of the event that it tells."""
    explicit: Text | None = None
    described: Text | None = None
    referring: Text | None = None
    any: Text | None = None
    tie: str | None = None
    """Beats of one tie take the alternate of the same number."""
    name: str | None = None
    needs: str | None = None
    unless: str | None = None
    if_: When = Field(default=None, alias="if")
    asserts: str | None = None
    """Claim about somebody, such as ``ill(s)``. Nobody gets the same claim twice."""

    def block(self, level: str) -> str:
        """The name of the block that serves a level."""
        if self.tell is None:
            return "say" if self.say else "aside" if self.aside else "maybe"
        return next((name for name in _SERVING[level] if getattr(self, name)), "any")

    def texts(self, level: str) -> tuple[str, ...]:
        """The alternates at a level."""
        texts: tuple[str, ...] | None = getattr(self, self.block(level))
        return texts or ()

    @property
    def all_texts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Its blocks by their names."""
        for name in ("say", "maybe", "aside", "explicit", "described", "referring", "any"):
            if texts := getattr(self, name):
                yield name, texts


class Message(_Strict):
    """One message of a scene: writer, recipient, time and text."""

    id: str
    from_: str = Field(alias="from")
    to: str
    cc: str | None = None
    at: str | None = None
    after: str | None = None
    """So many hours after the message before it: ``2-7``."""
    before: str | None = None
    """So many hours before the next message that has a moment of its own."""
    re: str | None = None
    via: Annotated[list[Literal["mail", "announcement", "conversation"]], BeforeValidator(_several)] = [
        "mail"
    ]
    file: Literal["slides", "paper", "sheet", "photo", "form"] | None = None
    if_: When = Field(default=None, alias="if")
    subject: Text = ()
    beats: list[Beat] = Field(min_length=1)

    @property
    def hours(self) -> tuple[float, float]:
        """The least and the most hours after the message before it, or before the next one."""
        least, _, most = (self.after or self.before or "1-12").partition("-")
        return float(least), float(most or least)

    @cached_property
    def states(self) -> bool:
        """True if it states a value of an event: a proposal that a later message settles."""
        return any(
            _VALUE.search(text) for beat in self.beats for _, texts in beat.all_texts for text in texts
        )


class Scene(_Strict):
    """A small piece of the life of an organisation that tells the events of one story."""

    name: str = ""
    story: str
    purpose: str
    when: When = None
    level: Literal["explicit", "described", "referring", "spread"] | None = None
    exam: Literal["final", "oral", "any"] = "any"
    spread: bool = False
    """True if several messages together tell a fact: such scenes come first at the level ``spread``."""
    notice: bool = False
    """True if it can be one of several notices in a message: it has one message, which needs no context."""
    messages: list[Message] = Field(min_length=1)
    split: str = ""
    path: str = ""
    line: int = 0

    @cached_property
    def capacity(self) -> int:
        """Number of times the scene can be used before an obligatory beat repeats itself."""
        counts = [
            min(len(texts) for _, texts in beat.all_texts)
            for message in self.messages
            for beat in message.beats
            if not beat.maybe and not beat.aside and beat.if_ is None
        ]
        return min(counts, default=1)

    @cached_property
    def answered(self) -> bool:
        """True if the owner of the mailbox writes something in it that tells nothing."""
        return any(one.from_ == "me" and not any(beat.tell for beat in one.beats) for one in self.messages)

    @cached_property
    def channels(self) -> frozenset[str]:
        """The channels that its first message may take."""
        return frozenset(self.messages[0].via)

    def tells(self) -> Iterator[tuple[Message, Beat]]:
        """The beats that tell an event."""
        for message in self.messages:
            for beat in message.beats:
                if beat.tell is not None:
                    yield message, beat


@dataclass(frozen=True)
class SceneComplaint:
    """Something that is wrong with a scene, and where."""

    path: str
    line: int
    scene: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.scene}: {self.what}"


class SceneProblem(UsageError):
    """A file of scenes cannot be read: the message names file, line and scene."""


def read_scenes(folder: Path, split: str = "", *, only: str | None = None) -> list[Scene]:
    """Read all scenes of a folder (and of the folders in it), in order of their names.

    A folder called ``train`` or ``test`` gives the split unless ``split`` does. With ``only``, files of other
    splits are not opened. ``SceneProblem`` says what cannot be read.
    """
    files = []
    for path in sorted(folder.rglob("*.yaml")):
        named = split or next((part for part in path.relative_to(folder).parts if part in SPLITS), "")
        if only in (None, named):
            files.append((path, path.stat().st_mtime_ns, named))
    return list(_scenes_of(folder, tuple(files)))


@lru_cache(maxsize=16)
def _scenes_of(folder: Path, files: tuple[tuple[Path, int, str], ...]) -> tuple[Scene, ...]:
    scenes: dict[str, Scene] = {}
    for path, _, split in files:
        for scene in _read_file(path, split, str(path.relative_to(folder))):
            if scene.name in scenes:
                raise SceneProblem(
                    f"{path}, line {scene.line}: {scenes[scene.name].path} has a scene {scene.name!r}, too"
                )
            scenes[scene.name] = scene
    return tuple(scenes.values())


def _read_file(path: Path, split: str, shown: str) -> Iterator[Scene]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(path.read_text(encoding="utf-8"))
    try:
        root = loader.get_single_node()
        data = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SceneProblem(f"{path}, line {line}: not YAML: {error.problem}") from None
    if not isinstance(data, Mapping) or not isinstance(root, yaml.MappingNode):
        raise SceneProblem(f"{path}, line 1: scenes by their names are needed")
    lines = {key.value: key.start_mark.line + 1 for key, _ in root.value}
    for name, fields in data.items():
        try:
            yield Scene.model_validate(
                {**fields, "name": name, "split": split, "path": shown, "line": lines[name]}
            )
        except (ValidationError, TypeError) as error:
            what = str(error)
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                what = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
            raise SceneProblem(f"{path}, line {lines[name]}: {name}: {what}") from None


# -- looking through ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vocabulary:
    """Vocabulary of a domain's scenes."""

    stories: Mapping[str, Mapping[str, str]]
    """Roles of each story: the kind of event or thing that each is."""
    common: Mapping[str, str]
    """Roles that every story has."""
    attributes: Mapping[str, frozenset[str]]
    """By the kind of a role: what slots and conditions may ask of it."""


def complaints(scenes: Sequence[Scene], vocabulary: Vocabulary) -> Iterator[SceneComplaint]:
    """Yield errors in scenes: unknown slots and roles, too few alternates, a thread without a subject."""
    for scene in scenes:
        yield from _complaints_of(scene, vocabulary)
    yield from _repeated(scenes)


def sound(scenes: Sequence[Scene], vocabulary: Vocabulary) -> list[Scene]:
    """Return the scenes that nothing is wrong with: those that can be cast."""
    return [scene for scene in scenes if not any(_complaints_of(scene, vocabulary))]


def require_sound(scenes: Sequence[Scene], vocabulary: Vocabulary) -> None:
    """Refuse scenes of which one cannot be cast: ``SceneProblem`` names file, line and scene of the first."""
    for scene in scenes:
        if complaint := next(_complaints_of(scene, vocabulary), None):
            raise SceneProblem(f"{complaint} (`mesocosm scenes check FOLDER` says all that is wrong)")


def _complaints_of(scene: Scene, vocabulary: Vocabulary) -> Iterator[SceneComplaint]:
    for what in _wrong(scene, vocabulary):
        yield SceneComplaint(scene.path, scene.line, scene.name, what)


def _wrong(scene: Scene, vocabulary: Vocabulary) -> Iterator[str]:
    if scene.story not in vocabulary.stories:
        yield f"no story {scene.story!r}; there are {', '.join(sorted(vocabulary.stories))}"
        return
    roles = {**vocabulary.common, **vocabulary.stories[scene.story]}
    known: set[str] = set()
    names = {beat.name for message in scene.messages for beat in message.beats if beat.name}
    if scene.when is not None:
        yield from _unbound(scene.when, roles, "when")
    for message in scene.messages:
        where = f"message {message.id}"
        if message.id in known:
            yield f"{where}: there are two of this id"
        if message.re and message.re not in known:
            yield f"{where}: answers {message.re!r}, which does not come before it"
        known.add(message.id)
        for role in (message.from_, message.to, message.cc):
            if role and role not in roles:
                yield f"{where}: no role {role!r} here; there are {', '.join(roles)}"
            elif role and roles[role] not in ("person", "owner"):
                yield f"{where}: {role!r} is {_with_article(roles[role])}, and nobody who writes or reads"
        if [message.at, message.after, message.before].count(None) != 2:
            yield f"{where}: one of `at`, `after` or `before` is needed"
        if message.at is not None and not re.fullmatch(r"[a-z]\w*\.at", message.at):
            yield f"{where}: `at` is the moment of an event, such as e.at"
        if not message.re and not message.subject:
            yield f"{where}: a subject is needed where nothing is answered"
        if message.if_ is not None:
            yield from _unbound(message.if_, roles, where)
        for number, beat in enumerate(message.beats, 1):
            yield from _wrong_beat(beat, f"{where}, beat {number}", roles, names, vocabulary)
        for text in message.subject:
            yield from _slots(text, f"{where}: subject", roles, vocabulary)
    first = scene.messages[0]
    for message in scene.messages:
        in_thread = message.re is not None
        if in_thread or "announcement" in message.via or scene.story.startswith("everyday"):
            continue
        if message is not first and any(beat.tell for beat in message.beats) is False:
            continue
        if not any(
            beat.if_ is None
            and not beat.maybe
            and not beat.needs
            and all(all("<c" in text for text in texts) for _, texts in beat.all_texts)
            for beat in message.beats
        ):
            yield f"message {message.id}: no beat that is always said has <c> in each alternate"


def _unbound(of: Condition, roles: Mapping[str, str], where: str) -> Iterator[str]:
    for name in sorted(of.names - roles.keys()):
        yield f"{where}: {of.text!r}: no role {name!r} here; there are {', '.join(roles)}"


def _wrong_beat(
    beat: Beat, where: str, roles: Mapping[str, str], names: set[str], vocabulary: Vocabulary
) -> Iterator[str]:
    blocks = dict(beat.all_texts)
    kinds = [name for name in ("say", "maybe", "aside") if name in blocks] + (["tell"] if beat.tell else [])
    if len(kinds) != 1:
        yield f"{where}: one of say, maybe, aside or tell is needed"
    if beat.tell and beat.tell not in roles:
        yield f"{where}: tells {beat.tell!r}, which is no role here"
    if beat.tell and not blocks:
        yield f"{where}: a text is needed for explicit, described, referring or any"
    for given in (beat.needs, beat.unless):
        if given and given not in names:
            yield f"{where}: no beat has the name {given!r}"
    if beat.if_ is not None:
        yield from _unbound(beat.if_, roles, where)
    for name, texts in blocks.items():
        if not 3 <= len(texts) <= 6:
            yield f"{where}: {name}: {len(texts)} alternates; three to six are needed"
        known = {**roles, OTHER: "course"} if name == "aside" else roles
        for text in texts:
            if name == "aside" and text.count(f"<{OTHER}>") != 1:
                yield f"{where}: aside: {text[:60]!r}: an aside has the slot <{OTHER}>, once"
            yield from _slots(text, f"{where}: {name}", known, vocabulary)
            for found in re.findall(r"\b(?:on|at) <\w+\.(?:due|start)(?:\.day)?>", text):
                yield f"{where}: {name}: {found!r}: no preposition before a moment"


def _slots(text: str, where: str, roles: Mapping[str, str], vocabulary: Vocabulary) -> Iterator[str]:
    for slot in SLOT.findall(text):
        role, _, attribute = slot.partition(".")
        if role == "exam" and not attribute:
            continue
        if role not in roles:
            yield f"{where}: unknown slot <{slot}>"
        elif attribute and attribute not in vocabulary.attributes.get(roles[role], frozenset()):
            kind = _with_article(roles[role])
            yield f"{where}: unknown slot <{slot}>: {attribute!r} is nothing that {kind} has"
        elif not attribute and roles[role] == "event":
            yield f"{where}: <{slot}> is an event: name what of it is meant"
    for found in _ARTICLE.findall(text):
        yield f"{where}: {found!r}: what is meant may have an article of its own"
    for found in _BEFORE_EXAM.findall(text):
        yield f"{where}: {found!r}: the exam may be a final or an oral"
    if re.sub(SLOT, "", text).count("<") or re.sub(SLOT, "", text).count(">"):
        yield f"{where}: a slot is not closed: {text[:60]!r}"


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _repeated(scenes: Sequence[Scene]) -> Iterator[SceneComplaint]:
    """Sentences that stand in two places."""
    seen: dict[str, Scene] = {}
    for scene in scenes:
        for message in scene.messages:
            for beat in message.beats:
                for _, texts in beat.all_texts:
                    for text in texts:
                        if len(text.split()) > 4 and seen.setdefault(text, scene) is not scene:
                            yield SceneComplaint(
                                scene.path,
                                scene.line,
                                scene.name,
                                f"{text[:60]!r} stands in {seen[text].name}, too",
                            )
