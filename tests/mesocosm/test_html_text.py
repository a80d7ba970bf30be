"""What a reader sees of HTML."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.kits.html_text import visible_text


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("plain", "plain"),
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br>two<td>three", "one two three"),
        ("<b>W</b>ord &amp; w<i>or</i>d", "Word & word"),
        ("<p>a<style>p{}</style><script>b</script><!-- c --> d<title>e</title></p>", "a d"),
        ("<p hidden>a</p><p style='color: red; display : NONE'>b</p>c", "c"),
        ("<div style='visibility:hidden'>a<p>b</p></div>c<img hidden> d", "c d"),
        ("<span style='font-size:0'>a</span><span style='font-size:0.9em'>b</span>", "b"),
        ("<html><head><title>a</title></head><body>b</body></html>", "b"),
        ("<div>" * 600 + "deep", ""),
        ("Grüße 你好 😀", "Grüße 你好 😀"),
        ("", ""),
    ],
)
def test_what_is_shown(html: str, shown: str) -> None:
    assert " ".join(visible_text(html).split()) == shown


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.sampled_from([*"<>&;'\"=/!- ab\0\ud800", "<p", "</b>", "<!--", "-->", "<a href="])).map(
        "".join
    )
)
def test_anything_is_read(html: str) -> None:
    assert isinstance(visible_text(html), str)


@pytest.mark.parametrize(
    "part", ["<div>", "</b>", "<b id=1>", "<!--", "<", "<a href='", "<td>", "&", "<p hidden>"]
)
def test_a_million_of_anything_is_read(part: str) -> None:
    visible_text("<div>" * 400 + part * 100_000)
