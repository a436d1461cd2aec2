import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { hasEnded } from '@svc/testing/pass-time.ts';
import { createChatGate } from '../src/reply/chat-gate.ts';
import { createReplyWriter, type ReplyWriter, type ReplyWriterOptions } from '../src/reply/reply-writer.ts';
import { createSimulatedChat, createSimulatedState, passUntil } from './simulated-chat.ts';

export const envelope: Envelope = {
  channel: 'chat',
  conversation_key: 'chat:i1:channel:room',
  message_id: 'm1',
  sender: { raw_id: 'ann' },
  content: { text: 'hello' },
  channel_context: { chatId: 'room' },
};
export const result = (text: string, fields: Partial<HandleResult> = {}): HandleResult => ({
  actions: text === '' ? [] : [{ type: 'reply', text }],
  outcome: text === '' ? 'silent' : 'replied',
  conversation_key: envelope.conversation_key,
  turn_id: 't1',
  ...fields,
});
export const push = (text: string) => ({
  id: 'd1',
  target: 'room',
  kind: 'text',
  text,
  about: { turn_id: 't1', message_id: 'm1' },
});
export const begin = (writer: ReplyWriter) => writer.openReply(envelope, { turnId: 't1', again: false });
export const words = 'A reply that is long enough to be shown.';

/** A writer on a simulated chat, and further ones as later processes have them. */
export function setUp(
  options: Partial<ReplyWriterOptions> = {},
  rules: Parameters<typeof createSimulatedChat>[1] = {},
  clock = createFakeClock(),
) {
  const chat = createSimulatedChat(clock, rules);
  const states = createSimulatedState();
  const logs: string[] = [];
  const log = (level: string, message: string, fields?: object) =>
    void logs.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
  const open = () => {
    let isKilled = false;
    const gate = createChatGate({ clock, perMs: 1000 });
    const { find: _find, ...able } = chat.platform;
    const state = states.open(() => isKilled);
    const writer = createReplyWriter({ ...able, limit: 2000, clock, gate, state, log, unsure: 'nonce', ...options });
    return { writer, kill: () => void (isKilled = true) };
  };
  const { writer } = open();
  const until = (isSo: () => boolean, ms?: number) => passUntil(clock, isSo, ms);
  const pass = (ms: number) => {
    const at = clock.elapsed() + ms;
    return passUntil(clock, () => clock.elapsed() >= at, ms);
  };
  /** Waits for something that takes its time by the clock. */
  const within = async <T>(work: Promise<T>): Promise<T> => {
    await until(hasEnded(work));
    return work;
  };
  return { clock, chat, states, logs, writer, open, until, pass, within };
}
