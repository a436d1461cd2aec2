import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { expect, test } from 'vitest';
import type { Screen } from './listening.ts';
import { createTerminalWords } from './terminal-words.ts';
import type { TerminalWord } from './word-store.ts';

const key = 'compat:c1:key';
const idle: Screen = { lines: ['❯ '], x: 2, y: 0 };

function open(kept: TerminalWord[] = []) {
  const clock = createFakeClock(1_000_000);
  const rows = new Map(kept.map((word) => [word.id, { ...word }]));
  const pressed: string[] = [];
  const said: string[] = [];
  const bench = { shown: idle as Screen | (() => Screen), past: '', isOpen: true };
  let serial = 0;
  const words = createTerminalWords({
    store: {
      all: async () => [...rows.values()],
      add: async (word) => void rows.set(word.id, word),
      mark: async (id, isBegun) => void (rows.get(id)!.is_begun = isBegun ? 1 : 0),
      remove: async (id) => void rows.delete(id),
    },
    screen: {
      read: async () => (typeof bench.shown === 'function' ? bench.shown() : bench.shown),
      past: async () => bench.past,
      paste: async (_id, text) => void pressed.push(text),
      press: async (_id, name) => void pressed.push(name),
    },
    terminals: () => (bench.isOpen ? [{ id: 'term_1', conversation_key: key } as never] : []),
    sayOverChannel: async ({ text }) => void said.push(text),
    clock,
    ids: { next: (prefix: string) => `${prefix}_${++serial}` } as never,
    log: { info: () => undefined, error: (fields: unknown) => expect(fields).toBe('no fault') },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  return { words, pass, rows, pressed, said, bench };
}

const kept = (more: Partial<TerminalWord> = {}): TerminalWord => ({
  id: 'word_k',
  conversation_key: key,
  text: 'go on',
  said_by: 'ada',
  interrupts: 0,
  is_begun: 0,
  ...more,
});

test('is typed when the program waits, each message by itself, without what would be another key', async () => {
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

test('waits while the program works, and while somebody types; the answer says so, and it is typed all the same', async () => {
  const { words, pass, pressed, bench } = open();
  let tick = 0;
  bench.shown = () => ({ lines: [`working ${++tick}`, '❯ '], x: 2, y: 1 });
  const answer = words.say({ conversation_key: key, text: 'later' });
  await pass(10_000);
  bench.shown = { lines: ['❯ half a sentence'], x: 17, y: 0 };
  await pass(10_000);
  expect(pressed).toEqual([]);
  expect(await answer).toMatchObject({ delivered: false, deliverErr: expect.stringContaining('as soon as it waits') });
  bench.shown = idle;
  await pass(3_000);
  expect(pressed).toEqual(['later', 'Enter']);
});

test('ends what the program does when it is to interrupt, once, and never where somebody types', async () => {
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

test('at a prompt nothing is interrupted', async () => {
  const { words, pass, pressed } = open();
  void words.say({ conversation_key: key, text: 'now', interrupt: true });
  await pass(4_000);
  expect(pressed).toEqual(['now', 'Enter']);
});

test('what was not typed when the terminal ends is said over the channel', async () => {
  const { words, pass, pressed, said, rows, bench } = open();
  bench.shown = { lines: ['❯ x'], x: 3, y: 0 };
  const answer = words.say({ conversation_key: key, text: 'important' });
  await pass(2_000);
  bench.isOpen = false;
  words.released(key);
  await pass(1_000);
  expect([pressed, said, rows.size]).toEqual([[], ['important'], 0]);
  await answer;
});

test('after a restart it goes on; what the terminal shows already is not typed again', async () => {
  const first = open([kept()]);
  await first.words.resume();
  await first.pass(3_000);
  expect(first.pressed).toEqual(['go on', 'Enter']);
  const second = open([kept({ is_begun: 1 })]);
  second.bench.past = '❯ go\n on\n● Done';
  await second.words.resume();
  await second.pass(3_000);
  expect([second.pressed, second.rows.size]).toEqual([[], 0]);
  const third = open([kept({ is_begun: 1 })]);
  await third.words.resume();
  await third.pass(3_000);
  expect(third.pressed).toEqual(['go on', 'Enter']);
  const gone = open([kept()]);
  gone.bench.isOpen = false;
  await gone.words.resume();
  expect(gone.said).toEqual(['go on']);
});

test('a session in no terminal is somebody else’s, and a full one refuses', async () => {
  const { words, bench } = open();
  bench.shown = { lines: [], x: 0, y: 0 };
  expect(await words.say({ conversation_key: 'other', text: 'x' })).toBe(null);
  for (let n = 0; n < 50; n++) void words.say({ conversation_key: key, text: String(n) });
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(words.say({ conversation_key: key, text: 'one more' })).rejects.toMatchObject({ code: 'queue_full' });
});
