import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { Journal } from './journal.ts';
import { inSeconds, type Outcome } from './update-outcome.ts';

/** Reports the progress of an update to the collector, under the session `self-update:<time>`. It never delays an update or makes it fail. */
export type ProgressEvents = {
  phase(journal: Journal): void;
  /** Reports work besides the phases; `id`: of the update, when no phase has begun. */
  note(id: string, text: string): void;
  end(outcome: Outcome): void;
  /** Sends the collector the events that it missed while it was down, within this time. */
  close(withinMs: number): Promise<void>;
};

type Place = { url: () => string; token: Secret | null; now(): number };
type Event = Pick<TelemetryEvent, 'id' | 'ts' | 'kind' | 'session' | 'text' | 'payload'>;

const askMs = 2000;
const againMs = 500;

export function createProgressEvents({ url, token, now }: Place): ProgressEvents {
  const open: Event[] = [];
  let session: string | null = null;
  let sending: Promise<boolean> | null = null;

  const send = async (): Promise<boolean> => {
    const events = [...open];
    try {
      const { status } = await requestJson(`${url()}/ingest`, { body: events, token, timeoutMs: askMs });
      if (status !== 200) return false;
      open.splice(0, events.length);
      return true;
    } catch {
      return false; // it is away: they are sent with the next ones
    }
  };
  const flush = (): Promise<boolean> => (sending ??= send().finally(() => (sending = null)));
  const note = (text: string, payload: Record<string, unknown>): void => {
    if (session === null) return;
    open.push({ id: `upd_${randomUUID()}`, ts: now(), kind: 'progress', session, text, payload });
    void flush();
  };
  return {
    phase({ id, phase, from, to }) {
      session ??= `self-update:${id}`;
      note(`Update from ${from.name} to ${to.name}: ${phase}`, { phase, from: from.commit, to: to.commit });
    },
    note(id, text) {
      session ??= `self-update:${id}`;
      note(text, { phase: 'agent' });
    },
    // The reason for a failure may contain any text, so it appears only in the status.
    end: ({ code, gapMs }) => note(endWords(code, gapMs), { phase: 'ended', code, gap_ms: gapMs ?? null }),
    async close(withinMs) {
      const until = performance.now() + withinMs;
      while (open.length > 0 && !(await flush()) && performance.now() < until) await sleep(againMs);
    },
  };
}

const endWords = (code: number, gapMs: number | undefined): string =>
  `Update ended with ${code}${gapMs === undefined ? '' : `, the core was unavailable for ${inSeconds(gapMs)}`}`;
