import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { openHouse, waitFor, type House } from '@svc/testing/house.ts';
import { startSpeechServer, type SpeechServer } from '@svc/testing/speech-server/start-speech-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { spellings } from '../fixtures/leaking-engine.ts';

/** One for each place that secrets come from; the key of the API and those of the installation are made by the first start. */
const canaries = {
  variable: 'Cnry7Var2kQzLwXp',
  file: 'Cnry7Fil4mRtYbNc "quoted"',
  manager: 'Cnry7Man8sVgHjKd',
  reads: 'Cnry7Rea5pLzXcWq',
  control: 'Cnry7Ctl9nBvMfGt',
  toolbelt: 'Cnry7Tbl3dSxZaQe',
  speech: 'Cnry7Spk6hYuJiKo',
  engine: 'Cnry7Eng1wErTyUi',
  toolServer: 'Cnry7Mcp0lPoIuYt',
  number: '41172233449',
  api: '',
  loginKey: '',
  connectorKey: '',
};
/** Becomes a secret only after it was said: as a variable of a tool server, which only the core knows. */
const late = 'Cnry7Lat2vBnMkJh';

const key = 'compat:c1:canaries';
const folder = temporaryFolder();
const feeds = { core: '', collector: '' };
let speech: SpeechServer;
let house: House;

beforeAll(async () => {
  speech = await startSpeechServer({ key: canaries.speech });
  const dataDir = path.join(folder.path, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const secrets = { A_SECRET: canaries.file, SPEECH: canaries.speech };
  writeFileSync(path.join(dataDir, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 });
  house = await openHouse({
    dataDir,
    env: {
      SOME_API_KEY: canaries.variable,
      SOME_PIN_SECRET: canaries.number,
      SVC_MANAGER_TOKEN: canaries.manager,
      SVC_INSIGHTS_TOKEN: canaries.reads,
      SVC_INSIGHTS_CONTROL_TOKEN: canaries.control,
      SVC_TOOLBELT_TOKEN: canaries.toolbelt,
      SVC_TTS_BASE_URL: `${speech.url}/v1`,
      SVC_TTS_KEY_SECRET: 'SPEECH',
      SVC_OFFLINE_SCRIPT: path.join(repositoryRoot, 'test/fixtures/leaking-engine.ts'),
    },
  });
  canaries.api = house.key();
  canaries.loginKey = readFileSync(path.join(dataDir, 'login.key'), 'utf8');
  canaries.connectorKey = readFileSync(path.join(dataDir, 'connector.key'), 'utf8');
  void follow(`${house.urls.core}/events/stream`, 'core');
  void follow(`${house.urls.collector}/api/stream`, 'collector');
});
afterAll(async () => {
  await house.stop();
  await speech.close();
  folder.remove();
});

/** Reads a feed for as long as the service runs. */
async function follow(url: string, name: keyof typeof feeds): Promise<void> {
  const { body } = await fetch(url, { headers: { authorization: `Bearer ${canaries.reads}` } });
  const decoder = new TextDecoder();
  for await (const part of body ?? []) feeds[name] += decoder.decode(part as Uint8Array, { stream: true });
}

type Ask = { method?: string; body?: unknown; headers?: Record<string, string> };

async function ask(url: string, { body, method = body === undefined ? 'GET' : 'POST', headers }: Ask = {}): Promise<string> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent });
  return `${answer.status} ${[...answer.headers].join(' ')}\n${await answer.text()}`;
}

const handle = (text: string, over: object = {}) => ({
  channel: 'compat',
  instance_id: 'compat',
  conversation_key: key,
  sender: { raw_id: 'owner' },
  content: { text },
  ...over,
});

/** Says a value that is not yet known to be a secret. */
async function sayLate(): Promise<void> {
  await ask(`${house.urls.core}/v2/handle`, { body: handle(`say ["${late}"]`) });
  await waitFor(
    () => feeds.collector.includes('"outbound"'),
    10_000,
    () => `the late words did not arrive:\n${feeds.collector}`,
  );
  const env = { X_TOKEN: canaries.toolServer, Y_TOKEN: late };
  await ask(`${house.urls.core}/v2/mcp`, { body: { name: 'x', command: 'true', env } });
}

/** An event of another producer, with secrets in every text field. */
const foreignEvent = (text: string, others: string[]) => ({
  kind: text,
  session: text,
  surface: text,
  instance_id: text,
  identity: text,
  principal: text,
  request_id: text,
  text: `foreign "${text}"\n${others.join(' ')}`,
  payload: { [text]: { [text]: others }, n: Number(canaries.number), turn_id: text, what: 'started' },
});

/** Every request that makes the engine repeat a secret, or that itself contains one. */
async function sayEverything(): Promise<Record<string, string>> {
  const { core, compat, collector } = house.urls;
  const values = Object.values(canaries);
  const all = JSON.stringify(values);
  const name = canaries.variable;
  const headers = { authorization: `Bearer ${canaries.api}` };
  const reader = { authorization: `Bearer ${canaries.reads}` };
  const completion = { model: 'm', messages: [{ role: 'user', content: `say ${all}` }] };
  const streamed = { accept: 'text/event-stream' };
  const args = ['--flag', name, `--n=${canaries.number}`];
  const known = handle('hello', {
    message_id: name,
    sender: { raw_id: 'owner', raw_username: name },
    channel_context: { [name]: name },
  });
  return {
    'engine key': await ask(`${core}/v2/engines/codex/apikey`, { method: 'PUT', body: { value: canaries.engine } }),
    'tool server': await ask(`${core}/v2/mcp`, { body: { name: 'y', command: 'true', args, env: { PLAIN: name } } }),
    completion: await ask(`${compat}/v1/chat/completions`, { body: completion, headers }),
    'completion stream': await ask(`${compat}/v1/chat/completions`, { body: { ...completion, stream: true }, headers }),
    reply: await ask(`${core}/v2/handle`, { body: handle(`say ${all}`) }),
    'reply stream': await ask(`${core}/v2/handle`, { body: handle(`say ${all}`), headers: streamed }),
    failure: await ask(`${core}/v2/handle`, { body: handle(`fail ${all}`) }),
    'failure stream': await ask(`${core}/v2/handle`, { body: handle(`fail ${all}`), headers: streamed }),
    names: await ask(`${core}/v2/handle`, { body: known, headers: { 'x-request-id': name } }),
    conversation: await ask(`${core}/v2/handle`, { body: { ...known, conversation_key: `compat:c1:${name}` } }),
    'wrong sender': await ask(`${core}/v2/handle`, { body: handle('hi', { sender: { raw_id: name, raw_username: name } }) }),
    title: await ask(`${core}/v2/title`, { body: { conversation_key: key, text: all } }),
    inject: await ask(`${core}/v2/inject`, { body: { conversation_key: key, text: `say ${all}`, by: name } }),
    claim: await ask(`${core}/v2/claim`, { body: { conversation_key: key, by: name } }),
    'second claim': await ask(`${core}/v2/claim`, { body: { conversation_key: key, by: 'me' } }),
    release: await ask(`${core}/v2/release`, { body: { conversation_key: key } }),
    announcement: await ask(`${core}/v2/announce`, { body: { text: all, from: name } }),
    stranger: await ask(`${core}/query`, { body: { message: all, userId: 'x', sessionId: 'y', apiKey: canaries.variable } }),
    person: await ask(`${core}/trust/principals`, { body: { key: 'a-person', display_name: name, notes: all } }),
    speech: await ask(`${core}/v2/tts`, { body: { text: all } }),
    upload: await ask(`${core}/v2/upload?filename=${encodeURIComponent(`${name}.txt`)}`, { body: {} }),
    'bad body': await ask(`${core}/v2/handle`, { body: { [canaries.variable]: canaries.file } }),
    'no such route': await ask(`${core}/${name}?${name}=1`),
    'no such session': await ask(`${core}/v2/session/${name}`),
    'no such event': await ask(`${collector}/api/events?before=${name}`, { headers: reader }),
    ingest: await ask(`${collector}/ingest`, { body: [foreignEvent(name, values)], headers: reader }),
  };
}

/** Every GET of every process. */
async function readEverything(): Promise<Record<string, string>> {
  const tokens = { core: '', manager: canaries.manager, collector: canaries.reads, compat: canaries.api } as const;
  const seen: Record<string, string> = {};
  for (const name of ['core', 'manager', 'collector', 'compat'] as const) {
    const headers = { authorization: `Bearer ${tokens[name]}` };
    const document = await (await fetch(`${house.urls[name]}/openapi.json`, { headers })).json();
    for (const [route, methods] of Object.entries((document as { paths: Record<string, object> }).paths)) {
      if (!('get' in methods) || route.endsWith('/stream')) continue;
      const at = route.replace('{key}', encodeURIComponent(key)).replace(/\{\w+\}/, 'compat');
      seen[`GET ${name} ${route}`] = await ask(`${house.urls[name]}${at}${route === '/api/search' ? '?q=sweep' : ''}`, {
        headers,
      });
    }
  }
  const reader = { authorization: `Bearer ${canaries.reads}` };
  for (const [name, q] of Object.entries({ whole: canaries.variable, late, beginning: `${late.slice(0, 7)}*` }))
    seen[`search ${name}`] = await ask(`${house.urls.collector}/api/search?q=${encodeURIComponent(q)}`, { headers: reader });
  return seen;
}

/** Logs, spools and the store of events. The history of the core is left out: it is stored unmasked. */
function filesOutside(): Record<string, string> {
  const names = ['logs', 'spool', 'run'].flatMap((dir) =>
    readdirSync(path.join(house.folder, dir)).map((name) => `${dir}/${name}`),
  );
  names.push('collector.db', 'collector.db-wal', 'manager.db', 'manager.db-wal');
  const plain = names.filter((name) => !name.endsWith('.sock'));
  return Object.fromEntries(plain.map((name) => [name, readFileSync(path.join(house.folder, name), 'latin1')]));
}

test('[R01] known secrets are masked in every answer, feed, log and database, whatever an engine says', async () => {
  await sayLate();
  const said = await sayEverything();
  await waitFor(
    () => feeds.collector.includes('"failed"'),
    10_000,
    () => `the events did not arrive:\n${feeds.collector}`,
  );
  const spoken = JSON.stringify(speech.requests.map(({ fields }) => fields));
  const sinks: Record<string, string> = { ...said, spoken, ...feeds, ...(await readEverything()), ...filesOutside() };

  for (const sink of [
    'completion',
    'completion stream',
    'reply',
    'reply stream',
    'inject',
    'core',
    'collector',
    'collector.db-wal',
  ])
    expect([sink, sinks[sink]]).toEqual([sink, expect.stringContaining('the sweep saw this')]);
  for (const sink of ['title', 'GET core /v2/announcements', 'spoken', 'failure'])
    expect([sink, sinks[sink]]).toEqual([sink, expect.stringContaining('[redacted:secret]')]);
  const leaks = Object.entries(sinks).flatMap(([sink, text]) =>
    Object.entries(canaries).flatMap(([name, value]) =>
      spellings(value)
        .filter((spelling) => text.includes(spelling) || text.replaceAll(/\\n|\n/g, '').includes(spelling))
        .map((spelling) => `${sink}: ${name} as ${spelling}`),
    ),
  );
  expect(leaks).toEqual([]);
  // What was said before it was a secret is masked in every answer since.
  const shown = Object.entries(sinks).filter(([sink]) => sink.startsWith('GET ') || sink.startsWith('search '));
  expect(shown.flatMap(([sink, text]) => (text.includes(late) ? [sink] : []))).toEqual([]);
  expect(sinks['GET collector /api/events']).toContain('[redacted:secret]');
  for (const name of ['whole', 'late', 'beginning']) expect(sinks[`search ${name}`]).toContain('"hits":0');
});
