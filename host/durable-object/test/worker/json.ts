/** JSON that also carries bigints, undefined and odd numbers, between the tests and the Worker under test. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: unknown, _, value: unknown) {
    if (typeof value === "bigint") return { $bigint: String(value) };
    if (typeof value === "number" && !Number.isFinite(value)) return { $number: String(value) };
    if (value === undefined && Array.isArray(this)) return { $undefined: true };
    return value;
  });
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    const { $bigint, $number } = (value ?? {}) as { $bigint?: unknown; $number?: unknown };
    if (typeof $bigint === "string") return BigInt($bigint);
    return typeof $number === "string" ? Number($number) : value;
  });
}

/** JSON's reviver cannot put undefined into an array: that is done last. */
export function argumentsOf(args: unknown[]): unknown[] {
  return args.map((arg) => ((arg as { $undefined?: unknown } | null)?.$undefined === true ? undefined : arg));
}
