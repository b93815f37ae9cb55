/**
 * A model of the client: isolates of one real object on a virtual clock, with a network that delays and loses, and laws that
 * must hold. It runs in a Worker of its own, since it replaces the clocks and the timers of its isolate.
 */
import type { Batch, Decision, PolicyInput, Receipt, Reply, Settled } from "../../dist/index.js";
import { type Breaker, type BreakerNamespace, type BreakerOptions, type CallContext, CallTimedOut, type Permit, breaker } from "../../dist/index.js";
import { decode, encode } from "./json.js";
import { TestObject } from "./test-object.js";

export { TestObject };

const START = 1_700_000_000_000;
const realTimeout = globalThis.setTimeout;

/** Timers in the order of their time. The next one fires once all promises and all calls of the object have settled. */
class VirtualTime {
  now = START;
  /** Calls of the real object that are under way. */
  underWay = 0;
  #next = 1;
  #timers: { at: number; id: number; run: () => void }[] = [];

  install(random: () => number): void {
    Date.now = () => this.now;
    Object.defineProperty(globalThis, "performance", { value: { now: () => this.now - START }, configurable: true });
    globalThis.setTimeout = ((run: () => void, ms = 0) => this.after(ms, run)) as never;
    globalThis.clearTimeout = ((id: number) => void (this.#timers = this.#timers.filter((timer) => timer.id !== id))) as never;
    Math.random = random;
  }

  after(ms: number, run: () => void): number {
    const timer = { at: this.now + Math.max(0, Math.ceil(ms)), id: this.#next++, run };
    const place = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(place === -1 ? this.#timers.length : place, 0, timer);
    return timer.id;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Runs until no timer is left. */
  async run(): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < 60; turn++) await null;
      while (this.underWay > 0) await new Promise((resolve) => realTimeout(resolve, 0));
      for (let turn = 0; turn < 60; turn++) await null;
      if (this.underWay > 0) continue;
      const timer = this.#timers.shift();
      if (timer === undefined) return;
      this.now = timer.at;
      timer.run();
    }
  }
}

/** What an isolate has learnt, seen from the network: whether the last news admits, and the request that it is the answer to. */
interface News {
  isolate: number;
  admits: boolean;
  learntAt: number;
}

interface Totals {
  successes: number;
  failures: number;
}

/** One run. */
class Model {
  readonly broken: string[] = [];
  readonly made: Totals = { successes: 0, failures: 0 };
  readonly counted: Totals = { successes: 0, failures: 0 };
  /** Dropped without being sent, and dropped after they were sent: the object may have counted those. */
  readonly dropped: Totals = { successes: 0, failures: 0 };
  readonly unsure: Totals = { successes: 0, failures: 0 };
  readonly seen: Record<string, number> = {};
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #object: (name: string) => DurableObjectStub<TestObject>;
  readonly #granted = new Map<string, number>();
  readonly #log: string[] = [];
  /** The longest delay, the share of failures and the time of all calls differ from run to run. */
  readonly #delay: number;
  readonly #failing: number;
  readonly #span: number;
  /** In some runs nothing arrives from then on, until all that waits is too old. */
  readonly #goneFrom: number;
  #trouble = true;
  #sequence = 0;

  constructor(time: VirtualTime, random: () => number, object: (name: string) => DurableObjectStub<TestObject>) {
    this.#time = time;
    this.#random = random;
    this.#object = object;
    this.#delay = this.#one([50, 400, 1_500]);
    this.#failing = this.#one([0.1, 0.4, 0.8]);
    this.#span = this.#one([2_000, 20_000]);
    this.#goneFrom = this.#random() < 0.25 ? START + this.#random() * 2_000 : Number.POSITIVE_INFINITY;
  }

  async run(namespace: string, isolates: number, calls: number): Promise<void> {
    const options: BreakerOptions = {
      namespace,
      whenUnreachable: this.#one(["fail-closed", "fail-open", "last-known"]),
      answerWithinMs: this.#one([200, 1_000]),
      timeoutMs: 3_000,
      localAdmission: this.#random() < 0.8,
    };
    const bindings = Array.from({ length: isolates }, (_, index) => this.#isolate(index));
    const [first] = bindings as [{ binding: BreakerNamespace; news: News }];
    this.#trouble = false;
    const made = breaker(first.binding, "payments", options).configure(this.#policy());
    await Promise.race([made, this.#time.run()]);
    await made;
    this.#trouble = true;
    for (let call = 0; call < calls; call++) {
      const { binding, news } = this.#one(bindings);
      this.#time.after(this.#random() * this.#span, () => void this.#call(binding, news, options).catch((error) => this.#broke(String(error))));
    }
    for (let act = 0; act < 3; act++) {
      this.#time.after(this.#random() * this.#span, () => void this.#act(this.#one(bindings).binding, options).catch(() => {}));
    }
    // In the end the network is whole, and calls carry on for a while.
    const whole = Number.isFinite(this.#goneFrom) ? 90_000 : 20_000;
    this.#time.after(whole, () => {
      this.#trouble = false;
    });
    for (const { binding, news } of bindings) {
      for (let at = whole + 12_000; at < whole + 40_000; at += 4_000) this.#time.after(at, () => void this.#call(binding, news, options, true));
    }
    await this.#time.run();
    for (const kind of ["successes", "failures"] as const) {
      const [made, counted, dropped, unsure] = [this.made, this.counted, this.dropped, this.unsure].map((totals) => totals[kind]) as [number, number, number, number];
      if (made < counted + dropped || made > counted + dropped + unsure) {
        this.#broke(`${made} ${kind} were made, ${counted} counted, ${dropped} dropped, ${unsure} dropped after they were sent`);
      }
    }
  }

  /** Takes down what the client says it has dropped. */
  said(text: string): void {
    const [, successes, failures] = /(\d+) successes and (\d+) failures of "payments" were dropped: too old/.exec(text) ?? [];
    const totals = text.includes("they were sent") ? this.unsure : this.dropped;
    totals.successes += Number(successes ?? 0);
    totals.failures += Number(failures ?? 0);
  }

  async #call(binding: BreakerNamespace, news: News, options: BreakerOptions, healthy = false): Promise<void> {
    const client = breaker(binding, "payments", options);
    const took = this.#random() * 400;
    const outcome = healthy || this.#random() > this.#failing ? "success" : "failure";
    if (this.#random() < 0.5) return await this.#guarded(client, news, outcome, took, options.whenUnreachable === "fail-closed");
    const answer = await client.acquire();
    this.#saw(answer.deferred ? `deferred ${answer.basis}` : `${answer.role} ${answer.basis}`);
    if (answer.deferred) return;
    this.#admitted(answer, news, news.admits);
    await this.#time.sleep(took);
    if (this.#random() < 0.1) {
      const wrong = this.#one(["sucess", undefined, { outcome, retryAfterMs: -1 }]);
      await answer.report(wrong as "success").then(() => this.#broke("a mistake was counted"), (error) => this.#saw(error.name));
    }
    if (answer.role === "call" && answer.text !== null) this.#made(outcome);
    await answer.report({ outcome, cause: this.#one(["model", "\ud800"]) }).catch(() => this.#saw("a report that failed"));
  }

  /** The same by `call`, with time limits, aborts and mistakes where every admission is recorded: an error does not say. */
  async #guarded(client: Breaker, news: News, outcome: "success" | "failure", took: number, recorded: boolean): Promise<void> {
    const trouble = recorded ? this.#random() : 0.5;
    let [admits, isCall] = [false, false];
    const work = async ({ role, token }: CallContext): Promise<Response> => {
      [admits, isCall] = [news.admits, role === "call"];
      if (role === "probe") this.#admitted({ role, token, basis: "object" }, news, admits);
      await this.#time.sleep(took);
      return new Response(null, { status: outcome === "success" ? 200 : 503 });
    };
    const leave = new AbortController();
    if (trouble < 0.2) this.#time.after(this.#random() * 600, () => leave.abort());
    try {
      const result = await client.call(work, {
        timeoutMs: trouble > 0.8 ? 100 : 3_000,
        ...(trouble < 0.2 ? { signal: leave.signal } : {}),
        ...(trouble > 0.2 && trouble < 0.3 ? { classify: () => "sucess" as "success" } : {}),
      });
      this.#saw(result.deferred ? `deferred ${result.basis}` : `guarded ${result.role} ${result.basis}`);
      if (result.deferred) return;
      if (trouble > 0.2 && trouble < 0.3) this.#broke("a mistake was counted");
      if (isCall) this.#admitted({ ...result, token: null }, news, admits);
      if (isCall && (result.basis === "object" || result.basis === "local")) this.#made(outcome);
    } catch (error) {
      this.#saw((error as Error).name);
      if (error instanceof CallTimedOut && isCall) this.#made("failure");
    }
  }

  /** The laws of an admission. */
  #admitted({ role, token, basis }: Pick<Permit, "role" | "token" | "basis">, news: News, admits: boolean): void {
    if (role === "probe") {
      if (basis !== "object") this.#broke("a probe from memory");
      const isolates = this.#granted.get(token ?? "");
      if (isolates !== 1) this.#broke(`the probe ${token} was granted ${isolates} times`);
      this.#granted.set(token ?? "", 2);
    } else if (basis === "local" || basis === "last-known") {
      if (!admits) this.#broke(`isolate ${news.isolate} admitted by ${basis} after it learnt better`);
    }
  }

  #made(outcome: "success" | "failure"): void {
    this.made[outcome === "success" ? "successes" : "failures"] += 1;
  }

  async #act(binding: BreakerNamespace, options: BreakerOptions): Promise<void> {
    const client = breaker(binding, "payments", options);
    const act = this.#one(["reset", "open", "closed", "none", "policy"]);
    if (act === "reset") await client.reset();
    else if (act === "policy") await client.configure(this.#policy());
    else await client.force(act as "open", { lastingMs: 3_000 });
  }

  /** The binding of an isolate: the way to the object delays and loses, and takes down what the isolate learns. */
  #isolate(index: number): { binding: BreakerNamespace; news: News } {
    const news: News = { isolate: index, admits: false, learntAt: 0 };
    const get = (name: string): unknown =>
      new Proxy({}, {
        get: (_, method) =>
          typeof method === "string" && method !== "then"
            ? (...args: unknown[]) => this.#send(name, method, args, news)
            : undefined,
      });
    const binding = { isolate: index, idFromName: (name: string) => name, get };
    return { binding: binding as unknown as BreakerNamespace, news };
  }

  async #send(name: string, method: string, args: unknown[], news: News): Promise<unknown> {
    const sent = ++this.#sequence;
    const [before, after, fate] = this.#trouble
      ? [this.#random() ** 4 * this.#delay, this.#random() ** 4 * this.#delay, this.#random()]
      : [5, 5, 1];
    await this.#time.sleep(before);
    const gone = this.#trouble && this.#time.now >= this.#goneFrom;
    if (gone || fate < 0.08) throw new Error("the call was lost");
    this.#time.underWay += 1;
    let reply: Reply<unknown>;
    try {
      reply = (await this.#object(name).at(BigInt(this.#time.now), method, encode(args))) as Reply<unknown>;
    } finally {
      this.#time.underWay -= 1;
    }
    if (reply.ok) this.#arrived(method, args, reply.value);
    if (fate < 0.12) await this.#time.sleep(60_000);
    await this.#time.sleep(after);
    if (fate < 0.2) throw new Error("the answer was lost");
    // Only an answer in time is learnt from.
    if (reply.ok) this.#learn(method, reply.value, sent, news);
    this.#log.push(`${this.#time.now - START} isolate ${news.isolate}: ${method} ${sent}: ${encode(reply)}`);
    return reply;
  }

  /** Takes down what the object has counted, and the leases that it has granted. */
  #arrived(method: string, args: unknown[], value: unknown): void {
    const decision = decisionIn(method, value);
    if (decision?.kind === "probe") this.#granted.set(decision.token, (this.#granted.get(decision.token) ?? 0) + 1);
    if (!method.startsWith("settle") || args[2] === null) return;
    const { receipts } = value as Settled<unknown>;
    if (receipts.length === 0) return this.#saw("a batch that was counted before");
    for (const { tally } of (args[2] as Batch).settled) {
      this.counted.successes += Number(tally.successes ?? 0) + Number(tally.slowSuccesses ?? 0);
      this.counted.failures += Number(tally.failures ?? 0) + Number(tally.slowFailures ?? 0);
    }
  }

  #learn(method: string, value: unknown, sent: number, news: News): void {
    const decision = decisionIn(method, value);
    if (decision !== null) {
      const admits = decision.kind === "proceed" || (decision.kind === "defer" && decision.admission !== null);
      if (sent < news.learntAt) return;
      news.admits = admits;
      news.learntAt = ++this.#sequence;
      return;
    }
    const receipts = method.startsWith("settle") ? (value as Settled<null>).receipts : [value as Receipt];
    for (const receipt of receipts) {
      if (receipt?.state === undefined) continue;
      // Bad news counts whenever it was asked for; good news only if nothing newer is known.
      if (receipt.state === "closed" && sent < news.learntAt) continue;
      news.admits = receipt.state === "closed";
      news.learntAt = ++this.#sequence;
    }
  }

  #policy(): PolicyInput {
    return {
      consecutive_failures: this.#one([1, 3, 5]),
      failure_rate: null,
      open_ms: this.#one([100, 1_000, 3_000]),
      open_max_ms: 3_000,
      lease_ms: this.#one([500, 2_000]),
      fresh_ms: this.#one([0, 50, 250, 2_000]),
      ramp: this.#random() < 0.3 ? { over_ms: 2_000, from_percent: 30 } : null,
    };
  }

  #one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  #saw(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  #broke(law: string): void {
    this.broken.push(`at ${this.#time.now - START}: ${law}; before: ${this.#log.slice(-12).join("\n")}`);
  }
}

function decisionIn(method: string, value: unknown): Decision | null {
  return method.startsWith("settle") ? (value as Settled<Decision | null>).decision : null;
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), 1 | state);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}

export default {
  async fetch(request: Request, env: { TEST: DurableObjectNamespace<TestObject> }): Promise<Response> {
    const { seed, isolates, calls } = decode(await request.text()) as { seed: number; isolates: number; calls: number };
    const [time, random] = [new VirtualTime(), seeded(seed)];
    time.install(random);
    const model = new Model(time, random, (name) => env.TEST.getByName(name));
    console.error = (text: unknown) => model.said(String(text));
    console.warn = () => {};
    await model.run(`model ${seed}`, isolates, calls);
    const { broken, made, counted, dropped, unsure, seen } = model;
    return new Response(encode({ broken, made, counted, dropped, unsure, seen }));
  },
} satisfies ExportedHandler<{ TEST: DurableObjectNamespace<TestObject> }>;
