import type { StartContext } from '@svc/connector-kit';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

export type JoinInDeps = Pick<StartContext, 'triage' | 'log' | 'assistantName'> & { perHour: number; clock?: Clock };
export type Line = { channel: string; name: string; text: string };

/** Decides whether to answer messages that were not addressed to the assistant. */
export type JoinIn = {
  /** Someone wrote in a channel. */
  heard(line: Line): void;
  /** Whether the latest message there is worth an answer. Never rejects: without a decision there is no answer. */
  wants(line: Line & { sender: string }, signal: AbortSignal): Promise<boolean>;
};

const hourMs = 60 * 60_000;
/** The decisions cost a little too, so their number is limited to this many for each allowed answer. */
const asksPerAnswer = 10;
const longestDecisionMs = 15_000;
const maxLines = 12;
const longestLine = 500;
const maxChannels = 500;

/** The note for a turn that nobody asked for. */
export const unasked =
  'Nobody addressed you with this message: you read along in this channel and may join in. Be brief. If you have nothing to say that helps the people here, answer with [[NO_REPLY]] alone.';

export function createJoinIn({ triage, log, assistantName, perHour, clock = systemClock }: JoinInDeps): JoinIn {
  const answers = createFixedWindow(clock, { max: perHour, windowMs: hourMs, maxKeys: maxChannels });
  const asks = createFixedWindow(clock, { max: perHour * asksPerAnswer, windowMs: hourMs, maxKeys: maxChannels });
  const lines = new Map<string, string[]>();
  const instruction = `You decide for ${assistantName}, an assistant that reads along in a chat, whether it should say something after the last message. It should when that message asks something that nobody has answered and that it can answer, or when a person plainly needs its help. It should not in small talk, when people talk to each other, or when it has just spoken.`;

  return {
    heard({ channel, name, text }) {
      const known = lines.get(channel) ?? [];
      lines.delete(channel);
      lines.set(channel, [...known, `${oneLine(name, 100)}: ${oneLine(text, longestLine)}`].slice(-maxLines));
      forgetOldest(lines, maxChannels);
    },
    async wants({ channel, sender }, signal) {
      if (perHour === 0 || answers.waitMs(channel) > 0 || asks.count(channel) > 0) return false;
      const within = AbortSignal.any([signal, AbortSignal.timeout(longestDecisionMs)]);
      const text = (lines.get(channel) ?? []).join('\n');
      try {
        const { speak } = await triage({ sender, instruction, text, answer: { speak: { type: 'boolean' } } }, within);
        return speak === true && answers.count(channel) === 0;
      } catch (error) {
        log('warn', 'the assistant could not decide whether to join in', { channel, error: errorText(error) });
        return false;
      }
    },
  };
}
