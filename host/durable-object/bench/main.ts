/**
 * `npm run bench`: one table, measured in one run. Peers are measured in turn with ours, on the same process, so that
 * other load of the machine meets both.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { cpus } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { ROOT, Workerd } from "../test/support/workerd.js";

const CONNECTIONS = 32;
/** Many short rounds: what else the machine does then meets both alike. */
const ROUNDS = 41;
const ROUND_MS = 300;
const LOOP = 2_000;
const STARTS = 5;

interface Row {
  name: string;
  ours: string;
  peer: string;
  ratio: number | null;
  goal: string;
  met: boolean | null;
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let text = "";
      response.on("data", (data) => (text += String(data)));
      response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Requests a second over all connections. */
async function rate(url: string): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - begun < ROUND_MS) {
      if ((await get(url)) !== "true") throw new Error(`${url} failed`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return (done * 1_000) / (performance.now() - begun);
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Measures both in turn, each first in every other round, and gives the median of each and of the ratios. */
async function compare(
  ours: () => Promise<number>,
  peer: () => Promise<number>,
  count = ROUNDS,
): Promise<{ ours: number; peer: number; ratio: number }> {
  const rounds: { ours: number; peer: number }[] = [];
  await ours();
  await peer();
  for (let round = 0; round < count; round++) {
    if (round % 2 === 0) rounds.push({ ours: await ours(), peer: await peer() });
    else {
      const first = await peer();
      rounds.push({ ours: await ours(), peer: first });
    }
  }
  return {
    ours: median(rounds.map((round) => round.ours)),
    peer: median(rounds.map((round) => round.peer)),
    ratio: median(rounds.map((round) => round.ours / round.peer)),
  };
}

async function requests(workerd: Workerd, name: string, ours: string, peer: string): Promise<Row> {
  const got = await compare(
    () => rate(`${workerd.url}/${ours}`),
    () => rate(`${workerd.url}/${peer}`),
  );
  return {
    name,
    ours: `${got.ours.toFixed(0)} /s`,
    peer: `${got.peer.toFixed(0)} /s`,
    ratio: got.ratio,
    goal: ">= 0.9",
    met: got.ratio >= 0.9,
  };
}

async function inside(workerd: Workerd, name: string, what: string): Promise<Row> {
  const loop = (side: string) => async () => Number(await get(`${workerd.url}/loop?side=${side}&what=${what}&times=${LOOP}`));
  const got = await compare(loop("ours"), loop("peer"));
  return { name, ours: `${got.ours.toFixed(1)} us`, peer: `${got.peer.toFixed(1)} us`, ratio: got.ratio, goal: "", met: null };
}

/** From the start of the process to the first answer. */
async function start(options: Parameters<typeof Workerd.start>[0], path: string): Promise<number> {
  const begun = performance.now();
  const workerd = await Workerd.start(options);
  await get(`${workerd.url}/${path}`);
  const ms = performance.now() - begun;
  await workerd.stop();
  return ms;
}

async function starts(): Promise<Row> {
  const got = await compare(
    () => start(OURS, "acquire"),
    () => start({ entry: "bench/bare/main.js", objects: {}, package: false }, ""),
    STARTS,
  );
  const [ours, peer] = [`${got.ours.toFixed(0)} ms`, `${got.peer.toFixed(0)} ms`];
  return { name: "start to first answer", ours, peer, ratio: got.ratio, goal: "< 1000 ms", met: got.ours < 1_000 };
}

function sizes(): Row[] {
  const [pack] = Object.values(
    JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], { cwd: ROOT, encoding: "utf8" })) as object,
  ) as { size: number }[];
  const files = ["dist", "generated"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(ROOT, folder, String(file))),
  );
  const deployed = files.filter((file) => /\.(js|wasm)$/.test(file)).map((file) => gzipSync(readFileSync(file)).length);
  const sum = deployed.reduce((sum, size) => sum + size, 0);
  const row = (name: string, bytes: number): Row => ({
    name,
    ours: `${(bytes / 1_024).toFixed(1)} KiB`,
    peer: "",
    ratio: null,
    goal: "< 3 MiB",
    met: bytes < 3 * 2 ** 20,
  });
  return [row("package, packed", pack?.size ?? Number.NaN), row("what a Worker loads, gzip", sum)];
}

const OURS = {
  entry: "bench/worker/main.js",
  objects: { HALFOPEN: "HalfOpen", PEER: "Peer" },
  // It counts, and never trips.
  vars: { HALFOPEN_POLICY: '{"consecutive_failures": 0, "failure_rate": null}' },
};

async function main(): Promise<void> {
  const rows: Row[] = [];
  const workerd = await Workerd.start(OURS);
  try {
    rows.push(await requests(workerd, "acquire / SELECT", "acquire", "select"));
    rows.push(await requests(workerd, "report / upsert", "report", "upsert"));
    rows.push(await inside(workerd, "acquire inside the object / transactionSync + SELECT", "acquire"));
    rows.push(await inside(workerd, "report inside the object / transactionSync + upsert", "report"));
  } finally {
    await workerd.stop();
  }
  agent.destroy();
  rows.push(await starts(), ...sizes());
  if (process.argv.includes("--json")) {
    for (const row of rows) console.log(JSON.stringify(row));
    return;
  }
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${CONNECTIONS} connections\n`);
  const table = [
    ["what", "ours", "peer", "ratio", "goal", ""],
    ...rows.map(({ name, ours, peer, ratio, goal, met }) => [
      name,
      ours,
      peer,
      ratio === null ? "" : ratio.toFixed(2),
      goal,
      met === null ? "" : met ? "met" : "missed",
    ]),
  ];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

await main();
