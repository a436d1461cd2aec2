import { afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram, type Commands } from './program.ts';

const succeed = async () => 0;
const chat = vi.fn(succeed);
const logs = vi.fn(succeed);
const test = vi.fn(async () => 3);
const pair = vi.fn(succeed);
const deliveries = vi.fn(succeed);
const others = { up: succeed, status: succeed, doctor: succeed, check: succeed };
const commands: Commands = { ...others, chat, pair, deliveries, logs, test };

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

  it.each([
    [['pair'], '', {}],
    [['pair', 'ABCD-EFGH'], 'ABCD-EFGH', {}],
    [['pair', 'ABCD', 'EFGH', '--as', 'owner', '--json'], 'ABCD EFGH', { as: 'owner', json: true }],
    [['pair', 'ABCDEFGH', '--role', 'guest', '--name', 'Anna K.'], 'ABCDEFGH', { role: 'guest', name: 'Anna K.' }],
  ])('takes %j', async (args, code, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(pair).toHaveBeenCalledWith(code, options);
  });

  it("says in the help of pair how to let in one's own other device", async () => {
    expect((await quietly(['pair', '--help'])).out).toContain('"svc pair CODE --as owner" is for your own other device');
  });

  it.each([
    [['deliveries'], null, [], {}],
    [['deliveries', '--all', '--json'], null, [], { all: true, json: true }],
    [['deliveries', 'retry', 'all'], 'retry', ['all'], {}],
    [['deliveries', 'dismiss', 'dlv_1', 'dlv_2', '--json'], 'dismiss', ['dlv_1', 'dlv_2'], { json: true }],
  ])('takes %j', async (args, action, ids, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(deliveries).toHaveBeenCalledWith(action, ids, options);
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
    for (const name of ['up', 'chat', 'status', 'doctor', 'pair', 'deliveries', 'logs', 'test', 'check'])
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  it.each([
    [['statu'], 'Did you mean status'],
    [['logs', '-n', 'many'], 'whole number'],
    [['status', '--jsn'], 'unknown option'],
    [['deliveries', 'dlv_1'], 'Allowed choices are retry, dismiss'],
  ])('refuses %j and says why', async (args, why) => {
    const { code, err } = await quietly(args);
    expect(code).not.toBe(0);
    expect(err).toContain(why);
  });
});
