/**
 * What an isolate knows of all its dependencies.
 *
 * @module
 */
import { Local } from "./local.js";

/** Names that come from users could be without end. */
const MOST = 10_000;

const locals = new WeakMap<object, Map<string, Local>>();

/** What is known of a dependency, by the binding that leads to it and a key. */
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
