/**
 * The state of an isolate for all its dependencies.
 *
 * @module
 */
import { Local } from "./local.js";

/** The most dependencies of a binding: names that come from users could be without end. */
const MOST = 10_000;

const locals = new WeakMap<object, Map<string, Local>>();

/** The state for a dependency, by its binding and a key. */
export function localOf(objects: object, key: string): Local {
  let ofBinding = locals.get(objects);
  if (ofBinding === undefined) {
    ofBinding = new Map();
    locals.set(objects, ofBinding);
  }
  let local = ofBinding.get(key);
  if (local === undefined) {
    local = new Local();
    if (ofBinding.size >= MOST) ofBinding.delete(ofBinding.keys().next().value ?? "");
    ofBinding.set(key, local);
  }
  return local;
}
