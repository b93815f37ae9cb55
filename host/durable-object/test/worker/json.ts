/** JSON that also carries bigints, undefined, odd numbers, Maps and Dates, between the tests and the Worker under test. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, value: unknown) {
    // A Date has become a text before it arrives here.
    if (this[key] instanceof Date) return { $date: this[key].getTime() };
    if (value instanceof Map) return { $map: [...value] };
    if (typeof value === "bigint") return { $bigint: String(value) };
    if (typeof value === "number" && !Number.isFinite(value)) return { $number: String(value) };
    if (value === undefined && Array.isArray(this)) return { $undefined: true };
    return value;
  });
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    const { $bigint, $number, $date, $map } = (value ?? {}) as Record<string, unknown>;
    if (typeof $date === "number") return new Date($date);
    if (Array.isArray($map)) return new Map($map as [unknown, unknown][]);
    if (typeof $bigint === "string") return BigInt($bigint);
    return typeof $number === "string" ? Number($number) : value;
  });
}

/** JSON's reviver cannot put undefined into an array: that is done last. */
export function argumentsOf(args: unknown[]): unknown[] {
  return args.map((arg) => ((arg as { $undefined?: unknown } | null)?.$undefined === true ? undefined : arg));
}
