import { setTimeout as pause } from 'node:timers/promises';
import { createCarefulTime } from '@svc/service-kit/careful-time.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CollectorSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { EventCursor } from '../event/event-store.ts';
import { removeEvents } from '../event/remove-events.ts';
import { keepFact, readFact } from '../fact/facts.ts';
import type { SearchThread } from '../search/search-thread.ts';
import { dropSamples } from '../system/system-store.ts';
import { forgetTranscripts, type TranscriptCursor } from '../transcript/forget-transcripts.ts';
import { retentionPlan, sampleKind, type RetentionPass } from './retention-plan.ts';

type Deps = {
  db: Pick<Database, 'all' | 'get' | 'run'>;
  settings: Pick<CollectorSettings, 'retentionDays' | 'retentionDaysByKind'>;
  searchThread: Pick<SearchThread, 'ask'>;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
};

type Run = Deps & { at: number };

export type Retention = {
  /** Removes everything that is too old now. Never rejects. */
  run(): Promise<void>;
  /** One line for /health; null if the last run succeeded. */
  fault(): string | null;
  close(): void;
};

const firstMs = 10 * 60_000;
const everyMs = 3_600_000;
const dayMs = 24 * 3_600_000;
/** Small steps with pauses, so that new events need not wait. */
const sliceEvents = 200;
const pauseMs = 20;
/** The rest of the transcripts is left to the next run. */
const transcriptsPerRun = 5000;
const firstTranscript: TranscriptCursor = { last_at: 0, file: '' };

/**
 * Once an hour, removes events that are older than their kind is kept, and the rows of transcripts that no longer exist.
 * Sums, sessions and the audit log stay.
 */
export function createRetention(deps: Deps): Retention {
  const { settings, clock, log } = deps;
  const passes = retentionPlan(settings.retentionDays, settings.retentionDaysByKind);
  // Events that stay are not read again every hour, except those of the last day, where some may have arrived late.
  const cursors = new Map<RetentionPass, number>();
  let transcriptCursor = firstTranscript;
  let running: Promise<void> | null = null;
  let fault: string | null = null;
  let isClosed = false;

  const carefulTime = createCarefulTime(clock);
  const timeOfRun = async (): Promise<number> => {
    const at = carefulTime(await readFact(deps.db, 'retention_at'));
    const now = clock.now();
    if (at < now)
      log.warn({ clock: now, used: at }, 'the clock is far ahead of the last clean-up; old events are removed step by step');
    await keepFact(deps.db, 'retention_at', at);
    return at;
  };
  const runOnce = async () => {
    try {
      let removed = 0;
      const run = { ...deps, at: await timeOfRun() };
      for (const pass of passes) removed += await runPass(run, pass, cursors, () => isClosed);
      await removeSamples(run, () => isClosed);
      transcriptCursor = await runTranscripts(run, transcriptCursor, () => isClosed);
      if (removed > 0) log.info({ removed }, 'events past their retention were removed');
      fault = null;
    } catch (error) {
      if (isClosed) return;
      log.warn({ err: errorText(error) }, 'old events could not be removed');
      fault = `Old events cannot be removed: ${errorText(error)}`;
    } finally {
      running = null;
    }
  };
  const run = () => (isClosed ? Promise.resolve() : (running ??= runOnce()));
  const cancels = [clock.after(firstMs, () => void run()), clock.every(everyMs, () => void run())];
  return {
    run,
    fault: () => fault,
    close() {
      isClosed = true;
      for (const cancel of cancels) cancel();
    },
  };
}

async function runPass(
  { db, searchThread, log, at }: Run,
  pass: RetentionPass,
  cursors: Map<RetentionPass, number>,
  isClosed: () => boolean,
): Promise<number> {
  const before = at - pass.days * dayMs;
  const isOwn = (kind: string) => pass.kinds.includes(kind) !== pass.isAllBut;
  let late = Number.POSITIVE_INFINITY;
  let cursor: EventCursor = { ts: (cursors.get(pass) ?? 0) - dayMs, seq: 0 };
  let count = 0;
  // If this fails, the index still contains the words of removed events; these are counted but not shown.
  const removeFromIndex = (seqs: number[]) =>
    searchThread.ask({ type: 'remove', seqs }).catch((error: unknown) => {
      if (!isClosed()) log.warn({ err: errorText(error) }, 'removed events could not be removed from the search index');
    });
  while (!isClosed()) {
    const slice = await removeEvents(db, isOwn, cursor, before, sliceEvents);
    if (slice === null) break;
    ({ cursor } = slice);
    count += slice.removed.length;
    late = Math.min(late, slice.late ?? late);
    if (slice.removed.length > 0) await removeFromIndex(slice.removed);
    await pause(pauseMs);
  }
  // Events that stay because they arrived late are read again until they are old enough.
  cursors.set(pass, Math.min(cursor.ts, late));
  return count;
}

async function removeSamples({ db, settings, at }: Run, isClosed: () => boolean): Promise<void> {
  const days = settings.retentionDaysByKind[sampleKind] ?? settings.retentionDays;
  if (days === 0) return;
  while (!isClosed() && (await dropSamples(db, at - days * dayMs, sliceEvents)) === sliceEvents) await pause(pauseMs);
}

/** Continues where the last run ended, and returns the cursor for the next one. */
async function runTranscripts(
  { db, settings, at }: Run,
  from: TranscriptCursor,
  isClosed: () => boolean,
): Promise<TranscriptCursor> {
  const before = at - settings.retentionDays * dayMs;
  let cursor = from;
  for (let looked = 0; settings.retentionDays > 0 && looked < transcriptsPerRun && !isClosed(); looked += sliceEvents) {
    const slice = await forgetTranscripts(db, cursor, before, sliceEvents);
    if (slice === null) return firstTranscript;
    ({ cursor } = slice);
    await pause(pauseMs);
  }
  return cursor;
}
