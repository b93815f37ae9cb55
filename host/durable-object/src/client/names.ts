/**
 * The names of objects. A pair of namespace and dependency is written as a JSON array, which no other pair shares; the
 * list of a namespace is an array of one.
 */

/** The object of a dependency. */
export function objectName(namespace: string, dependency: string): string {
  return JSON.stringify([namespace, dependency]);
}

/** The object that lists the dependencies of a namespace. */
export function directoryName(namespace: string): string {
  return JSON.stringify([namespace]);
}
