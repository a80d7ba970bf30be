"""Labels, and the fields that owners add to their issues."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import orjson
from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.codehost.models import FieldValue, Issue, IssueField, Label, Milestone
from mesocosm.servers.codehost.store.contents import FILE
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, clean
from mesocosm.services.schema import as_json
from mesocosm.services.service import Row

DEFAULT_LABELS = (
    ("bug", "d73a4a", "Something isn't working"),
    ("documentation", "0075ca", "Improvements or additions to documentation"),
    ("duplicate", "cfd3d7", "This issue or pull request already exists"),
    ("enhancement", "a2eeef", "New feature or request"),
    ("good first issue", "7057ff", "Good for newcomers"),
    ("help wanted", "008672", "Extra attention is needed"),
    ("invalid", "e4e669", "This doesn't seem right"),
    ("question", "d876e3", "Further information is requested"),
    ("wontfix", "ffffff", "This will not be worked on"),
)
"""Labels of every new repository of the product: name, colour, description."""
NEW_LABEL_COLOR = "ededed"
FIELD_TYPES = ("text", "number", "date", "single_select")

_COLOR = re.compile(r"[0-9A-Fa-f]{6}")
_LABELS = (
    select(*Label.__table__.c).where(Label.repository_id == bindparam("repository")).order_by(Label.name)
)
_LABEL = select(*Label.__table__.c).where(
    Label.repository_id == bindparam("repository"), Label.name == bindparam("name")
)
_FIELD = select(*IssueField.__table__.c).where(
    IssueField.owner_id == bindparam("owner"), IssueField.name == bindparam("name")
)
_VALUES = (
    select(FieldValue.issue_id, IssueField.id, IssueField.name, IssueField.data_type, FieldValue.value)
    .join(IssueField, IssueField.id == FieldValue.field_id)
    .where(FieldValue.issue_id.in_(bindparam("ids", expanding=True)))
    .order_by(FieldValue.issue_id, IssueField.id)
)


class Fields(StorePart):
    """Labels, milestones and types of issues."""

    def start_repository(
        self,
        name: str,
        description: str | None,
        organization: str | None,
        *,
        private: bool,
        with_readme: bool,
    ) -> Row:
        """A new repository of the signed-in account, or of an organisation, as the product makes one."""
        repository = self.store.repositories.new_repository(
            name, description=description, organization=organization, private=private
        )
        self.add_default_labels(repository["id"])
        if with_readme:
            text = f"# {name}\n" + (f"{description}\n" if description else "")
            branch = repository["default_branch"]
            self.store.contents.commit_files(
                repository, branch, None, {"README.md": (FILE, text.encode())}, "Initial commit"
            )
        return repository

    # -- labels -----------------------------------------------------------------------------------------

    def add_default_labels(self, repository_id: int) -> None:
        """The labels that every new repository has."""
        rows = [
            {"repository_id": repository_id, "name": name, "color": color, "description": description}
            for name, color, description in DEFAULT_LABELS
        ]
        self.session.execute(insert(Label), rows)

    def labels(self, repository: Row) -> Sequence[Row]:
        """The labels of a repository by name."""
        return self.fetch(_LABELS, repository=repository["id"])

    def label(self, repository: Row, name: str) -> Row:
        rows = self.fetch(_LABEL, repository=repository["id"], name=name)
        if not rows:
            raise NotFound(f"label '{name}' not found in {repository['owner']}/{repository['name']}")
        return rows[0]

    def label_or_new(self, repository: Row, name: str) -> int:
        """The id of a label, which is made if it does not exist."""
        rows = self.fetch(_LABEL, repository=repository["id"], name=name.strip())
        return int(rows[0]["id"]) if rows else self.add_label(repository, name, NEW_LABEL_COLOR)

    def add_label(self, repository: Row, name: str, color: str, description: str = "") -> int:
        """A new label; returns its id."""
        row = {
            "repository_id": repository["id"],
            "name": self._label_name(repository, name),
            "color": _color(color),
            "description": clean(description, "description", limit=100),
        }
        return self.insert(Label, row)

    def change_label(
        self,
        repository: Row,
        name: str,
        new_name: str | None,
        color: str | None,
        description: str | None,
    ) -> Row:
        """Change what is given."""
        label = self.label(repository, name)
        changes: dict[str, Any] = {}
        if new_name is not None:
            renamed = new_name.strip().lower() != label["name"].lower()
            changes["name"] = self._label_name(repository, new_name, taken=renamed)
        if color is not None:
            changes["color"] = _color(color)
        if description is not None:
            changes["description"] = clean(description, "description", limit=100)
        if not changes:
            raise Unprocessable("at least one of new_name, color, or description must be provided for update")
        self.update_row(Label, label["id"], **changes)
        return self.label(repository, changes.get("name") or label["name"])

    def remove_label(self, repository: Row, name: str) -> None:
        """Remove a label from the repository and from every issue."""
        self.session.execute(delete(Label).where(Label.id == self.label(repository, name)["id"]))

    def _label_name(self, repository: Row, name: str, *, taken: bool = True) -> str:
        name = clean(name, "label name", limit=50, blank=False).strip()
        if taken and self.fetch(_LABEL, repository=repository["id"], name=name):
            raise Unprocessable(f"Validation Failed: the label {name!r} already_exists.")
        return name

    # -- fields -----------------------------------------------------------------------------------------

    def fields_of(self, issue_ids: Sequence[int]) -> Sequence[Row]:
        """Every field value of these issues."""
        return self.fetch(_VALUES, ids=issue_ids) if issue_ids else ()

    def field_condition(self, repository: Row, name: str, value: str) -> ColumnElement[bool]:
        """The condition that a field of an issue has a value."""
        field = self._field(repository, name)
        having = select(FieldValue.issue_id).where(
            FieldValue.field_id == field["id"], func.lower(FieldValue.value) == value.strip().lower()
        )
        return Issue.id.in_(having)

    def set_fields(self, repository: Row, issue_id: int, values: Sequence[Mapping[str, Any]]) -> None:
        """Set or clear field values; each names a field and has a ``value``, an option or ``delete``."""
        for item in values:
            field = self._field(repository, item["field_name"])
            given = [key for key in ("value", "field_option_name") if key in item]
            if len(given) + bool(item.get("delete")) != 1:
                raise Unprocessable(
                    f"issue field {item['field_name']!r} needs exactly one of 'value', 'field_option_name' or"
                    " 'delete: true'"
                )
            if item.get("delete"):
                self.session.execute(
                    delete(FieldValue).where(
                        FieldValue.issue_id == issue_id, FieldValue.field_id == field["id"]
                    )
                )
            else:
                if given == ["field_option_name"] and field["data_type"] != "single_select":
                    raise Unprocessable(
                        f"issue field {field['name']!r} is {field['data_type']}, so field_option_name"
                        " cannot be used"
                    )
                value = _field_value(field, item[given[0]])
                self.session.merge(FieldValue(issue_id=issue_id, field_id=field["id"], value=value))
                self.session.flush()

    def _field(self, repository: Row, name: str) -> Row:
        rows = self.fetch(_FIELD, owner=repository["owner_id"], name=name.strip())
        if not rows:
            raise Unprocessable(
                f"issue field {name!r} was not found in {repository['owner']}/{repository['name']}"
            )
        return rows[0]

    # -- filling ----------------------------------------------------------------------------------------

    def add_issue_field(self, owner: str, name: str, data_type: str, options: Sequence[str] = ()) -> int:
        """A field for the issues of all repositories of an owner; ``options`` of a single-select field."""
        if data_type not in FIELD_TYPES:
            raise Invalid(f"A field is one of {', '.join(FIELD_TYPES)}, not {data_type!r}.")
        row = {
            "owner_id": self.store.accounts.account(owner)["id"],
            "name": name,
            "data_type": data_type,
            "options": orjson.dumps(list(options)).decode(),
        }
        return self.insert(IssueField, row)

    def add_milestone(
        self,
        owner: str,
        name: str,
        title: str,
        *,
        description: str = "",
        due_on: str | None = None,
        by: int | None = None,
    ) -> int:
        """A milestone of a repository, made now by an account, or with the repository; returns its number."""
        repository = self.store.repositories.any_repository(owner, name)
        last = self.fetch(
            select(func.coalesce(func.max(Milestone.number), 0).label("n")).where(
                Milestone.repository_id == repository["id"]
            )
        )[0]["n"]
        row = {"repository_id": repository["id"], "number": last + 1, "title": title}
        row |= {"description": description, "due_on": due_on, "creator_id": by}
        created = repository["created_at"] if by is None else self.today
        row |= {"created_at": created, "updated_at": created}
        self.session.execute(insert(Milestone), row)
        return int(last) + 1


def _color(color: str) -> str:
    color = color.removeprefix("#")
    if not _COLOR.fullmatch(color):
        raise Unprocessable(
            f"Validation Failed: color must be 6 hexadecimal digits such as d73a4a, got {color!r}."
        )
    return color.lower()


def _field_value(field: Row, value: Any) -> str:
    if field["data_type"] == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unprocessable(f"issue field {field['name']!r} takes a number, got {as_json(value)}")
        return str(int(value)) if value == int(value) else repr(value)
    if not isinstance(value, str):
        raise Unprocessable(f"issue field {field['name']!r} takes text, got {as_json(value)}")
    if field["data_type"] == "single_select":
        for option in orjson.loads(field["options"]):
            if option.lower() == value.strip().lower():
                return str(option)
        raise Unprocessable(f"issue field option {as_json(value)} was not found for field {field['name']!r}")
    if field["data_type"] == "date":
        try:
            return date.fromisoformat(value.strip()).isoformat()
        except ValueError:
            raise Unprocessable(
                f"issue field {field['name']!r} takes a date such as 2025-01-15, got {as_json(value)}"
            ) from None
    return clean(value, f"issue field {field['name']!r}", limit=1024)
