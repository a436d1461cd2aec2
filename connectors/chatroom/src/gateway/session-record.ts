import type { SessionInfo } from '@discordjs/ws';
import type { ConnectorState, StartContext, StateValue } from '@svc/connector-kit';
import { isRecord } from '@svc/contract/json-value.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** How far the events of the gateway were taken. */
export type Passed = { sessionId: string; sequence: number; at: number };

/** The session of the gateway, over restarts: with its last event that is safe, so that a next process is given what came behind it. */
export type SessionRecord = {
  /** As this process goes on with it. */
  current(): SessionInfo | null;
  change(session: SessionInfo | null): void;
  /** Nothing was taken before, so nothing that is older than this moment was missed. */
  begin(): void;
  /** Messages were missed after the last one that was taken. It is kept with the session until they are taken, so that a next process looks for them, too. */
  behind(): void;
  caughtUp(): void;
  /** Since when messages were missed, epoch ms; null while none were. */
  behindSince(): number | null;
  passed(passed: Passed): void;
  /** When the last event was that was taken, epoch ms; null for never. */
  lastAt(): number | null;
  /** Resolves when it is written. */
  flush(): Promise<void>;
};

type Deps = { state: ConnectorState; log: StartContext['log']; clock: Clock; botId: string };
type Kept = { botId: string; session: SessionInfo | null; at: number | null; since: number | null };

const key = 'gateway';
/** A process that is killed has taken what came within this time, and is given it again, ms. */
const writeEveryMs = 1000;

export async function openSessionRecord({ state, log, clock, botId }: Deps): Promise<SessionRecord> {
  const kept = toKept(await state.get(key), botId);
  let live = kept.session;
  let at = kept.at;
  /** Of the live session: its last event that is safe. */
  let sequence = kept.session?.sequence ?? 0;
  let { since } = kept;
  let isWaiting = false;
  let writing = Promise.resolve();

  const safe = (): Kept => ({ botId, session: live === null ? null : { ...live, sequence }, at, since });
  const write = (): Promise<void> => {
    isWaiting = false;
    writing = writing
      .then(() => state.set(key, safe() as StateValue))
      .catch((error: unknown) =>
        log('warn', "the position in the gateway's event stream could not be saved", { error: errorText(error) }),
      );
    return writing;
  };
  const writeSoon = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    clock.after(writeEveryMs, () => void (isWaiting && write()));
  };

  return {
    current: () => live,
    change(session) {
      const isOther = session?.sessionId !== live?.sessionId;
      live = session;
      if (!isOther) return;
      sequence = session?.sequence ?? 0;
      void write();
    },
    begin() {
      at = clock.now();
      void write();
    },
    behind() {
      // A time in the future was stored while the clock was ahead: messages until then would be missed.
      since ??= Math.min(at ?? Infinity, clock.now());
      void write();
    },
    caughtUp() {
      since = null;
      writeSoon();
    },
    behindSince: () => (since === null ? null : Math.min(since, clock.now())),
    passed(passed) {
      if (passed.sessionId === live?.sessionId) sequence = Math.max(sequence, passed.sequence);
      at = Math.max(passed.at, at ?? 0);
      writeSoon();
    },
    lastAt: () => at,
    flush: write,
  };
}

function toKept(value: unknown, botId: string): Kept {
  const nothing = { botId, session: null, at: null, since: null };
  if (!isRecord(value) || value['botId'] !== botId) return nothing;
  const { session, at, since } = value;
  return { botId, session: isSession(session) ? session : null, at: toTime(at), since: toTime(since) };
}

const toTime = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const isSession = (value: unknown): value is SessionInfo =>
  isRecord(value) &&
  typeof value['sessionId'] === 'string' &&
  typeof value['resumeURL'] === 'string' &&
  /^wss?:\/\//.test(value['resumeURL']) &&
  Number.isSafeInteger(value['sequence']) &&
  value['shardId'] === 0 &&
  Number.isSafeInteger(value['shardCount']);
