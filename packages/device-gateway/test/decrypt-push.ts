import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto';

/** What a browser does with a push: the reading half of RFC 8291. @throws where a byte of it is not as it was sent. */
export function decryptPush(body: Buffer, { privateKey, auth }: { privateKey: Buffer; auth: Buffer }): Buffer {
  const browser = createECDH('prime256v1');
  browser.setPrivateKey(privateKey);
  const salt = body.subarray(0, 16);
  const senderKey = body.subarray(21, 21 + body.readUInt8(20));
  const sealed = body.subarray(21 + senderKey.length);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), browser.getPublicKey(), senderKey]);
  const input = derive(browser.computeSecret(senderKey), auth, info, 32);
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createDecipheriv('aes-128-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  const end = plain.lastIndexOf(2);
  return plain.subarray(0, end);
}

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
