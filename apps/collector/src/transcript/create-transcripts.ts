import { realpathSync } from 'node:fs';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CollectorSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import { keepFirstFact } from '../fact/facts.ts';
import { readTranscript, type ReaderDeps } from './read-transcript.ts';
import type { TranscriptRoot } from '@svc/service-kit/transcript/transcript-roots.ts';
import type { TranscriptStore } from './transcript-store.ts';
import { watchTranscripts } from './watch-transcripts.ts';

type Deps = Pick<ReaderDeps, 'coreKeyOf' | 'onChanged'> & {
  db: SqliteDatabase;
  store: TranscriptStore;
  settings: Pick<CollectorSettings, 'transcripts' | 'dataDir' | 'insightsToken' | 'insightsControlToken' | 'managerToken'>;
  roots: readonly TranscriptRoot[];
  clock: Clock;
  log: Pick<Log, 'warn'>;
  submit: (events: PartialEvent[]) => Promise<unknown>;
};

export type Transcripts = {
  /** Resolves when all existing transcripts were read. Never rejects. */
  start(): Promise<void>;
  /** One line for /health; null without a fault. */
  fault(): string | null;
  close(): Promise<void>;
};

const none: Transcripts = { start: async () => undefined, fault: () => null, close: async () => undefined };

/** Follows the conversations of people with engines in their own terminals, by the transcripts that the engines keep. */
export function createTranscripts(deps: Deps): Transcripts {
  const { db, store, settings, roots, clock, log, submit, coreKeyOf, onChanged } = deps;
  if (settings.transcripts === 'off' || roots.length === 0) return none;
  let redactor: Promise<Redactor> | null = null;
  const reader: ReaderDeps = {
    store,
    submit: settings.transcripts === 'follow' ? submit : null,
    coreKeyOf,
    onChanged,
    redactor: () => (redactor ??= makeRedactor(settings)),
    identity: userName(),
    // Engines report the real path of their folder.
    dataDirs: [settings.dataDir, realpathSync(settings.dataDir)],
    clock,
  };
  let from: Promise<number> | null = null;
  // Tried again after a failure; otherwise a full disk at the start would stop the reading for good.
  const lookedFirst = (): Promise<number> =>
    (from ??= firstLook(db).catch((error: unknown) => {
      from = null;
      throw error;
    }));
  const warn = (text: string) => log.warn({ err: text }, 'transcripts could not be read');
  const watcher = watchTranscripts({
    roots,
    clock,
    read: async (found) => readTranscript(reader, found, await lookedFirst()),
    warn,
  });
  return {
    async start() {
      await lookedFirst().catch((error: unknown) => warn(errorText(error)));
      await watcher.start();
    },
    fault: () => watcher.fault(),
    close: () => watcher.close(),
  };
}

/** The rules are loaded only when there is something to report. */
async function makeRedactor({ insightsToken, insightsControlToken, managerToken }: Deps['settings']): Promise<Redactor> {
  const { createRedactor } = await import('@svc/service-kit/redaction/redactor.ts');
  const tokens = [insightsToken, insightsControlToken, managerToken].flatMap((token) => (token === null ? [] : [token.reveal()]));
  return createRedactor(tokens);
}

const fileTickMs = 20;

/** When transcripts were first read (epoch ms). Older content is listed, but not reported as events. */
async function firstLook(db: SqliteDatabase): Promise<number> {
  // By the clock of the files, which lags by up to one tick of the kernel.
  const now = Date.now() - fileTickMs;
  return keepFirstFact(db, 'transcripts_from', now);
}
