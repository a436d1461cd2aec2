import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';
import { readEvents } from './read-events.ts';

const key = 'compat:c1:key';
let core: TestCore;
let url: string;
const readers: { close(): unknown }[] = [];
/** Emits the next text of the engine; null ends the turn. */
let say: (text: string | null) => void;
const script: EngineScript = async function* ({ text }, signal) {
  yield { type: 'session', engineSessionId: 's-1', resumed: false, model: null };
  if (!text.startsWith('work')) return yield* says(text);
  const aborted = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
  for (let said = ''; ;) {
    const next = Promise.withResolvers<string | null>();
    say = next.resolve;
    const piece = await Promise.race([next.promise, aborted]);
    if (piece === null) return signal.aborted ? yield { type: 'aborted' } : yield* ends(said);
    said += piece;
    yield { type: 'delta', text: piece };
  }
};
function* ends(text: string) {
  yield { type: 'segment', text } as const;
  yield { type: 'done' } as const;
}

beforeEach(async () => {
  core = await openTestCore({ script });
  url = await core.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  core.context.feeds.closeAll();
  await core.close();
});

const pathOf = (of: string) => `/v2/session/${encodeURIComponent(of)}/stream`;
async function watch(lastId?: string, of = key) {
  const reader = await readEvents(url, lastId, pathOf(of));
  readers.push(reader);
  const events = () => reader.events.filter(({ event }) => event !== 'watching');
  const frames = () => events().map(({ data }) => JSON.parse(data) as SessionStreamFrame);
  return {
    ...reader,
    frames,
    types: () => events().map(({ event }) => event),
    ids: () => events().map(({ id }) => id),
    text: () =>
      frames().reduce((said, frame) => (frame.type === 'delta' ? said + frame.text : frame.type === 'retract' ? '' : said), ''),
  };
}
type Reader = Awaited<ReturnType<typeof watch>>;
const ended = (reader: Reader, times = 1) =>
  expect.poll(() => reader.types().filter((type) => type === 'end').length, { timeout: 10_000 }).toBe(times);
/** Waits until the engine has been called that often. */
const working = async (count: number) => expect.poll(() => core.engine.requests.length).toBe(count);
const saying = async (text: string | null) => {
  await new Promise((resolve) => setImmediate(resolve));
  say(text);
};

describe('a session watcher', () => {
  test('gets sender, text and answer of a turn, each frame once and in order', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.handle(envelope('hello', { message_id: 'm1' }));
    await ended(reader);
    expect(reader.types()).toEqual(['begin', 'delta', 'segment', 'end']);
    const [begin, delta, , end] = reader.frames();
    expect(begin).toMatchObject({
      conversation_key: key,
      origin: 'message',
      channel: 'compat',
      sender: 'owner',
      message_id: 'm1',
      text: 'hello',
    });
    expect([delta, end]).toMatchObject([{ text: 'hello' }, { outcome: 'replied', text: 'hello' }]);
    const seqs = reader.frames().map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, n) => seqs[0]! + n));
    expect(reader.ids()).toEqual(seqs.map(String));
  });

  test('that connects during a turn gets its beginning, the text so far and the rest', async () => {
    const turn = core.handle(envelope('work'));
    await working(1);
    await saying('one ');
    await expect.poll(() => core.context.pipeline.isBusy(key)).toBe(true);
    const first = await watch();
    await expect.poll(first.text).toBe('one ');
    await saying('two ');
    await expect.poll(first.text).toBe('one two ');
    const second = await watch();
    await expect.poll(second.text).toBe('one two ');
    await saying('three');
    await saying(null);
    await turn;
    for (const reader of [first, second]) {
      await ended(reader);
      expect(reader.types().filter((type) => type === 'begin')).toHaveLength(1);
      expect([reader.text(), reader.frames().at(-1)]).toMatchObject(['one two three', { text: 'one two three' }]);
    }
  });

  test('does not count as the caller: an unfetched reply is still pending', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    const { pipeline } = core.context;
    await pipeline.handle(envelope('hello'), { sink: null, isGone: () => true }, 'r1');
    await ended(reader);
    expect(pipeline.pendingAcks.count()).toBe(1);
  });

  test('gets operator messages, failures and aborts', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.app.inject({ method: 'POST', url: '/v2/inject', payload: { conversation_key: key, text: 'note', by: 'anna' } });
    const turn = core.handle(envelope('work'));
    await working(3);
    await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: key } });
    await turn;
    core.engine.script(async function* () {
      yield { type: 'failed', failure: { code: 'engine_failed', message: 'It broke.', retryable: false } };
    });
    await core.handle(envelope('break'));
    await ended(reader, 3);
    const frames = reader.frames();
    expect(frames.filter(({ type }) => type === 'begin')).toMatchObject([{ origin: 'inject', sender: 'anna' }, {}, {}]);
    expect(frames.filter(({ type }) => type === 'end')).toMatchObject([
      { outcome: 'replied' },
      { outcome: 'aborted', text: '' },
      { outcome: null, error: { error: 'engine_failed' } },
    ]);
  });

  test('gets nothing of denied senders or other conversations', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.handle(envelope('let me in', { sender: { raw_id: 'stranger' } }));
    await core.handle(envelope('elsewhere', { conversation_key: 'compat:c1:other' }));
    await core.handle(envelope('hello'));
    await ended(reader);
    expect(reader.frames()[0]).toMatchObject({ text: 'hello' });
  });

  test('gets gathered messages one by one, then as one merged turn', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    const intake = { debounce_ms: 50 };
    await Promise.all(['one', 'two'].map((text) => core.handle(envelope(text, { message_id: text, intake }))));
    await ended(reader, 2);
    const of = (type: string) => reader.frames().filter((frame) => frame.type === type);
    expect(of('begin')).toMatchObject([{ text: 'one' }, { text: 'two' }, { text: 'one\ntwo', message_id: 'two' }]);
    expect(of('end')).toMatchObject([{ outcome: 'merged' }, { outcome: 'replied', text: 'one\ntwo' }]);
  });

  test('gets masked secrets only', async () => {
    const secret = 'Cnry7Var2kQzLwXp';
    core.context.knownSecrets.learn([secret]);
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.handle(envelope(`my key is ${secret}`));
    await core.handle(envelope(`${secret} ${'long '.repeat(10_000)}`));
    await ended(reader, 2);
    expect(JSON.stringify(reader.events)).toContain('my key is [redacted:secret]');
    expect(JSON.stringify(reader.events)).not.toContain(secret);
  });
});

describe('a watcher that reconnects', () => {
  test('resumes after the last frame it has seen', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.handle(envelope('one'));
    await ended(reader);
    reader.close();
    await core.handle(envelope('two'));
    const again = await watch(reader.lastId());
    await ended(again);
    expect(again.types()).toEqual(['begin', 'delta', 'segment', 'end']);
    expect(again.frames().at(-1)).toMatchObject({ text: 'two' });
  });

  test('misses no turn that began before its first frame', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await expect.poll(reader.lastId).not.toBe('');
    reader.close();
    await core.handle(envelope('one'));
    const again = await watch(reader.lastId());
    await ended(again);
    expect(again.types()[0]).toBe('begin');
  });

  test.each(['0', '1', '99999999999999999999', '-1', '1e3', 'x', '\u00e9{"a":1}', 'x'.repeat(8000), '9007199254740993'])(
    'with the unknown id %j gets a gap, then the running turn from its beginning',
    async (lastId) => {
      const turn = core.handle(envelope('work'));
      await working(1);
      await saying('said ');
      const reader = await watch(lastId);
      await saying('more');
      await saying(null);
      await turn;
      await ended(reader);
      expect(reader.types().slice(0, 2)).toEqual(['gap', 'begin']);
      expect(reader.text()).toBe('said more');
    },
  );

  test('does not get what was forgotten in the meantime', async () => {
    await core.handle(envelope('first'));
    const reader = await watch();
    await core.handle(envelope('private words'));
    await ended(reader);
    await core.handle(envelope('/new'));
    await expect.poll(() => reader.types().includes('forgotten')).toBe(true);
    await ended(reader, 2);
    await core.handle(envelope('next'));
    const again = await watch(reader.ids()[0]);
    await expect.poll(() => JSON.stringify(again.events)).toContain('next');
    expect(JSON.stringify(again.events)).not.toContain('private words');
    expect(again.types()).toContain('forgotten');
  });
});

test('an operator message can be streamed, with the result at the end', async () => {
  await core.handle(envelope('first'));
  const inject = (conversation_key: string) =>
    core.app.inject({
      method: 'POST',
      url: '/v2/inject',
      headers: { accept: 'text/event-stream' },
      payload: { conversation_key, text: 'hello' },
    });
  const events = (body: string) =>
    [...body.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data]) => [event, JSON.parse(data!)]);
  const { headers, body } = await inject(key);
  expect(headers['content-type']).toContain('text/event-stream');
  const all = events(body);
  expect(all.map(([event]) => event)).toEqual(['delta', 'segment', 'result']);
  expect(all.at(-1)![1]).toMatchObject({ result: { ok: true, reply: 'hello', outcome: 'replied' } });
  expect(events((await inject('compat:c1:none')).body)).toMatchObject([['error', { error: { error: 'not_found' } }]]);
});

test('watching an unknown conversation answers 404, whatever its key', async () => {
  for (const odd of ['compat:c1:none', 'a/b', '../..', '%', '"', 'é', ' ', 'x'.repeat(600)]) {
    expect((await core.app.inject(pathOf(odd))).statusCode, odd).toBe(404);
  }
});

test.each(['compat:c1:a/b', 'compat:c1:%2F', 'compat:c1:"\\', 'compat:c1:é 😀', 'compat:c1:__proto__'])(
  'a conversation with the key %j can be watched',
  async (odd) => {
    await core.handle(envelope('first', { conversation_key: odd }));
    const reader = await watch(undefined, odd);
    await core.handle(envelope('hello', { conversation_key: odd }));
    await ended(reader);
    expect(reader.frames()[0]).toMatchObject({ conversation_key: odd, text: 'hello' });
  },
);

test('an unreported failure is kept in the history for a channel with "keeps", and listed for others', async () => {
  core.engine.script(async function* () {
    yield { type: 'failed', failure: { code: 'engine_failed', message: 'It broke.', retryable: false } };
  });
  const ask = (over: object) =>
    core.context.pipeline.handle(envelope('hi', over), { sink: null, isGone: () => true }, 'r1').catch(() => undefined);
  await ask({ keeps: true });
  const listed = async () => (await core.app.inject('/v2/deliveries')).json<{ deliveries: unknown[] }>().deliveries.length;
  expect(await listed()).toBe(0);
  expect(core.telemetry.events.filter(({ kind }) => kind === 'delivery')).toMatchObject([
    { session: key, payload: { what: 'kept' } },
  ]);
  await ask({});
  expect(await listed()).toBe(1);
});

test('a watcher that never reads is dropped without delaying others', async () => {
  await core.handle(envelope('first'));
  const reader = await watch();
  const deaf = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  deaf.write(`GET ${pathOf(key)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  await once(deaf, 'data');
  deaf.pause();
  const text = 'x'.repeat(100_000);
  for (let n = 1; n <= 30; n++) {
    await core.handle(envelope(text));
    await ended(reader, n);
  }
  expect(reader.types()).not.toContain('gap');
  deaf.destroy();
  await expect.poll(() => core.context.watches.counts().watchers).toBe(1);
});

test('nothing is buffered without watchers, and a conversation stays buffered after its last one left', async () => {
  await core.handle(envelope('first'));
  expect(core.context.watches.counts()).toEqual({ conversations: 0, watchers: 0 });
  const reader = await watch();
  expect(core.context.watches.counts()).toEqual({ conversations: 1, watchers: 1 });
  reader.close();
  await expect.poll(() => core.context.watches.counts()).toEqual({ conversations: 1, watchers: 0 });
});
