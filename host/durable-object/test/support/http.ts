/** A dependency on the network, which counts connections and requests. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export class Dependency {
  readonly url: string;
  /** Connections made to it. */
  connections = 0;
  /** Requests made to it. */
  requests = 0;
  /** How it answers. */
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end("ok");
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  static async start(): Promise<Dependency> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A test that ends early is not to be kept alive by it.
    server.unref();
    const dependency = new Dependency(server);
    server.on("connection", () => {
      dependency.connections += 1;
    });
    server.on("request", (request, response) => {
      dependency.requests += 1;
      dependency.answer(request, response);
    });
    return dependency;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until it is so; fails when it is not within the given time. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not so after ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}
