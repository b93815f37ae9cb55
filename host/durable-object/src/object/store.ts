/**
 * The records of an object, in its own SQLite database. All methods are synchronous and run inside one `transactionSync`:
 * nothing is awaited between a load and the commit that rests on it.
 */
import type * as storage from "../../generated/interfaces/halfopen-breaker-storage.js";
import type * as wit from "../../generated/interfaces/halfopen-breaker-types.js";
import type { Transition } from "../contract/documents.js";

/** The form of the tables. A later release that changes them raises this and migrates. */
const SCHEMA = 1;

const TABLES = `
  CREATE TABLE halfopen_schema (version INTEGER NOT NULL);
  INSERT INTO halfopen_schema VALUES (${SCHEMA});
  CREATE TABLE halfopen_record (
    dependency TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    data BLOB
  ) WITHOUT ROWID;
  CREATE TABLE halfopen_transition (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    dependency TEXT NOT NULL,
    document TEXT NOT NULL
  );
  CREATE INDEX halfopen_transition_of ON halfopen_transition (dependency, seq);
  CREATE TABLE halfopen_recovery (dependency TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE halfopen_delivery (sender TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE halfopen_directory (dependency TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
`;

/** The records that are cached: an object has one dependency, and one that is used for many does not keep them all. */
const MOST_KNOWN = 16;

/** An isolate repeats a batch for a minute at the longest; here is a margin, in ms. */
const LONGEST_REPEATED = 3_600_000;

/** Compare and set in one statement: it inserts nothing where the version is another. */
const COMMIT = `
  INSERT OR REPLACE INTO halfopen_record (dependency, version, data)
  SELECT ?1, ?2 + 1, ?3 WHERE ?2 = coalesce((SELECT version FROM halfopen_record WHERE dependency = ?1), 0)
  RETURNING version`;

/** Why the storage failed, as the component knows it. Thrown with this as own `payload`, it becomes the component's error. */
export class StoreFailure extends Error {
  readonly payload: wit.StorageError;

  constructor(payload: wit.StorageError, options?: ErrorOptions) {
    super(payload.val, options);
    this.payload = payload;
  }
}

type Binding = SqlStorageValue | Uint8Array;
type Row = Record<string, SqlStorageValue>;

/** The storage of one object. */
export class Store {
  readonly #sql: SqlStorage;
  readonly #history: number;
  /** Whether the database has tables; null before it was looked at, and after a rollback. */
  #tables: boolean | null = null;
  /** The records in the database. Only this object writes it, and an object whose writes fail to become durable is ended. */
  #known = new Map<string, storage.Snapshot>();
  /** The records that are known once the transaction stands. */
  readonly #learnt = new Map<string, storage.Snapshot>();
  /** Whether anything was committed in this transaction. */
  wrote = false;

  constructor(sql: SqlStorage, history: number) {
    this.#sql = sql;
    this.#history = history;
  }

  /** Finds out whether there are tables, and whether this release knows them. */
  prepare(): void {
    if (this.#tables !== null) return;
    this.guard(() => {
      this.#tables = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'halfopen_schema'").toArray().length > 0;
      if (!this.#tables) return;
      const version = Number(this.#sql.exec("SELECT version FROM halfopen_schema").one()["version"]);
      if (version > SCHEMA) {
        const why = `its tables have the form ${version} of a later release; this one knows ${SCHEMA}: deploy that release`;
        throw new StoreFailure({ tag: "denied", val: why });
      }
    });
  }

  /** Forgets all that rests on a transaction that was rolled back. */
  rolledBack(): void {
    this.#tables = null;
    this.#known.clear();
    this.#learnt.clear();
    this.wrote = false;
  }

  /** Caches the records of a transaction that stands. */
  committed(): void {
    if (this.#learnt.size === 0) return;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    for (const [dependency, snapshot] of this.#learnt) this.#known.set(dependency, snapshot);
    this.#learnt.clear();
  }

  /** The record of a dependency. */
  load(dependency: string): storage.Snapshot {
    const known = this.#learnt.get(dependency) ?? this.#known.get(dependency);
    return known ?? this.#learn(dependency, this.#read(dependency));
  }

  #learn(dependency: string, snapshot: storage.Snapshot): storage.Snapshot {
    this.#learnt.set(dependency, snapshot);
    return snapshot;
  }

  #read(dependency: string): storage.Snapshot {
    const query = "SELECT version, data FROM halfopen_record WHERE dependency = ?";
    const row = this.select<{ version: number; data: SqlStorageValue }>(query, dependency)[0];
    if (row === undefined) return { version: 0n };
    const version = BigInt(row.version);
    if (row.data === null) return { version };
    // A value that is no blob is damaged. The component says so of an empty record, and can mend it.
    return { version, data: row.data instanceof ArrayBuffer ? new Uint8Array(row.data) : new Uint8Array() };
  }

  /** Writes a record while `basedOn` is its version, or removes it and its history. */
  commit(dependency: string, basedOn: bigint, data: Uint8Array | undefined, transitions: string[]): storage.CommitOutcome {
    const row = this.change<{ version: number }>(COMMIT, dependency, Number(basedOn), data ?? null)[0];
    if (row === undefined) return { tag: "stale", val: this.#learn(dependency, this.#read(dependency)) };
    const version = BigInt(row.version);
    this.wrote = true;
    this.#learn(dependency, data === undefined ? { version } : { version, data });
    if (data === undefined) {
      // The transitions of a removal belong to the stream of a namespace, which an object of one dependency does not have.
      this.change("DELETE FROM halfopen_transition WHERE dependency = ?", dependency);
    } else if (transitions.length > 0) {
      this.#append(dependency, transitions);
    }
    return { tag: "committed", val: version };
  }

  /** The last transitions, the latest last. */
  history(dependency: string, limit: number): Transition[] {
    const query = "SELECT document FROM halfopen_transition WHERE dependency = ? ORDER BY seq DESC LIMIT ?";
    const rows = this.select<{ document: string }>(query, dependency, limit);
    return rows.reverse().map(({ document }) => JSON.parse(document) as Transition);
  }

  /** Whether a sender's batch has been counted. */
  counted(sender: string, number: number): boolean {
    const row = this.select<{ number: number }>("SELECT number FROM halfopen_delivery WHERE sender = ?", sender)[0];
    return row !== undefined && row.number >= number;
  }

  /** Notes that a sender's batch has been counted, and forgets senders that no longer repeat a batch. */
  count(sender: string, number: number, now: number): void {
    const query = `INSERT INTO halfopen_delivery VALUES (?1, ?2, ?3)
      ON CONFLICT (sender) DO UPDATE SET number = ?2, at = ?3 RETURNING number`;
    this.change(query, sender, number, now);
    if (number === 1) this.change("DELETE FROM halfopen_delivery WHERE at < ?", now - LONGEST_REPEATED);
  }

  /** The rows of a query; none where nothing has been written yet. A statement left open would slow down its transaction. */
  select<T extends Row>(query: string, ...bindings: Binding[]): T[] {
    return this.#tables === true ? this.guard(() => this.#sql.exec<T>(query, ...bindings).toArray()) : [];
  }

  /** Runs a statement that writes; the first one makes the tables. */
  change<T extends Row>(query: string, ...bindings: Binding[]): T[] {
    return this.guard(() => {
      if (this.#tables !== true) {
        this.#sql.exec(TABLES);
        this.#tables = true;
      }
      return this.#sql.exec<T>(query, ...bindings).toArray();
    });
  }

  #append(dependency: string, transitions: string[]): void {
    for (const document of transitions) {
      this.change("INSERT INTO halfopen_transition (dependency, document) VALUES (?, ?)", dependency, document);
    }
    this.change(
      `DELETE FROM halfopen_transition WHERE dependency = ?1 AND seq <=
        (SELECT seq FROM halfopen_transition WHERE dependency = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      dependency,
      this.#history,
    );
  }

  /** Turns every error of the storage into a typed failure: another would leave the component through its frames. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof StoreFailure ? error : failure(error);
    }
  }
}

/** An error of the storage, sorted. */
export function failure(error: unknown): StoreFailure {
  const val = error instanceof Error ? error.message : String(error);
  const kind = (tag: wit.StorageError["tag"]): StoreFailure => new StoreFailure({ tag, val }, { cause: error });
  if (/SQLITE_(FULL|BUSY|LOCKED|IOERR|CANTOPEN|NOMEM)|exceeded|reset because/i.test(val)) return kind("unavailable");
  if (/SQLITE_(READONLY|AUTH|PERM)/.test(val)) return kind("denied");
  if (/SQLITE_(CORRUPT|NOTADB)/.test(val)) return kind("corrupt");
  return kind("other");
}
