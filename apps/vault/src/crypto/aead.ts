import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
// Without it Node takes tags of 4 bytes too, which can be guessed.
const options = { authTagLength: tagBytes } as const;

/** What was sealed has been changed, belongs elsewhere, or was sealed with another key. Which of them cannot be known. */
export class TamperedError extends Error {
  override readonly name = 'TamperedError';
}

/**
 * Encrypts: nonce, ciphertext and tag in one buffer. `context` says what the text is and where it belongs; it opens under
 * the same context only.
 */
export function seal(key: Buffer, text: Buffer, context: readonly (string | number)[]): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, options).setAAD(toAad(context));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `seal` made. @throws TamperedError, and nothing of the text comes out before it is known to be whole. */
export const open = (key: Buffer, sealed: Uint8Array, context: readonly (string | number)[]): Buffer =>
  openBytes(key, sealed, toAad(context));

/** The same with the associated data as bytes. */
export function openBytes(key: Buffer, sealed: Uint8Array, aad: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new TamperedError('What was sealed is cut off.');
  const tagAt = sealed.length - tagBytes;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), options).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(tagAt));
  const text = decipher.update(sealed.subarray(nonceBytes, tagAt));
  try {
    return Buffer.concat([text, decipher.final()]);
  } catch (cause) {
    throw new TamperedError('What was sealed has been changed, or belongs elsewhere.', { cause });
  } finally {
    text.fill(0);
  }
}

/** A list of texts as bytes that no other list has. */
const toAad = (context: readonly (string | number)[]) => Buffer.from(JSON.stringify(['svc-vault/1', ...context]));
