/** JSON that also carries bigints, between the tests and the Worker under test. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (_, value) => (typeof value === "bigint" ? { $bigint: String(value) } : value));
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    const wrapped = (value as { $bigint?: unknown } | null)?.$bigint;
    return typeof wrapped === "string" ? BigInt(wrapped) : value;
  });
}
