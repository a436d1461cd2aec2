import type { OutputLimits } from '@svc/engine-kit/output-limits.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import { createFixedWindow } from '@svc/service-kit/fixed-window.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { beginningInSlices, textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import type { SideCallDeps } from '../engine/check-engine.ts';
import type { ActiveEngine } from '../engine/engine-pool.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { EngineFallback } from '../engine/fallback.ts';
import { isOnceKey } from '../session/conversation-key.ts';
import type { Answered, Titles } from '../session/session-titles.ts';
import type { TitleStore } from '../session/title-store.ts';
import { firstWords, titleSaid, titleSource } from '../session/title-text.ts';
import { findChatCommand } from '../turn/chat-commands.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import type { TurnQueue } from '../turn/turn-queue.ts';
import type { Turn } from '../turn/turn.ts';
import { turnRedactor } from '../turn/turn-redactor.ts';
import { enginesByPrice } from './cheapest-engine.ts';
import { createIdleQueue } from './idle-queue.ts';
import { titleCall } from './make-title.ts';
import { sideCall } from './side-call.ts';
import type { TitleLane } from './title-lane.ts';

export type TitlesDeps = SideCallDeps & {
  settings: Pick<CoreSettings, 'titles'>;
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: Pick<EngineFallback, 'order' | 'stands'>;
  titleStore: TitleStore;
  titleLane: TitleLane;
  journal: Pick<TurnJournal, 'firstMessages'>;
  counts: TurnQueue['counts'];
  log: Pick<Log, 'warn' | 'debug'>;
};

/** Shortly after the answer, while the person reads it. */
const delayMs = 5000;
const longestMs = 10 * 60_000;
const maxWaiting = 32;
/** Nobody starts more conversations than this; those of a program that does are not worth a second request each. */
const maxPerHour = 60;
/** A short answer; thoughts count towards the limit as well. */
const output: OutputLimits = { reply: 500, tool: 0, turn: 20_000 };
const limitMs = 30_000;
const maxReply = 1000;
const maxSource = 4000;
const maxMasked = 1000;

export function createTitles(deps: TitlesDeps): Titles {
  const { settings, titleStore, clock, log, events } = deps;
  const perHour = createFixedWindow(clock, { max: maxPerHour, windowMs: 3_600_000 });
  let isClosed = false;
  /** Turns whose first words are being read, by conversation. A conversation that is forgotten meanwhile gets no title from them. */
  const naming = new ShortLivedMap<string, Turn>();
  const queue = createIdleQueue<Answered>({
    clock,
    delayMs,
    longestMs,
    max: maxWaiting,
    isBusy: () => deps.counts().waiting > 0 || deps.titleLane.isTaken(),
    run: (answered, signal) =>
      askModel(deps, answered, signal).catch((error: unknown) =>
        log.warn({ err: error, session: answered.turn.envelope.conversation_key }, 'a title could not be made'),
      ),
  });

  const giveWords = async (turn: Turn): Promise<void> => {
    const key = turn.envelope.conversation_key;
    try {
      const words = await wordsOf(deps, turn, turn.envelope.content);
      const isCurrent = naming.get(key) === turn && !isClosed;
      if (words !== null && isCurrent && (await titleStore.keepWords(key, words))) events.titled(key, words, 'words');
    } finally {
      if (naming.get(key) === turn) naming.delete(key);
    }
  };

  return {
    opened(turn, { title_by }) {
      if (settings.titles === 'off' || title_by !== null) return;
      naming.set(turn.envelope.conversation_key, turn);
      setImmediate(() => {
        giveWords(turn).catch((error: unknown) => log.warn({ err: error, turn: turn.id }, 'a title could not be made'));
      });
    },

    answered(answered) {
      const { turn, session, engineId } = answered;
      const mayAsk = session.title_by === null || session.title_by === 'words';
      if (settings.titles !== 'model' || !mayAsk || engineId === 'offline') return;
      const key = turn.envelope.conversation_key;
      if (isOnceKey(key)) return; // a one-time session, which is deleted soon
      if (!queue.has(key) && perHour.count('all') === 0) queue.add(key, shortened(answered));
    },

    async set(key, title) {
      queue.remove(key);
      const words = title ?? (await wordsAgain(deps, key));
      const by = title !== null ? 'person' : words === null ? null : 'words';
      if (!(await titleStore.set(key, words, by))) return null;
      events.titled(key, words, by);
      return { title: words, title_by: by };
    },

    forget(key) {
      naming.delete(key);
      queue.remove(key);
    },

    async close() {
      isClosed = true;
      await queue.close();
    },
  };
}

/** Masked before it is cut: half a secret would not be recognized. */
async function wordsOf(
  deps: Pick<TitlesDeps, 'knownSecrets'>,
  turn: Parameters<typeof turnRedactor>[1],
  content: Parameters<typeof titleSource>[0],
): Promise<string | null> {
  const source = titleSource(content).trimStart();
  return firstWords(await beginningInSlices(turnRedactor(deps, turn), source, maxMasked));
}

/** The first words of what is still stored of the conversation. */
async function wordsAgain(deps: TitlesDeps, key: string): Promise<string | null> {
  if (deps.settings.titles === 'off') return null;
  for (const { text, attachments, is_public } of await deps.journal.firstMessages(key)) {
    if (findChatCommand(text) !== null) continue;
    const envelope = { public: is_public } as Turn['envelope'];
    const words = await wordsOf(deps, { envelope }, { text, attachments });
    if (words !== null) return words;
  }
  return null;
}

/** Shortens what is queued to the length that a model gets. */
function shortened({ turn, reply, ...answered }: Answered): Answered {
  const text = cutText(titleSource(turn.envelope.content), maxSource);
  return { ...answered, reply: cutText(reply, maxReply), turn: { ...turn, envelope: { ...turn.envelope, content: { text } } } };
}

/** Asks the cheapest engine, then the next when it fails. Only a valid title changes anything. */
async function askModel(deps: TitlesDeps, answered: Answered, signal: AbortSignal): Promise<void> {
  const key = answered.turn.envelope.conversation_key;
  const engines = await enginesByPrice(deps);
  if (engines.length === 0 || !deps.spend.mayPay(answered.identity, answered.turn.envelope)) return;
  const release = deps.titleLane.take();
  if (release === null) return; // taken meanwhile
  try {
    if (!(await deps.titleStore.beginAsking(key))) return;
    const title = await firstSaid(deps, answered, engines, signal);
    if (title === null || signal.aborted) return;
    if (await deps.titleStore.keepSaid(key, title)) deps.events.titled(key, title, 'model');
  } finally {
    release();
  }
}

async function firstSaid(
  deps: TitlesDeps,
  answered: Answered,
  engines: readonly ActiveEngine[],
  signal: AbortSignal,
): Promise<string | null> {
  const { turn, identity, reply } = answered;
  for (const active of engines) {
    const call = { ...titleCall(turn.envelope.content.text, reply), output, limitMs };
    const { said, ending, charge } = await sideCall(deps, active, call, signal);
    deps.events.sideUsageOf(turn, identity, 'title', charge);
    deps.spend.addSideCall(identity, charge.usage.cost_usd, turn.envelope);
    if (ending?.type === 'done') return titleSaid(await textInSlices(turnRedactor(deps, turn), said));
    if (ending?.type !== 'failed' || !deps.engineFallback.stands(ending.failure.code)) return null;
    deps.log.debug({ engine: active.engine.id, code: ending.failure.code }, 'an engine could give no title');
  }
  return null;
}
