import type { AnnounceRequest, HeldAnnouncement } from '@svc/contract/send.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { notFound, queueFull } from '@svc/service-kit/service-error.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceService } from '../instance/instance-service.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { createAnnouncementDelivery } from './announcement-delivery.ts';
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
  log: Pick<Log, 'error'>;
};

/**
 * `POST /announce`: messages to send after the next restart of an instance, or when its heartbeat returns. Kept in the
 * database until the channel has them, in order for each instance. Every attempt has the same id, so that one with an
 * unknown outcome is not shown twice.
 */
export type Announcer = {
  /** Loads what an earlier manager held. Must be called before the instances are started. */
  open(): Promise<void>;
  /** Stored when it resolves. Throws `not_found`, `conflict`, `bad_request` or `queue_full`. */
  announce(request: AnnounceRequest): Promise<HeldAnnouncement>;
  listOf(instanceId: string): Promise<HeldAnnouncement[]>;
  /** Deletes one. If it is being sent at this moment, it may still arrive. Throws `not_found`. */
  drop(instanceId: string, id: string): Promise<void>;
  close(): void;
};

const dayMs = 24 * 60 * 60_000;
/** Older news would only confuse. For as long again, the operator can see that it did not arrive. */
const expiryMs = 7 * dayMs;
const sweepEveryMs = 60 * 60_000;
const maxPerInstance = 100;
const maxAll = 1_000;

export function createAnnouncer({ instances, types, store, supervisor, deliver, ids, clock, log }: Deps): Announcer {
  const sweep = () => store.sweep(clock.now(), expiryMs);
  const delivery = createAnnouncementDelivery({ store, supervisor, deliver, sweep, clock, log });
  const stopSweep = clock.every(sweepEveryMs, () => {
    sweep().catch((error: unknown) => log.error({ err: error }, 'expired announcements could not be removed'));
  });

  /** The instance and the target there. */
  async function placeOf(request: AnnounceRequest): Promise<{ instance_id: string; target: string }> {
    const metaOf = (type: string) => types.find(type)?.meta ?? null;
    const instance = findInstance(request, await instances.list(), metaOf);
    const outbound = metaOf(instance.type)?.outbound ?? false;
    const { target } = checkMessage(
      { ...request, kind: 'text' },
      outbound === false ? { kinds: [], target: { required: false, label: '' } } : outbound,
    );
    return { instance_id: instance.id, target };
  }

  async function checkRoom(instanceId: string): Promise<void> {
    const { held, own } = await store.counts(instanceId);
    if (own >= maxPerInstance || held >= maxAll)
      throw queueFull(
        `${own} announcements are waiting for "${instanceId}" (${held} in all), which is the limit. Try again later.`,
        60,
      );
  }

  return {
    async open() {
      await sweep();
      for (const instanceId of await store.waitingInstances()) delivery.hold(instanceId);
    },
    async announce(request) {
      const place = await placeOf(request);
      await checkRoom(place.instance_id);
      const now = clock.now();
      const added = { id: ids.next('ann'), ...place, text: request.text, created_at: now, expires_at: now + expiryMs };
      // Not delivered in the run that is alive now; if there is none, any run may deliver it.
      await store.add({ ...added, posted_in: supervisor.aliveRunOf(place.instance_id) ?? '' });
      delivery.hold(place.instance_id);
      return { ...added, state: 'waiting', attempts: 0, error: null };
    },
    listOf: (instanceId) => store.listOf(instanceId),
    async drop(instanceId, id) {
      if (!(await store.take(instanceId, id))) throw notFound('announcement', id);
    },
    close() {
      stopSweep();
      delivery.close();
    },
  };
}
