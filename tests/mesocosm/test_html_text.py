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
        ("<style>.x, p.y > b { display: none }</style><i class=x>a</i><b>c</b><p class=y><b>d</b>", "c"),
        ("<p id=x>a</p>b<style>@media screen { #x{opacity:0} } p:hover{display:none}</style>", "b"),
        ("<style>@media (max-width: 600px) { .x { display: none } }</style><p class=x>a", "a"),
        ("<style>" + "a{" * 40_000 + "</style>a", "a"),
        ("<div>" * 600 + "deep", ""),
        ("<p style='color:#fefefe'>a</p><font color=White>b</font>c", "c"),
        ("<body bgcolor=#ffffff><p style='color: rgb(255, 255, 255); background: none'>a</p>b", "b"),
        ("<table bgcolor='#333'><td><font color=white>a</font><i style='color:#333'>b</i></table>", "a"),
        ("<div style='background:url(x.png)'><b style='color:#fff'>a</b></div>", "a"),
        ("<style>p{background:#000}</style><p><b style='color:white'>a</b>", "a"),
        ("<p style='color:white'>a<b style='color:#000'>b</b><i style='background:#333'>c</i>a</p>", "bc"),
        ("<dialog>a</dialog><dialog open>b</dialog>", "b"),
        ("Grüße 你好 😀", "Grüße 你好 😀"),
        ("", ""),
    ],
)
def test_what_is_shown(html: str, shown: str) -> None:
    assert " ".join(visible_text(html).split()) == shown


@pytest.mark.parametrize(
    "style",
    [
        "/**/display:none",
        "display:none !important",
        "font:0/0 a",
        "font-size:.1px",
        "font-size: 5%",
        "opacity:0.0",
        "opacity: 1%",
        "filter:opacity(0)",
        "color:transparent",
        "color:rgba(0, 0, 0, 0.0)",
        "color:rgb(1 2 3 / 0%)",
        "color:#fff0",
        "color:#eee;background:#eee",
        "position:absolute;left:-9999px",
        "text-indent:-100em",
        "max-height:0;overflow:hidden",
        "transform:scale(0)",
        "transform:translatex(-5000px)",
        "clip:rect(0,0,0,0)",
        "clip-path:inset(100%)",
        "content-visibility:hidden",
        "mso-hide:all",
    ],
)
def test_what_a_style_keeps_from_being_seen_is_not_shown(style: str) -> None:
    assert visible_text(f'<p style="{style}">a</p><b>b</b>').strip() == "b"


@pytest.mark.parametrize(
    "style",
    [
        "font:700 14px/1.5 Arial, sans-serif",
        "font-size:90%",
        "color:rgb(0, 0, 0)",
        "color:#ffff00;background:#000000",
        "color:#abc000",
        "color:inherit;background:inherit",
        "margin:-8px 0 0 -8px;left:0",
        "transform:translate(-50%, -50%) scale(0.9)",
        "width:100%;overflow:hidden;max-height:40em",
        "opacity:.9",
        "font-size:" + "1" * 9_000 + "x;color:#" + "0" * 900,
    ],
)
def test_what_a_style_only_adorns_is_shown(style: str) -> None:
    assert visible_text(f'<p style="{style}">a</p>').strip() == "a"


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.sampled_from([*"<>&;'\"=/!- ab\0\ud800", "<p", "</b>", "<!--", "-->", "<a href="])).map(
        "".join
    )
)
def test_anything_is_read(html: str) -> None:
    assert isinstance(visible_text(html), str)


@pytest.mark.parametrize(
    "part", ["<div>", "</b>", "<b id=1>", "<!--", "<", "<a href='", "<td>", "&", "<p hidden>", "<style>", "}"]
)
def test_a_million_of_anything_is_read(part: str) -> None:
    visible_text("<div>" * 400 + part * 100_000)
