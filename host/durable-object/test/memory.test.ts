import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Workerd } from "./support/workerd.js";

const CALLS = 200_000;

describe("memory", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd.stop());

  it(`stays flat over ${CALLS} calls in one isolate`, { timeout: 120_000 }, async (context) => {
    const object = await ByHand.of(workerd, "flat", { ...PLAIN, consecutive_failures: 1_000_000 }, null);
    // Each turn asks and reports.
    const hammer = async (turns: number): Promise<{ memories: number[]; resident: number }> => {
      let memories: number[] = [];
      for (let part = 0; part < 10; part++) {
        await object.raw("hammer", "flat", turns / 10);
        memories = await workerd.post<number[]>("memory", null);
      }
      return { memories, resident: await residentBytes() };
    };
    const { memories, resident } = await hammer(CALLS / 4);
    const { memories: after, resident: left } = await hammer(CALLS / 2);
    context.diagnostic(`instances: ${after.join(", ")} bytes; resident ${mib(resident)} before, ${mib(left)} after`);
    assert.equal(memories.length, 1, "objects of an isolate share an instance");
    assert.deepEqual(after, memories);
    // A leak of 50 bytes a call would be twice as much.
    assert.ok(left - resident < 5 * 2 ** 20, `${mib(left - resident)} more`);
  });

  async function residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${workerd.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }
});

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
