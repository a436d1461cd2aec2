/** Digits and at most one point. */
const plain = /^-?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** The number that a person typed, with or without blanks around it; null for anything else, such as `0x10` and `1e3`. Small numbers that JavaScript prints as `1e-7` are accepted. */
export function readNumber(typed: string): number | null {
  const text = typed.trim();
  const value = Number(text);
  return Number.isFinite(value) && (plain.test(text) || String(value) === text) ? value : null;
}
