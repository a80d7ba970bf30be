"""Finding documents."""

from __future__ import annotations

from typing import Any

import pytest

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.calling import ToolError


def found(documents: Any, query: str, **arguments: Any) -> list[str]:
    return [result["id"] for result in documents("search_documents", query=query, **arguments)["results"]]


def test_words_are_found_in_any_form_with_a_snippet(documents: Any) -> None:
    answer = documents("search_documents", query="looms")
    assert [r["id"] for r in answer["results"]] == ["roadmap"]
    assert answer["results"][0]["snippet"].startswith("Ship the **loom**.")
    assert (answer["total"], answer["next_page"]) == (1, None)


def test_an_excerpt_is_of_the_place_with_most_that_was_looked_for(documents: Any) -> None:
    story = "A fox came. " * 40 + "Then the fox met two foxes\nin the café_garden. " + "They went home. " * 40
    documents("create_document", title="Story", content=story)
    documents("create_document", title="Foxes of old", content="Nothing of them here. " * 20)
    fox, cafe, old = (
        documents("search_documents", query=query)["results"][0]["snippet"]
        for query in ('"foxes met"', "CAFE went", "foxes old")
    )
    assert fox.startswith(" ... Then the **fox met** two foxes\nin the café_garden. They went home.")
    assert cafe.startswith(" ... **café**_garden. They **went** home.")
    assert (fox.endswith(" ... "), len(fox.split()) - 2) == (True, 23)
    assert old.startswith("Nothing of them here. Nothing")


def test_a_word_that_occurs_without_end_takes_nobodys_time(documents: Any) -> None:
    documents("create_document", title="Long", content="<b> b. " * 300_000)
    terms = ["b", *(f'"{"b " * many}"' for many in range(2, 8))]
    (found,) = documents("search_documents", query=" ".join(terms))["results"]
    assert found["snippet"].count("b") == 24
    with pytest.raises(ToolError, match="at most 32 words, got 33"):
        documents("search_documents", query="b " * 33)


def test_all_words_must_occur_and_phrases_stand_together(documents: Any) -> None:
    assert found(documents, "loom rest") == ["roadmap"]
    assert found(documents, "loom zebra") == []
    assert found(documents, '"test the loom"') == ["roadmap"]
    assert found(documents, '"loom the test"') == []


def test_tags_and_scripts_of_html_are_not_searched(documents: Any) -> None:
    assert found(documents, "deadline") == ["site"]
    assert found(documents, "script") == []
    assert found(documents, "var") == []


def test_a_title_counts_more_than_the_text(documents: Any) -> None:
    documents("create_document", title="About", content="the zebra " + "and other animals " * 20)
    best = documents("create_document", title="Zebra", content="animals " * 60)["id"]
    assert found(documents, "zebra")[0] == best


def test_a_search_can_be_narrowed(documents: Any, folder: Any) -> None:
    mine = documents("create_document", title="Loom notes", content="loom", type="markdown")["id"]
    assert set(found(documents, "loom")) == {mine, "roadmap"}
    assert found(documents, "loom", type="markdown") == [mine]
    assert found(documents, "loom", folder_id="research") == ["roadmap"]
    assert found(documents, "loom", folder_id=folder("Plans")) == ["roadmap"]
    assert found(documents, "loom", folder_id=folder("Papers")) == []


def test_pages_put_together_are_the_whole(documents: Any) -> None:
    store = DocumentsStore
    with documents.tools.world.editing() as world:
        rows = [{"title": f"Card {n}", "content": f"zebra {n}"} for n in range(25)]
        world.store(store).filling.add_documents("research", rows)
    pages = [found(documents, "zebra", page=page) for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert len({file_id for page in pages for file_id in page}) == 25
    assert documents("search_documents", query="zebra", page=4)["total"] == 25


def test_the_index_follows_changes(documents: Any) -> None:
    documents("update_document", file_id="roadmap", content="Only zebras")
    documents("rename_item", item_id="v4%-7", name="Quagga")
    assert found(documents, "loom") == []
    assert found(documents, "zebra") == ["roadmap"]
    assert found(documents, "quagga") == ["v4%-7"]


def test_nothing_is_found_that_may_not_be_read(documents: Any) -> None:
    assert "secret" not in found(documents, "loom")
    with documents.tools.world.editing() as world:
        world.store(DocumentsStore).sharing.give("secret", "ada@example.org", "viewer")
    assert "secret" in found(documents, "loom")


@pytest.mark.parametrize("query", ["", "?!", "\x00", "x" * 501])
def test_a_query_without_words_is_refused(documents: Any, query: str) -> None:
    with pytest.raises(ToolError, match="query"):
        documents("search_documents", query=query)


@pytest.mark.parametrize(
    "query", ['"loom OR rest"', "loom*", "NEAR(loom rest)", "title:loom", '"-loom"', "loom AND"]
)
def test_the_syntax_of_the_index_is_text_like_any_other(documents: Any, query: str) -> None:
    documents("search_documents", query=query)


PIECES = (
    *("<!--", "<a ", "<", "&", "</", "<a b='", "<![CDATA[", "<?", "<!", "<a/", "&#", "a<b ", "<script>a/"),
    *("</script", "<a>a/</a>", "<b>", "<i></b>"),
)


@pytest.mark.parametrize("piece", PIECES)
def test_html_of_one_piece_again_and_again_is_read_in_time(documents: Any, piece: str) -> None:
    content = f"<p>Marzipan</p>{piece * 200_000}"
    made = documents("create_document", title="Odd", content=content, type="html")["id"]
    assert found(documents, "Marzipan") == [made]
