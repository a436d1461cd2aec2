import { expect, test } from 'vitest';
import { decryptPush } from '../../test/decrypt-push.ts';
import { arePushKeys, encryptPush, maxPushBytes } from './encrypt-push.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');
/** RFC 8291, appendix A. */
const example = {
  message: 'When I grow up, I want to be a watermelon',
  ownKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  theirKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

test('encrypts the example of RFC 8291 byte for byte', () => {
  const once = { salt: example.salt, privateKey: example.ownKey };
  expect(encryptPush(Buffer.from(example.message), example.keys, once).toString('base64url')).toBe(example.body);
});

test('the decryption of the tests reads the example and our messages', () => {
  const read = (body: Buffer) => decryptPush(body, { privateKey: example.theirKey, auth: bytes(example.keys.auth) }).toString();
  expect(read(bytes(example.body))).toBe(example.message);
  for (const message of ['', '{"type":"answer"}', 'é'.repeat(1_000), 'a'.repeat(maxPushBytes)])
    expect(read(encryptPush(Buffer.from(message), example.keys))).toBe(message);
});

test('encrypting twice gives different bodies, and the longest message fits', () => {
  const longest = () => encryptPush(Buffer.alloc(maxPushBytes), example.keys);
  expect(longest().equals(longest())).toBe(false);
  expect(longest()).toHaveLength(4096);
  expect(() => encryptPush(Buffer.alloc(maxPushBytes + 1), example.keys)).toThrow(/3993/);
});

test('rejects keys that are not on the curve or too short', () => {
  const { p256dh, auth } = example.keys;
  expect(arePushKeys(example.keys)).toBe(true);
  const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  for (const keys of [
    { p256dh: offCurve, auth },
    { p256dh: 'BCVx', auth },
    { p256dh, auth: 'BTBZ' },
    { p256dh: '', auth: '' },
  ])
    expect(arePushKeys(keys)).toBe(false);
});
