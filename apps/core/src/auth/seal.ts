import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const [nonceBytes, tagBytes] = [12, 16];

/** Encrypts secrets for the database, and authenticates texts. `purpose` prevents a value made for one use from being used for another. */
export interface Seal {
  close(text: string, purpose: string): string;
  /** Null for a text that was not sealed with this key and purpose. */
  open(sealed: string, purpose: string): string | null;
  /** A mark over a text, base64url. */
  mark(text: string, purpose: string): string;
  isMark(mark: string, text: string, purpose: string): boolean;
}

/** `key`: 32 bytes of this installation. */
export function createSeal(key: Buffer): Seal {
  const [sealKey, markKey] = ['seal', 'mark'].map((use) => Buffer.from(hkdfSync('sha256', key, '', `login-${use}`, 32))) as [
    Buffer,
    Buffer,
  ];
  const markOf = (text: string, purpose: string) =>
    createHmac('sha256', markKey)
      .update(JSON.stringify([purpose, text]))
      .digest();

  return {
    close(text, purpose) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, sealKey, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < nonceBytes + tagBytes) return null;
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, sealKey, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const text = decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8');
      try {
        return text + decipher.final('utf8');
      } catch {
        return null; // sealed with another key, or changed: the two cannot be told apart
      }
    },
    mark: (text, purpose) => markOf(text, purpose).toString('base64url'),
    isMark(mark, text, purpose) {
      const [found, expected] = [Buffer.from(mark, 'base64url'), markOf(text, purpose)];
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
}
