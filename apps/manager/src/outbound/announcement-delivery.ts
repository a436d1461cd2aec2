import type { HeldAnnouncement } from '@svc/contract/send.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import type { AnnouncementStore } from './announcement-store.ts';
import type { Deliver } from './deliverer.ts';

type Deps = {
  store: AnnouncementStore;
  supervisor: Pick<InstanceSupervisor, 'aliveRunOf' | 'onAlive'>;
  deliver: Deliver;
  /** Marks expired announcements. */
  sweep(): Promise<void>;
  clock: Clock;
  log: Pick<Log, 'error'>;
};

/** Delivers held announcements to their channels, those of one instance in order, whenever the instance is alive. */
export type AnnouncementDelivery = {
  /** An announcement is held for this instance. */
  hold(instanceId: string): void;
  close(): void;
};

const backOff = { firstMs: 2_000, maxMs: 5 * 60_000 };

export function createAnnouncementDelivery({ store, supervisor, deliver, sweep, clock, log }: Deps): AnnouncementDelivery {
  const waiting = new Set<string>();
  const working = new Set<string>();
  /** Woken while working: what it read may have changed since, and the next heartbeat is half a minute away. */
  const wokenAgain = new Set<string>();
  /** Pauses after a failure, with the run in which it happened. */
  const pauses = new Map<string, { run: string | null; cancel: () => void }>();
  let isClosed = false;

  /** Called with every heartbeat, so it reads the database only if something is waiting. */
  function wake(instanceId: string): void {
    if (isClosed || !waiting.has(instanceId)) return;
    if (working.has(instanceId)) return void wokenAgain.add(instanceId);
    const pause = pauses.get(instanceId);
    if (pause !== undefined && pause.run === supervisor.aliveRunOf(instanceId)) return;
    // The instance has been restarted since the failure, so try at once.
    pause?.cancel();
    pauses.delete(instanceId);
    working.add(instanceId);
    work(instanceId)
      .catch((error: unknown) => {
        log.error({ instance: instanceId, err: error }, `announcements cannot be delivered: ${errorText(error)}`);
        wakeLater(instanceId, backOff.firstMs);
      })
      .finally(() => {
        working.delete(instanceId);
        if (wokenAgain.delete(instanceId)) wake(instanceId);
      });
  }

  async function work(instanceId: string): Promise<void> {
    for (;;) {
      const run = supervisor.aliveRunOf(instanceId);
      if (run === null || isClosed) return;
      const next = await store.next(instanceId, run);
      if (next === undefined) return forgetIfEmpty(instanceId);
      const tried = { ...next, attempts: next.attempts + 1 };
      await store.note(tried);
      if (!(await attempt(tried))) return wakeLater(instanceId, backOffMs(backOff, tried.attempts));
    }
  }

  /** True when this announcement is delivered, or has failed for good. */
  async function attempt(held: HeldAnnouncement): Promise<boolean> {
    const { id, instance_id: instanceId, target, text } = held;
    if (clock.now() >= held.expires_at) {
      await sweep();
      return true;
    }
    const tried = await deliver(instanceId, { id, target, kind: 'text', text });
    if (tried.ok) {
      await store.remove(id);
      return true;
    }
    const isFinal = tried.error instanceof ServiceError && tried.error.code === 'unprocessable';
    await store.note({ ...held, state: isFinal ? 'failed' : 'waiting', error: tried.error.message });
    return isFinal;
  }

  function wakeLater(instanceId: string, ms: number): void {
    if (isClosed) return;
    const cancel = clock.after(ms, () => {
      pauses.delete(instanceId);
      wake(instanceId);
    });
    pauses.set(instanceId, { run: supervisor.aliveRunOf(instanceId), cancel });
  }

  async function forgetIfEmpty(instanceId: string): Promise<void> {
    const held = await store.listOf(instanceId);
    // Woken again means that one may have been added since.
    if (!wokenAgain.has(instanceId) && !held.some(({ state }) => state === 'waiting')) waiting.delete(instanceId);
  }

  supervisor.onAlive(wake);
  return {
    hold(instanceId) {
      waiting.add(instanceId);
      // The instance may have come alive while the announcement was stored.
      wake(instanceId);
    },
    close() {
      isClosed = true;
      for (const { cancel } of pauses.values()) cancel();
    },
  };
}
