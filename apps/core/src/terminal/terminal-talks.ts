import { createHash } from 'node:crypto';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { EngineTerminal } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { textsInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { homeNames, readTalk, talkSize, type Homes, type Talk, type TalkTurn } from '@svc/service-kit/transcript/read-talk.ts';
import { transcriptEngines, type TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import type { Database } from '@svc/store/database.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { TerminalEvents } from '../event/terminal-events.ts';
import type { Charge, Pricing } from '../pricing/pricing.ts';
import type { TalkSums, TerminalSessions } from '../session/terminal-sessions.ts';
import type { Spend } from '../spend/spend.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { TerminalTurn, TerminalTurns } from '../turn/terminal-turns.ts';

/** Adds conversations held in terminals to the history and the totals of their sessions. */
export type TerminalTalks = {
  /** Records where the transcript begins. Called before the program starts. */
  begin(key: string, engineId: string, program: EngineTerminal, cwd: string): Promise<void>;
  /**
   * Takes in what was said. Called after the program has ended and before the session goes on. Does nothing when no beginning is recorded.
   */
  take(key: string): Promise<void>;
  /** What a person has said there since then (epoch ms), from the transcript, or from the history once it was taken in. */
  saidSince(key: string, since: number): Promise<string[]>;
};

type Deps = {
  db: Pick<Database, 'transaction'>;
  sessions: Pick<TerminalSessions, 'beginTalk' | 'talkOf' | 'endTalk' | 'dropTalk'>;
  journal: TerminalTurns;
  trust: Pick<TrustService, 'keyOf'>;
  engines: Pick<EngineRegistry, 'open'>;
  pricing: Pick<Pricing, 'charge'>;
  spend: Pick<Spend, 'add'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  events: TerminalEvents;
  clock: Pick<Clock, 'now'>;
  /** The name of this machine's user. */
  user: string;
};

export function createTerminalTalks(deps: Deps): TerminalTalks {
  const { db, sessions, journal, clock, user } = deps;
  return {
    async begin(key, engineId, { env, engineSessionId: session }, cwd) {
      const engine = transcriptEngines.find((id) => id === engineId);
      if (engine === undefined) return;
      const homes: Homes = Object.fromEntries(homeNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
      const mark = { engine, homes, session, cwd, since: clock.now() };
      await sessions.beginTalk(key, { ...mark, from: await talkSize(mark) });
    },

    async saidSince(key, since) {
      const row = await sessions.talkOf(key);
      if (row === null) return journal.saidInTerminal(key, since);
      const talk = await readTalk(row.mark);
      return talk === null ? [] : talk.turns.filter(({ at }) => at >= since).map(({ text }) => text);
    },

    async take(key) {
      const row = await sessions.talkOf(key);
      if (row === null) return;
      const { engine, from } = row.mark;
      const talk = await readTalk(row.mark);
      if (talk === null || (talk.turns.length === 0 && talk.used.length === 0)) return sessions.dropTalk(key);
      const charges = await chargesOf(deps, engine, talk);
      const redactor = deps.knownSecrets.redactor();
      const turns: TerminalTurn[] = [];
      for (const turn of talk.turns) {
        const replies = await textsInSlices(row.public === 1 ? redactor.forPublic : redactor, turn.replies);
        turns.push(toTerminalTurn(turn, { key, engine, replies }));
      }
      // The ids are the engine's own: events that are recorded again after a kill count once.
      await deps.events.talk(key, engine, talk);
      // All turns are counted with one charge: the first without a price, else the first.
      const counted = Math.max(
        charges.findIndex(({ usage }) => usage.cost_usd === null),
        0,
      );
      const of = { key, surface: row.surface, principal: await deps.trust.keyOf(row.principal_id) };
      charges.forEach((charge, i) => {
        const part = { engine, session: talk.session, part: `${from}-${talk.size}-${i}` };
        deps.events.talkUsage(of, part, charge, i === counted ? turns.length : 0);
      });
      await db.transaction(async (tx) => {
        const added = await journal.addFromTerminal(tx, key, { turns, sender: user, channel: 'terminal' });
        await sessions.endTalk(tx, key, talk.session, sumsOf(charges, added, talk));
      });
      for (const { usage } of charges) deps.spend.add({ principal_id: row.principal_id, principal_key: null }, usage.cost_usd);
    },
  };
}

function toTerminalTurn(
  turn: TalkTurn,
  { key, engine, replies }: { key: string; engine: string; replies: string[] },
): TerminalTurn {
  const turnId = `turn_${createHash('sha256').update(`${key}\0${turn.id}`).digest('hex').slice(0, 24)}`;
  const said = replies.filter((text) => text.trim() !== '');
  const result: HandleResult = {
    actions: said.map((text) => ({ type: 'reply', text })),
    outcome: said.length > 0 ? 'replied' : 'silent',
    conversation_key: key,
    turn_id: turnId,
    engine_id: engine,
  };
  return { ...turn, turnId, result };
}

async function chargesOf({ engines, pricing }: Deps, engineId: TranscriptEngine, { used }: Talk): Promise<Charge[]> {
  const { auth } = await engines.open(engineId);
  return used.map(({ model, tokens: { input, output, cacheRead, cacheWrite, cacheWrite1h } }) => {
    const tokens = {
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      ...(cacheWrite1h > 0 && { cache_write_1h_tokens: cacheWrite1h }),
    };
    return pricing.charge({ usage: { ...tokens, estimated: false, cost_usd: null }, model, engineId, auth });
  });
}

/** `added`: turns that are new to the history. When part of the usage has no price, none of the turns has a cost. */
const sumsOf = (charges: readonly Charge[], added: number, { turns }: Talk): TalkSums => ({
  turns: added,
  input_tokens: charges.reduce(
    (sum, { usage }) => sum + usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    0,
  ),
  output_tokens: charges.reduce((sum, { usage }) => sum + usage.output_tokens, 0),
  cost_usd: charges.reduce((sum, { usage }) => sum + (usage.cost_usd ?? 0), 0),
  unpriced_turns: charges.some(({ usage }) => usage.cost_usd === null) ? added : 0,
  model: charges.at(-1)?.model ?? null,
  at: turns.at(-1)?.endedAt ?? 0,
});
