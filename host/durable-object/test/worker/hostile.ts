import { type Exports, Runtime, embedded } from "../../dist/object/component.js";
import trap from "./trap.wasm";

/** The fault of a component after it has done its work, commit included. */
export type Misdeed = "none" | "error" | "trap" | "throw" | "garbage";

/** The component of the package, with a fault. */
export class Hostile {
  misdeed: Misdeed = "none";
  made = 0;
  readonly #own: Runtime;
  readonly #shared = SHARED;

  constructor() {
    this.#own = new Runtime((ports) => {
      this.made += 1;
      return this.#spoilt(embedded(ports));
    });
  }

  /** Objects that behave share their instances, as shipped; one that does not has its own. */
  get runtime(): Runtime {
    return this.misdeed === "none" && this.made === 0 ? this.#shared : this.#own;
  }

  #spoilt(exports: Exports): Exports {
    const { breaker } = exports;
    const acquire: typeof breaker.acquire = (...args) => {
      if (this.misdeed === "trap") (new WebAssembly.Instance(trap).exports["trap"] as () => void)();
      return breaker.acquire(...args);
    };
    const report: typeof breaker.report = (...args) => {
      const receipt = breaker.report(...args);
      switch (this.misdeed) {
        case "none":
          return receipt;
        case "error":
          // As the generated code throws what the component answers as an error.
          throw Object.assign(new Error("an error after the commit"), {
            payload: { tag: "other", val: "an error after the commit" },
          });
        case "trap":
          (new WebAssembly.Instance(trap).exports["trap"] as () => void)();
          return receipt;
        case "throw":
          throw new TypeError("something that is no answer");
        case "garbage":
          return { ...receipt, verdict: undefined } as never;
      }
    };
    return { ...exports, breaker: { ...breaker, acquire, report } };
  }
}

const SHARED = new Runtime(embedded);
