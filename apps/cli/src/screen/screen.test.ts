import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { createScreen, type LiveArea } from './screen.ts';
import { span, type Line } from './spans.ts';

/** A terminal with the commands that the screen uses, for characters of one column. */
function createTerminal(columns: number) {
  const rows: string[][] = [[]];
  let [row, column, isHidden] = [0, 0, false];
  const put = (sign: string) => {
    if (column === columns) [row, column] = [row + 1, 0];
    while (rows.length <= row) rows.push([]);
    const line = rows[row] ?? [];
    while (line.length < column) line.push(' ');
    line[column] = sign;
    column++;
  };
  const command = (parameter: string, name: string) => {
    const count = Number(parameter) || 1;
    if (name === 'A') row = Math.max(0, row - count);
    else if (name === 'C') column = Math.min(columns - 1, column + count);
    else if (name === 'J') {
      rows.length = row + 1;
      rows[row] = (rows[row] ?? []).slice(0, column);
    } else if (parameter === '?25') isHidden = name === 'l';
  };
  return {
    columns,
    rows: 20,
    write(text: string) {
      // eslint-disable-next-line no-control-regex
      for (const [whole, parameter = '', name] of text.matchAll(/\u001B\[([?\d]*)([A-Za-z])|[\s\S]/g)) {
        if (name !== undefined) command(parameter, name);
        else if (whole === '\r') column = 0;
        else if (whole === '\n') row++;
        else put(whole);
      }
    },
    text: () =>
      rows
        .map((line) => line.join('').trimEnd())
        .join('\n')
        .trimEnd(),
    cursor: () => ({ row, column }),
    isHidden: () => isHidden,
  };
}

const line = (text: string): Line => [span(text)];
const area = (...texts: string[]): LiveArea => ({ lines: texts.map(line), cursor: null });

describe('screen', () => {
  test('prints finished lines above the live area, and removes the live area at the end', () => {
    const terminal = createTerminal(20);
    const screen = createScreen(terminal, plain);
    screen.update([line('one')], area('status', 'input'));
    expect(terminal.text()).toBe('one\nstatus\ninput');
    screen.update([line('two')], area('other'));
    expect([terminal.text(), terminal.isHidden()]).toEqual(['one\ntwo\nother', true]);
    screen.close();
    expect([terminal.text(), terminal.isHidden()]).toEqual(['one\ntwo', false]);
  });

  test('places the cursor in the input', () => {
    const terminal = createTerminal(20);
    createScreen(terminal, plain).update([], {
      lines: [line('status'), line('> hi'), line('there')],
      cursor: { row: 1, column: 4 },
    });
    expect([terminal.cursor(), terminal.isHidden()]).toEqual([{ row: 1, column: 4 }, false]);
  });

  test('leaves no traces of earlier live areas, for random updates', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 30 });
    const live = fc.record({
      lines: fc.array(text, { maxLength: 4 }),
      row: fc.nat(3),
      column: fc.nat(12),
      hasCursor: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(text, { maxLength: 3 }), live), { maxLength: 8 }), (steps) => {
        const terminal = createTerminal(12);
        const screen = createScreen(terminal, plain);
        const all: string[] = [];
        for (const [printed, { lines, row, column, hasCursor }] of steps) {
          all.push(...printed);
          const cursor = hasCursor && row < lines.length ? { row, column } : null;
          screen.update(printed.map(line), { lines: lines.map(line), cursor });
        }
        screen.close();
        // The terminal wraps lines wider than itself.
        const broken = all
          .flatMap((printed) => (printed === '' ? [''] : (printed.match(/.{1,12}/g) ?? [])))
          .map((part) => part.trimEnd());
        expect(terminal.text()).toBe(broken.join('\n').trimEnd());
      }),
      { numRuns: 1000 },
    );
  });
});
