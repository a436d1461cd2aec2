/** Shorter values would blank ordinary words; the operator is warned of them instead. */
export const minimumSecretLength = 8;

/**
 * The ways a model or a tool may spell a secret: as it is, in JSON (once and twice), percent-encoded, in hex and in base64.
 * None has a line break in it: what is searched is read without them.
 */
export function spellings(value: string): string[] {
  const secret = value.toWellFormed(); // percent-encoding refuses half a surrogate pair
  if (secret.length < minimumSecretLength) return [];
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret);
  const json = escaped(secret);
  return [
    value,
    secret,
    json,
    escaped(json),
    percent,
    percent.replaceAll(/%../g, (code) => code.toLowerCase()),
    hex.replaceAll(/../g, '%$&'),
    hex.toUpperCase().replaceAll(/../g, '%$&'),
    hex,
    hex.toUpperCase(),
    ...base64Spellings(bytes, 'base64'),
    ...base64Spellings(bytes, 'base64url'),
  ]
    .map((spelling) => spelling.replaceAll(/[\r\n]/g, ''))
    .filter((spelling) => spelling.length >= minimumSecretLength);
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** What base64 of any text around the value contains, for the three places it can begin in a group of three bytes. */
function base64Spellings(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString(encoding)
      .replace(/=+$/, '');
    const tail = (shift + bytes.length) % 3 === 0 ? 0 : 1; // the last character may mix in what follows
    return encoded.slice(shift === 0 ? 0 : shift + 1, encoded.length - tail);
  });
}
