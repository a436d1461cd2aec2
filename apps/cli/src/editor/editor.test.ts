import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineColumns, paint, span } from '../screen/spans.ts';
import { plain } from '../terminal.ts';
import { createEditor, type Editor, type EditorEvent, type Key } from './editor.ts';
import { layoutInput } from './layout-input.ts';

const named = (name: string): Key => ({ name, sequence: '' });
const ctrl = (name: string): Key => ({ name, sequence: '', ctrl: true });
const alt = (name: string): Key => ({ name, sequence: '', meta: true });
const type = (editor: Editor, text: string) => Array.from(text).forEach((sign) => editor.press({ sequence: sign, name: sign }));
const enter = (editor: Editor) => editor.press(named('return'));
const up = named('up');

describe('chat input', () => {
  test('is sent by Enter, unless it is blank', () => {
    const editor = createEditor();
    type(editor, ' ');
    expect(enter(editor)).toBeNull();
    type(editor, 'hi');
    expect([enter(editor), editor.text()]).toEqual([{ type: 'submit', text: ' hi', shown: ' hi' }, '']);
  });

  test.each([
    ['Alt-Enter', (editor: Editor) => editor.press(alt('return'))],
    ['Ctrl-J', (editor: Editor) => editor.press(named('enter'))],
    ['Shift-Enter', (editor: Editor) => editor.press({ sequence: '\u001B[13;2u' })],
    ['a backslash before Enter', (editor: Editor) => (type(editor, '\\'), enter(editor))],
  ])('gets a new line by %s', (_name, press) => {
    const editor = createEditor();
    type(editor, 'one');
    expect(press(editor)).toBeNull();
    type(editor, 'two');
    expect(enter(editor)).toMatchObject({ type: 'submit', text: 'one\ntwo' });
  });

  test('takes a paste as one message, and shows a long one shortened and deletable at once', () => {
    const editor = createEditor();
    editor.paste('a\r\nb\rc\u001B[2J');
    expect(editor.text()).toBe('a\nb\nc[2J');
    editor.clear();
    type(editor, 'see ');
    editor.paste('line\n'.repeat(500));
    const { lines } = layoutInput(editor.cells(), editor.cursor(), span('> '), { columns: 60, rows: 5 });
    expect(lines.map((line) => paint(line, plain))).toEqual(['> see [pasted: 501 lines]']);
    expect(editor.text()).toBe(`see ${'line\n'.repeat(500)}`);
    editor.press(named('backspace'));
    expect(editor.text()).toBe('see ');
    editor.paste('line\n'.repeat(500));
    expect(enter(editor)).toMatchObject({ shown: 'see [pasted: 501 lines]' });
  });

  test('goes through earlier messages with the up and down arrows and restores the draft', () => {
    const editor = createEditor();
    editor.remember(['older']);
    type(editor, 'newer');
    enter(editor);
    type(editor, 'draft');
    const texts = [up, up, up, named('down'), named('down'), named('down')].map((key) => (editor.press(key), editor.text()));
    expect(texts).toEqual(['newer', 'older', 'older', 'newer', 'draft', 'draft']);
  });

  test('of several lines moves between lines with the arrows first', () => {
    const editor = createEditor();
    editor.remember(['older']);
    editor.paste('one\ntwo');
    editor.press(up);
    type(editor, '!');
    expect(editor.text()).toBe('one!\ntwo');
    editor.press(up);
    expect(editor.text()).toBe('older');
  });

  test('leaves on Ctrl-D when empty, otherwise deletes a character, and Ctrl-C interrupts', () => {
    const editor = createEditor();
    expect([editor.press(ctrl('d')), editor.press(ctrl('c'))]).toEqual([{ type: 'leave' }, { type: 'interrupt' }]);
    type(editor, 'ab');
    editor.press(ctrl('a'));
    expect([editor.press(ctrl('d')), editor.text()]).toEqual([null, 'b']);
  });

  test.each<[string, Key[], string]>([
    ['Ctrl-W deletes a word', [ctrl('w')], 'one two '],
    ['Alt-Backspace too', [alt('backspace')], 'one two '],
    ['Ctrl-U deletes to the beginning', [ctrl('u')], ''],
    ['Ctrl-A and Ctrl-K delete the line', [ctrl('a'), ctrl('k')], ''],
    ['Ctrl-Y brings back what was deleted', [ctrl('w'), ctrl('y'), ctrl('y')], 'one two threethree'],
    ['Alt-B moves by a word', [alt('b'), alt('b'), ctrl('k')], 'one '],
    [
      'an unknown key does nothing',
      [{ sequence: '\u001B[1;9Z' }, { sequence: '\u0001', ctrl: true, name: 'q' }],
      'one two three',
    ],
  ])('%s', (_name, keys, expected) => {
    const editor = createEditor();
    type(editor, 'one two three');
    keys.forEach((key) => editor.press(key));
    expect(editor.text()).toBe(expected);
  });

  test('keeps a combining accent with its letter and a flag as one character', () => {
    const editor = createEditor();
    type(editor, 'e\u0301🇩🇪');
    expect(editor.cells().map(({ text }) => text)).toEqual(['e\u0301', '🇩🇪']);
  });
});

const keys = fc.oneof(
  fc.constantFrom('a', ' ', '日', '👩‍💻', '\t').map((sequence): Key => ({ sequence })),
  fc.constantFrom('left', 'right', 'home', 'end', 'backspace', 'delete', 'up', 'down', 'enter', 'return', 'tab').map(named),
  fc.constantFrom('a', 'e', 'b', 'f', 'k', 'u', 'w', 'y', 'left', 'right', 'd', 'h').map(ctrl),
  fc.constantFrom('b', 'f', 'd', 'backspace', 'return').map(alt),
);
const steps = fc.array(fc.oneof(keys, fc.constantFrom('x\ny', 'z'.repeat(900), '\u001B[31m')), { maxLength: 60 });

const apply = (editor: Editor, all: readonly (Key | string)[]): (EditorEvent | null)[] =>
  all.map((step) => (typeof step === 'string' ? (editor.paste(step), null) : editor.press(step)));

describe('chat input with random keys', () => {
  test('keeps the cursor within the text, and the text without control characters', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 4, max: 40 }), fc.integer({ min: 1, max: 6 }), (all, columns, rows) => {
        const editor = createEditor();
        apply(editor, all);
        // eslint-disable-next-line no-control-regex
        expect(editor.text()).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
        expect(editor.cursor()).toBeGreaterThanOrEqual(0);
        expect(editor.cursor()).toBeLessThanOrEqual(editor.cells().length);
        const { lines, cursor } = layoutInput(editor.cells(), editor.cursor(), span('> '), { columns, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(cursor.row).toBeLessThan(lines.length);
        const isShortened = editor.text().includes('z');
        if (!isShortened) for (const line of lines) expect(lineColumns(line)).toBeLessThanOrEqual(columns);
        if (!isShortened) expect(cursor.column).toBeLessThan(columns);
      }),
      { numRuns: 1500 },
    );
  });

  test('behaves like a plain text when typing and deleting', () => {
    const sign = fc.constantFrom('a', 'b', '日');
    const moves = fc.constantFrom('left', 'right', 'backspace', 'delete', 'home', 'end');
    fc.assert(
      fc.property(fc.array(fc.oneof(sign, moves), { maxLength: 60 }), (all) => {
        const editor = createEditor();
        let [before, after] = ['', ''];
        for (const step of all) {
          if (step.length === 1) before += step;
          else if (step === 'left') [before, after] = [before.slice(0, -1), before.slice(-1) + after];
          else if (step === 'right') [before, after] = [before + after.slice(0, 1), after.slice(1)];
          else if (step === 'backspace') before = before.slice(0, -1);
          else if (step === 'delete') after = after.slice(1);
          else if (step === 'home') [before, after] = ['', before + after];
          else [before, after] = [before + after, ''];
          editor.press(step.length === 1 ? { sequence: step } : named(step));
        }
        expect([editor.text(), editor.cursor()]).toEqual([before + after, before.length]);
      }),
      { numRuns: 1000 },
    );
  });
});
