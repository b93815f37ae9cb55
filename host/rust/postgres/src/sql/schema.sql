-- Makes version {version} of the schema, unless another process has made it. A released version is never changed.
-- Names and transitions are bytes: text holds no NUL, and not every database is in UTF-8.
-- Unsigned numbers are kept bit for bit in signed ones.

DO $make$
BEGIN
PERFORM pg_advisory_xact_lock({lock});
IF to_regclass($name${schema}.migration$name$) IS NOT NULL THEN
    RETURN;
END IF;
-- `IF NOT EXISTS` would need the right to create also where the schema exists.
IF to_regnamespace($name${schema}$name$) IS NULL THEN
    CREATE SCHEMA {schema};
END IF;
CREATE TABLE {schema}.migration (version integer PRIMARY KEY, done timestamptz NOT NULL DEFAULT now());
INSERT INTO {schema}.migration (version) VALUES ({version});

-- `data` is null once the record is removed; the version stays. `counted` numbers its transitions. `commits` holds the
-- tokens of its newest 64 writes, 8 bytes each, the newest first: they identify a commit whose acknowledgement was
-- lost.
CREATE TABLE {schema}.record (
    namespace bytea NOT NULL,
    dependency bytea NOT NULL,
    version bigint NOT NULL,
    counted bigint NOT NULL,
    data bytea,
    commits bytea NOT NULL,
    PRIMARY KEY (namespace, dependency)
) WITH (fillfactor = 50);

-- `floor`: the version of the missing records that have no row. `position`: that of the last transition. A commit that
-- adds a transition locks this row until it ends, so that positions become visible in their order.
CREATE TABLE {schema}.namespace (
    namespace bytea PRIMARY KEY,
    floor bigint NOT NULL DEFAULT 0,
    position bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- `number` is the place in the record's history; null where the transition is one of a removal, and so in no history.
CREATE TABLE {schema}.transition (
    namespace bytea NOT NULL,
    position bigint NOT NULL,
    dependency bytea NOT NULL,
    number bigint,
    transition bytea NOT NULL,
    PRIMARY KEY (namespace, position)
);
CREATE UNIQUE INDEX transition_of_record ON {schema}.transition (namespace, dependency, number);
CREATE INDEX transition_of_removal ON {schema}.transition (namespace, position) WHERE number IS NULL;

-- Does writes one after the other, each by compare-and-set on the version; returns one row for each, in their order:
-- 0 it is done, 1 another writer was first (and the record as it is), 2 it is not known which. The writes are sorted by
-- namespace and dependency, so that no two calls deadlock. The transitions of all writes are in one array; `added`
-- counts those of each write. `retried`: an earlier call with the same tokens was not answered. A write that it did is
-- recognised by its token.
CREATE FUNCTION {schema}.write(
    tokens bigint[], namespaces bytea[], dependencies bytea[], bases bigint[], versions bigint[], contents bytea[],
    histories bigint[], added bigint[], transitions bytea[], retried boolean
) RETURNS TABLE (outcome smallint, version_now bigint, data_now bytea, clock timestamptz)
LANGUAGE plpgsql VOLATILE AS $halfopen$
#variable_conflict use_column
DECLARE
    numbers bigint[] := '{}';
    number_now bigint;
    commits_now bytea;
    floor_now bigint;
    position_now bigint;
    before bigint := 0;
BEGIN
    -- An acknowledged commit is durable, whatever the default of the database.
    PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    FOR i IN 1 .. cardinality(tokens) LOOP
        number_now := NULL;
        version_now := NULL;
        data_now := NULL;
        LOOP
            UPDATE {schema}.record AS r SET
                version = versions[i], counted = r.counted + added[i], data = contents[i],
                commits = substr(int8send(tokens[i]) || r.commits, 1, 512)
                WHERE r.namespace = namespaces[i] AND r.dependency = dependencies[i] AND r.version = bases[i]
                RETURNING r.counted INTO number_now;
            IF FOUND THEN
                outcome := 0;
                EXIT;
            END IF;
            SELECT r.version, r.data, r.commits INTO version_now, data_now, commits_now FROM {schema}.record AS r
                WHERE r.namespace = namespaces[i] AND r.dependency = dependencies[i];
            IF FOUND THEN
                CONTINUE WHEN version_now = bases[i];
                IF retried AND position(int8send(tokens[i]) IN commits_now) > 0 THEN
                    outcome := 0;
                ELSIF retried AND version_now - bases[i] > 64 THEN
                    outcome := 2;
                ELSE
                    outcome := 1;
                END IF;
                EXIT;
            END IF;
            -- Without a row, the version is the floor of the namespace, which must not rise before the commit.
            INSERT INTO {schema}.namespace (namespace) VALUES (namespaces[i]) ON CONFLICT DO NOTHING;
            SELECT n.floor INTO floor_now FROM {schema}.namespace AS n WHERE n.namespace = namespaces[i] FOR KEY SHARE;
            IF floor_now = bases[i] THEN
                INSERT INTO {schema}.record (namespace, dependency, version, counted, data, commits)
                    VALUES (namespaces[i], dependencies[i], versions[i], added[i], contents[i], int8send(tokens[i]))
                    ON CONFLICT DO NOTHING;
                CONTINUE WHEN NOT FOUND;
                number_now := added[i];
                outcome := 0;
                EXIT;
            END IF;
            PERFORM 1 FROM {schema}.record AS r
                WHERE r.namespace = namespaces[i] AND r.dependency = dependencies[i];
            CONTINUE WHEN FOUND;
            version_now := floor_now;
            data_now := NULL;
            outcome := CASE WHEN retried AND floor_now > bases[i] THEN 2 ELSE 1 END;
            EXIT;
        END LOOP;
        numbers := numbers || number_now;
        clock := clock_timestamp();
        RETURN NEXT;
    END LOOP;
    -- After all records, so that every transaction locks records first and namespaces last.
    FOR i IN 1 .. cardinality(tokens) LOOP
        IF numbers[i] IS NOT NULL AND contents[i] IS NULL THEN
            DELETE FROM {schema}.transition AS t
                WHERE t.namespace = namespaces[i] AND t.dependency = dependencies[i] AND t.number IS NOT NULL;
        END IF;
        IF numbers[i] IS NOT NULL AND added[i] > 0 THEN
            INSERT INTO {schema}.namespace AS n (namespace, position) VALUES (namespaces[i], added[i])
                ON CONFLICT (namespace) DO UPDATE SET position = n.position + added[i]
                RETURNING n.position INTO position_now;
            INSERT INTO {schema}.transition (namespace, position, dependency, number, transition)
                SELECT namespaces[i], position_now - added[i] + k, dependencies[i],
                    CASE WHEN contents[i] IS NOT NULL THEN numbers[i] - added[i] + k END, transitions[before + k]
                FROM generate_series(1, added[i]) AS k;
            IF contents[i] IS NULL THEN
                DELETE FROM {schema}.transition AS t
                    WHERE t.namespace = namespaces[i] AND t.number IS NULL AND t.position <= (
                        SELECT f.position FROM {schema}.transition AS f
                        WHERE f.namespace = namespaces[i] AND f.number IS NULL
                        ORDER BY f.position DESC OFFSET {forgotten} LIMIT 1);
            ELSE
                DELETE FROM {schema}.transition AS t
                    WHERE t.namespace = namespaces[i] AND t.dependency = dependencies[i]
                    AND t.number <= numbers[i] - histories[i];
            END IF;
        END IF;
        before := before + added[i];
    END LOOP;
END
$halfopen$;

-- Removes all records of a namespace. Its floor rises to one above the highest version, so that a write based on a
-- removed record is stale.
CREATE FUNCTION {schema}.remove_namespace(removed bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $halfopen$
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    -- Records before namespaces, as in every transaction; then again those that were added in between.
    PERFORM 1 FROM {schema}.record AS r WHERE r.namespace = removed ORDER BY r.dependency FOR UPDATE;
    PERFORM 1 FROM {schema}.namespace AS n WHERE n.namespace = removed FOR UPDATE;
    PERFORM 1 FROM {schema}.record AS r WHERE r.namespace = removed ORDER BY r.dependency FOR UPDATE;
    UPDATE {schema}.namespace AS n SET floor = greatest(
            n.floor, (SELECT max(r.version) + 1 FROM {schema}.record AS r WHERE r.namespace = removed))
        WHERE n.namespace = removed;
    DELETE FROM {schema}.record AS r WHERE r.namespace = removed;
    DELETE FROM {schema}.transition AS t WHERE t.namespace = removed;
END
$halfopen$;

-- Drops the versions of removed records but for the highest. The floor rises to the highest that is dropped.
CREATE FUNCTION {schema}.compact(compacted bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $halfopen$
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    -- Records before namespaces, as in every transaction.
    PERFORM 1 FROM {schema}.record AS r WHERE r.namespace = compacted AND r.data IS NULL
        ORDER BY r.dependency FOR UPDATE;
    UPDATE {schema}.namespace AS n SET floor = greatest(n.floor, (
            SELECT r.version FROM {schema}.record AS r WHERE r.namespace = compacted AND r.data IS NULL
            ORDER BY r.version DESC OFFSET {removed} LIMIT 1))
        WHERE n.namespace = compacted;
    DELETE FROM {schema}.record AS r USING {schema}.namespace AS n
        WHERE r.namespace = compacted AND r.data IS NULL AND n.namespace = compacted AND r.version <= n.floor;
END
$halfopen$;
END
$make$;
