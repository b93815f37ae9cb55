/** Where a client looks for its object. workerd has no jurisdictions, so the binding here only takes down what it is asked. */
import assert from "node:assert/strict";
import { register } from "node:module";
import { describe, it } from "node:test";

import { directoryName, objectName } from "#dist/client/names.js";

// The module that only a Worker has.
const stub = "data:text/javascript,export const waitUntil = () => {}";
const resolve = `export const resolve = (name, context, next) =>
  name === "cloudflare:workers" ? { url: ${JSON.stringify(stub)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(resolve)}`);
const { Rpc } = await import("#dist/client/rpc.js");

class Binding {
  readonly asked: unknown[] = [];
  jurisdiction(name: string): Binding {
    this.asked.push({ jurisdiction: name });
    return this;
  }
  idFromName(name: string): { name: string } {
    return { name };
  }
  get(id: { name: string }, options: object): object {
    this.asked.push({ ...id, ...options });
    return {};
  }
}

async function asked(place: object): Promise<unknown[]> {
  const binding = new Binding();
  const rpc = new Rpc(binding as never, "name", place, 1_000);
  assert.equal(await rpc.call(() => Promise.resolve({ ok: true, value: 5 })), 5);
  return binding.asked;
}

describe("a client", () => {
  it("looks where it is told to", async () => {
    assert.deepEqual(await asked({}), [{ name: "name" }]);
    assert.deepEqual(await asked({ locationHint: "weur" }), [{ name: "name", locationHint: "weur" }]);
    assert.deepEqual(await asked({ jurisdiction: "eu" }), [{ jurisdiction: "eu" }, { name: "name" }]);
  });

  it("names objects so that no two pairs meet", () => {
    const parts = ["", "a", "b", '"', "\\", ",", '","', "[", "a:b", "\u0000", "é", "\ud800", "\udfff", "\ufffd"];
    const names = new Set(parts.flatMap((one) => parts.map((other) => objectName(one, other))));
    for (const part of parts) names.add(directoryName(part));
    assert.equal(names.size, parts.length ** 2 + parts.length);
  });
});
