/** workerd killed amid work: nothing that was acknowledged is lost. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";

import { ByHand, PLAIN } from "./support/breakers.js";
import { sleep } from "./support/http.js";
import { Workerd } from "./support/workerd.js";

const ROUNDS = 12;
const NAMES = ["a", "b", "c", "d"];

/** What one dependency has been told of. */
interface Told {
  sent: number;
  acknowledged: number;
}

describe("a process killed with SIGKILL", () => {
  it(`keeps every acknowledged report, ${ROUNDS} times`, { timeout: 180_000 }, async (context) => {
    const disk = await mkdtemp(join(tmpdir(), "halfopen-"));
    const told = new Map<string, Told>(NAMES.map((name) => [name, { sent: 0, acknowledged: 0 }]));
    let cut = 0;
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const workerd = await Workerd.start({ disk });
        const objects = await Promise.all(
          NAMES.map((name) => ByHand.of(workerd, name, { ...PLAIN, consecutive_failures: 1_000_000, window: { calls: 1 } })),
        );
        for (const object of objects) check(object.dependency, told, (await object.inspect()).failures_in_row);
        let over = false;
        const workers = objects.flatMap((object) =>
          [0, 1].map(async () => {
            const one = told.get(object.dependency) as Told;
            while (!over) {
              one.sent += 1;
              try {
                await object.report("0", "failure");
                one.acknowledged += 1;
              } catch {
                cut += 1;
                return;
              }
            }
          }),
        );
        await sleep(100 + Math.random() * 200);
        const killed = workerd.stop("SIGKILL");
        await killed;
        over = true;
        await Promise.all(workers);
      }
      const workerd = await Workerd.start({ disk });
      for (const name of NAMES) {
        const object = await ByHand.of(workerd, name, { ...PLAIN, consecutive_failures: 1_000_000, window: { calls: 1 } });
        check(name, told, (await object.inspect()).failures_in_row);
      }
      await workerd.stop();
    } finally {
      await rm(disk, { recursive: true });
    }
    const acknowledged = [...told.values()].reduce((sum, one) => sum + one.acknowledged, 0);
    context.diagnostic(`${ROUNDS} kills, ${acknowledged} acknowledged reports, ${cut} calls cut off`);
    assert.ok(acknowledged > 100 && cut >= ROUNDS, "the kills came amid work");
  });

  it("keeps a live lease until it expires", async () => {
    const disk = await mkdtemp(join(tmpdir(), "halfopen-"));
    try {
      const first = await Workerd.start({ disk });
      const object = await ByHand.of(first, "lease");
      await object.trip();
      await object.at(5_000n);
      const permit = await object.permit("probe", "killed");
      await first.stop("SIGKILL");
      const second = await Workerd.start({ disk });
      const again = await ByHand.of(second, "lease", PLAIN, 5_001n);
      const deferred = await again.acquire();
      assert.ok(deferred.kind === "defer" && deferred.retryAfterMs === 2_999, JSON.stringify(deferred));
      await again.at(8_000n);
      const next = await again.permit("probe");
      assert.ok(BigInt(next.split(":")[1] ?? "") > BigInt(permit.split(":")[1] ?? ""), "tokens rise");
      assert.equal((await again.report(permit, "success")).applied, false);
      await second.stop();
    } finally {
      await rm(disk, { recursive: true });
    }
  });
});

/** Also what was cut off may have arrived, and counts from then on. */
function check(name: string, told: Map<string, Told>, stored: number): void {
  const { sent, acknowledged } = told.get(name) as Told;
  assert.ok(stored >= acknowledged, `${name}: ${acknowledged} reports were acknowledged, ${stored} are left`);
  assert.ok(stored <= sent, `${name}: ${sent} reports were sent, ${stored} were counted`);
}
