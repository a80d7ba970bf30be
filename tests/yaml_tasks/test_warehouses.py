"""Tasks over warehouses that are one YAML file: what may be done in other ways, and what is damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.families.items import items_of_text
from mesocosm.families.proofs import prove_one
from mesocosm.families.trust import trust

HERE = Path(__file__).parent
VALUE, LIMITS = (str(HERE / name) for name in ("stock_value.yaml", "supplier_limits.yaml"))
SHORT = 4_000
SUPPLIERS = "procurement.public.suppliers"

Start = Callable[[str], Episode]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Instance]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESOCOSM_TRUST", "")
        trust(VALUE)
        folder = tmp_path_factory.mktemp("built")
        yield {
            task: build_instance(load_family(task), 0, folder / Path(task).stem, target=SHORT)
            for task in (VALUE, LIMITS)
        }


@pytest.fixture
def start(built: dict[str, Instance], tmp_path: Path) -> Start:
    """An episode of a task."""
    return lambda task: Episode.create(tmp_path / "episode", built[task].path, load_family(task))


def ask(episode: Episode, *statements: str) -> None:
    for text in statements:
        call(episode, "google_cloud", "bigquery_run_query", query=text)


def write(episode: Episode, *statements: str) -> None:
    for text in statements:
        call(episode, "snowflake", "write_query", query=text)


def test_a_task_over_snowflake_is_proven() -> None:
    proof = prove_one(LIMITS, SHORT, 1)
    assert not proof.problems, "\n".join(proof.problems)
    assert len(set(proof.applied)) >= 12


def test_what_nobody_can_see_is_no_change(start: Start) -> None:
    episode = start(VALUE)
    ask(
        episode,
        "CREATE TABLE shop.kept AS SELECT * FROM shop.sales",
        "DELETE FROM shop.sales WHERE pieces > 3",
        "INSERT INTO shop.sales SELECT * FROM shop.kept WHERE pieces > 3",
        "DROP TABLE shop.kept",
        "CREATE OR REPLACE TABLE shop.audit (shop STRING NOT NULL, note STRING)",
    )
    solve(load_family(VALUE), episode)
    assert failures(episode) == set()


DAMAGE = {
    "UPDATE shop.shops SET region = 'Nowhere' WHERE TRUE": "row_otherwise",
    "UPDATE shop.sales SET pieces = pieces + 1 WHERE TRUE": "row_change_extra",
    "INSERT INTO shop.audit VALUES ('Shop 1', 'not checked')": "row_extra",
    "ALTER TABLE shop.shops ADD COLUMN more INT64": "unchanged",
    "ALTER TABLE shop.shops SET OPTIONS (description = 'Other')": "unchanged",
    "CREATE OR REPLACE TABLE shop.shops AS SELECT * FROM shop.shops": "unchanged",
    "CREATE TABLE shop.more (a INT64)": "table_extra",
    "DROP TABLE shop.sales": "unchanged",
    "DELETE FROM shop.sales WHERE pieces > 3": "unchanged",
    "CREATE SCHEMA spare": "unchanged",
    "CREATE VIEW shop.seen AS SELECT 1 AS one": "unchanged",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_to_tables_of_bigquery_is_found(start: Start, statement: str) -> None:
    episode = start(VALUE)
    ask(episode, statement)
    found = failures(episode)
    assert any(name.startswith(f"google_cloud_{DAMAGE[statement]}") for name in found), found


def test_an_entry_an_object_and_a_bucket_too_much_are_found(start: Start) -> None:
    episode = start(VALUE)
    call(episode, "google_cloud", "logging_write_log", log_name="audit", message='{"a": 1}')
    call(episode, "google_cloud", "storage_create_bucket", bucket_name="something-else")
    place = {"destination_bucket": "something-else", "destination_path": "sales.csv"}
    call(episode, "google_cloud", "bigquery_export_table", dataset_id="shop", table_id="sales", **place)
    solve(load_family(VALUE), episode)
    found = failures(episode)
    assert found == {"google_cloud_entry_extra", "google_cloud_bucket_extra", "google_cloud_unchanged"}


def test_types_and_cells_of_a_made_table_are_judged(start: Start) -> None:
    episode = start(VALUE)
    call(episode, "google_cloud", "bigquery_create_dataset", dataset_id="report")
    ask(
        episode,
        "CREATE TABLE report.totals AS SELECT shop, 0 AS pieces, 0.5 AS revenue FROM shop.shops",
    )
    found = failures(episode)
    assert {"totals_types", "totals_rows_cells"} <= found
    assert not {"totals_missing", "totals_rows_columns", "totals_rows_missing", "totals_rows_extra"} & found


LIMITS_DAMAGE = {
    f"UPDATE {SUPPLIERS} SET city = 'Nowhere'": "row_change",
    f"DELETE FROM {SUPPLIERS} WHERE limit_eur IS NOT NULL": "row_remove",
    f"COMMENT ON COLUMN {SUPPLIERS}.city IS 'where'": "comment_change_extra",
    f"COMMENT ON TABLE {SUPPLIERS} IS 'all'": "comment_change_extra",
    f"ALTER TABLE {SUPPLIERS} ADD COLUMN more INT": "unchanged",
    "CREATE SCHEMA procurement.spare": "unchanged",
    "DELETE FROM procurement.public.deliveries": "row_remove_extra",
}


@pytest.mark.parametrize("statement", LIMITS_DAMAGE)
def test_damage_to_tables_of_snowflake_is_found(start: Start, statement: str) -> None:
    episode = start(LIMITS)
    write(episode, statement)
    solve(load_family(LIMITS), episode)
    found = failures(episode)
    assert any(name.startswith(f"snowflake_{LIMITS_DAMAGE[statement]}") for name in found), found


def test_rows_may_be_replaced_and_notes_taken(start: Start) -> None:
    episode = start(LIMITS)
    call(episode, "snowflake", "append_insight", insight="Deliveries have corrections.")
    write(
        episode,
        "USE SCHEMA procurement.public",
        "CREATE TABLE kept AS SELECT * FROM suppliers",
        "CREATE OR REPLACE TABLE kept AS SELECT * FROM kept",
        "DELETE FROM suppliers",
        "INSERT INTO suppliers SELECT * FROM kept ORDER BY name",
        "DROP TABLE kept",
    )
    solve(load_family(LIMITS), episode)
    assert failures(episode) == set()


def test_what_queries_sum_is_not_read_row_by_row(built: dict[str, Instance]) -> None:
    results = built[LIMITS].survey.results
    asked = [str(result.arguments.get("query")) for result in results]
    assert any("SUM(AMOUNT)" in query for query in asked)
    assert any("PUBLIC.SUPPLIERS" in query for query in asked)
    assert not any(query.startswith("SELECT * FROM PROCUREMENT.PUBLIC.DELIVERIES") for query in asked)


def test_rows_and_entries_are_items_of_their_own(start: Start) -> None:
    episode = start(LIMITS)
    text = call(episode, "snowflake", "read_query", query=f"SELECT name, city FROM {SUPPLIERS} LIMIT 3")
    items = [item for _, item in items_of_text(text)]
    assert [item.count("CITY: ") for item in items] == [0, 1, 1, 1]
    found = "Found 2 log entries:\n\n[t] INFO - app:\n  one\n\n[t] ERROR - app:\n  two"
    assert len(list(items_of_text(found))) == 3
