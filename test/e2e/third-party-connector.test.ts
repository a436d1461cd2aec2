import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { startTelegramServer } from '@svc/testing/telegram-server/index.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { read, root } from '../repository.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

/** The shell commands of the guide, block by block. */
const steps = [...read('docs/connectors.md').matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? '');

let home: TemporaryFolder;
let house: House;
let port: number;
const mainFile = path.join(root, 'apps/cli/src/main.ts');

type Ended = { code: number | null; out: string; err: string };
const environment = () => ({
  PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
  HOME: home.path,
  SVC_DATA_DIR: path.join(home.path, '.svc'),
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NO_COLOR: '1',
  SVC_MANAGER_TOKEN: 'the-token-of-this-manager',
});

/** Runs one block of the guide in a shell, in a folder that has `./svc`, with a port of this test. */
function type(block: string): Promise<Ended> {
  const text = block.replaceAll('3040', String(port));
  return new Promise((resolve) => {
    const child = execFile('sh', ['-ec', text], { cwd: home.path, env: environment(), timeout: 60_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

function svc(args: string[], input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [mainFile, ...args], { cwd: home.path, env: environment() });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

const connector = async (...args: string[]) => svc(['connector', ...args]);
const listed = async () => (JSON.parse((await connector('list', '--json')).out) as { instances: Instance[] }).instances;
const shop = async () => (await listed()).find(({ id }) => id === 'shop');

beforeAll(async () => {
  home = temporaryFolder();
  [port = 0] = await freePorts(1);
  writeFileSync(path.join(home.path, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(path.join(home.path, 'svc'), 0o755);
});
afterAll(async () => {
  await house.stop();
  home.remove();
});

test('the commands of the guide, run as written, give a working connector', { timeout: 120_000 }, async () => {
  const [begin = '', add = '', say = '', pair = '', file = '', send = '', again = ''] = steps;
  // The commands of the guide need a running service.
  house = await openHouse({
    dataDir: path.join(home.path, '.svc'),
    env: { SVC_MANAGER_TOKEN: environment().SVC_MANAGER_TOKEN },
  });
  const begun = await type(begin);
  expect([begun.code, begun.out]).toEqual([0, expect.stringMatching(/pass 2\d\n[^]*fail 0/)]);
  writeJavaScriptPackage();

  const added = await type(add);
  expect([added.code, added.err, added.out]).toEqual([
    0,
    expect.stringContaining('kept as SHOP_TOKEN in the secrets file'),
    expect.stringMatching(new RegExp(`^shop +running, http://127.0.0.1:${port}$`, 'm')),
  ]);

  const { shown } = JSON.parse((await type(say)).out) as { shown: string[] };
  expect(shown).toEqual([expect.stringMatching(/[A-Z2-9]{4}-[A-Z2-9]{4}/)]);
  const code = /[A-Z2-9]{4}-[A-Z2-9]{4}/.exec(shown[0] ?? '')?.[0] ?? '';
  const paired = await type(pair.replace('CODE', code));
  expect([paired.code, paired.out]).toEqual([0, expect.stringContaining('No model is connected yet')]);

  const sent = JSON.parse((await type(file)).out) as { shown: string[] };
  expect(sent.shown).toHaveLength(1);
  const { files } = await house.get<{ files: { name: string; path: string; mime: string }[] }>(`${house.urls.core}/v2/uploads`);
  expect(files[0]).toMatchObject({ name: 'list.txt', mime: 'text/plain' });
  expect(readFileSync(files[0]?.path ?? '', 'utf8')).toBe('milk, bread');

  const { code: sending, out } = await type(send);
  expect([sending, out]).toEqual([0, expect.stringContaining('Sent through shop')]);
  const chat = JSON.parse(out.slice(out.indexOf('['))) as { from: string; text: string }[];
  expect(chat.at(-1)).toMatchObject({ from: 'bot', text: 'The train is late.' });
  expect(await type(again)).toMatchObject({ code: 0, out: expect.stringContaining('ready') as string });
});

test('a credential is stored only among the secrets', async () => {
  const secret = 'a-long-token-of-your-own';
  const { config } = (await shop()) ?? {};
  expect(config).toMatchObject({ token_secret_key: 'SHOP_TOKEN', port });
  expect((await connector('logs', 'shop', '--json')).out).not.toContain(secret);
  expect(readFileSync(path.join(house.folder, 'manager.db')).includes(secret)).toBe(false);
});

test('a connector that does not start is not added, and the reason is shown', async () => {
  const { code, err } = await connector('add', 'shop', 'second', '--set', 'token_secret_key=NOT_THERE');
  expect([code, err]).toEqual([1, expect.stringMatching(/nothing was added[^]*NOT_THERE[^]*--keep/)]);
  const taken = new URL(house.urls.collector).port;
  const inUse = await svc(
    ['connector', 'add', 'shop', 'second', '--set', `port=${taken}`, '--secret', 'token_secret_key'],
    'x'.repeat(20),
  );
  expect([inUse.code, inUse.err]).toEqual([1, expect.stringContaining(`Port ${taken} belongs to the collector`)]);
  expect((await listed()).map(({ id }) => id).toSorted()).toEqual(['compat', 'shop']);
  const kept = await connector('add', 'shop', 'second', '--set', 'token_secret_key=NOT_THERE', '--keep');
  expect([kept.code, (await connector()).out]).toEqual([1, expect.stringContaining('"second"')]);
  expect(await connector('remove', 'second')).toMatchObject({ code: 0 });
});

test('a connector can be stopped, started, configured and listed', async () => {
  expect((await connector('stop', 'shop')).out).toContain('stopped');
  expect(await shop()).toMatchObject({ status: 'stopped', enabled: false });
  const refused = await connector('restart', 'shop');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is stopped')]);
  expect((await connector('start', 'shop', '--json')).out).toContain('"status": "running"');
  expect((await connector('config', 'shop', '--set', 'debounce_ms=20', '--set', 'pairing=off')).code).toBe(0);
  expect(JSON.parse((await connector('config', 'shop', '--json')).out)).toMatchObject({
    debounce_ms: 20,
    pairing: false,
    port,
    token_secret_key: 'SHOP_TOKEN',
  });
  expect((await connector('config', 'shop', '--unset', 'debounce_ms', '--get', 'debounce_ms')).out).toBe('0\n');
  const wrong = await connector('config', 'shop', '--set', 'port=-1');
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('config.port')]);
  expect(await shop()).toMatchObject({ status: 'running', config: { port } });
});

test('a connector restarts when its process is killed', async () => {
  const before = (await shop())?.pid ?? 0;
  signalProcess(before, 'SIGKILL');
  const isBack = async () => {
    const now = await shop();
    return now?.status === 'running' && now.pid !== before;
  };
  await waitFor(isBack, 20_000, () => 'it did not come back');
});

test('a compiled connector that npm installed works, with the connector kit of the service', async () => {
  const { code, out } = await connector('add', 'plain', '--json');
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ id: 'plain', status: 'running' })]);
  const { out: log } = await connector('logs', 'plain');
  expect(log).toContain('splits into 2');
  expect(log).toContain('writes <b>bold</b>');
});

test(
  'Telegram is added with its token, and people who open the printed links are let in and answered',
  { timeout: 120_000 },
  async () => {
    const telegram = await startTelegramServer();
    onTestFinished(() => telegram.close());
    const add = (token: string) => {
      const fields = ['--set', `api_root=${telegram.apiRoot}`, '--set', 'http_port=0', '--secret', 'bot_token_secret_key'];
      return svc(['connector', 'add', 'messenger', ...fields], token);
    };
    const refused = await add('1:a-token-that-nobody-has-given');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/nothing was added[^]*rejected this token/)]);
    const added = await add(telegram.token);
    expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^messenger-2 +running/)]);

    /** What Telegram sends when "Start" is pressed below a link. */
    const tap = async (name: string, text: string) => {
      const [, code] = new RegExp(`https://t\\.me/${telegram.bot.user.username}\\?start=([A-Z2-9-]{14})`).exec(text) ?? [];
      const from = telegram.person(name);
      const shown = () => telegram.replies(from.id).map((reply) => reply.text);
      telegram.say({ from, text: `/start ${code}` });
      await expect.poll(shown, { timeout: 20_000 }).toEqual([expect.stringMatching(/^Welcome, /)]);
      telegram.say({ from, text: 'hello' });
      await expect.poll(() => shown().join('\n'), { timeout: 20_000 }).toContain('No model is connected yet');
    };
    await tap('Ann', added.err);
    const invited = await svc(['person', 'invite', '--name', 'Tom Berg', '--role', 'guest', '--channel', 'messenger']);
    expect([invited.code, invited.out]).toEqual([0, expect.stringContaining('lets in Tom Berg (guest) on messenger')]);
    await tap('Tom', invited.out);
    const again = await svc(['person', 'invite']);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('No invitation is open')]);
    const people = (await svc(['person'])).out;
    expect(people).toMatch(/owner[^]*messenger \d+[^]*tom-berg[^]*guest[^]*messenger \d+/);
    const second = await svc(['person', 'invite', 'owner', '--json']);
    const { invitation } = JSON.parse(second.out) as { invitation: { id: string } };
    expect((await svc(['person', 'uninvite', invitation.id])).code).toBe(0);
    expect(telegram.violations).toEqual([]);
  },
);

test.each([
  [['add', 'nothing'], 'there is no connector type "nothing"'],
  [['add', 'shop', '--set', 'prt=1'], 'has no setting "prt"'],
  [['add', 'shop', '--set', 'port=x'], '"port" takes a number'],
  [['add', 'shop', '--secret', 'port'], 'is not a credential'],
  [['add', 'shop'], '--secret token_secret_key'],
  [['config', 'shop', '--get', 'prt'], 'has no setting "prt"'],
  [['logs', 'nobody'], 'there is no connector "nobody"'],
])('svc connector %j says what is wrong', async (args, why) => {
  const { code, err } = await connector(...args);
  expect([code, err]).toEqual([1, expect.stringContaining(why)]);
});

test('svc connector fails without the token of the manager', async () => {
  const child = execFile(process.execPath, [mainFile, 'connector'], { env: { ...environment(), SVC_MANAGER_TOKEN: undefined } });
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, err]).toEqual([1, expect.stringContaining('cannot be listed')]);
});

test('removing a connector deletes its files', async () => {
  expect((await connector('remove', 'shop')).out).toBe('shop is removed.\n');
  expect([await shop(), existsSync(path.join(house.folder, 'instances/shop'))]).toEqual([undefined, false]);
});

/** A package as npm would put it, with what it needs and another copy of the kit beside it. */
function writeJavaScriptPackage(): void {
  const connectors = path.join(home.path, '.svc/connectors');
  const dir = path.join(connectors, '.npm/node_modules/svc-connector-plain');
  const copy = path.join(connectors, '.npm/node_modules/@svc/connector-kit');
  const needed = path.join(connectors, '.npm/node_modules/words');
  for (const folder of [dir, copy, needed]) mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(path.join(copy, 'package.json'), '{"name":"@svc/connector-kit","type":"module","exports":"./index.js"}');
  writeFileSync(path.join(copy, 'index.js'), 'export const splitMessage = () => [];');
  writeFileSync(path.join(needed, 'package.json'), '{"name":"words","type":"module","exports":"./index.js"}');
  writeFileSync(path.join(needed, 'index.js'), "export const words = 'ab cd';");
  writeFileSync(path.join(dir, 'package.json'), '{"name":"svc-connector-plain","type":"module","exports":"./main.js"}');
  writeFileSync(
    path.join(dir, 'main.js'),
    `import { splitMessage } from '@svc/connector-kit';
     import { renderMarkdown, telegramHtml } from '@svc/connector-kit/markdown';
     import { words } from 'words';
     export const meta = { type: 'plain', displayName: 'Plain', supportsMultiple: false, capabilities: {}, credentialKeys: [],
       configSchema: { type: 'object', properties: {} }, outbound: false };
     export async function start(ctx) {
       ctx.log('info', 'splits into ' + splitMessage(words, 3).length);
       ctx.log('info', 'writes ' + renderMarkdown('**bold**', telegramHtml));
       return { async stop() {}, health: () => ({ healthy: true }) };
     }`,
  );
  symlinkSync('.npm/node_modules/svc-connector-plain', path.join(connectors, 'plain'));
}
