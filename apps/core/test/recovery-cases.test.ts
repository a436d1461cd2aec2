import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult, TurnProgress } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { ChannelMessage, SendOutcome } from '../src/delivery/channel-sender.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const hourMs = 60 * 60_000;
const graceMs = 5000;
let clock: FakeClock;
let core: TestCore;
let sent: ChannelMessage[];
let outcome: SendOutcome;
let onSend: () => void;
let texts: string[];
let prompts: string[];
/** Messages whose text begins with "work" hang; "no" fails. */
const script: EngineScript = async function* ({ text, prompt }, signal) {
  texts.push(text);
  prompts.push(prompt);
  yield { type: 'session', engineSessionId: 's-1', resumed: false, model: null };
  if (text.startsWith('work') && !signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  if (signal.aborted) return yield { type: 'aborted' };
  if (text === 'no')
    yield { type: 'failed', failure: { code: 'engine_failed', message: 'The engine says no.', retryable: false } };
  else yield* says(`re: ${text}`);
};
const open = (dataDir?: string) => openTestCore({ clock, dataDir, script, sendToChannel });

beforeEach(async () => {
  clock = createFakeClock();
  sent = [];
  texts = [];
  prompts = [];
  outcome = { delivered: true };
  onSend = () => undefined;
  core = await open();
});
afterEach(() => core.drop());

function sendToChannel(message: ChannelMessage): Promise<SendOutcome> {
  sent.push(message);
  onSend();
  return Promise.resolve(outcome);
}

const routed = (text: string, over: Partial<Envelope> = {}) =>
  envelope(text, { message_id: text, channel_context: { chatId: 'room' }, ...over });
const gone = { sink: null, isGone: () => true };
const here = { sink: null, isGone: () => false };
const backAgain = { ...here, isAgain: true };
const ask = (asked: Envelope, caller: typeof here & { isAgain?: boolean } = here): Promise<HandleResult> =>
  core.context.pipeline.handle(asked, caller, 'r1');
const deliveries = async () =>
  (await core.app.inject('/v2/deliveries')).json<{ deliveries: { text: string; state: string; error: string | null }[] }>()
    .deliveries;

/** Kills the core after everything so far is on disk, and starts it again after a while. */
async function crash(awayMs = 0): Promise<void> {
  clock.advance(20);
  await core.context.db.flush();
  const left = core.crash();
  clock.advance(awayMs);
  core = await open(left);
}

/** Sends a message whose caller has gone, and waits until it is stored. */
async function leave(asked: Envelope): Promise<void> {
  ask(asked, gone).catch(() => undefined);
  await expect
    .poll(() => core.context.db.raw.prepare('SELECT 1 FROM turn WHERE message_id = ?').get(asked.message_id ?? ''))
    .toBeDefined();
  await core.context.db.flush();
}

/** Lets time pass until the check holds. */
const passUntil = (check: () => unknown, ms = 500) =>
  expect.poll(async () => (clock.advance(ms), await check()), { interval: 2 });

describe('recovery after a crash', () => {
  test('runs waiting turns in order, after the turn that ran', async () => {
    await leave(routed('work'));
    await leave(routed('one'));
    await leave(routed('two'));
    await crash();
    core.context.pipeline.abort('compat:c1:key');
    await expect.poll(() => texts).toEqual(['work', 'work', 'one', 'two']);
  });

  test('runs an interrupted turn again in the same engine session, and tells the engine', async () => {
    await leave(routed('work'));
    await expect.poll(() => texts.length).toBe(1);
    await crash();
    await expect.poll(() => texts.length).toBe(2);
    expect(prompts[0]).not.toContain('restarted');
    expect(prompts[1]).toMatch(/^\[message from .*\]\n\[the service was restarted while you worked on this message;/);
    expect(core.engine.requests[0]?.resume).toBe('s-1');
  });

  test('runs an interrupted operator message again, and tells the engine', async () => {
    await ask(routed('hi'));
    core.context.pipeline.inject({ conversation_key: 'compat:c1:key', text: 'work on' }, gone, 'r2').catch(() => undefined);
    await expect.poll(() => texts).toEqual(['hi', 'work on']);
    await crash();
    await expect.poll(() => texts).toEqual(['hi', 'work on', 'work on']);
    expect(prompts[2]).toMatch(/^\[steering from the operator.*\]\n\[the service was restarted/);
  });

  test('resumes a turn that has been open for long, however many came after it', async () => {
    await leave(routed('work'));
    for (let n = 0; n < 600; n++) await ask(envelope(`m${n}`, { conversation_key: 'compat:c1:other' }));
    await crash();
    await expect.poll(() => texts.filter((text) => text === 'work')).toHaveLength(2);
  });

  test('runs waiting operator messages before waiting messages', async () => {
    await ask(routed('hi'));
    await leave(routed('work'));
    await leave(routed('one'));
    core.context.pipeline.inject({ conversation_key: 'compat:c1:key', text: 'words' }, gone, 'r2').catch(() => undefined);
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(2);
    await crash();
    core.context.pipeline.abort('compat:c1:key');
    await expect.poll(() => texts.slice(2)).toEqual(['work', 'words', 'one']);
  });

  test('fails a turn interrupted twice, and reports that over the channel', async () => {
    await leave(routed('work'));
    for (let times = 1; times <= 2; times++) {
      await expect.poll(() => texts.length).toBe(times);
      await crash();
    }
    await expect.poll(() => sent.map(({ text }) => text)).toEqual([expect.stringMatching(/^The service stopped twice/)]);
    expect(texts).toHaveLength(2);
    expect(core.context.pipeline.counts()).toEqual({ running: 0, waiting: 0 });
  });

  test('counts the last permitted run before it begins', async () => {
    await leave(routed('work'));
    await crash();
    await expect.poll(() => texts.length).toBe(2);
    core = await open(core.crash()); // without flushing anything more
    await expect.poll(() => sent.length).toBe(1);
    expect(texts).toHaveLength(2);
  });

  test('does not run a turn older than an hour, but reports it', async () => {
    await leave(routed('work'));
    await leave(routed('late'));
    await expect.poll(() => texts.length).toBe(1);
    await crash(hourMs + 1);
    await expect
      .poll(() => sent.map(({ text }) => text))
      .toEqual([expect.stringContaining('while it worked on this'), expect.stringContaining('before it could answer this')]);
    expect(texts).toEqual(['work']);
  });

  test('repeats observed messages to a turn that runs again after a stop of the service', async () => {
    await ask(envelope('the door is green', { delivery: 'async' }));
    await leave(routed('work'));
    await core.context.pipeline.close(5);
    await crash();
    await expect.poll(() => prompts.map((prompt) => prompt.includes('the door is green'))).toEqual([true, true]);
  });

  test('runs a message that failed long ago and was sent again recently', async () => {
    await expect(ask(routed('no', { message_id: 'm' }))).rejects.toThrow('says no');
    clock.advance(hourMs + 1);
    ask(routed('work', { message_id: 'm' }), gone).catch(() => undefined);
    await expect.poll(() => texts).toEqual(['no', 'work']);
    await crash();
    await expect.poll(() => texts).toEqual(['no', 'work', 'work']);
  });

  test('lists a failure that cannot be pushed', async () => {
    await leave(envelope('work', { message_id: 'work' }));
    await crash(hourMs + 1);
    await expect.poll(deliveries).toMatchObject([{ state: 'failed', error: 'the turn failed: turn_interrupted' }]);
    expect(sent).toEqual([]);
  });

  test('lists a turn with an unreadable journal entry, and resumes the others', async () => {
    await leave(routed('work'));
    await leave(routed('one'));
    await core.context.db.run(`UPDATE turn SET input = '{' WHERE message_id = 'work'`);
    await crash();
    await expect.poll(() => texts).toEqual(['work', 'one']);
    expect(await deliveries()).toMatchObject([{ state: 'failed', error: expect.stringContaining('could not be resumed') }]);
    await expect(ask(routed('work'), backAgain)).rejects.toMatchObject({ code: 'turn_interrupted' });
  });

  test('runs what was gathered before a command that follows it', async () => {
    await leave(routed('work first'));
    await expect.poll(() => texts.length).toBe(1);
    await leave(routed('one', { intake: { debounce_ms: 500 } }));
    await leave(routed('/new'));
    const left = core.crash();
    core = await open(left);
    await expect.poll(() => texts).toEqual(['work first', 'work first']);
    core.context.pipeline.abort('compat:c1:key');
    await passUntil(() => core.context.pipeline.liveCount()).toBe(0);
    expect(texts).toEqual(['work first', 'work first', 'one']);
    expect(await core.context.sessions.read('compat:c1:key')).toBeUndefined();
  });

  test('continues to gather a gathered message, and runs it', async () => {
    await leave(routed('one', { intake: { debounce_ms: 500 } }));
    await crash();
    await leave(routed('two', { intake: { debounce_ms: 500 } }));
    await passUntil(() => texts).toEqual(['one\ntwo']);
  });

  test('does not merge a waiting chat command with later messages', async () => {
    const gathered = { intake: { debounce_ms: 500 } };
    await leave(routed('work'));
    await leave(routed('/new', gathered));
    await leave(routed('one', gathered));
    await expect.poll(() => texts).toEqual(['work']);
    await crash();
    await expect.poll(() => texts).toEqual(['work', 'work']);
    core.context.pipeline.abort('compat:c1:key');
    await passUntil(() => texts).toEqual(['work', 'work', 'one']);
  });

  test('a repeated message joins the turn that runs again', async () => {
    await leave(routed('work'));
    await crash();
    const again = ask(routed('work'), backAgain);
    core.context.pipeline.abort('compat:c1:key');
    expect(await again).toMatchObject({ outcome: 'aborted' });
    expect(texts.length).toBeLessThanOrEqual(2);
  });

  test('a connector that reconnects gets the failure of its turn, and nothing runs again', async () => {
    await leave(envelope('work', { message_id: 'work' }));
    await crash(hourMs + 1);
    await expect.poll(async () => (await deliveries()).length).toBe(1);
    await expect(ask(envelope('work', { message_id: 'work' }), backAgain)).rejects.toMatchObject({ code: 'turn_interrupted' });
    expect(texts).toEqual(['work']);
  });
});

describe('delivery of a reply', () => {
  test('is not repeated once the connector confirms it', async () => {
    const { turn_id } = await ask(routed('hi'));
    await core.context.pipeline.pendingAcks.delivered(turn_id);
    clock.advance(hourMs);
    expect(core.context.pipeline.pendingAcks.count()).toBe(0);
    expect([sent, await deliveries()]).toEqual([[], []]);
  });

  test('is pushed when the connector could not show it', async () => {
    const { turn_id } = await ask(routed('hi'));
    await core.context.pipeline.pendingAcks.undelivered(turn_id, 'the room is gone');
    await expect.poll(() => sent).toMatchObject([{ instance_id: 'c1', target: 'room', text: 're: hi' }]);
    expect(await deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  test('is pushed once when no connector fetches it in time, even after several crashes', async () => {
    await leave(routed('hi'));
    await expect.poll(() => core.context.pipeline.pendingAcks.count()).toBe(1);
    expect(sent).toEqual([]);
    await crash();
    clock.advance(graceMs - 1);
    await crash();
    await passUntil(() => sent.length).toBe(1);
    await crash();
    clock.advance(hourMs);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  });

  test('goes to a connector that reconnects in time, and is not pushed', async () => {
    await leave(routed('hi'));
    await expect.poll(() => core.context.pipeline.pendingAcks.count()).toBe(1);
    await crash();
    const { turn_id, actions } = await ask(routed('hi'), backAgain);
    expect(actions).toEqual([{ type: 'reply', text: 're: hi' }]);
    await core.context.pipeline.pendingAcks.delivered(turn_id);
    clock.advance(hourMs);
    expect(sent).toEqual([]);
  });

  test('is not repeated to a connector that reconnects after the push', async () => {
    await leave(routed('hi'));
    await passUntil(() => sent.length).toBe(1);
    expect(await ask(routed('hi'), backAgain)).toMatchObject({ actions: [], outcome: 'delivered' });
    expect(await ask(routed('hi'))).toMatchObject({ actions: [{ text: 're: hi' }] });
    expect(texts).toHaveLength(1);
  });

  test('is listed as failed without a route, and goes to a caller that sends the message again', async () => {
    const asked = envelope('hi', { message_id: 'hi' });
    await leave(asked);
    await passUntil(async () => (await deliveries()).length).toBe(1);
    expect(await deliveries()).toMatchObject([
      { state: 'failed', text: 're: hi', error: expect.stringContaining('no caller fetched') },
    ]);
    expect(await ask(asked, backAgain)).toMatchObject({ actions: [{ text: 're: hi' }] });
  });

  test('is retried while the channel is away, keeping order and id, also after a crash', async () => {
    outcome = { delivered: false, permanent: false, error: 'away' };
    for (const text of ['one', 'two'])
      await core.context.pipeline.pendingAcks.undelivered((await ask(routed(text))).turn_id, 'no');
    await passUntil(() => sent.length).toBe(3);
    await crash();
    outcome = { delivered: true };
    sent = sent.slice(0, 1);
    await passUntil(() => core.context.outbox.counts().pending).toBe(0);
    expect(sent.map(({ text }) => text)).toEqual(['re: one', 're: one', 're: two']);
    expect(sent[1]?.id).toBe(sent[0]?.id);
  });

  test('begins only after it was committed to the database', async () => {
    const { turn_id } = await ask(routed('hi'));
    const committed: unknown[] = [];
    onSend = () => {
      const other = new DatabaseSync(core.context.db.file, { readOnly: true });
      const { open } = other.prepare('SELECT open FROM turn').get() ?? {};
      committed.push([open, other.prepare('SELECT state FROM delivery').get()?.['state']]);
      other.close();
    };
    await core.context.pipeline.pendingAcks.undelivered(turn_id, 'no');
    await expect.poll(() => sent.length).toBe(1);
    expect(committed).toEqual([[0, 'pending']]);
  });

  test('is listed after a permanent failure, and retried once at the request of the operator', async () => {
    outcome = { delivered: false, permanent: true, error: 'no such room' };
    await core.context.pipeline.pendingAcks.undelivered((await ask(routed('hi'))).turn_id, 'no');
    await expect.poll(deliveries).toMatchObject([{ state: 'failed', error: 'no such room' }]);
    outcome = { delivered: true };
    const [failed] = (await core.app.inject('/v2/deliveries?state=failed')).json().deliveries;
    const retry = () => core.app.inject({ method: 'POST', url: `/v2/deliveries/${failed.id}/retry` });
    await Promise.all([retry(), retry()]);
    await expect.poll(deliveries).toMatchObject([{ state: 'delivered' }]);
    await expect.poll(() => core.context.outbox.counts()).toEqual({ pending: 0, failed: 0 });
    expect(sent).toHaveLength(2);
  });
});

describe('an unfetched reply', () => {
  const left = async (key: string) =>
    (await core.app.inject(`/v2/deliveries?state=failed&conversation_key=${key}`)).json<{ deliveries: { id: string }[] }>()
      .deliveries;

  test('is listed for its conversation, and can be marked as delivered', async () => {
    for (const name of ['one', 'two']) await leave(envelope(name, { message_id: name, conversation_key: `shell:me:${name}` }));
    await passUntil(deliveries).toHaveLength(2);
    const [one] = await left('shell:me:one');
    expect([one, await left('shell:me:one')]).toMatchObject([{ text: 're: one', state: 'failed' }, { length: 1 }]);
    const { statusCode } = await core.app.inject({ method: 'POST', url: `/v2/deliveries/${one?.id}/delivered` });
    expect([statusCode, await left('shell:me:one')]).toEqual([200, []]);
    await expect
      .poll(() => core.context.db.raw.prepare(`SELECT state FROM turn WHERE message_id = 'one'`).get())
      .toEqual({ state: 'delivered' });
    expect((await core.app.inject({ method: 'POST', url: '/v2/deliveries/none/delivered' })).statusCode).toBe(404);
  });
});

describe('a failed message', () => {
  test('can be sent again after its failure was reported over the channel', async () => {
    await leave(routed('no'));
    await expect.poll(() => sent.length).toBe(1);
    await core.context.db.flush();
    await expect(ask(routed('no'))).rejects.toMatchObject({ code: 'engine_failed' });
    expect(texts).toEqual(['no', 'no']);
  });

  test('stays open when it runs again while the report of its failure is delivered', async () => {
    outcome = { delivered: false, permanent: false, error: 'away' };
    await leave(routed('no'));
    await expect.poll(() => sent.length).toBe(1);
    texts.length = 0;
    await leave(routed('work', { message_id: 'no' }));
    await expect.poll(() => texts).toEqual(['work']);
    outcome = { delivered: true };
    await passUntil(() => core.context.outbox.counts().pending).toBe(0);
    await crash();
    await expect.poll(() => texts).toEqual(['work', 'work']);
  });

  test('waits for the lock of the conversation when it is gathered again', async () => {
    const gathered = { intake: { debounce_ms: 500 } };
    const failed = ask(routed('no', gathered));
    failed.catch(() => undefined);
    await passUntil(() => texts.length).toBe(1);
    await expect(failed).rejects.toMatchObject({ code: 'engine_failed' });
    await leave(routed('work'));
    const again = ask(routed('no', gathered));
    again.catch(() => undefined);
    await passUntil(() => core.context.pipeline.counts()).toEqual({ running: 1, waiting: 1 });
    expect(texts).toEqual(['no', 'work']);
    core.context.pipeline.abort('compat:c1:key');
    await expect(again).rejects.toMatchObject({ code: 'engine_failed' });
  });
});

describe('messages in quick succession', () => {
  const piece = (text: string, over: Partial<Envelope> = {}) => routed(text, { intake: { debounce_ms: 500 }, ...over });

  test('become one turn in order; the last caller gets the answer, the others "merged"', async () => {
    const asked = [ask(piece('one')), ask(piece('two')), ask(piece('three'))];
    await passUntil(() => texts).toEqual(['one\ntwo\nthree']);
    const outcomes = (await Promise.all(asked)).map((answer) => answer.outcome);
    expect(outcomes).toEqual(['merged', 'merged', 'replied']);
  });

  test('are rejected before acceptance when too many turns wait', async () => {
    core.drop();
    core = await openTestCore({
      clock,
      script,
      sendToChannel,
      env: { SVC_MAX_CONCURRENT_TURNS: '1', SVC_MAX_QUEUED_TURNS: '2' },
    });
    const working = ask(routed('work'));
    const waiting = ['one', 'two'].map((text) => ask(piece(text, { conversation_key: `compat:c1:${text}` })));
    await passUntil(() => core.context.pipeline.counts()).toEqual({ running: 1, waiting: 2 });
    await expect(ask(piece('three'))).rejects.toMatchObject({ code: 'queue_full' });
    expect(core.context.db.raw.prepare(`SELECT 1 FROM turn WHERE message_id = 'three'`).get()).toBeUndefined();
    core.context.pipeline.abort('compat:c1:key');
    await Promise.all([working, ...waiting]);
    const later = ask(piece('four'));
    await passUntil(() => texts.at(-1)).toBe('four');
    expect(await later).toMatchObject({ outcome: 'replied' });
  });

  test('of two senders are two turns, and an abort while gathering drops the turn', async () => {
    await core.addPrincipal('anna', 'known');
    const asked = [ask(piece('one')), ask(piece('two', { sender: { raw_id: 'anna' } }))];
    await passUntil(() => texts.toSorted()).toEqual(['one', 'two']);
    await Promise.all(asked);
    const dropped = ask(piece('three'));
    await expect.poll(() => core.context.pipeline.isBusy('compat:c1:key')).toBe(true);
    await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: 'compat:c1:key' } });
    expect(await dropped).toMatchObject({ actions: [], outcome: 'aborted' });
    clock.advance(hourMs);
    expect(texts).toHaveLength(2);
  });
});

describe('frames for a caller', () => {
  test('are sent only once the message is stored', async () => {
    const frames: TurnProgress[] = [];
    const turn = ask(routed('hi'), { sink: (frame: TurnProgress) => void frames.push(frame), isGone: () => false } as never);
    for (let job = 0; job < 100; job++) await Promise.resolve();
    expect([texts.length, frames]).toEqual([0, []]);
    await turn;
    expect(frames.map(({ type }) => type)).toEqual(['delta', 'segment']);
  });
});
