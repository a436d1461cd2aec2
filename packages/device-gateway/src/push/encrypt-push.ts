import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** A browser's keys for its messages: its public key (65 bytes) and a secret (16 bytes), base64url. */
export type PushKeys = { p256dh: string; auth: string };
/** Values for one message only; random unless a test passes them. */
type Once = { salt: Buffer; privateKey: Buffer };

/** Maximum message size, bytes: push services accept 4096 including the overhead (RFC 8291, section 4). */
export const maxPushBytes = 3993;
const recordBytes = 4096;

/**
 * Encrypts a message for the browser, as the body of a push with `content-encoding: aes128gcm` (RFC 8291 over RFC 8188): a single record,
 * which is also the last.
 * @throws Error when the browser's key is not a point on the curve, or the message is too long
 */
export function encryptPush(message: Buffer, { p256dh, auth }: PushKeys, once?: Once): Buffer {
  if (message.length > maxPushBytes)
    throw new Error(`a push message may have at most ${maxPushBytes} bytes, and this one has ${message.length}`);
  const salt = once?.salt ?? randomBytes(16);
  const own = createECDH('prime256v1');
  if (once === undefined) own.generateKeys();
  else own.setPrivateKey(once.privateKey);
  const ownKey = own.getPublicKey();
  const theirKey = Buffer.from(p256dh, 'base64url');
  const shared = own.computeSecret(theirKey);
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), theirKey, ownKey]);
  const input = derive(shared, Buffer.from(auth, 'base64url'), keyInfo, 32);
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const lastRecord = Buffer.from([2]);
  const sealed = [cipher.update(Buffer.concat([message, lastRecord])), cipher.final(), cipher.getAuthTag()];
  const head = Buffer.alloc(5);
  head.writeUInt32BE(recordBytes);
  head.writeUInt8(ownKey.length, 4);
  return Buffer.concat([salt, head, ownKey, ...sealed]);
}

/** Whether `encryptPush` accepts a browser's keys. */
export function arePushKeys({ p256dh, auth }: PushKeys): boolean {
  const point = Buffer.from(p256dh, 'base64url');
  if (point.length !== 65 || Buffer.from(auth, 'base64url').length !== 16) return false;
  try {
    const any = createECDH('prime256v1');
    any.generateKeys();
    any.computeSecret(point);
    return true;
  } catch {
    return false; // not a point on the curve
  }
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
