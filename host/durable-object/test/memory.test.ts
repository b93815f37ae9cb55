import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";

import { ByHand, PLAIN } from "./support/breakers.js";
import { Workerd } from "./support/workerd.js";

const CALLS = 200_000;
const PARTS = 10;

describe("memory", () => {
  let workerd: Workerd;
  before(async () => void (workerd = await Workerd.start()));
  after(() => workerd?.stop());

  it(`stays flat over ${CALLS} calls in one isolate`, { timeout: 120_000 }, async (context) => {
    const object = await ByHand.of(workerd, "flat", { ...PLAIN, consecutive_failures: 1_000_000 }, null);
    // Each turn asks and reports.
    const part = async (): Promise<{ memories: number[]; resident: number }> => {
      await object.raw("hammer", "flat", CALLS / PARTS / 2);
      return { memories: await workerd.post("memory", null), resident: await residentBytes() };
    };
    for (let warmUp = 0; warmUp < PARTS; warmUp++) await part();
    const before = await part();
    const parts = [before];
    for (let count = 0; count < PARTS; count++) parts.push(await part());
    const grown = parts.slice(1).map(({ resident }, index) => resident - (parts[index]?.resident ?? 0));
    const typical = [...grown].sort((a, b) => a - b)[PARTS / 2] ?? Number.NaN;
    const after = parts.at(-1) ?? before;
    context.diagnostic(`instances: ${after.memories.join(", ")} bytes; resident ${mib(before.resident)}, then ${mib(after.resident)}`);
    assert.equal(before.memories.length, 1, "objects of an isolate share an instance");
    assert.deepEqual(after.memories, before.memories);
    // The engine enlarges its tables by leaps now and then; a leak of 50 bytes a call would be this much in every part.
    assert.ok(typical < (50 * CALLS) / PARTS, `${mib(typical)} more in each ${CALLS / PARTS} calls`);
  });

  async function residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${workerd.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }
});

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
