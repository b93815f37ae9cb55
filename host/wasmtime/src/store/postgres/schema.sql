-- The first version of the schema. Once released, a step is never changed.
-- Names and reasons are bytes: text holds no NUL, and not every database is in UTF-8.
-- Unsigned numbers are kept bit for bit in signed ones.

-- `data` is null once the record is removed; the version stays. `counted` numbers its transitions. `commits` holds the
-- tokens of its newest 64 writes, 8 bytes each, the newest first: by them a commit whose acknowledgement was lost is
-- recognised.
CREATE TABLE {schema}.record (
    namespace bytea NOT NULL,
    dependency bytea NOT NULL,
    version bigint NOT NULL,
    counted bigint NOT NULL,
    data bytea,
    commits bytea NOT NULL,
    PRIMARY KEY (namespace, dependency)
) WITH (fillfactor = 50);

-- `floor`: above every version that a record had when the namespace was last removed. `position`: that of its last
-- transition. Whoever adds one locks this row until its commit, so that positions become visible in their order.
CREATE TABLE {schema}.namespace (
    namespace bytea PRIMARY KEY,
    floor bigint NOT NULL DEFAULT 0,
    position bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE {schema}.transition (
    namespace bytea NOT NULL,
    position bigint NOT NULL,
    dependency bytea NOT NULL,
    number bigint NOT NULL,
    from_state text NOT NULL,
    to_state text NOT NULL,
    at bigint NOT NULL,
    epoch bigint NOT NULL,
    reason bytea NOT NULL,
    PRIMARY KEY (namespace, position)
);
CREATE UNIQUE INDEX transition_of_record ON {schema}.transition (namespace, dependency, number);

-- Judges writes one after the other, each by compare-and-set on the version; one row each comes back, in their order:
-- 0 it is done, 1 another has written since (and the record as it is), 2 it cannot be told any more.
-- The writes come sorted by namespace and dependency, so that no two calls wait for each other. The transitions of all
-- writes come in one row of arrays; `added` says how many of them are whose.
-- `again`: the same call was sent before and not answered. A write that was done then is recognised by its token.
CREATE FUNCTION {schema}.write(
    tokens bigint[], namespaces bytea[], dependencies bytea[], bases bigint[], versions bigint[], contents bytea[],
    histories bigint[], added bigint[], from_states text[], to_states text[], instants bigint[], epochs bigint[],
    reasons bytea[], again boolean
) RETURNS TABLE (came_to smallint, present bigint, held bytea, now timestamptz) LANGUAGE plpgsql VOLATILE AS $halfopen$
#variable_conflict use_column
DECLARE
    outcomes smallint[] := '{}';
    presents bigint[] := '{}';
    helds bytea[] := '{}';
    numbers bigint[] := '{}';
    outcome smallint;
    number_now bigint;
    version_now bigint;
    data_now bytea;
    commits_now bytea;
    floor_now bigint;
    position_now bigint;
    before bigint := 0;
BEGIN
    -- What is acknowledged here is durable, whatever the default of the database.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
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
                IF again AND position(int8send(tokens[i]) IN commits_now) > 0 THEN
                    outcome := 0;
                ELSIF again AND version_now - bases[i] > 64 THEN
                    outcome := 2;
                ELSE
                    outcome := 1;
                END IF;
                EXIT;
            END IF;
            -- There is no row: what it is based on is the floor of its namespace, which must not rise meanwhile.
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
            outcome := CASE WHEN again AND floor_now > bases[i] THEN 2 ELSE 1 END;
            EXIT;
        END LOOP;
        outcomes := outcomes || outcome;
        presents := presents || version_now;
        helds := array_append(helds, data_now);
        numbers := numbers || number_now;
    END LOOP;
    -- Afterwards, so that everybody locks records first and namespaces last.
    FOR i IN 1 .. cardinality(tokens) LOOP
        IF numbers[i] IS NULL THEN
            NULL;
        ELSIF contents[i] IS NULL THEN
            DELETE FROM {schema}.transition AS t
                WHERE t.namespace = namespaces[i] AND t.dependency = dependencies[i];
        ELSIF added[i] > 0 THEN
            INSERT INTO {schema}.namespace AS n (namespace, position) VALUES (namespaces[i], added[i])
                ON CONFLICT (namespace) DO UPDATE SET position = n.position + added[i]
                RETURNING n.position INTO position_now;
            INSERT INTO {schema}.transition
                    (namespace, position, dependency, number, from_state, to_state, at, epoch, reason)
                SELECT namespaces[i], position_now - added[i] + k, dependencies[i], numbers[i] - added[i] + k,
                    from_states[before + k], to_states[before + k], instants[before + k], epochs[before + k],
                    reasons[before + k]
                FROM generate_series(1, added[i]) AS k;
            DELETE FROM {schema}.transition AS t
                WHERE t.namespace = namespaces[i] AND t.dependency = dependencies[i]
                AND t.number <= numbers[i] - histories[i];
        END IF;
        before := before + added[i];
    END LOOP;
    FOR i IN 1 .. cardinality(tokens) LOOP
        came_to := outcomes[i];
        present := presents[i];
        held := helds[i];
        now := clock_timestamp();
        RETURN NEXT;
    END LOOP;
END
$halfopen$;

-- Removes all records of a namespace. Its floor rises to one above the highest version, so that a write based on what was
-- there is stale.
CREATE FUNCTION {schema}.remove_namespace(removed bytea) RETURNS void LANGUAGE plpgsql VOLATILE AS $halfopen$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- Records before namespaces, as everybody does; then once more those that were added in between.
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
