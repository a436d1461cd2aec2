/** `"`, `'` and a backtick. */
export const isQuote = (unit: number): boolean => unit === 34 || unit === 39 || unit === 96;

/** Within a quoted value: no quote, white space or backslash. */
export const mayBeQuoted = (unit: number): boolean => unit > 32 && unit !== 92 && !isQuote(unit);

/** Whether a password that began after `://` may continue after this unit. */
export function mayHoldPassword(text: string, unit: number): boolean {
  const { user, password } = /^(?<user>[^/?#@:]{0,128})(?::(?<password>[^/?#@]{0,256}))?$/.exec(text)?.groups ?? {};
  if (user === undefined) return false;
  if (password === undefined || /^\d{0,5}$/.test(password)) return unit >= 128 || (password === '' && unit > 32 && unit !== 91);
  return unit !== 91; // it begins a mask
}
