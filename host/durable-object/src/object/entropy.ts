/**
 * Random numbers, uniform over 64 bits, drawn from the runtime in batches.
 *
 * @module
 */
const batch = new BigUint64Array(64);
let left = 0;

/** The next number. */
export function next(): bigint {
  if (left === 0) {
    crypto.getRandomValues(batch);
    left = batch.length;
  }
  left -= 1;
  return batch[left] as bigint;
}
