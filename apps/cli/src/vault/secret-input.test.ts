import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createSecretInput } from './secret-input.ts';

function terminal() {
  const raw: boolean[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => void raw.push(on) });
  let said = '';
  return { stream, raw, said: () => said, input: createSecretInput(stream, (text) => (said += text)) };
}

describe('secret input at a terminal', () => {
  test('does not echo, and supports corrections', async () => {
    const { stream, raw, said, input } = terminal();
    const typed = input.line('Passphrase: ');
    stream.write('wrong\u0015hor');
    stream.write('x\u007Fse ü🔑');
    stream.write('\r');
    expect(await typed).toBe('horse ü🔑');
    expect(said()).toBe('\u001B[?2004hPassphrase: \n\u001B[?2004l');
    expect(raw).toEqual([true, false]);
  });

  test('asks for a new secret twice and rejects a mismatch', async () => {
    const { stream, input } = terminal();
    const typed = input.newLine('New: ');
    stream.write('one\n');
    setImmediate(() => stream.write('other\n'));
    await expect(typed).rejects.toThrow('the two entries do not match');
  });

  const pasted = (text: string) => `\u001B[200~${text}\u001B[201~`;

  test('accepts a multi-line paste, entered by its last line break', async () => {
    const { stream, input } = terminal();
    const typed = input.value('Value: ');
    stream.write(pasted('-----BEGIN KEY-----\rline two\r\n-----END KEY-----\n'));
    expect(await typed).toBe('-----BEGIN KEY-----\nline two\n-----END KEY-----');
  });

  test('waits for Enter after a paste without a line break, and ignores arrow keys', async () => {
    const { stream, input } = terminal();
    const typed = input.line('Passphrase: ');
    stream.write(pasted('horse'));
    stream.write('\u001B[D\u001BOC!\r');
    expect(await typed).toBe('horse!');
  });

  test.each([
    ['line', pasted('one\ntwo\n')],
    ['line', 'one\rtwo\r'],
    ['value', 'one\rtwo\r'],
  ] as const)('rejects a %s of several lines instead of truncating it: %j', async (what, text) => {
    const { stream, raw, input } = terminal();
    const typed = input[what]('Value: ');
    stream.write(text);
    await expect(typed).rejects.toThrow('the input has several lines');
    expect(raw).toEqual([true, false]);
  });

  test.each(['\u0003', '\u0004'])('is cancelled by %j and restores echo', async (sign) => {
    const { stream, raw, input } = terminal();
    const typed = input.value('Value: ');
    stream.write(`half${sign}`);
    await expect(typed).rejects.toMatchObject({ exitCode: 130 });
    expect(raw).toEqual([true, false]);
  });
});

describe('secret input from a pipe', () => {
  const piped = (text: string | Buffer) => createSecretInput(Object.assign(new PassThrough().end(text), {}), () => undefined);

  test('reads one secret per line without prompting', async () => {
    const input = piped('first\r\nsecond\n');
    expect([await input.line('A'), await input.newLine('B'), await input.line('C')]).toEqual(['first', 'second', '']);
  });

  test.each([
    ['line one\nline two\n', 'line one\nline two'],
    ['as it is', 'as it is'],
    ['two breaks\n\n', 'two breaks\n'],
  ])('reads the value %j without its last line break', async (text, value) => {
    expect(await piped(text).value('A')).toBe(value);
  });

  test('rejects bytes that are not UTF-8', async () => {
    await expect(piped(Buffer.from([0x6b, 0xff, 0xfe])).value('A')).rejects.toThrow('not text (UTF-8)');
  });

  test('rejects more than a megabyte', async () => {
    await expect(piped('x'.repeat(1024 * 1024 + 1)).value('A')).rejects.toThrow('too long');
  });
});
