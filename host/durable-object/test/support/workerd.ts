/** A real workerd as child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import type { Fault } from "@halfopen/durable-object";

import { decode, encode } from "../worker/json.js";

/** The folder of the package. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const BUILD = join(ROOT, "build");

export interface Options {
  /** The module that the Worker starts with, below `build/`. */
  entry?: string;
  /** Durable Object classes, by the name of their binding. */
  objects?: Record<string, string>;
  /** Plain variables. */
  vars?: Record<string, string>;
  /** Whether another Worker stands in front of it, with the same code, whose bindings lead to the objects of this one. */
  neighbour?: boolean;
  /** The package of the runtime. */
  runtime?: "workerd" | "workerd-oldest";
  /** The compatibility date. */
  date?: string;
  /** The code of a Worker in front of it, which knows it as `env.MAIN`. */
  driver?: string;
  /** Whether the Worker has the package at hand. Default true. */
  package?: boolean;
  /** Where the objects keep their data; a folder of its own that is removed at the end unless given. */
  disk?: string;
}

/** What the Worker threw. */
export class RemoteError extends Error {
  override readonly name: string;
  readonly fault: Fault | null;

  constructor(name: string, message: string, fault: Fault | null) {
    super(message);
    this.name = name;
    this.fault = fault;
  }
}

const OBJECTS = { HALFOPEN: "HalfOpen", TEST: "TestObject" };

export class Workerd {
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #remove: string[];
  readonly #log: string[];

  private constructor(url: string, child: ChildProcess, remove: string[], log: string[]) {
    this.url = url;
    this.pid = child.pid ?? 0;
    this.#child = child;
    this.#remove = remove;
    this.#log = log;
  }

  static async start(options: Options = {}): Promise<Workerd> {
    const remove: string[] = [];
    let disk = options.disk;
    if (disk === undefined) {
      disk = await mkdtemp(join(tmpdir(), "halfopen-"));
      remove.push(disk);
    }
    const config = join(BUILD, `workerd-${process.pid}-${Math.random().toString(36).slice(2)}.capnp`);
    await writeFile(config, await configuration(options));
    remove.push(config);
    // The program itself and not the script that starts it: a signal is to reach it.
    const program = (createRequire(import.meta.url)(options.runtime ?? "workerd") as { default: string }).default;
    const child = spawn(program, ["serve", config, "--experimental", "--control-fd=3", `-ddisk=${disk}`], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    const log: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => log.push(String(data)));
    const port = await listening(child, log);
    return new Workerd(`http://127.0.0.1:${port}`, child, remove, log);
  }

  /** Calls a handler of the test Worker. */
  async post<T>(handler: string, body: unknown): Promise<T> {
    const response = await fetch(`${this.url}/${handler}`, { method: "POST", body: encode(body) });
    const text = await response.text();
    if (response.ok) return decode(text) as T;
    if (!text.startsWith("{")) throw new Error(text);
    const { name, message, fault } = decode(text) as Pick<RemoteError, "name" | "message" | "fault">;
    throw new RemoteError(name, message, fault);
  }

  /** Calls a handler and resets the connection after the given time, as a client does that leaves. A close alone goes unnoticed. */
  async leave(handler: string, body: unknown, afterMs: number): Promise<void> {
    const text = encode(body);
    const socket = connect(Number(new URL(this.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST /${handler} HTTP/1.1\r\nHost: test\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    socket.resetAndDestroy();
  }

  /** Calls a method of a test object. */
  object<T>(name: string, method: string, ...args: unknown[]): Promise<T> {
    return this.post("object", { object: "TEST", name, method, args });
  }

  /** Calls a method of a client. */
  client<T>(dependency: string, options: object, method: string, ...args: unknown[]): Promise<T> {
    return this.post("client", { dependency, options, method, args });
  }

  /** What it has printed so far. */
  get log(): string {
    return this.#log.join("");
  }

  /** Ends it, with a signal, and removes what it left. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill(signal);
      await ended;
    }
    for (const path of this.#remove) await rm(path, { recursive: true, force: true });
  }
}

function listening(child: ChildProcess, log: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    (child.stdio[3] as Readable).on("data", (data) => {
      text += String(data);
      const port = /"event":"listen".*"port":(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("exit", (code) => reject(new Error(`workerd ended with ${code} before it listened:\n${log.join("")}`)));
  });
}

async function configuration(options: Options): Promise<string> {
  const { entry = "test/worker/main.js", objects = OBJECTS, vars = {} } = options;
  const modules = await modulesIn(join(BUILD, dirname(entry)), BUILD);
  if (options.package !== false) {
    for (const folder of ["dist", "generated"]) modules.push(...(await modulesIn(join(ROOT, folder), ROOT)));
  }
  // The first module is the one that the Worker starts with.
  modules.sort((a, b) => Number(b.name === entry) - Number(a.name === entry));
  const quoted = JSON.stringify;
  const { driver, neighbour = false, date = "2026-11-01" } = options;
  const list = (items: string[]): string => items.map((item) => `    ${item},`).join("\n");
  const worker = (name: string, object: (name: string) => string, rest: string): string => `const ${name} :Workerd.Worker = (
  compatibilityDate = ${quoted(date)},
  modules = [
${list(modules.map(({ name, path }) => `(name = ${quoted(name)}, ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed ${quoted(path)})`))}
  ],
  bindings = [
${list(Object.entries(objects).map(([name, className]) => `(name = ${quoted(name)}, durableObjectNamespace = ${object(className)})`))}
${list(Object.entries(vars).map(([name, value]) => `(name = ${quoted(name)}, text = ${quoted(value)})`))}
  ],
  ${rest}
);`;
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),${neighbour ? ' (name = "neighbour", worker = .neighbour),' : ""}${driver === undefined ? "" : ' (name = "driver", worker = .driver),'}
    (name = "disk", disk = (path = "unset", writable = true)),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  v8Flags = ["--expose-gc"],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = ${quoted(neighbour ? "neighbour" : driver === undefined ? "main" : "driver")})],
);
${driver === undefined ? "" : driving(driver)}
${neighbour ? worker("neighbour", (object) => `(className = ${quoted(object)}, serviceName = "main")`, "") : ""}
${worker(
  "main",
  quoted,
  `durableObjectStorage = (localDisk = "disk"),
durableObjectNamespaces = [
${list(Object.values(objects).map((name) => `(className = ${quoted(name)}, uniqueKey = ${quoted(name)}, enableSql = true)`))}
  ],`,
)}`;
}

function driving(code: string): string {
  return `const driver :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["service_binding_extra_handlers"],
  modules = [(name = "driver", esModule = ${JSON.stringify(code)})],
  bindings = [(name = "MAIN", service = "main")],
);`;
}

async function modulesIn(folder: string, from: string): Promise<{ name: string; path: string }[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries
    .filter((entry) => /\.(js|wasm)$/.test(entry))
    .map((entry) => join(folder, entry))
    .map((file) => ({ name: relative(from, file), path: relative(BUILD, file) }));
}
