import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRemoteRefs } from './remote-refs.ts';

const [a, b, c] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(64)];

test('parses branches and tags, with object and commit of an annotated tag', () => {
  const text = [
    `ref: refs/heads/main\tHEAD`,
    `${a}\tHEAD`,
    `${a}\trefs/heads/main`,
    `${b}\trefs/heads/feature/x`,
    `${b}\trefs/tags/v1.0.0`,
    `${a}\trefs/tags/v1.0.0^{}`,
    `${c}\trefs/tags/light`,
    `${b}\trefs/pull/1/head`,
    'warning: something',
    '',
  ].join('\n');
  const { tags, branches } = parseRemoteRefs(text);
  expect([...branches]).toEqual([
    ['main', a],
    ['feature/x', b],
  ]);
  expect([...tags]).toEqual([
    ['v1.0.0', { object: b, commit: a }],
    ['light', { object: c, commit: c }],
  ]);
});

test('random text is parsed without errors, and gives only names that it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { tags, branches } = parseRemoteRefs(text);
      for (const name of [...tags.keys(), ...branches.keys()]) expect(text).toContain(name);
    }),
  );
});
