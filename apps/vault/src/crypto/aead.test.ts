import { createCipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { open, openBytes, seal, TamperedError } from './aead.ts';

type Vector = {
  tcId: number;
  comment: string;
  key: string;
  iv: string;
  aad: string;
  msg: string;
  ct: string;
  tag: string;
  result: string;
};
type Vectors = { testGroups: { keySize: number; ivSize: number; tests: Vector[] }[] };

const file = path.join(import.meta.dirname, '../../test/fixtures/wycheproof/aes_gcm_test.json');
const { testGroups } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const hex = (text: string) => Buffer.from(text, 'hex');
const context = ['credential', 'NAME', 1, 'SACRED'];
const bytes = (minLength = 0) => fc.uint8Array({ minLength, maxLength: 200 }).map((array) => Buffer.from(array));

describe('Wycheproof AES-GCM', () => {
  const ours = testGroups.filter(({ keySize, ivSize }) => keySize === 256 && ivSize === 96).flatMap(({ tests }) => tests);
  const others = testGroups.filter(({ keySize }) => keySize !== 256).flatMap(({ tests }) => tests);

  test('has valid and invalid vectors of the sizes used', () => {
    expect(ours).toHaveLength(66);
    expect(new Set(ours.map(({ result }) => result))).toEqual(new Set(['valid', 'invalid']));
  });

  test.each(ours)('V11: $tcId $comment ($result)', ({ key, iv, aad, msg, ct, tag, result }) => {
    const opened = () => openBytes(hex(key), Buffer.concat([hex(iv), hex(ct), hex(tag)]), hex(aad));
    if (result === 'valid') expect(opened()).toEqual(hex(msg));
    else expect(opened).toThrow(TamperedError);
  });

  test('V11: rejects keys of any other size', () => {
    expect(others.length).toBeGreaterThan(100);
    for (const { key, iv, aad, ct, tag } of others) {
      expect(() => openBytes(hex(key), Buffer.concat([hex(iv), hex(ct), hex(tag)]), hex(aad))).toThrow(RangeError);
    }
  });
});

describe('sealed bytes', () => {
  test('open with their key and context, for random bytes', () => {
    fc.assert(
      fc.property(bytes(), fc.array(fc.oneof(fc.string(), fc.integer())), (text, where) => {
        const key = randomBytes(32);
        expect(open(key, seal(key, text, where), where)).toEqual(text);
      }),
    );
  });

  test('V03: are rejected when any one byte is changed', () => {
    const key = randomBytes(32);
    const sealed = seal(key, Buffer.from('a value to keep'), context);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(() => open(key, changed, context)).toThrow(TamperedError);
    }
  });

  test('are rejected with another context, key or length', () => {
    fc.assert(
      fc.property(bytes(), fc.array(fc.string()), fc.array(fc.string()), (text, where, elsewhere) => {
        fc.pre(JSON.stringify(where) !== JSON.stringify(elsewhere));
        const key = randomBytes(32);
        const sealed = seal(key, text, where);
        expect(() => open(key, sealed, elsewhere)).toThrow(TamperedError);
        expect(() => open(randomBytes(32), sealed, where)).toThrow(TamperedError);
        expect(() => open(key, sealed.subarray(0, -1), where)).toThrow(TamperedError);
        expect(() => open(key, Buffer.concat([sealed, Buffer.alloc(1)]), where)).toThrow(TamperedError);
      }),
    );
  });

  test.each([0, 4, 8, 12, 13, 15])('V04: are rejected with a tag of %i bytes', (length) => {
    const key = randomBytes(32);
    const sealed = seal(key, Buffer.from('text'), context);
    expect(() => open(key, sealed.subarray(0, sealed.length - 16 + length), context)).toThrow(TamperedError);

    // A short tag made by the cipher itself is rejected too.
    if (length < 4) return;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: length });
    const short = Buffer.concat([nonce, cipher.update('x'.repeat(32)), cipher.final(), cipher.getAuthTag()]);
    expect(() => openBytes(key, short, Buffer.alloc(0))).toThrow(TamperedError);
  });

  test.each([0, 1, 12, 27])('are rejected when %i bytes long', (length) => {
    expect(() => open(Buffer.alloc(32), Buffer.alloc(length), context)).toThrow('truncated');
  });

  test.each([0, 16, 31, 33])('cannot be made with a key of %i bytes', (length) => {
    expect(() => seal(Buffer.alloc(length), Buffer.alloc(1), context)).toThrow(RangeError);
  });
});
