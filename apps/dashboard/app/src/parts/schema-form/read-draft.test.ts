import type { ConfigSchema } from '@svc/contract/connector-meta.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDraft, toDraft } from './read-draft.ts';

const schema: ConfigSchema = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { type: 'string', title: 'Token' },
    mode: { type: 'string', title: 'Mode', enum: ['a', 'b'], default: 'a' },
    port: { type: 'integer', title: 'Port', default: 80 },
    share: { type: 'number', title: 'Share' },
    isOn: { type: 'boolean', title: 'On', default: true },
    chats: { type: 'array', title: 'Chats', items: { type: 'integer' } },
    names: { type: 'array', title: 'Names', items: { type: 'string' } },
    env: { type: 'object', title: 'Environment', additionalProperties: { type: 'string' } },
    rules: { type: 'array', title: 'Rules', items: { type: 'object' } },
  },
};
const word = fc.stringMatching(/^[\w@.-]{1,12}$/);
const values = fc.record({
  token: word,
  mode: fc.constantFrom('a', 'b'),
  port: fc.integer(),
  share: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  isOn: fc.boolean(),
  chats: fc.array(fc.integer(), { minLength: 1 }),
  names: fc.array(word, { minLength: 1 }),
  env: fc.dictionary(word, word, { minKeys: 1 }),
  rules: fc.array(fc.dictionary(word, fc.integer()), { minLength: 1 }),
});

describe('form made from a schema', () => {
  test('returns the values that it was filled with', () => {
    fc.assert(
      fc.property(values, (given) => {
        // Through JSON, as it is sent: -0 is 0 there.
        const sent = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
        expect(readDraft(schema, toDraft(schema, sent))).toEqual({ ok: true, values: sent });
      }),
    );
  });

  test('reads an empty field as null, and an unset switch as its default', () => {
    const read = readDraft(schema, { ...toDraft(schema, {}), token: 'x' });
    expect(read).toEqual({
      ok: true,
      values: { token: 'x', mode: null, port: null, share: null, isOn: true, chats: null, names: null, env: null, rules: null },
    });
  });

  test('reports what is wrong with each field', () => {
    const draft = { ...toDraft(schema, {}), port: '0x10', share: 'much', chats: '1\n1.5', env: 'A=b=c\nnone', rules: '{' };
    expect(readDraft(schema, draft)).toEqual({
      ok: false,
      faults: {
        token: 'This field is required.',
        port: '“0x10” is not a whole number.',
        share: '“much” is not a number.',
        chats: '“1.5” is not a whole number.',
        env: '“none” is not of the form NAME=value.',
        rules: 'This is not JSON.',
      },
    });
  });
});
