import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createSecretInput } from './secret-input.ts';

function terminal() {
  const raw: boolean[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => void raw.push(on) });
  let said = '';
  return { stream, raw, said: () => said, input: createSecretInput(stream, (text) => (said += text)) };
}

describe('at a terminal', () => {
  test('shows nothing of what is typed, and takes corrections', async () => {
    const { stream, raw, said, input } = terminal();
    const typed = input.line('Passphrase: ');
    stream.write('wrong\u0015hor');
    stream.write('x\u007Fse ü🔑');
    stream.write('\r');
    expect(await typed).toBe('horse ü🔑');
    expect(said()).toBe('Passphrase: \n');
    expect(raw).toEqual([true, false]);
  });

  test('asks for a new one twice, and takes no other the second time', async () => {
    const { stream, input } = terminal();
    const typed = input.newLine('New: ');
    stream.write('one\n');
    setImmediate(() => stream.write('other\n'));
    await expect(typed).rejects.toThrow('the two are not the same');
  });

  test.each(['\u0003', '\u0004'])('is left with %j, and shows again what is typed', async (sign) => {
    const { stream, raw, input } = terminal();
    const typed = input.value('Value: ');
    stream.write(`half${sign}`);
    await expect(typed).rejects.toMatchObject({ exitCode: 130 });
    expect(raw).toEqual([true, false]);
  });
});

describe('from a pipe', () => {
  const piped = (text: string) => createSecretInput(Object.assign(new PassThrough().end(text), {}), () => undefined);

  test('comes one a line, and nothing is asked', async () => {
    const input = piped('first\r\nsecond\n');
    expect([await input.line('A'), await input.newLine('B'), await input.line('C')]).toEqual(['first', 'second', '']);
  });

  test.each([
    ['line one\nline two\n', 'line one\nline two'],
    ['as it is', 'as it is'],
    ['two breaks\n\n', 'two breaks\n'],
  ])('a value is %j without its last line break', async (text, value) => {
    expect(await piped(text).value('A')).toBe(value);
  });

  test('ends at a megabyte', async () => {
    await expect(piped('x'.repeat(1024 * 1024 + 1)).value('A')).rejects.toThrow('too long');
  });
});
