import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AmendOutcome } from '@svc/contract/amend.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { ChannelMessage } from '../src/delivery/channel-sender.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let clock: FakeClock;
let core: TestCore;
let sent: ChannelMessage[];
let texts: string[];
let prompts: string[];
let release: () => void;
let isHeld = false;

/** Messages whose text begins with "work" are worked on until they are aborted, or `release` is called. */
const script: EngineScript = async function* ({ text, prompt, resume }, signal) {
  texts.push(text);
  prompts.push(prompt);
  yield { type: 'session', engineSessionId: resume ?? 's-1', resumed: resume !== null, model: null };
  if (isHeld || text.startsWith('work')) {
    const released = new Promise<void>((resolve) => (release = resolve));
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (!signal.aborted) await Promise.race([released, aborted]);
  }
  if (signal.aborted) return yield { type: 'aborted' };
  yield* says(`re: ${text}`);
};

const sendToChannel = async (message: ChannelMessage) => {
  sent.push(message);
  return { delivered: true } as const;
};
const open = (dataDir?: string) => openTestCore({ clock, dataDir, script, sendToChannel });

beforeEach(async () => {
  clock = createFakeClock();
  [sent, texts, prompts] = [[], [], []];
  isHeld = false;
  core = await open();
});
afterEach(() => core.drop());

const message = (id: string, text: string, over: Partial<Envelope> = {}): Envelope =>
  envelope(text, { message_id: id, channel_context: { chatId: 'room' }, ...over });
const ask = (asked: Envelope): Promise<HandleResult> =>
  core.context.pipeline.handle(asked, { sink: null, isGone: () => false }, 'r1');
const gather = { intake: { debounce_ms: 500 } };

async function accepted(asked: Envelope): Promise<{ answer: Promise<HandleResult> }> {
  const answer = Promise.withResolvers<HandleResult>();
  const safe = new Promise<void>((resolve) => {
    const caller = { sink: null, isGone: () => false, onAccepted: () => resolve() };
    core.context.pipeline.handle(asked, caller, 'r1').then(answer.resolve, answer.reject);
  });
  answer.promise.catch(() => undefined);
  await safe;
  return { answer: answer.promise };
}

async function amend(id: string, text: string | null, { version = 1, by = 'owner', channel = 'compat' } = {}) {
  const payload = {
    conversation_key: 'compat:c1:key',
    message_id: id,
    version,
    text,
    as: { channel, sender: { raw_id: by } },
  };
  const answer = await core.app.inject({ method: 'POST', url: '/v2/amend', payload });
  expect(answer.statusCode).toBe(200);
  return answer.json<{ outcome: AmendOutcome }>().outcome;
}

/** Kills the core and starts it again at once. */
async function crash(): Promise<void> {
  core = await open(core.crash());
}

const passUntil = (check: () => unknown, ms = 500) =>
  expect.poll(async () => (clock.advance(ms), await check()), { interval: 2 });
const working = () => expect.poll(() => texts.length).toBeGreaterThan(0);

describe('a waiting message', () => {
  test('is answered with its edited text', async () => {
    await accepted(message('m1', 'work'));
    const { answer } = await accepted(message('m2', 'helo'));
    expect(await amend('m2', 'hello')).toBe('replaced');
    await working();
    release();
    expect(await answer).toMatchObject({ actions: [{ text: 're: hello' }] });
    expect(texts).toEqual(['work', 'hello']);
  });

  test('is not answered after its deletion, and its caller gets "aborted"', async () => {
    await accepted(message('m1', 'work'));
    const { answer } = await accepted(message('m2', 'hello'));
    expect(await amend('m2', null)).toBe('dropped');
    expect(await answer).toMatchObject({ outcome: 'aborted', actions: [] });
    await working();
    release();
    expect(await ask(message('m3', 'more'))).toMatchObject({ outcome: 'replied' });
    expect(texts).toEqual(['work', 'more']);
  });

  test('is answered with its edited text after a crash', async () => {
    await accepted(message('m1', 'work'));
    await accepted(message('m2', 'helo'));
    await amend('m2', 'hello');
    await working();
    await crash();
    await expect.poll(() => texts.length).toBe(2);
    release();
    await expect.poll(() => texts).toEqual(['work', 'work', 'hello']);
  });

  test('is not answered after a crash when it was deleted before', async () => {
    await accepted(message('m1', 'work'));
    await accepted(message('m2', 'hello'));
    await amend('m2', null);
    await working();
    await crash();
    await expect.poll(() => texts.length).toBe(2);
    release();
    expect(await ask(message('m3', 'more'))).toMatchObject({ outcome: 'replied' });
    expect(texts).toEqual(['work', 'work', 'more']);
  });

  test('becomes a chat command, or stops being one, by an edit', async () => {
    await accepted(message('m1', 'work'));
    const one = await accepted(message('m2', 'hello'));
    const two = await accepted(message('m3', '/new'));
    await amend('m2', '/status');
    await amend('m3', 'news');
    await working();
    release();
    expect(await one.answer).toMatchObject({ outcome: 'command' });
    expect(await two.answer).toMatchObject({ outcome: 'replied', actions: [{ text: 're: news' }] });
  });
});

describe('a message being answered', () => {
  test('aborts its turn when it is deleted', async () => {
    const { answer } = await accepted(message('m1', 'work'));
    await working();
    expect(await amend('m1', null)).toBe('aborted');
    expect(await answer).toMatchObject({ outcome: 'aborted', actions: [] });
  });

  test('does not run again after a crash once it was deleted', async () => {
    await accepted(message('m1', 'work'));
    await working();
    await amend('m1', null);
    await crash();
    expect(await ask(message('m2', 'more'))).toMatchObject({ outcome: 'replied' });
    expect(texts).toEqual(['work', 'more']);
    expect(sent).toEqual([]);
  });

  test('is followed by its newest edit, before other waiting messages; the answer is pushed to the channel', async () => {
    const first = await accepted(message('m1', 'work'));
    const { answer } = await accepted(message('m2', 'later'));
    await working();
    expect(await amend('m1', 'new words')).toBe('steered');
    expect(await amend('m1', 'newer words', { version: 2 })).toBe('replaced');
    release();
    await answer;
    await core.context.pipeline.pendingAcks.delivered((await first.answer).turn_id);
    expect(texts).toEqual(['work', 'newer words', 'later']);
    expect(prompts[1]).toContain('it is an edit, and takes the place of the message that you worked on last]');
    await expect.poll(() => sent.map(({ text }) => text)).toEqual(['re: newer words']);
  });

  test('is followed by its edit exactly once after a crash', async () => {
    await accepted(message('m1', 'work'));
    await working();
    await amend('m1', 'new words');
    await crash();
    expect(await amend('m1', 'new words')).toBe('unchanged');
    await expect.poll(() => texts.length).toBe(2);
    release();
    await expect.poll(() => texts).toEqual(['work', 'work', 'new words']);
  });

  test('has its edit noted for the next turn when its channel cannot receive pushes', async () => {
    const { answer } = await accepted(message('m1', 'work', { channel_context: {} }));
    await working();
    expect(await amend('m1', 'new words')).toBe('noted');
    release();
    await answer;
    await ask(message('m2', 'and now?'));
    expect(prompts[1]).toContain('It now says: new words');
  });
});

describe('an answered message', () => {
  test.each([
    ['edited', 'hello there', '(edited an earlier message, which said: hello)\\nIt now says: hello there'],
    ['deleted', null, '(deleted an earlier message, which said: hello)'],
  ])('when %s, is noted once for the next turn without asking an engine', async (_what, text, note) => {
    await ask(message('m1', 'hello'));
    expect(await amend('m1', text)).toBe('noted');
    expect(await amend('m1', text)).toBe('unchanged');
    expect(texts).toEqual(['hello']);
    await ask(message('m2', 'and now?'));
    expect(prompts[1]).toContain(note);
    await ask(message('m3', 'again'));
    expect(prompts[2]).not.toContain(note);
  });

  test('keeps the note of its edit across a crash', async () => {
    await ask(message('m1', 'hello'));
    await amend('m1', 'hello there');
    await crash();
    await ask(message('m2', 'and now?'));
    expect(prompts[1]).toContain('It now says: hello there');
  });
});

describe('a message whose end could not be saved', () => {
  beforeEach(async () => {
    const { journal } = core.context;
    const { end, fail } = journal;
    journal.end = journal.fail = () => Promise.reject(new Error('database or disk is full'));
    await expect(ask(message('m1', 'one'))).rejects.toThrow('full');
    Object.assign(journal, { end, fail });
  });

  test('is answered when it is sent again', async () => {
    expect(await ask(message('m1', 'one'))).toMatchObject({ outcome: 'replied', actions: [{ text: 're: one' }] });
    expect(texts).toEqual(['one', 'one']);
  });

  test.each([['new words'], [null]])('is amended as an ended message and does not run again (%s)', async (text) => {
    expect(await amend('m1', text)).toBe('noted');
    await crash();
    await ask(message('m2', 'two'));
    expect(texts).toEqual(['one', 'two']);
    expect(prompts.at(-1)).toContain('an earlier message, which said: one');
  });
});

describe('gathered messages', () => {
  test('are merged after edits and deletions', async () => {
    await accepted(message('m1', 'one', gather));
    await accepted(message('m2', 'two', gather));
    const last = await accepted(message('m3', 'three', gather));
    expect(await amend('m1', 'ONE')).toBe('replaced');
    expect(await amend('m2', null)).toBe('dropped');
    await passUntil(() => texts).toEqual(['ONE\nthree']);
    expect(await last.answer).toMatchObject({ outcome: 'replied' });
  });

  test('are merged without a message whose deletion is being written', async () => {
    await accepted(message('m1', 'one', gather));
    const { answer } = await accepted(message('m2', 'two', gather));
    const { journal } = core.context;
    const keepInput = journal.keepInput.bind(journal);
    const isKept = Promise.withResolvers<void>();
    // The quiet time ends while the deletion is being written.
    journal.keepInput = async (...args) => {
      journal.keepInput = keepInput;
      clock.advance(1000);
      await isKept.promise;
      return keepInput(...args);
    };
    const deleted = amend('m1', null);
    await expect.poll(() => texts).toEqual(['two']);
    isKept.resolve();
    expect(await deleted).toBe('dropped');
    expect(await answer).toMatchObject({ outcome: 'replied' });
  });

  test('start no turn when all of them are deleted', async () => {
    const one = await accepted(message('m1', 'one', gather));
    const two = await accepted(message('m2', 'two', gather));
    await amend('m2', null);
    await amend('m1', null);
    expect(await one.answer).toMatchObject({ outcome: 'aborted' });
    expect(await two.answer).toMatchObject({ outcome: 'aborted' });
    expect(core.context.pipeline.isBusy('compat:c1:key')).toBe(false);
  });

  test.each([[false], [true]])('can be amended one by one while their merged turn waits (after a crash: %s)', async (crashes) => {
    await accepted(message('m0', 'work'));
    await working();
    await accepted(message('m1', 'one', gather));
    await accepted(message('m2', 'two', gather));
    const { answer } = await accepted(message('m3', 'three', gather));
    await passUntil(() => core.context.pipeline.counts().waiting).toBe(1);
    await expect
      .poll(() => core.context.db.raw.prepare("SELECT text FROM turn WHERE message_id = 'm3'").get())
      .toEqual({ text: 'one\ntwo\nthree' });
    expect(await amend('m1', 'ONE')).toBe('replaced');
    expect(await amend('m3', null)).toBe('dropped');
    expect(await amend('m1', 'one', { version: 1 })).toBe('unchanged');
    if (crashes) {
      await crash();
      await expect.poll(() => texts.length).toBe(2);
      release();
      await passUntil(() => texts.at(-1)).toBe('ONE\ntwo');
      return;
    }
    release();
    expect(await answer).toMatchObject({ actions: [{ text: 're: ONE\ntwo' }] });
  });
});

describe('an observed message', () => {
  const seen = { delivery: 'async' } as const;

  test('is shown in its edited version, or not at all once deleted', async () => {
    await ask(message('m1', 'one', seen));
    await ask(message('m2', 'two', seen));
    expect(await amend('m1', 'ONE', { version: 2 })).toBe('replaced');
    expect(await amend('m1', 'one', { version: 1 })).toBe('unchanged');
    expect(await amend('m2', null)).toBe('dropped');
    await ask(message('m3', 'well?'));
    expect(prompts[0]).toContain('"text":"ONE"');
    expect(prompts[0]).not.toContain('two');
  });

  test('cannot be changed by another person', async () => {
    await core.addPrincipal('bo', 'trusted');
    await ask(message('m1', 'one', seen));
    expect(await amend('m1', 'obey', { by: 'bo' })).toBe('denied');
  });
});

describe('permission to amend', () => {
  beforeEach(async () => {
    await core.addPrincipal('bo', 'trusted');
    await core.addPrincipal('eve', 'trusted');
    await ask(message('m1', 'hello', { sender: { raw_id: 'bo' } }));
  });

  test.each([
    ['its sender', 'bo', 'noted'],
    ['the owner', 'owner', 'noted'],
    ['another person', 'eve', 'denied'],
    ['a stranger', 'nobody', 'denied'],
  ])('%s', async (_who, by, outcome) => {
    expect(await amend('m1', 'bye', { by })).toBe(outcome);
  });

  test('owners cannot change the messages of others in public; senders can change theirs', async () => {
    const open = { public: true, sender: { raw_id: 'bo' } };
    await ask(message('p1', 'hello', open));
    await ask(message('p2', 'seen', { ...open, delivery: 'async' }));
    for (const id of ['p1', 'p2']) expect(await amend(id, 'bye', { by: 'owner' })).toBe('denied');
    expect(await amend('p1', 'bye', { by: 'bo' })).toBe('noted');
    expect(await amend('p2', 'bye', { by: 'bo' })).toBe('replaced');
  });

  test('the same name on another channel is denied', async () => {
    expect(await amend('m1', 'bye', { by: 'bo', channel: 'shop' })).toBe('denied');
  });
});

test('an older version changes nothing, and an unknown message is reported as unknown', async () => {
  await ask(message('m1', 'hello'));
  expect(await amend('m1', 'three', { version: 3 })).toBe('noted');
  expect(await amend('m1', 'two', { version: 2 })).toBe('unchanged');
  expect(await amend('m1', 'four', { version: 4 })).toBe('noted');
  expect(await amend('m9', 'hello')).toBe('unknown');
});
describe('a room gathered as one turn', () => {
  const room = { intake: { debounce_ms: 500, gather: 'conversation' } } as const;

  test('keeps the remaining messages, each under the name of its sender', async () => {
    await core.addPrincipal('ann', 'trusted');
    await core.addPrincipal('bo', 'trusted');
    await accepted(message('m0', 'work'));
    await working();
    await accepted(message('m1', 'from ann', { ...room, sender: { raw_id: 'ann' } }));
    await accepted(message('m2', 'from bo', { ...room, sender: { raw_id: 'bo' } }));
    await passUntil(() => core.context.pipeline.counts().waiting).toBe(1);
    expect(await amend('m1', 'obey', { by: 'bo' })).toBe('denied');
    expect(await amend('m2', null, { by: 'bo' })).toBe('dropped');
    release();
    await passUntil(() => texts.at(-1)).toBe('from ann');
    expect(prompts.at(-1)).toContain('message from "ann"');
  });

  test('attributes a later edit to the sender of the edited message', async () => {
    await core.addPrincipal('ann', 'trusted');
    await core.addPrincipal('bo', 'trusted');
    await accepted(message('m1', 'work', { ...room, sender: { raw_id: 'ann' } }));
    await accepted(message('m2', 'from bo', { ...room, sender: { raw_id: 'bo' } }));
    // The text of a merged turn begins with a name.
    isHeld = true;
    await passUntil(() => texts.length).toBe(1);
    expect(await amend('m1', 'changed', { by: 'ann' })).toBe('steered');
    isHeld = false;
    release();
    await passUntil(() => texts.at(-1)).toBe('changed');
    expect(prompts.at(-1)).toContain('from "ann"');
  });
});

test('of many concurrent edits the highest version wins, in memory and in the journal', async () => {
  await accepted(message('m0', 'work'));
  await accepted(message('m1', 'v0'));
  const versions = [5, 3, 9, 1, 7, 2, 8, 4, 6];
  await Promise.all(
    versions.map((version) => amend('m1', `v${version}${'x'.repeat(version % 2 === 0 ? 200_000 : 0)}`, { version })),
  );
  expect(core.context.db.raw.prepare("SELECT text, amended FROM turn WHERE message_id = 'm1'").get()).toEqual({
    text: 'v9',
    amended: 9,
  });
  await working();
  release();
  await expect.poll(() => texts.at(-1)).toBe('v9');
});

test('a message edited in the tick of its arrival is answered once, as edited', async () => {
  await accepted(message('m0', 'work'));
  const answer = ask(message('m1', 'v0'));
  expect(await amend('m1', 'v1')).toBe('replaced');
  await working();
  release();
  expect(await answer).toMatchObject({ actions: [{ text: 're: v1' }] });
});
