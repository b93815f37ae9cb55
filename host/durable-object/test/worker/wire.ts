import type { Reply } from "../../dist/contract/faults.js";

/** A step of a replay file, as the Worker runs it. */
export interface WireStep {
  at: bigint;
  dependency: string;
  /** The method and its arguments; a permit is named by where it is kept. */
  call:
    | { do: "acquire"; caller: string; keepAs: string; times: number }
    | { do: "report" | "reportTally" | "renew" | "release"; permit: string; args: unknown[]; times: number }
    | { do: "inspect" | "reset" | "forget" | "configure" | "force"; args: unknown[] }
    | { do: "restart" };
  /** Whether the state after it is asked for. */
  after: boolean;
}

/** What came of a step: the reply of each call, or null where no permit was kept under the name. */
export interface WireAnswer {
  replies: Reply<unknown>[] | null;
  after: Reply<unknown> | null;
}

/** The way to an object. */
export interface Way {
  /** Before the call reaches the object. */
  beforeMs?: number;
  /** Before the answer reaches the Worker. */
  afterMs?: number;
  /** The call or its answer is lost; a call that hangs never ends. */
  lose?: "call" | "answer" | "hang" | null;
}
