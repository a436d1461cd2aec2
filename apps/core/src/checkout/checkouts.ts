import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Checkout, CheckoutRequest, ListedCheckout } from '@svc/contract/checkout.ts';
import { isWithin, type Clock } from '@svc/service-kit/clock.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import { pickEnv } from '@svc/supervisor/child-spec.ts';
import { checkRoom } from '../file/disk-space.ts';
import { evict, makeRoom, usedMirrors } from './checkout-room.ts';
import { openCheckoutStore, type CheckoutStore, type StoredCheckout } from './checkout-store.ts';
import { fetchSettings } from './fetch-settings.ts';
import { faultError } from './git-fault.ts';
import { parseGitUrl, refFault, type GitSource } from './git-source.ts';
import type { CredentialOf } from './instance-credentials.ts';
import { makeTree } from './make-tree.ts';
import { createMirrors, type Mirrors } from './mirrors.ts';
import { reachHost } from './reach-host.ts';
import { createRepositoryQueue, type RepositoryQueue } from './repository-queue.ts';
import { gitEnvNames, type GitHome } from './run-git.ts';
import { listTree } from './tree-listing.ts';

/** The origin of a turn, and what its sender may do. */
export type CheckoutUser = { conversationKey: string; instanceId: string | null; mayWrite: boolean };

/** Copies of git repositories for turns to work in. Each belongs to one conversation, and nobody else works in it. */
export type Checkouts = {
  /**
   * Returns a checkout for the operator (`instanceId` null) or an instance; a conversation that asks again gets the same one.
   * @throws ServiceError that says what is wrong and what to do.
   */
  obtain(request: CheckoutRequest, instanceId: string | null): Promise<Checkout>;
  list(): ListedCheckout[];
  get(id: string): ListedCheckout;
  /** @throws ServiceError `not_found`; `conflict` while a turn or a terminal works in it. */
  remove(id: string): Promise<void>;
  /**
   * The folder for a turn. The first turn binds the checkout to its conversation.
   * @throws ServiceError `unprocessable` when the turn cannot work there.
   */
  forTurn(id: string, user: CheckoutUser): string;
  /** Removes the checkouts of a forgotten conversation. */
  forget(conversationKey: string): Promise<void>;
  /** Removes checkouts that were not used for a week, and mirrors that are no longer needed. */
  sweep(): Promise<void>;
  /** Cancels running fetches. */
  close(): void;
};

type Deps = {
  folder: string;
  settings: Pick<CoreSettings, 'checkoutHosts' | 'checkoutMaxBytes' | 'checkoutsMaxBytes' | 'maxCheckouts'>;
  credentialOf: CredentialOf;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether someone may be at work: a turn of the conversation runs or is queued, or a terminal has claimed it. */
  isBusy(conversationKey: string): boolean;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
  log: Pick<Log, 'info'>;
};
type Service = Deps & { home: GitHome; store: CheckoutStore; mirrors: Mirrors; queue: RepositoryQueue };
type Wanted = { source: GitSource; ref: string | null; credential: string | null; key: string | null; instanceId: string | null };

/** A checkout that is older is fetched again, unless work was done in it. */
const freshMs = 10 * 60_000;
const unusedMs = 7 * 24 * 60 * 60_000;
const fetchTimeoutMs = 150_000;
const maxFiles = 100_000;

export async function openCheckouts(deps: Deps): Promise<Checkouts> {
  const { folder, settings, isBusy, clock } = deps;
  makePrivateDir(folder);
  const store = await openCheckoutStore(folder);
  const closing = new AbortController();
  const home = { folder, env: pickEnv(deps.env, gitEnvNames), signal: closing.signal };
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), home, maxBytes: settings.checkoutMaxBytes });
  const service: Service = { ...deps, home, store, mirrors, queue: createRepositoryQueue() };
  const isIdle = ({ conversation_key: key }: StoredCheckout) => key === null || !isBusy(key);
  const find = (id: string): StoredCheckout => {
    const found = store.find(id);
    if (found === undefined) throw notFound('checkout', id);
    return found;
  };

  return {
    async obtain(request, instanceId) {
      const wanted = toWanted(deps, request, instanceId);
      return service.queue.run({ owner: instanceId ?? '', repository: nameOf(wanted) }, async () => {
        const found = findExisting(service, wanted);
        const isGone = found === undefined || !existsSync(store.treeOf(found.id));
        const isWanted = isGone || request.refresh === true || (isIdle(found) && isStale(found, clock.now()));
        if (!isWanted) return use(service, found);
        try {
          return await refresh(service, wanted, found);
        } finally {
          await mirrors.tidy(nameOf(wanted), usedMirrors(store));
        }
      });
    },
    list: () => store.all().map((checkout) => listed(store, checkout)),
    get: (id) => listed(store, find(id)),
    async remove(id) {
      const found = find(id);
      if (!isIdle(found))
        throw conflict(`A turn or a terminal is working in the checkout ${id}. Wait until it is done, or end it.`);
      await store.remove(id);
    },
    forTurn(id, user) {
      const found = store.find(id);
      if (found === undefined || !isFor(found, user))
        throw new ServiceError(
          'unprocessable',
          `There is no checkout "${id}" for this conversation, so the message was not handled. It may have been removed: request it again.`,
        );
      if (found.conversation_key === null || (user.mayWrite && !found.worked))
        store.keep({ ...found, conversation_key: user.conversationKey, worked: found.worked || user.mayWrite });
      void store.touch(find(id), clock.now()).catch(() => undefined); // without the record, it is swept sooner
      return store.treeOf(id);
    },
    async forget(key) {
      for (const { id, conversation_key } of store.all()) if (conversation_key === key) await store.remove(id);
    },
    async sweep() {
      const before = clock.now() - unusedMs;
      for (const checkout of store.all()) if (checkout.used_at < before && isIdle(checkout)) await store.remove(checkout.id);
      await mirrors.sweep(usedMirrors(store), service.queue.isIdle);
    },
    close: () => closing.abort(),
  };
}

/** @throws ServiceError `bad_request`. */
function toWanted({ settings }: Deps, request: CheckoutRequest, instanceId: string | null): Wanted {
  const parsed = parseGitUrl(request.url, settings.checkoutHosts);
  if (!parsed.ok) throw badRequest(`This URL cannot be checked out: ${parsed.why}.`);
  const ref = request.ref ?? null;
  const fault = ref === null ? null : refFault(ref);
  if (fault !== null) throw badRequest(`This ref cannot be checked out: ${fault}.`);
  const { credential = null, conversation_key: key = null } = request;
  return { source: parsed.source, ref, credential, key, instanceId };
}

/** Mirrors are separate for each credential and instance, so that none exposes what another may see. */
const nameOf = ({ source, credential, instanceId }: Wanted): string => compositeKey(source.url, credential, instanceId);

/** A checkout requested without a conversation is available to the whole instance until a turn works in it. */
const findExisting = ({ store }: Service, { source, ref, credential, key, instanceId }: Wanted): StoredCheckout | undefined =>
  store
    .all()
    .find(
      (one) =>
        one.url === source.url &&
        one.ref === ref &&
        one.credential === credential &&
        one.instance_id === instanceId &&
        one.conversation_key === key,
    );

const isStale = ({ worked, fetched_at }: StoredCheckout, now: number): boolean => !worked && !isWithin(fetched_at, freshMs, now);

const isFor = ({ conversation_key: key, instance_id }: StoredCheckout, user: CheckoutUser): boolean =>
  key === null ? instance_id === user.instanceId : key === user.conversationKey;

async function use({ store, clock }: Service, found: StoredCheckout): Promise<Checkout> {
  await store.touch(found, clock.now());
  return { id: found.id, path: store.treeOf(found.id), sha: found.sha };
}

/** Fetches the commit, and creates the files if the commit is new. */
async function refresh(service: Service, wanted: Wanted, found: StoredCheckout | undefined): Promise<Checkout> {
  const { store, settings, mirrors, clock, folder } = service;
  if (found !== undefined) refuseBusy(service, found);
  else await makeRoom(service, wanted.instanceId);
  await checkRoom(folder, 2 * settings.checkoutMaxBytes);
  const id = found?.id ?? service.ids.next('co');
  const { mirror, sha } = await fetchCommit(service, wanted, id);
  const fetched_at = clock.now();
  if (found !== undefined && found.mirror === mirror && isUntouched(service, found, sha)) {
    store.keep({ ...found, fetched_at });
    return use(service, found);
  }
  const draft = store.draftOf(service.ids.next('draft'));
  try {
    const bytes = await fill(service, wanted, { draft, mirror: mirrors.folderOf(mirror), sha });
    const { source, ref, credential, key, instanceId } = wanted;
    // A conversation may have taken it meanwhile and keeps its files.
    const isOurs = found === undefined || store.find(found.id)?.conversation_key === key;
    if (found !== undefined && isOurs) refuseBusy(service, found);
    const of = { url: source.url, ref, credential, instance_id: instanceId, conversation_key: key };
    const made = { id: isOurs ? id : service.ids.next('co'), ...of, mirror, sha, bytes, fetched_at };
    store.take(draft, { ...made, used_at: fetched_at, worked: false });
    await evict(service, made.id);
    return { id: made.id, path: store.treeOf(made.id), sha };
  } finally {
    await store.dropDraft(draft);
  }
}

/** Whether the checkout is unchanged since the fetch began, and has the files of this commit. */
function isUntouched({ store }: Service, found: StoredCheckout, sha: string): boolean {
  const now = store.find(found.id);
  return now === found && !found.worked && found.sha === sha && existsSync(store.treeOf(found.id));
}

async function fetchCommit(service: Service, wanted: Wanted, id: string): Promise<{ mirror: string; sha: string }> {
  const { source, ref, credential, instanceId } = wanted;
  const reached = await reachHost(source);
  if (!reached.ok && reached.why === 'unknown')
    throw faultError({ why: 'unreachable', text: 'its host is unknown' }, { url: source.url, ref });
  if (!reached.ok)
    throw badRequest(`${source.url} is in a private network. The operator can allow its host: SVC_CHECKOUT_HOSTS=${source.host}`);
  const secret = credential === null ? null : await service.credentialOf(credential, { instanceId, to: source });
  const fetched = await service.mirrors.fetch({
    key: nameOf(wanted),
    url: source.url,
    ref: ref ?? 'HEAD',
    id,
    protocols: source.scheme,
    settings: fetchSettings(source, reached.addresses, secret),
    timeoutMs: fetchTimeoutMs,
  });
  if (!fetched.ok) throw faultError(fetched.fault, { url: source.url, ref });
  return fetched;
}

async function fill(
  { home, settings }: Service,
  { source, ref }: Wanted,
  to: { draft: string; mirror: string; sha: string },
): Promise<number> {
  const { draft, mirror, sha } = to;
  const at = { url: source.url, ref };
  const listing = await listTree({ dir: mirror, sha, home }, { files: maxFiles, bytes: settings.checkoutMaxBytes });
  if (!listing.ok) throw faultError(listing.fault, at);
  const fault = await makeTree(draft, { mirror, sha, url: source.url, home });
  if (fault !== null) throw faultError(fault, at);
  return listing.bytes;
}

function refuseBusy({ isBusy }: Service, { id, conversation_key: key }: StoredCheckout): void {
  if (key !== null && isBusy(key))
    throw conflict(
      `A turn or a terminal is working in the checkout ${id}, so it cannot be refreshed now. Try again when it is done.`,
    );
}

function listed(store: CheckoutStore, { mirror: _mirror, worked: _worked, ...rest }: StoredCheckout): ListedCheckout {
  return { ...rest, path: store.treeOf(rest.id) };
}
