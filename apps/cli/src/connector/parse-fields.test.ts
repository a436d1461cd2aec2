import { describe, expect, test } from 'vitest';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { parseFields } from './parse-fields.ts';

const meta: ConnectorMeta = {
  type: 'sample',
  displayName: 'Sample',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: ['token_key'],
  configSchema: {
    type: 'object',
    properties: {
      text: { type: 'string', title: 'Text' },
      token_key: { type: 'string', title: 'Token' },
      count: { type: 'integer', title: 'Count' },
      on: { type: 'boolean', title: 'On' },
      ids: { type: 'array', title: 'Ids', items: { type: 'integer' } },
      words: { type: 'array', title: 'Words' },
      repos: { type: 'array', title: 'Repos', items: { type: 'object' } },
      map: { type: 'object', title: 'Map' },
    },
  },
  outbound: false,
};

describe('setting on the command line', () => {
  test.each([
    ['text', '42', '42'],
    ['text', '', ''],
    ['token_key', 'BOT_TOKEN', 'BOT_TOKEN'],
    ['count', ' 42 ', 42],
    ['count', '-1', -1],
    ['on', 'yes', true],
    ['on', 'OFF', false],
    ['ids', '1, 2,3', [1, 2, 3]],
    ['ids', '[1, 2]', [1, 2]],
    ['ids', '', []],
    ['words', 'a, b', ['a', 'b']],
    [
      'repos',
      '{"owner":"a","repo":"b"},{"owner":"c","repo":"d"}',
      [
        { owner: 'a', repo: 'b' },
        { owner: 'c', repo: 'd' },
      ],
    ],
    ['map', '{"a":1}', { a: 1 }],
  ])('parses %s=%s', (name, text, value) => {
    expect(parseFields(meta, { [name]: text })).toEqual({ [name]: value });
  });

  test.each([
    ['token_key', '123456:AAAA-bbbb', 'not its value'],
    ['token_key', `ghp_${'a'.repeat(80)}`, 'not its value'],
    ['token_key', 'two words', 'not its value'],
    ['count', '', 'takes a number'],
    ['count', 'many', 'takes a number'],
    ['count', 'Infinity', 'takes a number'],
    ['on', 'maybe', '"on" or "off"'],
    ['ids', '1, x', 'takes a number'],
    ['map', '{a', 'takes JSON'],
    ['toString', '1', 'has no setting "toString"'],
  ])('rejects %s=%s', (name, text, why) => {
    expect(() => parseFields(meta, { [name]: text })).toThrow(why);
  });

  test('rejects invalid JSON with the shape that the setting expects', () => {
    const repos = { type: 'array', title: 'Repos', description: 'Such as [{ "owner": "ann" }].', items: { type: 'object' } };
    const described: ConnectorMeta = { ...meta, configSchema: { type: 'object', properties: { repos } } };
    expect(() => parseFields(described, { repos: 'ann/demo' })).toThrow(
      expect.objectContaining({ why: expect.stringMatching(/^Such as \[\{ "owner": "ann" \}\]\.\n.*JSON/s) }),
    );
  });
});
