/** JSON read strictly: whole numbers keep all their digits, and a key that occurs twice is an error. */

export type Json = null | boolean | string | Whole | Fraction | Json[] | Map<string, Json>;

/** A whole number from 0 to 2^64 - 1. */
export class Whole {
  constructor(readonly value: bigint) {}
}

/** Any other number. */
export class Fraction {
  constructor(
    readonly value: number,
    /** As it stands in the file. */
    readonly text: string,
  ) {}
}

/** What is wrong with a text. */
export class JsonError extends Error {}

const U64_MAX = (1n << 64n) - 1n;
const DEEPEST = 127;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// Anything but a quote, a backslash or a control character.
const PLAIN = /[^"\\\u0000-\u001f]+/y;
const ESCAPES: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Reads one line. */
export function parseLine(line: string): Json {
  if (line.trim() === "") throw new JsonError("an empty line; every line is one JSON object");
  const parser = new Parser(line);
  const value = parser.value(0);
  parser.end();
  return value;
}

/** A value as JSON again, each number with all its digits. */
export function textOf(value: Json): string {
  if (value instanceof Whole) return String(value.value);
  if (value instanceof Fraction) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([key, field]) => `${JSON.stringify(key)}:${textOf(field)}`).join(",")}}`;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Json {
    this.#space();
    if (depth > DEEPEST) throw this.#wrong("nested too deeply");
    const next = this.#text[this.#at];
    switch (next) {
      case undefined:
        throw this.#cut("a value");
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong("text after the value");
  }

  #object(depth: number): Map<string, Json> {
    const fields = new Map<string, Json>();
    this.#at += 1;
    if (this.#takes("}")) return fields;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#expected("a key");
      const key = this.#string();
      if (fields.has(key)) throw new JsonError(`the key ${JSON.stringify(key)} occurs twice`);
      if (!this.#takes(":")) throw this.#expected('":"');
      fields.set(key, this.value(depth + 1));
      if (this.#takes("}")) return fields;
      if (!this.#takes(",")) throw this.#expected('"," or "}"');
    }
  }

  #array(depth: number): Json[] {
    const items: Json[] = [];
    this.#at += 1;
    if (this.#takes("]")) return items;
    for (;;) {
      items.push(this.value(depth + 1));
      if (this.#takes("]")) return items;
      if (!this.#takes(",")) throw this.#expected('"," or "]"');
    }
  }

  #string(): string {
    this.#at += 1;
    let text = "";
    for (;;) {
      text += this.#match(PLAIN)?.[0] ?? "";
      const next = this.#text[this.#at];
      if (next === undefined) throw this.#cut("the end of a string");
      if (next === '"') break;
      if (next !== "\\") throw this.#wrong("a control character in a string");
      text += this.#escape();
    }
    this.#at += 1;
    if (!text.isWellFormed()) throw this.#wrong("half a surrogate pair");
    return text;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1];
    if (letter === undefined) throw this.#cut("an escape");
    if (letter === "u") {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#wrong("an escape that is none");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const meant = ESCAPES[letter];
    if (meant === undefined) throw this.#wrong("an escape that is none");
    this.#at += 2;
    return meant;
  }

  #number(): Json {
    const match = this.#match(NUMBER);
    if (match === null) throw this.#wrong("no value");
    const [digits, fraction, exponent] = match;
    if (fraction === undefined && exponent === undefined && !digits.startsWith("-")) {
      const whole = BigInt(digits);
      if (whole <= U64_MAX) return new Whole(whole);
    }
    const value = Number(digits);
    if (!Number.isFinite(value)) throw this.#wrong("a number out of range");
    return new Fraction(value, digits);
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) {
      throw word.startsWith(this.#text.slice(this.#at)) ? this.#cut(word) : this.#wrong("no value");
    }
    this.#at += word.length;
    return value;
  }

  #takes(mark: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at += 1;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #expected(what: string): JsonError {
    return this.#at >= this.#text.length ? this.#cut(what) : this.#wrong(`no ${what}`);
  }

  #cut(what: string): JsonError {
    return new JsonError(`the line ends in the middle (where ${what} should be); the file seems to be cut`);
  }

  #wrong(what: string): JsonError {
    return new JsonError(`not JSON at column ${this.#at + 1}: ${what}`);
  }
}
