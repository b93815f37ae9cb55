/** The state of an isolate for all its dependencies. Only plain data is kept here: promises and stubs belong to one request. */
import { CachedDecision } from "./cached-decision.js";
import { Claim } from "./claim.js";
import type { Instant } from "./instant.js";
import { Outage } from "./outage.js";
import { Outbox } from "./outbox.js";

/** The most dependencies of a binding: names that come from users could be without end. */
const MOST = 10_000;

/** The state for one dependency. */
export class IsolateState {
  readonly decision = new CachedDecision();
  readonly outbox = new Outbox();
  readonly outage = new Outage();
  /** The claim of the request that asks the object. */
  readonly question = new Claim();
  /** When this isolate last put the dependency on the list of its namespace. */
  enlisted: Instant | null = null;
}

let states = new WeakMap<object, Map<string, IsolateState>>();

/** The state for a dependency, by its binding and a key. */
export function stateOf(objects: object, key: string): IsolateState {
  let ofBinding = states.get(objects);
  if (ofBinding === undefined) {
    ofBinding = new Map();
    states.set(objects, ofBinding);
  }
  let state = ofBinding.get(key);
  if (state === undefined) {
    state = new IsolateState();
    if (ofBinding.size >= MOST) {
      const [oldest, dropped] = ofBinding.entries().next().value ?? [];
      dropped?.outbox.abandon("the isolate has too many dependencies");
      ofBinding.delete(oldest ?? "");
    }
    ofBinding.set(key, state);
  }
  return state;
}
