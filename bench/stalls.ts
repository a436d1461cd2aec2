import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { tableOf } from '@svc/service-kit/redaction/detection.ts';
import { hostileTexts } from '@svc/testing/hostile-texts.ts';

/**
 * How long a running core's event loop is held up by one hostile request, in CPU time of its main thread and on the clock, and
 * how much of that time the whole request takes, ms:
 * `node bench/stalls.ts [--groups texts,bodies,denied] [--only <part of a name>] [--slowest 12]`. Messages of a megabyte are
 * echoed by the engine, as a tool's input and output and as the reply. `--root` measures another copy of the service.
 */
const { values } = parseArgs({
  options: {
    groups: { type: 'string', default: 'texts,bodies,denied' },
    only: { type: 'string', default: '' },
    slowest: { type: 'string', default: '12' },
    port: { type: 'string', default: '3941' },
    root: { type: 'string', default: path.join(import.meta.dirname, '..') },
  },
});
const million = 1_000_000;
/** What takes longer is given up, and shows as such. */
const patienceMs = 20_000;
const secret = 'known-secret-value-4711';
const port = Number(values.port);
const base = `http://127.0.0.1:${port}`;

type Case = readonly [name: string, run: () => Promise<string>];
type Probed = { cpu: number; clock: number; used: number };
type Stall = Probed & { name: string; said: string };

async function start(dir: string, env: Record<string, string>): Promise<ChildProcess> {
  writeFileSync(path.join(dir, 'secrets.json'), JSON.stringify({ A_KEY: secret }), { mode: 0o600 });
  writeFileSync(path.join(dir, 'moderation.deny.txt'), 'never-said-by-anyone\n/forbidden +words/\n');
  const child = fork(path.join(values.root, 'apps/core/src/main.ts'), {
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      SVC_DATA_DIR: dir,
      SVC_CORE_PORT: String(port),
      SVC_COLLECTOR_PORT: String(port + 1),
      SVC_MANAGER_PORT: String(port + 2),
      SVC_DEFAULT_ENGINE: 'offline',
      SVC_OFFLINE_SCRIPT: path.join(import.meta.dirname, 'echo-engine.ts'),
      SVC_LOG_LEVEL: 'silent',
      SVC_TRANSCRIPTS: 'off',
      ...env,
    },
    execArgv: ['--max-semi-space-size=4', '--import', path.join(import.meta.dirname, 'loop-probe.ts')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  await sleep(1000);
  return child;
}

/** The longest stalls since the last question, and all that the main thread has used. */
async function probe(child: ChildProcess): Promise<Probed> {
  child.send({ type: 'probe' });
  const [answer] = (await once(child, 'message')) as [Probed];
  return answer;
}

let messages = 0;
const envelope = (content: Record<string, unknown>, more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    channel: 'shell',
    conversation_key: `shell:local:${messages++}`,
    sender: { raw_id: userInfo().username },
    content,
    ...more,
  });

async function post(route: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<string> {
  const began = performance.now();
  const response = await fetch(`${base}${route}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(patienceMs),
  });
  const text = await response.text();
  const problem = response.ok ? '' : ` ${text.slice(0, 100)}`;
  return `${response.status}, ${(text.length / 1024).toFixed(0)} KiB in ${(performance.now() - began).toFixed(0)} ms${problem}`;
}

const handle = (body: string): Promise<string> => post('/v2/handle', body);
const stream = (body: string): Promise<string> => post('/v2/handle', body, { accept: 'text/event-stream' });
const filled = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const numbered = (count: number, part: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join(',');

async function lines(dir: string, line: string, count: number): Promise<string> {
  const socket = connect(path.join(dir, 'run/core.sock'));
  await once(socket, 'connect');
  socket.on('error', () => undefined).resume();
  const began = performance.now();
  const closed = once(socket, 'close');
  socket.end(filled(`${line}\n`, count * (line.length + 1)));
  await closed;
  return `closed after ${(performance.now() - began).toFixed(0)} ms`;
}

const cjk = '服务器在收到请求之后会先检查权限，然后把消息交给引擎处理。';

const texts = (): Case[] => [
  ...hostileTexts(tableOf('public').rules).flatMap(({ name, of }): Case[] => [
    [`streamed message, ${name}`, () => stream(envelope({ text: of(million) }))],
    [`public message, ${name}`, () => handle(envelope({ text: of(million) }, { public: true }))],
  ]),
  ['message of headings', () => handle(envelope({ text: filled('\n[message', million) }))],
  ['message of brackets', () => handle(envelope({ text: filled('\n「メ', million) }))],
  ['message with many known values', () => handle(envelope({ text: filled(`${secret} and `, million) }))],
  ['streamed message with many known values', () => stream(envelope({ text: filled(`${secret} and `, million) }))],
  ['streamed message with escapes and a known value', () => stream(envelope({ text: filled('"\\\n', million - 100) + secret }))],
  ['history of a long conversation', history],
];

async function history(): Promise<string> {
  const name = `shell:local:history-${messages++}`;
  for (const text of [filled(`${secret} `, million), filled('key=', million), filled(cjk, million)]) {
    await handle(envelope({ text }, { conversation_key: name }));
  }
  const began = performance.now();
  const response = await fetch(`${base}/v2/session/${encodeURIComponent(name)}/history`);
  const read = await response.text();
  return `${response.status}, ${(read.length / 1024).toFixed(0)} KiB in ${(performance.now() - began).toFixed(0)} ms`;
}

const bodies = (dir: string): Case[] => {
  const context = (json: string) =>
    envelope({ text: 'echo' }, { channel_context: {} }).replace('"channel_context":{}', `"channel_context":${json}`);
  const odd = (json: string) => envelope({ text: 'echo' }).replace('"channel"', `"odd":${json},"channel"`);
  const manyKeys = () => `{${numbered(700_000, (i) => `"k${i}":0`)}}`;
  const bomb = gzipSync(Buffer.alloc(2 ** 30));
  return [
    ['700,000 keys of a context', () => handle(context(manyKeys()))],
    ['700,000 keys of something unknown', () => handle(odd(manyKeys()))],
    ['as many objects as may be', () => handle(odd(`[${numbered(19_000, (i) => `{"k${i}":0}`)}]`))],
    ['as many fields as may be', () => handle(odd(`{${numbered(39_000, (i) => `"k${i}":0`)}}`))],
    ['2,500,000 items', () => handle(odd(`[${filled('0,', 5_000_000)}0]`))],
    ['2,500,000 lists', () => handle(odd(`[${filled('[],', 7_500_000)}0]`))],
    ['1,000,000 strings', () => handle(odd(`[${filled('"",', 3_000_000)}0]`))],
    ['lists in lists', () => handle(odd('['.repeat(4_000_000) + ']'.repeat(4_000_000)))],
    ['objects in objects', () => handle(odd('{"a":'.repeat(1_000_000) + '0' + '}'.repeat(1_000_000)))],
    ['not JSON', () => handle(filled('[1,', 9_000_000))],
    ['9 MB of escapes', () => handle(odd(`"${filled('\\u0041', 9_000_000)}"`))],
    ['9 MB of broken characters', () => handle(odd(`"${filled('\\ud800', 9_000_000)}"`))],
    ['a long body that is no envelope', () => handle(JSON.stringify({ a: filled('x', 9_000_000) }))],
    [
      'a transcript of 10,000 messages',
      () =>
        handle(
          envelope({
            text: 'hello',
            transcript: Array.from({ length: 10_000 }, () => ({ role: 'user', text: 'z\n'.repeat(200) })),
          }),
        ),
    ],
    [
      'a transcript that is no transcript',
      () => handle(envelope({ text: 'hello', transcript: Array.from({ length: 10_000 }, () => ({ rolle: 1 })) })),
    ],
    ['1,000,000 lines that are not JSON', () => lines(dir, 'x', million)],
    ['1,000,000 lines that are no requests', () => lines(dir, '{}', million)],
    ['200,000 requests that are refused', () => lines(dir, '{"op":"handle","id":1,"envelope":{}}', 200_000)],
    ['a backup that unpacks to a gigabyte', () => post('/v2/backups/import', bomb)],
  ];
};

const denied = (): Case[] => [
  ['deny rules over Chinese', () => handle(envelope({ text: filled(cjk, 100_000), system: filled(cjk, 200_000) }))],
  [
    'deny rules over marks',
    () => handle(envelope({ text: filled('\u0344', 100_000), system: filled('a\u0315\u0300\u05ae', 200_000) })),
  ],
  ['deny rules over ligatures', () => handle(envelope({ text: filled('\ufdfa', 100_000), system: filled('\ufdfa', 200_000) }))],
  [
    'deny rules over a transcript',
    () =>
      handle(
        envelope({ text: 'x', transcript: Array.from({ length: 100 }, () => ({ role: 'user', text: filled('\ufdfa', 2000) })) }),
      ),
  ],
];

async function measure(group: string, env: Record<string, string>, casesOf: (dir: string) => readonly Case[]): Promise<void> {
  if (!values.groups.split(',').includes(group)) return;
  const dir = mkdtempSync(path.join(tmpdir(), 'stalls-'));
  const child = await start(dir, env);
  const stalls: Stall[] = [];
  try {
    await handle(envelope({ text: filled('warm up ', million) }));
    for (const [name, run] of casesOf(dir).filter(([each]) => each.includes(values.only))) {
      await probe(child);
      const said = await run().catch((error: unknown) => String(error));
      stalls.push({ name, ...(await probe(child)), said });
    }
  } finally {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
  const worst = stalls.toSorted((a, b) => b.cpu - a.cpu).slice(0, Number(values.slowest));
  for (const { name, cpu, clock, used, said } of worst)
    print(`${ms(cpu)} CPU  ${ms(clock)} clock  ${ms(used)} whole  ${name}: ${said}`);
  const all = stalls.map(({ used }) => used).toSorted((a, b) => b - a);
  print(`CPU of the main thread for a request: median ${ms(all[all.length >> 1] ?? 0)}, worst ${ms(all[0] ?? 0)}`);
}

const ms = (value: number): string => value.toFixed(1).padStart(7);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

print('longest stall of the event loop, ms');
await measure('texts', { SVC_MODERATION: 'off' }, texts);
await measure('bodies', { SVC_MODERATION: 'off' }, bodies);
await measure('denied', {}, denied);
