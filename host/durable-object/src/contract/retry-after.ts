/**
 * The header `Retry-After`.
 *
 * @module
 */

/** How long a response asks to be left alone, in ms; null where it does not, or not in a form that HTTP knows. */
export function retryAfterMs(response: Response): number | null {
  const value = response.headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const until = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now());
}
