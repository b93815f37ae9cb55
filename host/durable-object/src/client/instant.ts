/** Instants and waits. */

/** An instant by both clocks: the isolate may be stopped, or the machine's clock set, before the next one. */
export interface Instant {
  wall: number;
  steady: number;
}

/** The present instant. */
export function instant(): Instant {
  return { wall: Date.now(), steady: performance.now() };
}

/** The time since an instant in ms, by the clock that gives more; infinite where one has stepped back. */
export function ago(then: Instant, now: Instant): number {
  const [wall, steady] = [now.wall - then.wall, now.steady - then.steady];
  return wall < 0 || steady < 0 ? Number.POSITIVE_INFINITY : Math.max(wall, steady);
}

/** Ends after the given time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
