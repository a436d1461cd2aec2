import { afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram, type Commands } from './program.ts';

const succeed = async () => 0;
const chat = vi.fn(succeed);
const logs = vi.fn(succeed);
const test = vi.fn(async () => 3);
const commands: Commands = { up: succeed, chat, status: succeed, doctor: succeed, logs, test, check: succeed };

const quietly = async (args: string[]): Promise<{ code: number; out: string; err: string }> => {
  let [out, err] = ['', ''];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    return { code: await runProgram(args, commands), out, err };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
};

describe('the command line', () => {
  afterEach(() => vi.clearAllMocks());

  it.each([
    [['chat', 'hello'], 'hello', { session: 'default' }],
    [['chat', 'two', 'words'], 'two words', { session: 'default' }],
    [['chat'], '', { session: 'default' }],
    [['chat', '--session', 'work', '--new', '--json', 'hi'], 'hi', { session: 'work', new: true, json: true }],
    [['chat', '--', '--help'], '--help', { session: 'default' }],
  ])('takes %j', async (args, text, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(chat).toHaveBeenCalledWith(text, options);
  });

  it('gives logs a name, a number of lines and whether to follow', async () => {
    await quietly(['logs', 'core', '-f', '-n', '5']);
    expect(logs).toHaveBeenCalledWith('core', { follow: true, lines: 5 });
    await quietly(['logs']);
    expect(logs).toHaveBeenCalledWith(null, { lines: 100 });
  });

  it('passes options of vitest on, and the exit code back', async () => {
    const { code } = await quietly(['test', 'apps/cli', '-t', 'a name', '--deep']);
    expect(test).toHaveBeenCalledWith(['apps/cli', '-t', 'a name'], { deep: true });
    expect(code).toBe(3);
  });

  it('prints the version', async () => {
    expect(await quietly(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
  });

  it('lists every command in its help', async () => {
    const { code, out } = await quietly(['--help']);
    expect(code).toBe(0);
    for (const name of ['up', 'chat', 'status', 'doctor', 'logs', 'test', 'check'])
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  it.each([
    [['statu'], 'Did you mean status'],
    [['logs', '-n', 'many'], 'whole number'],
    [['status', '--jsn'], 'unknown option'],
  ])('refuses %j and says why', async (args, why) => {
    const { code, err } = await quietly(args);
    expect(code).not.toBe(0);
    expect(err).toContain(why);
  });
});
