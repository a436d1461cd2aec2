import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
// Without it Node also accepts tags of 4 bytes, which can be guessed.
const options = { authTagLength: tagBytes } as const;

/** Sealed data was changed, belongs to another entry, or was sealed with another key; it is impossible to know which. */
export class TamperedError extends Error {
  override readonly name = 'TamperedError';
}

/**
 * Encrypts: nonce, ciphertext and tag in one buffer. `context` identifies what the text is and where it belongs; it can be
 * opened only with the same context.
 */
export function seal(key: Buffer, text: Buffer, context: readonly (string | number)[]): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, options).setAAD(toAad(context));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `seal` made. Returns no part of the text before all of it is verified. @throws TamperedError */
export const open = (key: Buffer, sealed: Uint8Array, context: readonly (string | number)[]): Buffer =>
  openBytes(key, sealed, toAad(context));

/** The same with the associated data as bytes. */
export function openBytes(key: Buffer, sealed: Uint8Array, aad: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new TamperedError('The sealed data is truncated.');
  const tagAt = sealed.length - tagBytes;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), options).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(tagAt));
  const text = decipher.update(sealed.subarray(nonceBytes, tagAt));
  try {
    return Buffer.concat([text, decipher.final()]);
  } catch (cause) {
    throw new TamperedError('The sealed data was changed, or belongs to another entry.', { cause });
  } finally {
    text.fill(0);
  }
}

/** Encodes a list of texts so that no two lists have the same bytes. */
const toAad = (context: readonly (string | number)[]) => Buffer.from(JSON.stringify(['svc-vault/1', ...context]));
