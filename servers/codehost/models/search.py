"""Full-text indexes (SQLite FTS5) and the triggers that keep them equal to the tables."""

from __future__ import annotations

from sqlalchemy import DDL, MetaData, event

_STATEMENTS = (
    # Code: the words of paths and contents at the head of default branches. The contents are not copied,
    # the view finds them among the git objects.
    """CREATE VIEW code_content AS
       SELECT files.id AS id, files.path AS path, CAST(objects.data AS TEXT) AS content
       FROM files JOIN objects ON objects.network = files.network AND objects.sha = files.sha
       WHERE files.searchable""",
    """CREATE VIRTUAL TABLE code_search USING fts5(
       path, content, content='code_content', content_rowid='id', tokenize='unicode61')""",
    """CREATE TRIGGER files_added AFTER INSERT ON files WHEN new.searchable BEGIN
       INSERT INTO code_search (rowid, path, content)
       SELECT id, path, content FROM code_content WHERE id = new.id; END""",
    """CREATE TRIGGER files_removed BEFORE DELETE ON files WHEN old.searchable BEGIN
       INSERT INTO code_search (code_search, rowid, path, content)
       SELECT 'delete', id, path, content FROM code_content WHERE id = old.id; END""",
    """CREATE VIRTUAL TABLE commit_search USING fts5(
       message, content='commits', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER commits_added AFTER INSERT ON commits BEGIN
       INSERT INTO commit_search (rowid, message) VALUES (new.id, new.message); END""",
    """CREATE VIRTUAL TABLE issue_search USING fts5(
       title, body, content='issues', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER issues_added AFTER INSERT ON issues BEGIN
       INSERT INTO issue_search (rowid, title, body) VALUES (new.id, new.title, new.body); END""",
    """CREATE TRIGGER issues_changed AFTER UPDATE OF title, body ON issues BEGIN
       INSERT INTO issue_search (issue_search, rowid, title, body)
       VALUES ('delete', old.id, old.title, old.body);
       INSERT INTO issue_search (rowid, title, body) VALUES (new.id, new.title, new.body); END""",
    """CREATE VIRTUAL TABLE comment_search USING fts5(
       body, content='comments', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER comments_added AFTER INSERT ON comments BEGIN
       INSERT INTO comment_search (rowid, body) VALUES (new.id, new.body); END""",
    # Ids of the product's kind: nobody can take an issue's id for its number.
    """INSERT INTO sqlite_sequence (name, seq) VALUES
       ('accounts', 583000), ('repositories', 81240000), ('issues', 2140000000), ('comments', 1870000000),
       ('labels', 528000000), ('reviews', 1590000000), ('review_comments', 1230000000),
       ('releases', 98000000), ('check_runs', 30560000000), ('reactions', 240000000)""",
)


def add_search_indexes(metadata: MetaData) -> None:
    """Have the indexes created together with the tables."""
    for statement in _STATEMENTS:
        event.listen(metadata, "after_create", DDL(statement))  # type: ignore[no-untyped-call]
