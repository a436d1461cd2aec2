import { saidId } from '@svc/service-kit/transcript/said-id.ts';
import type { Talk } from '@svc/service-kit/transcript/read-talk.ts';
import type { TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import type { Charge } from '../pricing/pricing.ts';
import type { EventOut } from './event-out.ts';
import { usageFields } from './usage-events.ts';

/**
 * What was said and which tools were used in a terminal. The collector may read the same transcript: with equal ids, each event counts
 * once.
 */
export type TerminalEvents = {
  talk(key: string, engine: TranscriptEngine, talk: Talk): Promise<void>;
  /** Counts usage for the channel and the person of the conversation; `turns`: how many turns it comprises. */
  talkUsage(
    of: TalkSession,
    from: { engine: TranscriptEngine; session: string; part: string },
    charge: Charge,
    turns: number,
  ): void;
};

type TalkSession = { key: string; surface: string; principal: string | null };

/** The longest JSON that is sent, in characters. */
const maxInput = 16 * 1024;

export const terminalEvents = ({ send, maskLong }: EventOut): TerminalEvents => ({
  async talk(session, engine, { session: engineSession, said }) {
    for (const { at, item } of said) {
      const { input, ...payload } = item.payload ?? {};
      const isShort = input !== undefined && JSON.stringify(input).length <= maxInput;
      send({
        id: saidId(engine, engineSession, item),
        ...(at > 0 && { ts: at }),
        kind: item.kind,
        session,
        text: await maskLong(item.text),
        payload: { engine_id: engine, source: 'transcript', ...(isShort && { input }), ...payload },
      });
    }
  },
  talkUsage({ key, surface, principal }, { engine, session: engineSession, part }, charge, turns) {
    const { payload, ...costs } = usageFields(charge);
    const id = saidId(engine, engineSession, { kind: 'token-usage', part: `${part}@usage` });
    const used = { source: 'transcript', turns, principal, ...payload };
    send({ id, kind: 'token-usage', session: key, surface, principal, payload: used, ...costs });
  },
});
