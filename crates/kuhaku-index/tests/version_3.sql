CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    content BLOB NOT NULL,
    doc_type TEXT NOT NULL,
    tags TEXT NOT NULL,
    pinned_tags INTEGER NOT NULL,
    effective TEXT,
    expires TEXT,
    obsolete INTEGER NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE metadata (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (document, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE folders (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    folder BLOB NOT NULL,
    PRIMARY KEY (document, folder)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    page INTEGER,
    headings TEXT NOT NULL,
    extra TEXT NOT NULL,
    text TEXT,
    terms BLOB NOT NULL,
    UNIQUE (document, ordinal)
) STRICT;
CREATE TABLE quarantine (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    reason TEXT NOT NULL
) STRICT;
CREATE TABLE vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, text BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (text, chunk)) STRICT;
CREATE TABLE retired (
    document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    since INTEGER NOT NULL
) STRICT;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('store', 'retire', 'release', 'reset')),
    row INTEGER NOT NULL
) STRICT;
PRAGMA application_id = 1802856545;
PRAGMA user_version = 3;
INSERT INTO meta (key, value) VALUES
    ('fingerprint', CAST('{"tokenizer":"default","language":"en","masker":"none","chunker":"none","embedder":null}' AS BLOB)),
    ('id_key', x'0101010101010101010101010101010101010101010101010101010101010101'),
    ('commit', x'000102030405060708090a0b0c0d0e0f0400000000000000');
INSERT INTO documents VALUES
    (1, 'open', x'1111111111111111111111111111111111111111111111111111111111111111', 'document', '[]', 0, NULL, '2030-12-31', 0, '', 'open.md', 'alpha beta'),
    (2, 'gone', x'2222222222222222222222222222222222222222222222222222222222222222', 'document', '[]', 0, NULL, NULL, 0, '', 'gone.md', 'alpha'),
    (3, 'secret', x'3333333333333333333333333333333333333333333333333333333333333333', 'policy', '["hr","legal"]', 1, '2020-01-01', NULL, 0, '', 'secret.md', 'gamma delta');
INSERT INTO metadata VALUES (1, 'team', 'red');
INSERT INTO folders VALUES (1, x'22222222222222222222222222222222');
INSERT INTO chunks VALUES
    (1, 1, 0, 0, 10, 3, '[]', '', NULL, x'00020005616c70686102046265746102'),
    (2, 2, 0, 0, 5, NULL, '[]', '', NULL, x'00010005616c70686102'),
    (3, 3, 0, 0, 5, NULL, '["Plans"]', '', NULL, x'01010004706c616e0101000567616d6d6102'),
    (4, 3, 1, 6, 5, NULL, '[]', '', NULL, x'0001000564656c746102');
INSERT INTO quarantine VALUES (4, 'special_token');
INSERT INTO retired VALUES (2, 1772366400);
INSERT INTO changes VALUES (1, 'store', 1), (2, 'store', 2), (3, 'store', 3), (4, 'retire', 2);
PRAGMA journal_mode = WAL;
