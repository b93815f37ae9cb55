PRAGMA application_id = 1751215206;

-- The data is null once the record is removed; the version stays.
CREATE TABLE record (
    namespace TEXT NOT NULL,
    dependency TEXT NOT NULL,
    version INTEGER NOT NULL,
    data BLOB,
    PRIMARY KEY (namespace, dependency)
) STRICT, WITHOUT ROWID;

-- The stream of transitions. Those of a removal (forgotten = 1) are in the history of no record.
CREATE TABLE transition (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    dependency TEXT NOT NULL,
    forgotten INTEGER NOT NULL,
    json TEXT NOT NULL
) STRICT;
CREATE INDEX history ON transition (namespace, dependency) WHERE forgotten = 0;
CREATE INDEX forgotten ON transition (namespace) WHERE forgotten = 1;

-- The version of the missing records of a namespace that have no row of their own.
CREATE TABLE removed (
    namespace TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
