/** How long a response asks to be left alone by its header `Retry-After`, in ms; null where it does not. */
export function retryAfterMs(response: Response): number | null {
  const value = response.headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const until = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now());
}
