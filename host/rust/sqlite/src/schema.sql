PRAGMA application_id = 1751215206;
PRAGMA user_version = 1;

-- The data is null once the record is removed; the version stays. `counted`: all transitions that its history ever got.
CREATE TABLE record (
    namespace TEXT NOT NULL,
    dependency TEXT NOT NULL,
    version INTEGER NOT NULL,
    data BLOB,
    counted INTEGER NOT NULL,
    PRIMARY KEY (namespace, dependency)
) STRICT, WITHOUT ROWID;

-- The stream of transitions. `number`: the place in the history of the record; null for those of a removal, which are in
-- the history of no record.
CREATE TABLE transition (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    dependency TEXT NOT NULL,
    number INTEGER,
    json TEXT NOT NULL
) STRICT;
CREATE INDEX history ON transition (namespace, dependency, number) WHERE number IS NOT NULL;
CREATE INDEX forgotten ON transition (namespace) WHERE number IS NULL;

-- The version of the missing records of a namespace that have no row of their own.
CREATE TABLE removed (
    namespace TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
