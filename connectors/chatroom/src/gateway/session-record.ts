import type { SessionInfo } from '@discordjs/ws';
import type { ConnectorState, StartContext, StateValue } from '@svc/connector-kit';
import { isRecord } from '@svc/contract/json-value.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** The position in the gateway's events up to which they are safe. */
export type Passed = { sessionId: string; sequence: number; at: number };

/** The gateway session, kept across restarts with its last safe event, so that the next process receives the events after it. */
export type SessionRecord = {
  /** The session as this process would resume it. */
  current(): SessionInfo | null;
  change(session: SessionInfo | null): void;
  /** Nothing was received before, so nothing from before this moment was missed. */
  begin(): void;
  /**
   * Messages after the last received one were missed. Stored with the session until they have been read, so that the next process looks for
   * them too.
   */
  behind(): void;
  caughtUp(): void;
  /** Time from which messages were missed, epoch ms; null when none were. */
  behindSince(): number | null;
  passed(passed: Passed): void;
  /** Time of the last event received, epoch ms; null for none. */
  lastAt(): number | null;
  /** Resolves when the record is stored. */
  flush(): Promise<void>;
};

type Deps = { state: ConnectorState; log: StartContext['log']; clock: Clock; botId: string };
type Kept = { botId: string; session: SessionInfo | null; at: number | null; since: number | null };

const key = 'gateway';
/** How long after an event the record may be stored, ms: after a kill, the events of that time are received again. */
const writeEveryMs = 1000;

export async function openSessionRecord({ state, log, clock, botId }: Deps): Promise<SessionRecord> {
  const kept = toKept(await state.get(key), botId);
  let live = kept.session;
  let at = kept.at;
  /** The last safe event of the live session. */
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
