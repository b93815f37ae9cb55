/** Shorthands for breakers under test. */
import type { Decision, Inspection, Receipt, Reply } from "@halfopen/durable-object";
import { objectName } from "#dist/client/names.js";

import type { Workerd } from "./workerd.js";

/** A policy that trips at the first failure, without jitter, and without local admission. */
export const PLAIN = {
  consecutive_failures: 1,
  failure_rate: null,
  open_ms: 5_000,
  lease_ms: 3_000,
  jitter_percent: 0,
  fresh_ms: 0,
};

/** The object of one dependency, called directly, on a virtual clock. */
export class ByHand {
  readonly dependency: string;
  readonly #workerd: Workerd;
  readonly #name: string;

  private constructor(workerd: Workerd, dependency: string) {
    this.#workerd = workerd;
    this.dependency = dependency;
    this.#name = objectName("default", dependency);
  }

  static async of(workerd: Workerd, dependency: string, policy: object = PLAIN, now: bigint | null = 0n): Promise<ByHand> {
    const made = new ByHand(workerd, dependency);
    await made.raw("setUp", { now });
    await made.ok("configure", policy);
    return made;
  }

  /** A method of the test object. */
  raw<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#workerd.object(this.#name, method, ...args);
  }

  /** A method of the shipped class, about this dependency. */
  reply<T>(method: string, ...args: unknown[]): Promise<Reply<T>> {
    return this.raw(method, this.dependency, ...args);
  }

  /** The same where no fault is expected. */
  async ok<T>(method: string, ...args: unknown[]): Promise<T> {
    const reply = await this.reply<T>(method, ...args);
    if (!reply.ok) throw new Error(`${method}: ${JSON.stringify(reply.fault)}`);
    return reply.value;
  }

  at(now: bigint): Promise<void> {
    return this.raw("setUp", { now });
  }

  acquire(caller = "A"): Promise<Decision> {
    return this.ok("acquire", caller);
  }

  report(permit: string, outcome: string): Promise<Receipt> {
    return this.ok("report", permit, { outcome });
  }

  inspect(): Promise<Inspection> {
    return this.ok("inspect");
  }

  /** Makes its record one of a later release, and returns its bytes. */
  async newer(): Promise<Buffer> {
    const [row] = await this.raw<{ data: string }[]>("sql", "SELECT hex(data) AS data FROM halfopen_record");
    const bytes = Buffer.from(row?.data ?? "", "hex");
    bytes[0] = 200;
    bytes.writeBigUInt64LE(fnv1a(bytes.subarray(0, -8)), bytes.length - 8);
    await this.raw("sql", `UPDATE halfopen_record SET data = x'${bytes.toString("hex")}'`);
    return bytes;
  }

  /** Acquires, and expects a permit of this kind. */
  async permit(kind: "proceed" | "probe", caller = "A"): Promise<string> {
    const decision = await this.acquire(caller);
    if (decision.kind !== kind) throw new Error(`wanted ${kind}, got ${JSON.stringify(decision)}`);
    return decision.permit;
  }

  /** Trips it, on the policy `PLAIN`. */
  async trip(): Promise<void> {
    await this.report(await this.permit("proceed"), "failure");
  }
}

/** The checksum of a record. */
function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
