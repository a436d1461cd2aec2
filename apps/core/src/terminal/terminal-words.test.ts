import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import type { Screen } from './listening.ts';
import { createTerminalWords } from './terminal-words.ts';
import type { TerminalWord } from './word-store.ts';

const key = 'compat:c1:key';
const idle: Screen = { lines: ['❯ '], x: 2, y: 0 };
const holding = (text: string): Screen => ({ lines: [`❯ ${text}`], x: 2 + text.length, y: 0 });

/** `faults`: steps that fail, as if the process were killed right before them. */
function open(kept: TerminalWord[] = []) {
  const clock = createFakeClock(1_000_000);
  const rows = new Map(kept.map((word) => [word.id, { ...word }]));
  const done = new Set<string>();
  const pressed: string[] = [];
  const messages = new Map<string, string>();
  const faults = new Set<string>();
  const cursor = { at: 0 };
  const bench = { shown: idle as Screen | (() => Screen), isOpen: true, said: [] as string[], refusal: null as Error | null };
  const news: { id: number; text: string }[] = [];
  let serial = 0;
  const step = (name: string) => {
    if (faults.has(name)) throw new Error(`a kill before ${name}`);
  };
  const words = createTerminalWords({
    store: {
      all: async () => [...rows.values()].map((row) => ({ ...row })),
      add: async (word) => void rows.set(word.id, { ...word }),
      async addNews({ upTo, ...word }) {
        rows.set(word.id, { ...word });
        cursor.at = upTo;
      },
      begin: async (id, now) => void (rows.get(id)!.begun_at = now),
      async remove(id) {
        step('remove');
        if (typeof rows.get(id)?.message_id === 'string') done.add(id);
        rows.delete(id);
      },
      stateOf: async (id) => (rows.has(id) ? 'waits' : done.has(id) ? 'said' : null),
      async returnNews({ id, announced_from }) {
        cursor.at = announced_from;
        rows.delete(id);
      },
    },
    screen: {
      read: async () => (typeof bench.shown === 'function' ? bench.shown() : bench.shown),
      async paste(_id, text) {
        step('paste');
        pressed.push(text);
      },
      async press(_id, name) {
        step(name);
        pressed.push(name);
      },
    },
    terminals: () => (bench.isOpen ? [{ id: 'term_1', conversation_key: key } as never] : []),
    saidSince: async () => bench.said,
    async unread() {
      const shown = news.filter(({ id }) => id > cursor.at);
      const text = shown.map((one) => one.text).join('\n');
      return shown.length === 0 ? null : { text, mail: { shown: [], leftOut: 0, after: cursor.at, upTo: shown.at(-1)!.id } };
    },
    async sayOverChannel({ text, messageId }, onAccepted) {
      if (bench.refusal !== null) throw bench.refusal;
      messages.set(messageId, text);
      onAccepted();
    },
    hasMessage: async (_key, id) => messages.has(id),
    clock,
    ids: { next: (prefix: string) => `${prefix}_${++serial}` } as never,
    log: { info: () => undefined, error: () => undefined },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
  };
  const said = () => [...messages.values()];
  /** The state that the next core finds after a kill. */
  const again = () => {
    words.close();
    const next = open([...rows.values()]);
    for (const [id, text] of messages) next.messages.set(id, text);
    return next;
  };
  return { words, pass, rows, pressed, messages, said, bench, faults, again, news, cursor };
}

const kept = (more: Partial<TerminalWord> = {}): TerminalWord => ({
  id: 'word_k',
  conversation_key: key,
  text: 'go on',
  said_by: 'ada',
  interrupts: 0,
  begun_at: null,
  announced_from: null,
  message_id: null,
  ...more,
});

describe('typing of messages', () => {
  test('types each message by itself when the program waits, without control characters', async () => {
    const { words, pass, pressed, rows } = open();
    const answers = [
      words.say({ conversation_key: key, text: 'one\r\ntwo\u001b[201~\u0003' }),
      words.say({ conversation_key: key, text: 'three' }),
    ];
    await pass(6_000);
    expect(pressed).toEqual(['one\ntwo[201~', 'Enter', 'three', 'Enter']);
    expect(await Promise.all(answers)).toMatchObject([{ delivered: true, deliverErr: null }, { delivered: true }]);
    expect(rows.size).toBe(0);
  });

  test('waits while the program works or a person types, and answers that the message is typed later', async () => {
    const { words, pass, pressed, bench } = open();
    let tick = 0;
    bench.shown = () => ({ lines: [`working ${++tick}`, '❯ '], x: 2, y: 1 });
    const answer = words.say({ conversation_key: key, text: 'later' });
    await pass(10_000);
    bench.shown = holding('half a sentence');
    await pass(10_000);
    expect(pressed).toEqual([]);
    expect(await answer).toMatchObject({
      delivered: false,
      deliverErr: expect.stringContaining('as soon as the terminal waits'),
    });
    bench.shown = idle;
    await pass(3_000);
    expect(pressed).toEqual(['later', 'Enter']);
  });

  test('answers within the time that the caller sets, and gives a repeated call the same answer', async () => {
    const { words, pass, pressed, bench } = open();
    bench.shown = holding('half a sentence');
    const said = { conversation_key: key, text: 'later', message_id: 'out_1', withinMs: 6000 };
    const [first, again] = [words.say(said), words.say(said)];
    await pass(6_100);
    expect(await Promise.race([first, Promise.resolve('no answer')])).toMatchObject({ delivered: false, terminal: 'term_1' });
    expect(await again).toEqual(await first);
    bench.shown = idle;
    await pass(3_000);
    expect(pressed).toEqual(['later', 'Enter']);
  });

  test('does not type when a person begins to type just before', async () => {
    const { words, pass, pressed, bench } = open();
    let looks = 0;
    bench.shown = () => (++looks <= 4 ? idle : holding('h'));
    void words.say({ conversation_key: key, text: 'later' });
    await pass(10_000);
    expect(looks).toBeGreaterThan(4);
    expect(pressed).toEqual([]);
    bench.shown = idle;
    await pass(3_000);
    expect(pressed).toEqual(['later', 'Enter']);
  });

  test('presses Escape once to interrupt a working program, and never while a person types', async () => {
    const { words, pass, pressed, bench } = open();
    let tick = 0;
    bench.shown = () => ({ lines: [`working ${++tick}`, '❯ half'], x: 6, y: 1 });
    void words.say({ conversation_key: key, text: 'now', interrupt: true });
    await pass(4_000);
    expect(pressed).toEqual([]);
    bench.shown = () => ({ lines: [`working ${++tick}`, '❯ '], x: 2, y: 1 });
    await pass(4_000);
    expect(pressed).toEqual(['Escape']);
    bench.shown = idle;
    await pass(4_000);
    expect(pressed).toEqual(['Escape', 'now', 'Enter']);
  });

  test('interrupts nothing at a prompt', async () => {
    const { words, pass, pressed } = open();
    void words.say({ conversation_key: key, text: 'now', interrupt: true });
    await pass(4_000);
    expect(pressed).toEqual(['now', 'Enter']);
  });

  test('presses Enter again when the program did not take it', async () => {
    const { words, pass, pressed, bench, rows } = open();
    bench.shown = () => (pressed.length === 0 || pressed.length === 3 ? idle : holding('hello'));
    const answer = words.say({ conversation_key: key, text: 'hello' });
    await pass(6_000);
    expect(pressed).toEqual(['hello', 'Enter', 'Enter']);
    expect([rows.size, await answer]).toMatchObject([0, { delivered: true }]);
  });

  test('types a message repeated with its id once, even after the terminal ended', async () => {
    const { words, pass, pressed, bench } = open();
    const sent = { conversation_key: key, text: 'deploy', by: 'ada', message_id: 'm1' };
    bench.shown = holding('x');
    const first = [words.say(sent), words.say(sent)];
    await pass(16_000);
    expect(await Promise.all(first)).toMatchObject([{ delivered: false }, { delivered: false }]);
    const second = words.say(sent);
    bench.shown = idle;
    await pass(6_000);
    expect(await second).toMatchObject({ delivered: true, terminal: 'term_1' });
    expect(await words.say(sent)).toEqual(await second);
    void words.say({ ...sent, by: 'bo' });
    await pass(6_000);
    expect(pressed).toEqual(['deploy', 'Enter', 'deploy', 'Enter']);
    bench.isOpen = false;
    expect(await words.earlier(sent)).toMatchObject({ delivered: true, deliverErr: null });
    expect(await words.earlier({ ...sent, message_id: 'm2' })).toBeNull();
  });

  test('rejects a message that consists only of control characters', async () => {
    const { words } = open();
    await expect(words.say({ conversation_key: key, text: '\u0003\u001b \n' })).rejects.toMatchObject({ code: 'bad_request' });
  });

  test('leaves sessions without a terminal to others, and rejects messages when its queue is full', async () => {
    const { words, bench } = open();
    bench.shown = { lines: [], x: 0, y: 0 };
    expect(await words.say({ conversation_key: 'other', text: 'x' })).toBe(null);
    for (let n = 0; n < 50; n++) void words.say({ conversation_key: key, text: String(n) });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(words.say({ conversation_key: key, text: 'one more' })).rejects.toMatchObject({ code: 'queue_full' });
  });
});

describe('restart after a kill', () => {
  test('types a message that had not been typed', async () => {
    const { words, pass, pressed } = open([kept()]);
    await words.resume();
    await pass(3_000);
    expect(pressed).toEqual(['go on', 'Enter']);
  });

  test.each([
    ['before the paste', 'paste', idle, [], ['go on', 'Enter']],
    ['between paste and Enter', 'Enter', holding('go on'), [], ['Enter']],
    ['after Enter', 'remove', idle, ['go\non'], []],
  ])('%s: the message is typed exactly once', async (_when, fault, shown, inTranscript, pressedAfter) => {
    const first = open();
    first.faults.add(fault);
    void first.words.say({ conversation_key: key, text: 'go on' });
    await first.pass(2_000);
    expect(first.rows.size).toBe(1);
    const second = first.again();
    second.bench.shown = () => (second.pressed.includes('Enter') ? idle : shown);
    second.bench.said = inTranscript;
    await second.words.resume();
    await second.pass(4_000);
    expect([second.pressed, second.rows.size]).toEqual([pressedAfter, 0]);
  });

  test('sends text left in the input line only when it is exactly the message', async () => {
    const { words, pass, pressed, bench } = open([kept({ begun_at: 1 })]);
    bench.shown = holding('go on, but not yet');
    await words.resume();
    await pass(4_000);
    expect(pressed).toEqual([]);
  });
});

describe('end of the terminal', () => {
  test('sends messages that were not typed over the channel, in order', async () => {
    const { words, pass, pressed, said, rows, bench } = open();
    bench.shown = holding('x');
    const answer = words.say({ conversation_key: key, text: 'important' });
    void words.say({ conversation_key: key, text: 'and more' });
    await pass(2_000);
    bench.isOpen = false;
    words.released(key);
    await pass(1_000);
    expect([pressed, said(), rows.size]).toEqual([[], ['important', 'and more'], 0]);
    expect(await answer).toMatchObject({ delivered: false, deliverErr: expect.stringContaining('on the channel') });
  });

  test('sends a message typed just before the end again only when the history lacks it', async () => {
    for (const [history, expected] of [[['go on'], []] as const, [[], ['go on']] as const]) {
      const { words, pass, said, rows, bench } = open([kept({ begun_at: 1 })]);
      Object.assign(bench, { isOpen: false, said: history });
      await words.resume();
      await pass(1_000);
      expect([said(), rows.size]).toEqual([expected, 0]);
    }
  });

  test('sends a message over the channel under its id, so that a repetition does not run it again', async () => {
    const { words, pass, bench, messages } = open();
    bench.shown = holding('x');
    const sent = { conversation_key: key, text: 'important', message_id: 'm1' };
    void words.say(sent);
    await pass(1_000);
    bench.isOpen = false;
    bench.refusal = new ServiceError('queue_full', 'later');
    words.released(key);
    await pass(1_000);
    expect(await words.earlier(sent)).toMatchObject({
      delivered: false,
      deliverErr: expect.stringContaining('on the channel'),
    });
    bench.refusal = null;
    await pass(31_000);
    expect([...messages]).toEqual([['m1', 'important']]);
  });

  test('sends nothing twice after a kill between sending a message and removing it from the queue', async () => {
    const first = open([kept()]);
    first.bench.isOpen = false;
    first.faults.add('remove');
    await first.words.resume();
    await first.pass(1_000);
    expect([first.said(), first.rows.size]).toEqual([['go on'], 1]);
    const second = first.again();
    second.bench.isOpen = false;
    second.bench.refusal = new Error('it is not to be said again');
    await second.words.resume();
    await second.pass(1_000);
    expect(second.rows.size).toBe(0);
  });

  test('retries a message that the channel rejects, and drops it when its session is forgotten', async () => {
    const { words, pass, said, rows, bench } = open([kept()]);
    bench.isOpen = false;
    bench.refusal = new ServiceError('queue_full', 'later');
    await words.resume();
    await pass(1_000);
    expect([said(), rows.size]).toEqual([[], 1]);
    bench.refusal = null;
    await pass(31_000);
    expect([said(), rows.size]).toEqual([['go on'], 0]);
    const gone = open([kept()]);
    Object.assign(gone.bench, { isOpen: false, refusal: new ServiceError('not_found', 'no session') });
    await gone.words.resume();
    await gone.pass(1_000);
    expect(gone.rows.size).toBe(0);
  });

  test('types the message when the session is in a terminal again', async () => {
    const { words, pass, said, pressed, bench } = open([kept()]);
    Object.assign(bench, { isOpen: false, refusal: new ServiceError('conflict', 'claimed') });
    await words.resume();
    await pass(1_000);
    bench.isOpen = true;
    await pass(35_000);
    expect([said(), pressed]).toEqual([[], ['go on', 'Enter']]);
  });
});

describe('typed announcements', () => {
  test('are typed together when the program waits, and count as read afterwards', async () => {
    const { words, pass, pressed, news, cursor, bench, rows } = open();
    bench.shown = holding('x');
    for (const id of [1, 2]) {
      news.push({ id, text: `news ${id}` });
      words.announced();
      await pass(1_000);
    }
    expect([pressed, cursor.at]).toEqual([[], 2]);
    bench.shown = idle;
    await pass(5_000);
    expect([pressed, cursor.at, rows.size]).toEqual([['news 1\nnews 2', 'Enter'], 2, 0]);
    words.announced();
    await pass(5_000);
    expect(pressed).toHaveLength(2);
  });

  test('wait for the next turn when the terminal ends first, and start none themselves', async () => {
    const { words, pass, said, news, cursor, bench, rows } = open();
    bench.shown = holding('x');
    news.push({ id: 7, text: 'news' });
    words.announced();
    await pass(1_000);
    bench.isOpen = false;
    words.released(key);
    await pass(1_000);
    expect([said(), cursor.at, rows.size]).toEqual([[], 0, 0]);
  });
});
