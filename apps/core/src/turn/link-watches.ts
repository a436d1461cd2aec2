import type { SessionRequest } from '@svc/contract/link.ts';
import type { Tier } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Peer } from '@svc/service-kit/connector-pass.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import { maskedMember, type MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { badRequest, notFound, queueFull, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { Parcel } from '../watch/parcels.ts';
import { checkAccess, resolveAsker } from '../watch/session-access.ts';
import type { LinkRoom } from './link-room.ts';
import type { Pipeline } from './pipeline.ts';

type Deps = {
  trust: Pick<TrustService, 'resolve' | 'onChange'>;
  sessions: Pick<SessionStore, 'read'>;
  pipeline: Pick<Pipeline, 'watch'>;
  clock: Pick<Clock, 'every'>;
};

export type LinkWatchOptions = {
  /** While much is unread, frames wait in their ring. */
  link: LinkRoom;
  /** Writes a line of the link. */
  write(json: MaskedJson): void;
  refuse(id: number, why: ServiceError): void;
};

type WatchRequest = Extract<SessionRequest, { op: 'watch' }>;
/** `leave` is null until the watcher's access is checked. `tier`: the watcher's at the last check; null before. */
type LinkWatch = { request: WatchRequest; peer: Peer; leave: (() => void) | null; tier: Tier | null };

/** What one link watches. New frames leave only after it has read most of the earlier ones: turns use the same link. */
export interface LinkWatches {
  /** @throws ServiceError. */
  begin(peer: Peer, request: WatchRequest): Promise<void>;
  end(id: number): void;
  close(): void;
}

/** Most watches with frames, and as many without: each device of a gateway has one of both. */
const maxWatches = 2048;
/** A grant can expire without a change of trust, so the tiers of watchers are checked this often, ms. */
const lookEveryMs = 5_000;

export function createLinkWatches(deps: Deps, { link, write, refuse }: LinkWatchOptions): LinkWatches {
  const watches = new Map<number, LinkWatch>();
  let stopJudging: (() => void) | null = null;

  const end = (id: number): void => {
    const watch = watches.get(id);
    watches.delete(id);
    watch?.leave?.();
    if (watches.size > 0) return;
    stopJudging?.();
    stopJudging = null;
  };
  const countLike = (request: WatchRequest): number =>
    [...watches.values()].filter((watch) => showsFrames(watch.request) === showsFrames(request)).length;
  const refuseWatch = (id: number, why: ServiceError): void => {
    if (!watches.has(id)) return;
    end(id);
    refuse(id, why);
  };

  const check = (peer: Peer, request: WatchRequest): Promise<unknown> =>
    showsFrames(request) ? checkAccess(deps, peer, request) : resolveAsker(deps, peer, request.as, request.conversation_key);

  /** Trust has changed: a watcher who may no longer see a conversation gets no further frame of it. */
  const judge = (): void => {
    for (const { request, peer } of watches.values()) {
      check(peer, request).catch((error: unknown) => refuseWatch(request.id, toServiceError(error)));
    }
  };

  const look = async (watch: LinkWatch): Promise<void> => {
    const { peer, request } = watch;
    const { trust_tier: tier } = await resolveAsker(deps, peer, request.as, request.conversation_key);
    if (tier === watch.tier) return;
    await check(peer, request);
    watch.tier = tier;
  };
  const lookAtAll = (): void => {
    for (const [id, watch] of watches) look(watch).catch((error: unknown) => refuseWatch(id, toServiceError(error)));
  };
  const startJudging = (): (() => void) => {
    const stops = [deps.trust.onChange(judge), deps.clock.every(lookEveryMs, lookAtAll)];
    return () => stops.forEach((stop) => stop());
  };

  const put = (json: MaskedJson): void => {
    link.wrote(json.length);
    write(json);
  };
  const send = (id: number, { lines }: Parcel): void => {
    for (const { json } of lines) put(maskedMember(id, 'seen', json));
  };

  const room = (id: number): Promise<boolean> | null =>
    link.room()?.then((hasRoom) => {
      if (!hasRoom) refuseWatch(id, tooSlow());
      return hasRoom && watches.has(id);
    }) ?? null;

  return {
    async begin(peer, request) {
      const { id, conversation_key: key, after = null } = request;
      if (watches.has(id)) throw badRequest(`The request ${id} is already watching a conversation.`);
      if (countLike(request) >= maxWatches) throw queueFull(`A link watches ${maxWatches} conversations at most.`);
      const watch: LinkWatch = { request, peer, leave: null, tier: null };
      watches.set(id, watch);
      stopJudging ??= startJudging();
      try {
        await check(peer, request);
        if (watches.get(id) !== watch || !showsFrames(request)) return; // ended meanwhile, or nothing is shown
        const watcher = {
          send: (parcel: Parcel) => watches.get(id) === watch && send(id, parcel),
          room: () => room(id),
          failed: () => refuseWatch(id, unavailable('The frames of this conversation could not be written. Watch it again.')),
          // A new conversation of this key may belong to someone else.
          forgotten: () => refuseWatch(id, notFound('session', key)),
        };
        watch.leave = deps.pipeline.watch(key, watcher, after);
      } catch (error) {
        if (watches.get(id) === watch) end(id);
        throw error;
      }
    },
    end,
    close() {
      for (const id of watches.keys()) end(id);
    },
  };
}

const showsFrames = ({ frames = true }: WatchRequest): boolean => frames;

const tooSlow = () =>
  new ServiceError(
    'busy',
    'The frames of this conversation were not read for 30 s. Watch it again from the last frame that arrived.',
  );
