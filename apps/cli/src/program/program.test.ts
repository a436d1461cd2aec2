import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Commands } from './lazy-commands.ts';
import { runProgram } from './run-program.ts';

const succeed = async () => 0;
const chat = vi.fn(succeed);
const logs = vi.fn(succeed);
const runTests = vi.fn(async () => 3);
const pair = vi.fn(succeed);
const deliveries = vi.fn(succeed);
const engine = vi.fn(succeed);
const send = vi.fn(succeed);
const vault = vi.fn(succeed);
const backup = vi.fn(succeed);
const others = {
  up: succeed,
  status: succeed,
  service: succeed,
  update: succeed,
  uninstall: succeed,
  completion: succeed,
  doctor: succeed,
  check: succeed,
  key: succeed,
  toolserver: succeed,
  device: succeed,
  tool: succeed,
  spend: succeed,
  price: succeed,
  secret: succeed,
  trust: succeed,
  folder: succeed,
  auth: succeed,
  session: succeed,
  terminal: succeed,
  upload: succeed,
  role: succeed,
  announce: succeed,
  showPersona: succeed,
  editPersona: succeed,
};
const connector = vi.fn(succeed);
const create = vi.fn(succeed);
const speak = vi.fn(succeed);
const transcribe = vi.fn(succeed);
const insights = {
  usage: vi.fn(succeed),
  events: vi.fn(succeed),
  sessions: vi.fn(succeed),
  search: vi.fn(succeed),
  otel: vi.fn(succeed),
};
const commands: Commands = {
  ...others,
  ...insights,
  connector,
  create,
  speak,
  transcribe,
  chat,
  pair,
  deliveries,
  engine,
  send,
  logs,
  vault,
  backup,
  test: runTests,
};

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

describe('command line', () => {
  afterEach(() => vi.clearAllMocks());

  test.each([
    [['chat', 'hello'], 'hello', { session: 'default' }],
    [['chat', 'two', 'words'], 'two words', { session: 'default' }],
    [['chat'], '', { session: 'default' }],
    [['chat', '--session', 'work', '--new', '--json', 'hi'], 'hi', { session: 'work', new: true, json: true }],
    [['chat', '--', '--help'], '--help', { session: 'default' }],
  ])('passes %j to chat', async (args, text, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(chat).toHaveBeenCalledWith(text, options);
  });

  test('passes the text and output of speak, and the language of transcribe', async () => {
    await quietly(['speak', 'good', 'morning', '-o', 'a.mp3', '--voice', 'nova']);
    expect(speak).toHaveBeenCalledWith('good morning', { output: 'a.mp3', voice: 'nova' });
    await quietly(['transcribe', 'a.ogg', '--language', 'de', '--json']);
    expect(transcribe).toHaveBeenCalledWith('a.ogg', { language: 'de', json: true });
    expect((await quietly(['speak'])).code).not.toBe(0);
  });

  test.each([
    [['connector'], { action: 'list' }],
    [['connector', 'list', '--json'], { action: 'list', json: true }],
    [
      ['connector', 'add', 'messenger', 'My bot', '-s', 'a=b=c', '--set', 'd=', '--secret', 'token', '--off'],
      {
        action: 'add',
        type: 'messenger',
        name: 'My bot',
        set: { a: 'b=c', d: '' },
        secrets: ['token'],
        off: true,
        keep: false,
        json: undefined,
      },
    ],
    [['connector', 'stop', 'messenger'], { action: 'stop', name: 'messenger' }],
    [['connector', 'remove', 'messenger', '--json'], { action: 'remove', name: 'messenger', json: true }],
    [['connector', 'logs', 'messenger', '-f', '-n', '5'], { action: 'logs', name: 'messenger', follow: true, lines: 5 }],
    [
      ['connector', 'config', 'messenger', '--set', 'a=1', '--unset', 'b', '--get', 'a'],
      { action: 'config', name: 'messenger', set: { a: '1' }, unset: ['b'], secrets: [], get: 'a', json: undefined },
    ],
  ])('passes connector requests: %j', async (args, request) => {
    expect((await quietly(args)).code).toBe(0);
    expect(connector).toHaveBeenCalledWith(request);
  });

  test('creates connectors, and nothing else', async () => {
    await quietly(['connector', 'new', 'my-shop', '--dir', 'x']);
    expect(create).toHaveBeenCalledWith({ name: 'my-shop', dir: 'x' });
    expect((await quietly(['new', 'engine', 'x'])).code).toBe(2);
    expect((await quietly(['connector', 'add', 'x', '--set', 'a'])).err).toContain('field=value');
  });

  test('passes backup requests, and rejects a passphrase as an argument', async () => {
    await quietly(['backup', 'create', '--secrets']);
    expect(backup).toHaveBeenLastCalledWith({ action: 'create', secrets: true });
    await quietly(['backup', 'get', 'bak_1', 'a.tar.gz', '--json']);
    expect(backup).toHaveBeenLastCalledWith({ action: 'get', id: 'bak_1', file: 'a.tar.gz', json: true });
    await quietly(['backup', 'restore', 'a.tar.gz']);
    expect(backup).toHaveBeenLastCalledWith({ action: 'restore', backup: 'a.tar.gz' });
    await quietly(['backup', 'undo']);
    expect(backup).toHaveBeenLastCalledWith({ action: 'undo' });
    expect((await quietly(['backup', 'restore', 'a.tar.gz', 'a passphrase'])).code).not.toBe(0);
  });

  test('passes the name, the number of lines and --follow to logs', async () => {
    await quietly(['logs', 'core', '-f', '-n', '5']);
    expect(logs).toHaveBeenCalledWith('core', { follow: true, lines: 5 });
    await quietly(['logs']);
    expect(logs).toHaveBeenCalledWith(null, { lines: 100 });
  });

  test.each([
    [['pair'], '', {}],
    [['pair', 'ABCD-EFGH'], 'ABCD-EFGH', {}],
    [['pair', 'ABCD', 'EFGH', '--as', 'owner', '--json'], 'ABCD EFGH', { as: 'owner', json: true }],
    [['pair', 'ABCDEFGH', '--role', 'guest', '--name', 'Anna K.'], 'ABCDEFGH', { role: 'guest', name: 'Anna K.' }],
  ])('passes %j to pair', async (args, code, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(pair).toHaveBeenCalledWith(code, options);
  });

  test.each([
    [['send'], null, '', '', {}],
    [['send', 'chatroom', '42', 'two', 'words'], 'chatroom', '42', 'two words', {}],
    [
      ['send', '-i', 'chatroom-2', '42', '--file', '/f', '--kind', 'photo'],
      'chatroom-2',
      '42',
      '',
      { instance: true, file: '/f', kind: 'photo' },
    ],
  ])('passes %j to send', async (args, channel, target, text, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(send).toHaveBeenCalledWith(channel, target, text, options);
  });

  test("explains in the help of pair how to link one's own other device", async () => {
    expect((await quietly(['pair', '--help'])).out).toContain('--as owner     (your own other device)');
  });

  test.each([
    [['delivery'], null, [], {}],
    [['delivery', '--all', '--json'], null, [], { all: true, json: true }],
    [['delivery', 'retry', 'all'], 'retry', ['all'], {}],
    [['delivery', 'dismiss', 'dlv_1', 'dlv_2', '--json'], 'dismiss', ['dlv_1', 'dlv_2'], { json: true }],
  ])('passes %j to delivery', async (args, action, ids, options) => {
    expect((await quietly(args)).code).toBe(0);
    expect(deliveries).toHaveBeenCalledWith(action, ids, options);
  });

  test.each([
    [['engine'], ['list', null, [], {}]],
    [
      ['engine', 'list', '--json'],
      ['list', null, [], { json: true }],
    ],
    [
      ['engine', 'model', 'codex', 'gpt-6-luna'],
      ['model', 'codex', ['gpt-6-luna'], {}],
    ],
    [
      ['engine', 'key', 'gemini', '--remove'],
      ['key', 'gemini', [], { remove: true }],
    ],
    [
      ['engine', 'auto-update', 'claude', 'on'],
      ['auto-update', 'claude', ['on'], {}],
    ],
    [
      ['engine', 'login', 'codex', '--device-auth', '--x=y'],
      ['login', 'codex', ['--device-auth', '--x=y'], {}],
    ],
  ])('passes %j to engine', async (args, asked) => {
    expect((await quietly(args)).code).toBe(0);
    expect(engine).toHaveBeenCalledWith(...asked);
  });

  test.each([
    [['init', '--write-env'], { action: 'init', writeEnv: true }],
    [['unseal'], { action: 'unseal' }],
    [['status', '--json'], { action: 'status', json: true }],
    [['put', 'API_KEY'], { action: 'put', name: 'API_KEY', minTrust: 'SACRED' }],
    [['put', 'API_KEY', '--min-trust', 'known'], { action: 'put', name: 'API_KEY', minTrust: 'KNOWN' }],
    [['agent'], { action: 'list-agents' }],
    [['agent', 'add', 'reader', '--tier', 'trusted'], { action: 'add-agent', name: 'reader', tier: 'TRUSTED' }],
    [['agent', 'remove', 'reader'], { action: 'remove-agent', name: 'reader' }],
  ])('passes vault %j', async (args, command) => {
    expect((await quietly(['vault', ...args])).code).toBe(0);
    expect(vault).toHaveBeenCalledWith(command);
  });

  test.each([[['put', 'API_KEY', 'the value']], [['unseal', 'a passphrase']], [['put', 'A', '--value', 'x']]])(
    'rejects a secret as an argument: vault %j',
    async (args) => {
      expect((await quietly(['vault', ...args])).code).not.toBe(0);
      expect(vault).not.toHaveBeenCalled();
    },
  );

  test('passes the options of vitest on, and returns its exit code', async () => {
    const { code } = await quietly(['test', 'apps/cli', '-t', 'a name', '--deep']);
    expect(runTests).toHaveBeenCalledWith(['apps/cli', '-t', 'a name'], { deep: true });
    expect(code).toBe(3);
  });

  test('prints the version', async () => {
    expect(await quietly(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
  });

  test('names the help of the exact command after a mistake', async () => {
    expect((await quietly(['help'])).out).toBe((await quietly(['--help'])).out);
    expect((await quietly(['backup', 'list', '--jsno'])).err).toContain('Run: ./svc backup list --help');
  });

  test('shows the help of a command named after "help", and rejects an unknown name', async () => {
    expect(await quietly(['help', 'vault', 'unseal'])).toEqual(await quietly(['vault', 'unseal', '--help']));
    expect(await quietly(['help', 'nope'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('there is no command "./svc nope"') as string,
    });
    expect(vault).not.toHaveBeenCalled();
  });

  test.each([
    [['sta\u001B[2Jtus'], '"./svc sta\\x1b[2Jtus"'],
    [['status', '--\u001B[2J'], '\\x1b[2J'],
    [['x'.repeat(100)], `"./svc ${'x'.repeat(60)}"`],
    [['statu'], 'there is no command "./svc statu". Did you mean "./svc status"?\nRun: ./svc --help'],
    [['logs', '-n', 'many'], 'whole number'],
    [['status', '--jsn'], 'unknown option'],
    [['delivery', 'dlv_1'], 'there is no command "./svc delivery dlv_1".\nRun: ./svc delivery --help'],
    [['engine', 'instal', 'codex'], '"./svc engine install"?'],
    [['engine', 'auto-update', 'codex', 'maybe'], "svc: 'maybe' cannot be used as state. Allowed choices are on, off"],
    [
      ['person', 'grant', 'a', 'b', '--until', 'x'],
      'such as 2026-12-31, a day with a time, or a time from now such as 7d.\nRun: ',
    ],
  ])('rejects %j with the reason', async (args, why) => {
    const { code, err } = await quietly(args);
    expect(code).toBe(2);
    expect(err).toContain(why);
  });

  test.each([
    ['usage', ['usage', '--by', 'day', '--since', '2026-01-31'], { by: 'day', since: Date.parse('2026-01-31') }],
    ['events', ['events', '-f', '-n', '5', '--channel', 'compat'], { follow: true, lines: 5, surface: 'compat' }],
    ['sessions', ['session', 'list', '--all', '--json'], { all: true, limit: 50, json: true }],
  ] as const)('passes the options of %s', async (name, args, options) => {
    expect((await quietly([...args])).code).toBe(0);
    expect(insights[name]).toHaveBeenCalledWith(options);
  });

  test('searches for all given words, and rejects an invalid time', async () => {
    await quietly(['search', 'two', 'words', '--limit', '3']);
    expect(insights.search).toHaveBeenCalledWith('two words', { limit: 3 });
    expect((await quietly(['search'])).code).toBe(2);
    expect((await quietly(['usage', '--since', 'yesterday'])).code).toBe(2);
  });
});
