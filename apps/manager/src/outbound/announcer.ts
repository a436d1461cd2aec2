import type { AnnounceRequest, HeldAnnouncement } from '@svc/contract/send.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceService } from '../instance/instance-service.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import type { AnnouncementStore } from './announcement-store.ts';
import { checkMessage } from './check-message.ts';
import type { Deliver } from './deliverer.ts';
import { findInstance } from './find-instance.ts';

type Deps = {
  instances: Pick<InstanceService, 'list'>;
  types: ConnectorTypes;
  store: AnnouncementStore;
  supervisor: Pick<InstanceSupervisor, 'aliveRunOf' | 'onAlive'>;
  deliver: Deliver;
  ids: Ids;
  clock: Clock;
  log: Pick<Log, 'warn' | 'error'>;
};

const dayMs = 24 * 60 * 60_000;
/** Older news would only confuse; as long again the operator can see that it did not arrive. */
const expiryMs = 7 * dayMs;
const sweepEveryMs = 60 * 60_000;
const maxPerInstance = 100;
const maxAll = 1_000;
const backOff = { firstMs: 2_000, maxMs: 5 * 60_000 };

export type Announcer = ReturnType<typeof createAnnouncer>;

/**
 * `POST /announce`: messages for after the next restart of an instance, or its next return from silence. Kept in the
 * database until the channel has them, in order for each instance. Every attempt has the same id, so that one whose end
 * nobody saw is not shown twice.
 */
export function createAnnouncer({ instances, types, store, supervisor, deliver, ids, clock, log }: Deps) {
  const waiting = new Set<string>();
  const working = new Set<string>();
  /** Pauses after a failure, and in which run it was. */
  const pauses = new Map<string, { run: string | null; cancel: () => void }>();
  let isClosed = false;

  /** Called with every heartbeat, so it asks the database only where something waits. */
  function wake(instanceId: string): void {
    if (isClosed || !waiting.has(instanceId) || working.has(instanceId)) return;
    const pause = pauses.get(instanceId);
    if (pause !== undefined && pause.run === supervisor.aliveRunOf(instanceId)) return;
    // An instance that has come back meanwhile is worth a try at once.
    pause?.cancel();
    pauses.delete(instanceId);
    working.add(instanceId);
    work(instanceId)
      .catch((error: unknown) => {
        log.error({ instance: instanceId, err: error }, `announcements are not delivered: ${errorText(error)}`);
        wakeLater(instanceId, backOff.firstMs);
      })
      .finally(() => working.delete(instanceId));
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

  /** True when this one is settled. */
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
    if (!held.some(({ state }) => state === 'waiting')) waiting.delete(instanceId);
  }

  const sweep = () => store.sweep(clock.now(), expiryMs);
  const stopSweep = clock.every(sweepEveryMs, () => {
    sweep().catch((error: unknown) => log.error({ err: error }, 'expired announcements could not be taken off the list'));
  });
  supervisor.onAlive(wake);

  return {
    /** What an earlier manager held is held again. Before the instances are started. */
    async open(): Promise<void> {
      await sweep();
      for (const instanceId of await store.waitingInstances()) waiting.add(instanceId);
    },

    /** Safe in the database when it resolves. Throws `not_found`, `conflict`, `bad_request` or `queue_full`. */
    async announce(request: AnnounceRequest): Promise<HeldAnnouncement> {
      const metaOf = (type: string) => types.find(type)?.meta ?? null;
      const instance = findInstance(request, await instances.list(), metaOf);
      const outbound = metaOf(instance.type)?.outbound ?? false;
      const { target } = checkMessage(
        { ...request, kind: 'text' },
        outbound === false ? { kinds: [], target: { required: false, label: '' } } : outbound,
      );
      const { held, own } = await store.counts(instance.id);
      if (own >= maxPerInstance || held >= maxAll)
        throw queueFull(`${own} announcements wait for "${instance.id}", ${held} in all; more are not taken.`, 60);
      const now = clock.now();
      const added = {
        id: ids.next('ann'),
        instance_id: instance.id,
        target,
        text: request.text,
        created_at: now,
        expires_at: now + expiryMs,
      };
      // In the run that is well now it is not delivered; when none is, any run may.
      await store.add({ ...added, posted_in: supervisor.aliveRunOf(instance.id) ?? '' });
      waiting.add(instance.id);
      return { ...added, state: 'waiting', attempts: 0, error: null };
    },

    listOf: (instanceId: string) => store.listOf(instanceId),

    close(): void {
      isClosed = true;
      stopSweep();
      for (const { cancel } of pauses.values()) cancel();
    },
  };
}
