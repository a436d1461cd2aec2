import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { envelope } from '../../test/open-reply-writer.ts';
import { createSimulatedChat, createSimulatedState, passUntil, type Luck } from '../../test/simulated-chat.ts';
import type { ReplyStyle } from '../common-fields.ts';
import type { TurnReply } from '../ingress/lazy-reply.ts';
import { createChatGate } from './chat-gate.ts';
import { createLayout } from './reply-layout.ts';
import { createReplyWriter, type ReplyWriter } from './reply-writer.ts';

const about = { turn_id: 't1', message_id: 'm1' };
const resultOf = (text: string): HandleResult => ({
  actions: text.trim() === '' ? [] : [{ type: 'reply', text }],
  outcome: text.trim() === '' ? 'silent' : 'replied',
  conversation_key: envelope.conversation_key,
  turn_id: 't1',
});

type Step = { say: string } | { wait: number } | { luck: Luck } | { tookMs: number } | 'block' | 'retract' | 'kill' | 'remove';
type Scenario = {
  style: ReplyStyle;
  canEdit: boolean;
  /** How a repeated post is avoided: by nonces, by a search, or by leaving it out. */
  knows: 'nonce' | 'find' | 'skip';
  limit: number;
  penaltyS: number;
  steps: Step[];
  /** How it ends: by the process that asked, by one that asks again, or by a push. */
  end: 'finish' | 'again' | 'push';
};

const words = fc.constantFrom(
  'word ',
  'and more words of a reply ',
  '\n\n',
  '```ts\n',
  'const a = 1;\n',
  '\n```\n',
  'x'.repeat(70),
  'é👍🏽 ',
);
const luck = fc.constantFrom<Luck>('good', 'lost', 'silent', 'failed', 'busy');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.array(words, { minLength: 1, maxLength: 6 }).map((all) => ({ say: all.join('') })) },
  { weight: 5, arbitrary: fc.constantFrom(0, 50, 400, 1500, 4000).map((wait) => ({ wait })) },
  { weight: 3, arbitrary: luck.map((each) => ({ luck: each })) },
  { weight: 2, arbitrary: fc.constantFrom(50, 300, 2000).map((tookMs) => ({ tookMs })) },
  { weight: 2, arbitrary: fc.constant('block' as const) },
  { weight: 1, arbitrary: fc.constantFrom('retract' as const, 'kill' as const, 'kill' as const, 'remove' as const) },
);
const scenario: fc.Arbitrary<Scenario> = fc.record({
  style: fc.constantFrom<ReplyStyle>('stream', 'stream', 'final', 'steps'),
  canEdit: fc.boolean(),
  knows: fc.constantFrom('nonce', 'nonce', 'find', 'skip'),
  limit: fc.integer({ min: 40, max: 160 }),
  penaltyS: fc.constantFrom(1, 30, 137),
  steps: fc.array(step, { maxLength: 25 }),
  end: fc.constantFrom('finish', 'again', 'push'),
});

/** Former failures. */
const earlier: Scenario[] = [
  {
    style: 'stream',
    canEdit: true,
    knows: 'nonce',
    limit: 40,
    penaltyS: 1,
    steps: [
      { say: 'word ' },
      { wait: 4000 },
      { say: '\n\nword and more words of a reply word ' },
      { luck: 'silent' },
      'remove',
      { wait: 0 },
    ],
    end: 'push',
  },
  {
    style: 'stream',
    canEdit: false,
    knows: 'nonce',
    limit: 40,
    penaltyS: 1,
    steps: [{ say: `word ${'x'.repeat(70)}word \`\`\`ts\n${'x'.repeat(70)}` }],
    end: 'finish',
  },
];

/** By then, a slow platform has processed the last request of a killed process. */
const restartMs = 5000;

test('a reply is shown once, complete, in order and within the limits, despite failures and kills', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (each) => {
      const { chat, shown, taken, expected } = await play(each);
      expect(chat.faults).toEqual([]);
      // Without a way to find out, a part that may have been shown can be missing, and none is repeated.
      if (each.knows === 'skip') return expectNoneTwice(each, shown, expected);
      // A push knows only the steps that were shown, and a step may end within a fence.
      const wholes = [expected, without(expected, shown, taken)].map(contentOf);
      if (each.style === 'steps') expect(wholes).toContain(contentOf(shown));
      else expect(shown).toEqual(without(expected, shown, taken));
      if (each.style !== 'steps') expect(shown.slice(0, -1).filter(isOpen)).toEqual([]);
    }),
    { numRuns: 150, examples: earlier.map((each) => [each]) },
  );
}, 600_000);

async function play({ style, canEdit, knows, limit, penaltyS, steps, end }: Scenario) {
  const clock = createFakeClock();
  const chat = createSimulatedChat(clock, { limit, perMs: 1000, penaltyS, knowsNonces: knows === 'nonce' });
  const states = createSimulatedState();
  const { post, edit, remove, find } = chat.platform;
  const start = () => {
    let isKilled = false;
    /** A killed process receives and sends nothing. */
    const alive =
      <In, Out>(work: (input: In) => Promise<Out>) =>
      async (input: In): Promise<Out> => {
        if (isKilled) return new Promise(() => undefined);
        const answer = await work(input).catch((error: unknown) =>
          isKilled ? new Promise<never>(() => undefined) : Promise.reject(error),
        );
        return isKilled ? new Promise(() => undefined) : answer;
      };
    const writer = createReplyWriter({
      post: alive(post),
      ...(canEdit && { edit: alive(edit), remove: alive(remove) }),
      limit,
      clock,
      gate: createChatGate({ clock, perMs: 1000 }),
      state: states.open(() => isKilled),
      log: () => undefined,
      style,
      ...(knows === 'find' && { find: alive(find) }),
      unsure: knows === 'find' ? 'repeat' : knows,
    });
    return { writer, kill: () => void (isKilled = true) };
  };

  let process = start();
  let reply: TurnReply = process.writer.openReply(envelope, { turnId: 't1', again: false });
  const frames: ((to: TurnReply) => void)[] = [];
  let text = '';
  let block = '';
  let cuts: number[] = [];
  const taken: string[] = [];
  const tell = (frame: (to: TurnReply) => void) => {
    frames.push(frame);
    frame(reply);
  };
  const pass = async (ms: number) => {
    const until = clock.elapsed() + ms;
    await passUntil(clock, () => clock.elapsed() >= until, ms);
  };
  const endBlock = () => {
    const whole = block;
    if (whole.trim() === '') return;
    block = '';
    cuts.push(text.length);
    tell(({ handlers }) => handlers.onSegment?.(whole));
  };
  const restart = async () => {
    process.kill();
    await pass(restartMs);
    chat.forgiveOnce();
    process = start();
    reply = process.writer.openReply(envelope, { turnId: 't1', again: true });
    for (const frame of frames) frame(reply);
  };

  for (const what of steps) {
    if (what === 'block') endBlock();
    else if (what === 'kill') await restart();
    else if (what === 'remove') taken.push(...removeOne(chat, canEdit));
    else if (what === 'retract') {
      // A channel that cannot remove messages is not asked to.
      if (!canEdit) continue;
      tell(({ handlers }) => handlers.onRetract?.());
      [text, block, cuts] = ['', '', []];
    } else if ('wait' in what) await pass(what.wait);
    else if ('luck' in what) chat.luck.push(what.luck);
    else if ('tookMs' in what) chat.tookMs.push(what.tookMs);
    else {
      const lead = block === '' && text !== '' ? '\n\n' : '';
      text += lead + what.say;
      block += what.say;
      tell(({ handlers }) => handlers.onDelta?.(lead + what.say));
    }
  }
  endBlock();
  if (end === 'again') await restart();
  if (end === 'push' && text.trim() !== '') {
    process.kill();
    await pass(restartMs);
    chat.forgiveOnce();
    process = start();
  }
  await finish(clock, process.writer, reply, text, end);
  const expected = createLayout({ limit })(text, style === 'steps' ? cuts : []);
  return { chat, taken, shown: chat.shown(), expected };
}

function expectNoneTwice({ style }: Scenario, shown: readonly string[], expected: readonly string[]): void {
  if (style !== 'final') return; // a growing text that a killed process showed stays there
  let at = 0;
  for (const piece of expected) if (shown[at] === piece) at++;
  expect(shown.slice(at)).toEqual([]);
}

/** The expected messages, except those that a person removed in their final form. */
function without(expected: readonly string[], shown: readonly string[], taken: readonly string[]): string[] {
  const left: string[] = [];
  for (const piece of expected) if (shown[left.length] === piece || !taken.includes(piece)) left.push(piece);
  return left;
}

/** A person removes the last message, where that can be noticed. Returns its text: if it is already final, it stays removed. */
function removeOne({ messages }: ReturnType<typeof createSimulatedChat>, canEdit: boolean): string[] {
  const last = messages.findLast(({ isGone }) => !isGone);
  if (!canEdit || last === undefined) return [];
  last.isGone = true;
  return [last.text];
}

/** The end of a turn, and pushes of it until one succeeds, as the core sends them. */
async function finish(
  clock: FakeClock,
  writer: ReplyWriter,
  reply: TurnReply,
  text: string,
  end: Scenario['end'],
): Promise<void> {
  const within = async (work: Promise<void>): Promise<boolean> => {
    let isDone: boolean | null = null;
    work.then(
      () => (isDone = true),
      () => (isDone = false),
    );
    await passUntil(clock, () => isDone !== null, 3_600_000, 250);
    return isDone === true;
  };
  const result = resultOf(text);
  if (end !== 'push' || result.actions.length === 0) {
    if (await within(reply.finish(result))) return;
  }
  for (let tries = 0; tries < 300; tries++) {
    const sent = writer.send({ id: 'd1', target: 'room', kind: 'text', text, about }, new AbortController().signal);
    if (await within(sent)) return;
    const at = clock.elapsed() + 20_000;
    await passUntil(clock, () => clock.elapsed() >= at, 20_000, 1000);
  }
  throw new Error('it was never shown');
}

/** Whether the message has a code block that is not closed. */
function isOpen(message: string): boolean {
  let open = false;
  for (const line of message.split('\n')) {
    if (!open) open = /^ {0,3}`{3}[^`]*$/.test(line);
    else if (/^ {0,3}`{3,}\s*$/.test(line)) open = false;
  }
  return open;
}

/** Without blanks and code fences: a cut may fall within them, and repeats the opening fence. No word contains "ts". */
const contentOf = (messages: readonly string[]): string =>
  messages
    .join('')
    .replaceAll(/[\s`]+/g, '')
    .replaceAll('ts', '');
