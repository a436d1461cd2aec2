/**
 * A value as base64, base32 and hex of any text around it contain it, forwards and backwards. These are decoded where they
 * stand in a text; as patterns they are found within each other.
 */
export function encodedForms(value: string): string[] {
  const bytes = Buffer.from(value.trim(), 'utf8');
  const utf16 = Buffer.from(value.trim(), 'utf16le');
  const forms = [...base64Forms(bytes), ...hexForms(bytes), ...base32Forms(bytes)];
  const wide = [...base64Forms(utf16), ...base64Forms(Buffer.from(utf16).swap16())];
  const lowerBase32 = base32Forms(bytes).map((form) => form.toLowerCase());
  const backwards = [...forms, ...wide].map((form) => Array.from(form).toReversed().join(''));
  return [...new Set([...forms, ...wide, ...lowerBase32, ...backwards])].filter((form) => form.length >= leastForm);
}

/** What is shorter might be met by chance. */
const leastForm = 8;

const hexForms = (bytes: Buffer): string[] => [bytes.toString('hex'), bytes.toString('hex').toUpperCase()];

/** For the three places it can begin in a group of three bytes, in both alphabets. */
const base64Forms = (bytes: Buffer): string[] =>
  (['base64', 'base64url'] as const).flatMap((encoding) =>
    [0, 1, 2].map((shift) => inner((shifted) => shifted.toString(encoding), bytes, { shift, bits: 6 })),
  );

/** For the five places it can begin in a group of five bytes. */
const base32Forms = (bytes: Buffer): string[] => [0, 1, 2, 3, 4].map((shift) => inner(toBase32, bytes, { shift, bits: 5 }));

/** What the encoding holds of the value whatever is around it: the characters all of whose bits are the value's. */
function inner(encode: (bytes: Buffer) => string, bytes: Buffer, { shift, bits }: { shift: number; bits: number }): string {
  const encoded = encode(Buffer.concat([Buffer.alloc(shift), bytes]));
  return encoded.slice(Math.ceil((shift * 8) / bits), Math.floor(((shift + bytes.length) * 8) / bits));
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function toBase32(bytes: Buffer): string {
  let out = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff;
    for (count += 8; count >= 5; count -= 5) out += alphabet[(bits >>> (count - 5)) & 31];
  }
  return count === 0 ? out : out + alphabet[(bits << (5 - count)) & 31];
}
