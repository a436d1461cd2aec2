import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPasteSplitter, type TerminalInput } from './paste-splitter.ts';

const split = (parts: readonly string[]): TerminalInput[] => {
  const splitter = createPasteSplitter();
  const found = [...parts.flatMap((part) => splitter.push(part)), ...splitter.flush()];
  // Consecutive keys are joined, so that splits do not matter.
  return found.reduce<TerminalInput[]>((all, next) => {
    const last = all.at(-1);
    if (last?.type === 'keys' && next.type === 'keys')
      return [...all.slice(0, -1), { type: 'keys', text: last.text + next.text }];
    return [...all, next];
  }, []);
};

test('a paste is one event, separate from the keys around it', () => {
  expect(split(['a\u001B[200~one\rtwo\u001B[201~b'])).toEqual([
    { type: 'keys', text: 'a' },
    { type: 'paste', text: 'one\rtwo' },
    { type: 'keys', text: 'b' },
  ]);
  expect(split(['\u001B[200~\u001B[A\u001B[201~'])).toEqual([{ type: 'paste', text: '\u001B[A' }]);
});

test('a single Escape is passed on when nothing follows', () => {
  const splitter = createPasteSplitter();
  expect([splitter.push('\u001B'), splitter.isHolding(), splitter.flush()]).toEqual([
    [],
    true,
    [{ type: 'keys', text: '\u001B' }],
  ]);
});

test('the result does not depend on how the input is split', () => {
  const piece = fc.constantFrom('\u001B[200~', '\u001B[201~', '\u001B', '[', '2', '\u001B[A', 'a', '\r', '\u001B[20');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 5 })), (pieces, sizes) => {
      const text = pieces.join('');
      let at = 0;
      const parts = sizes.map((size) => text.slice(at, (at += size)));
      expect(split([...parts, text.slice(at)])).toEqual(split([text]));
    }),
    { numRuns: 2000 },
  );
});
