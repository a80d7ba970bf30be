"""Resolution of names in a statement: the catalogue for the query engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import Dataset, WarehouseTable
from mesocosm.servers.google_cloud.store.bigquery.information import VIEWS
from mesocosm.servers.google_cloud.store.part import StorePart, quoted, suggestion
from mesocosm.servers.google_cloud.store.storage.buckets import MULTI_REGIONS, REGIONS
from mesocosm.services.queries.catalogue import Listed, Path, Relation, StoredTable, StoredView

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store import GoogleCloudStore

SUFFIX = "_TABLE_SUFFIX"
"""The column that a wildcard table has besides those of its tables: what the ``*`` stands for."""
_MOST_TABLES = 5_000
"""Tables of a wildcard."""


class Names(StorePart):
    """Tables and views by their names, of which the project and a default dataset may be left out.

    For one statement: what a name means is looked up once.
    """

    default: str | None = None
    """The dataset of names that say none."""

    def __init__(self, store: GoogleCloudStore) -> None:
        super().__init__(store)
        self._known: dict[Path, Relation] = {}

    def within(self, dataset: str | None) -> Names:
        """The same names, where those without a dataset are of this one."""
        made = Names(self.store)
        made.default = dataset
        return made

    def relation(self, path: Path) -> Relation:
        """Resolve a name in FROM; refuse an unknown one."""
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: Path) -> Relation:
        parts = self.parts(path)
        upper = parts[-1].upper()
        if len(parts) >= 2 and parts[-2].upper() == "INFORMATION_SCHEMA":
            return self._information(parts[:-2], upper)
        if upper == "__TABLES__":
            dataset, _ = self.place(path)
            listed = self.store.bigquery.information.listed("__TABLES__", self._dataset(dataset))
            assert listed
            return listed
        dataset, name = self.place(path)
        if (table := self.store.bigquery.tables.stored(dataset, name)) is not None:
            return table
        if name.endswith("*"):
            return self._wildcard(dataset, name[:-1])
        return self._relation(self.table(dataset, name))

    def parts(self, path: Path) -> list[str]:
        """The parts of a name, also of those that are quoted together."""
        parts = [part for one in path for part in one.split(".")] if len(path) < 3 else list(path)
        return [
            part
            for one in parts
            for part in (one.split(".") if "INFORMATION_SCHEMA" in one.upper() else [one])
        ]

    def place(self, path: Path) -> tuple[str, str]:
        """Dataset and table of a name; refuses other projects."""
        parts = self.parts(path)
        if len(parts) == 1:
            if self.default is None:
                raise Invalid(
                    f'Table "{parts[0][:200]}" must be qualified with a dataset (e.g. dataset.table).'
                    + self._elsewhere(parts[0]),
                    code="invalid",
                )
            return self.default, parts[0]
        if len(parts) > 3:
            raise Invalid(f"Invalid table name {quoted('.'.join(parts))}.", code="invalid")
        if len(parts) == 3:
            self.check_project(parts[0])
        return parts[-2], parts[-1]

    def check_project(self, name: str) -> None:
        """Refuse a project that is not the one that there is."""
        if name != self.project.id:
            raise NotFound(
                f"Not found: Project {name[:100]}; the project is {self.project.id}.", code="notFound"
            )

    def table(self, dataset: str, name: str) -> WarehouseTable:
        """The table or view; ``NotFound`` in BigQuery's words."""
        place = self._dataset(dataset)
        found = self.store.bigquery.tables.find(place, name)
        if found is None:
            near = suggestion(name, self.store.bigquery.tables.ids(place))
            raise NotFound(
                f"Not found: Table {self.project.id}:{place.id}.{name[:200]} was not found in location"
                f" {place.location}.{near}",
                code="notFound",
            )
        return found

    def _dataset(self, id_: str) -> Dataset:
        datasets = self.store.bigquery.datasets
        found = datasets.find(id_)
        if found is None:
            raise NotFound(
                f"Not found: Dataset {self.project.id}:{id_[:200]} was not found in location US."
                + suggestion(id_, datasets.ids()),
                code="notFound",
            )
        return found

    def _elsewhere(self, name: str) -> str:
        """Name the dataset that has a table of that name, for a statement without dataset."""
        datasets = self.store.bigquery.datasets
        for id_ in datasets.ids():
            if self.store.bigquery.tables.find(datasets.dataset(id_), name) is not None:
                return f" Did you mean {id_}.{name}?"
        return ""

    def _relation(self, table: WarehouseTable) -> Relation:
        if table.kind == "VIEW":
            names = tuple(field["name"] for field in table.fields)
            return StoredView(table.query or "", names, self.within(None))
        if not table.fields:
            raise Invalid(f"Table {table.id} does not have a schema.", code="invalid")
        return StoredTable(table.number, self.store.bigquery.tables.columns(table))

    def _wildcard(self, dataset: str, prefix: str) -> Relation:
        place = self._dataset(dataset)
        found = [
            table
            for table in self.store.bigquery.tables.all_of(place)
            if table.id.startswith(prefix) and table.kind == "TABLE"
        ]
        if not found:
            raise NotFound(
                f"Not found: {self.project.id}:{place.id}.{prefix[:200]}* does not match any table.",
                code="notFound",
            )
        if len(found) > _MOST_TABLES:
            raise Invalid(
                f"A wildcard may stand for {_MOST_TABLES} tables; here are {len(found)}.", code="invalid"
            )
        # As in the product, the schema is that of the table that was made last; what others lack is NULL.
        names = [field["name"] for field in max(found, key=lambda table: table.number).fields]
        queries = []
        for table in found:
            have = {field["name"].lower() for field in table.fields}
            columns = [f"`{name}`" if name.lower() in have else f"NULL AS `{name}`" for name in names]
            suffix = table.id[len(prefix) :].replace("\\", "\\\\").replace("'", "\\'")
            queries.append(f"SELECT {', '.join(columns)}, '{suffix}' FROM `{place.id}`.`{table.id}`")
        return StoredView(" UNION ALL ".join(queries), (*names, SUFFIX), self.within(None))

    def _information(self, place: list[str], name: str) -> Listed:
        dataset = None
        if place:
            last = place[-1]
            if len(place) > 1:
                self.check_project(place[0])
            region = last.lower().removeprefix("region-").upper()
            of_region = last.lower().startswith("region-") and region in (*MULTI_REGIONS, *REGIONS)
            if not of_region and last != self.project.id:
                dataset = self._dataset(last)
        elif self.default is not None:
            dataset = self._dataset(self.default)
        elif name not in ("SCHEMATA", "JOBS", "JOBS_BY_PROJECT", "JOBS_BY_USER"):
            raise Invalid(
                f'Table "INFORMATION_SCHEMA.{name[:100]}" must be qualified with a dataset (e.g.'
                f" dataset.INFORMATION_SCHEMA.{name[:100]}).",
                code="invalid",
            )
        listed = self.store.bigquery.information.listed(name, dataset)
        if listed is None:
            raise NotFound(
                f"Not found: Table INFORMATION_SCHEMA.{name[:100]}.{suggestion(name, VIEWS)}", code="notFound"
            )
        return listed
