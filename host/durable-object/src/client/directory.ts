/**
 * The list of the dependencies in a namespace, in an object of its own. A client adds each dependency that it asks about,
 * once an hour and isolate. No call waits for that.
 */
import { directoryName } from "./names.js";
import { checkedOptions } from "./options.js";
import { type BreakerNamespace, type Place, Rpc } from "./rpc.js";

/** The list of a namespace. */
export interface DirectoryOptions extends Place {
  /** The namespace. Default `default`. */
  namespace?: string;
}

/** How long the object has to answer, in ms. */
const WITHIN = 5_000;

/**
 * The dependencies that callers have asked about, sorted.
 *
 * @throws BreakerError
 */
export async function dependencies(objects: BreakerNamespace, options: DirectoryOptions = {}): Promise<string[]> {
  const checked = checkedOptions(options, "a list");
  return await directory(objects, checked.namespace, checked).call((object) => object.enlisted());
}

/** Adds a dependency. */
export function enlist(objects: BreakerNamespace, namespace: string, dependency: string, place: Place): Promise<null> {
  return directory(objects, namespace, place).call((object) => object.enlist(dependency));
}

/** Takes a dependency off the list. */
export function delist(objects: BreakerNamespace, namespace: string, dependency: string, place: Place): Promise<null> {
  return directory(objects, namespace, place).call((object) => object.delist(dependency));
}

function directory(objects: BreakerNamespace, namespace: string, place: Place): Rpc {
  return new Rpc(objects, directoryName(namespace), place, WITHIN);
}
