/**
 * The list of the dependencies in a namespace: an object of its own, which clients tell of each dependency that they ask
 * about, once an hour and isolate. No call waits for it.
 *
 * @module
 */
import { directoryName } from "./names.js";
import { type BreakerNamespace, type Place, Reach } from "./reach.js";

/** Which list. */
export interface DirectoryOptions extends Place {
  /** Default `default`. */
  namespace?: string;
}

const WITHIN = 5_000;

/**
 * The dependencies that callers have asked about, sorted.
 *
 * @throws BreakerError
 */
export function dependencies(objects: BreakerNamespace, options: DirectoryOptions = {}): Promise<string[]> {
  return directory(objects, options.namespace ?? "default", options).ask((object) => object.enlisted());
}

export function enlist(objects: BreakerNamespace, namespace: string, dependency: string, place: Place): Promise<null> {
  return directory(objects, namespace, place).ask((object) => object.enlist(dependency));
}

export function delist(objects: BreakerNamespace, namespace: string, dependency: string, place: Place): Promise<null> {
  return directory(objects, namespace, place).ask((object) => object.delist(dependency));
}

function directory(objects: BreakerNamespace, namespace: string, place: Place): Reach {
  return new Reach(objects, directoryName(namespace), place, WITHIN);
}
