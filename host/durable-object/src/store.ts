/**
 * The records of an object, in its own SQLite database. Everything here is synchronous and meant to run inside one
 * `transactionSync`: nothing is awaited between a load and the commit that rests on it.
 *
 * @module
 */
import type * as storage from "../generated/interfaces/halfopen-breaker-storage.js";
import type * as wit from "../generated/interfaces/halfopen-breaker-types.js";
import { word } from "./convert.js";
import type { State, Transition } from "./types.js";

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
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    at TEXT NOT NULL,
    epoch TEXT NOT NULL,
    reason TEXT NOT NULL
  );
  CREATE INDEX halfopen_transition_of ON halfopen_transition (dependency, seq);
  CREATE TABLE halfopen_recovery (dependency TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE halfopen_directory (dependency TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
`;

/** An object has one dependency; one that is used for many does not keep them all. */
const MOST_KNOWN = 16;

/** Compare and set in one statement: it inserts nothing where the version is another. */
const COMMIT = `
  INSERT OR REPLACE INTO halfopen_record (dependency, version, data)
  SELECT ?1, ?2 + 1, ?3 WHERE ?2 = coalesce((SELECT version FROM halfopen_record WHERE dependency = ?1), 0)
  RETURNING version`;

/** Why the storage failed, as the component knows it. Thrown with this as own `payload`, it becomes its error. */
export class StoreFailure extends Error {
  readonly payload: wit.StorageError;

  constructor(payload: wit.StorageError, options?: ErrorOptions) {
    super(payload.val, options);
    this.payload = payload;
  }
}

/** The storage of one object. */
export class Store {
  readonly #sql: SqlStorage;
  readonly #history: number;
  #ready = false;
  /** What the database holds: nobody else writes it, and an object whose writes fail to become durable is ended. */
  #known = new Map<string, storage.Snapshot>();
  /** What is known once the transaction stands. */
  readonly #learnt = new Map<string, storage.Snapshot>();
  /** Whether anything was committed in this transaction. */
  wrote = false;

  constructor(sql: SqlStorage, history: number) {
    this.#sql = sql;
    this.#history = history;
  }

  /** Makes the tables where there are none. */
  prepare(): void {
    if (this.#ready) return;
    this.guard(() => {
      const known = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'halfopen_schema'").toArray().length > 0;
      if (!known) {
        this.#sql.exec(TABLES);
        return;
      }
      const version = Number(this.#sql.exec("SELECT version FROM halfopen_schema").one()["version"]);
      if (version > SCHEMA) {
        const why = `its tables have the form ${version} of a later release; this one knows ${SCHEMA}: deploy that release`;
        throw new StoreFailure({ tag: "denied", val: why });
      }
    });
  }

  /** The transaction is gone, and with it whatever it settled. */
  rolledBack(): void {
    this.#ready = false;
    this.#known.clear();
    this.#learnt.clear();
    this.wrote = false;
  }

  /** The transaction stands. */
  committed(): void {
    this.#ready = true;
    if (this.#learnt.size === 0) return;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    for (const [dependency, snapshot] of this.#learnt) this.#known.set(dependency, snapshot);
    this.#learnt.clear();
  }

  load(dependency: string): storage.Snapshot {
    const known = this.#learnt.get(dependency) ?? this.#known.get(dependency);
    return known ?? this.#learn(dependency, this.#read(dependency));
  }

  #learn(dependency: string, snapshot: storage.Snapshot): storage.Snapshot {
    this.#learnt.set(dependency, snapshot);
    return snapshot;
  }

  #read(dependency: string): storage.Snapshot {
    return this.guard(() => {
      const query = "SELECT version, data FROM halfopen_record WHERE dependency = ?";
      const row = this.rows<{ version: number; data: ArrayBuffer | null }>(query, dependency)[0];
      if (row === undefined) return { version: 0n };
      const version = BigInt(row.version);
      if (row.data === null) return { version };
      if (row.data instanceof ArrayBuffer) return { version, data: new Uint8Array(row.data) };
      throw new StoreFailure({ tag: "corrupt", val: "the record is not of bytes; reset or forget this dependency" });
    });
  }

  commit(
    dependency: string,
    basedOn: bigint,
    data: Uint8Array | undefined,
    transitions: wit.Transition[],
  ): storage.CommitOutcome {
    return this.guard(() => {
      const row = this.rows<{ version: number }>(COMMIT, dependency, Number(basedOn), data ?? null)[0];
      if (row === undefined) return { tag: "stale", val: this.#learn(dependency, this.#read(dependency)) };
      const version = BigInt(row.version);
      this.wrote = true;
      this.#learn(dependency, data === undefined ? { version } : { version, data });
      if (data === undefined) {
        this.#sql.exec("DELETE FROM halfopen_transition WHERE dependency = ?", dependency);
      } else if (transitions.length > 0) {
        this.#note(dependency, transitions);
      }
      return { tag: "committed", val: version };
    });
  }

  /** The last transitions, the latest last. */
  history(dependency: string, limit: number): Transition[] {
    return this.guard(() => {
      const rows = this.#sql.exec<Record<"before" | "after" | "at" | "epoch" | "reason", string>>(
        "SELECT before, after, at, epoch, reason FROM halfopen_transition WHERE dependency = ? ORDER BY seq DESC LIMIT ?",
        dependency,
        limit,
      );
      return rows
        .toArray()
        .reverse()
        .map(({ before, after, at, epoch, reason }) => ({
          from: before as State,
          to: after as State,
          at: Math.min(Number(at), Number.MAX_SAFE_INTEGER),
          epoch,
          reason,
        }));
    });
  }

  /** Runs a query to its end: a statement that is left open slows down the transaction that it stands in. */
  rows<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: (SqlStorageValue | Uint8Array)[]): T[] {
    return this.guard(() => this.#sql.exec<T>(query, ...bindings).toArray());
  }

  #note(dependency: string, transitions: wit.Transition[]): void {
    for (const { from, to, at, epoch, reason } of transitions) {
      this.#sql.exec(
        "INSERT INTO halfopen_transition (dependency, before, after, at, epoch, reason) VALUES (?, ?, ?, ?, ?, ?)",
        dependency,
        from,
        to,
        String(at),
        String(epoch),
        word(reason),
      );
    }
    this.#sql.exec(
      `DELETE FROM halfopen_transition WHERE dependency = ?1 AND seq <=
        (SELECT seq FROM halfopen_transition WHERE dependency = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      dependency,
      this.#history,
    );
  }

  /** Whatever the storage throws becomes a typed failure: anything else would leave the component through its frames. */
  guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof StoreFailure ? error : failure(error);
    }
  }
}

/** Sorts an error of the storage. */
export function failure(error: unknown): StoreFailure {
  const val = error instanceof Error ? error.message : String(error);
  const kind = (tag: wit.StorageError["tag"]): StoreFailure => new StoreFailure({ tag, val }, { cause: error });
  if (/SQLITE_(FULL|BUSY|LOCKED|IOERR|CANTOPEN|NOMEM)|exceeded|reset because/i.test(val)) return kind("unavailable");
  if (/SQLITE_(READONLY|AUTH|PERM)/.test(val)) return kind("denied");
  if (/SQLITE_(CORRUPT|NOTADB)/.test(val)) return kind("corrupt");
  return kind("other");
}
