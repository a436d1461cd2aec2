import type { ErasedConversation, Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import type { Principal } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { conflict, errorText, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { Terminals } from '../terminal/terminals.ts';
import type { TrustAdmin } from '../trust/trust-admin.ts';
import type { Erasure, ErasureStore } from './erasure-store.ts';
import type { Traces } from './traces.ts';
import { whatStays } from './what-stays.ts';

type Deps = {
  store: ErasureStore;
  trustAdmin: Pick<TrustAdmin, 'readPrincipal' | 'updatePrincipal' | 'deletePrincipal' | 'whyKept'>;
  /** Whether the seed file of trust lists the person, so that the next start would create them again. @throws when it cannot be read */
  isSeeded(principal: Pick<Principal, 'key' | 'identifiers'>): boolean;
  conversationsOf(person: Pick<Erasure, 'principal_id' | 'identifiers'>): Promise<ErasedConversation[]>;
  terminals: Pick<Terminals, 'refuseOpen'>;
  traces: Traces;
  clock: Clock;
  log: Pick<Log, 'error'>;
};

/** Erases all stored data of persons. */
export interface Erasures {
  /** What would be removed and what would stay. @throws ServiceError `not_found` */
  plan(idOrKey: string, keepsShared: boolean): Promise<ErasurePlan>;
  /**
   * Denies the person at once, then removes everything. The erasure is stored first and continues by itself after an interruption.
   * @throws ServiceError `not_found`; `conflict` when it cannot begin; `unavailable` when it has begun and continues later.
   */
  erase(actor: string, idOrKey: string, keepsShared: boolean): Promise<Erased>;
  /** Continues erasures that have begun. Resolves after the first attempt; failed ones are retried every minute. */
  resume(): Promise<void>;
  /** Persons whose erasure is not complete yet, and why. */
  notices(): string[];
  close(): void;
}

const retryMs = 60_000;
const shownConversations = 100;

export function createErasures(deps: Deps): Erasures {
  const { store, trustAdmin, traces, clock, log } = deps;
  const running = new Map<string, Promise<Erased>>();
  const failed = new Map<string, string>();

  /** One run per person: concurrent requests get the same result. */
  const run = (erasure: Erasure): Promise<Erased> => {
    const known = running.get(erasure.principal_id);
    if (known !== undefined) return known;
    const done = work(deps, erasure).then(
      (erased) => {
        failed.delete(erasure.principal_id);
        return erased;
      },
      (error: unknown) => {
        failed.set(
          erasure.principal_id,
          `"${erasure.key}" is not completely erased yet, and the service tries again: ${errorText(error)}`,
        );
        throw error;
      },
    );
    const leave = () => running.delete(erasure.principal_id);
    done.then(leave, leave);
    running.set(erasure.principal_id, done);
    return done;
  };
  const resume = async (): Promise<void> => {
    for (const erasure of await store.all()) {
      await run(erasure).catch((error: unknown) => log.error({ err: error }, 'a person could not be completely erased yet'));
    }
  };
  const stop = clock.every(retryMs, () => {
    resume().catch((error: unknown) => log.error({ err: error }, 'people could not be erased'));
  });

  const isBegun = async (id: string) => (await store.all()).some(({ principal_id }) => principal_id === id);

  const plan = async (idOrKey: string, keepsShared: boolean): Promise<ErasurePlan> => {
    const person = await trustAdmin.readPrincipal(idOrKey);
    const { id, key, display_name, identifiers } = person;
    const found = going(await deps.conversationsOf({ principal_id: id, identifiers }), keepsShared);
    return {
      principal: { id, key, display_name },
      removes: {
        names: identifiers.map(({ surface, value }) => ({ surface, value })),
        conversations: found.slice(0, shownConversations),
        conversation_count: found.length,
        ...(await traces.count({ key, identifiers }, keysOf(found))),
      },
      stays: whatStays,
      refused: await refusal(deps, person, found),
      is_under_way: await isBegun(id),
    };
  };

  return {
    plan,
    async erase(actor, idOrKey, keepsShared) {
      const { refused, principal } = await plan(idOrKey, keepsShared);
      if (refused !== null) throw conflict(refused);
      const { id, key, display_name, identifiers } = await trustAdmin.readPrincipal(principal.id);
      const erasure = { principal_id: id, key, display_name, identifiers, keeps_shared: keepsShared, actor };
      await store.add({ ...erasure, started_at: clock.now() });
      return run({ ...erasure, started_at: clock.now() }).catch(async (error: unknown) => {
        if (await isBegun(id)) throw goesOn(display_name, error);
        failed.delete(id);
        throw error;
      });
    },
    resume,
    notices: () => [...failed.values()],
    close: stop,
  };
}

const goesOn = (name: string, error: unknown) =>
  unavailable(
    `${name} no longer has access, but not everything could be removed yet (${errorText(error)}). The service tries again every minute and at each start.`,
    error,
  );

/** The steps, each of which can be repeated. */
async function work(deps: Deps, erasure: Erasure): Promise<Erased> {
  const { store, trustAdmin, traces } = deps;
  const person = await find(deps, erasure.principal_id);
  if (person !== null) await deny(deps, erasure);
  const first = await forget(deps, erasure);
  if (person !== null) await trustAdmin.deletePrincipal(erasure.actor, erasure.principal_id, 'principal_erased');
  // Once more: messages that were in progress at the denial are stored by now.
  const rest = await forget(deps, erasure);
  await traces.removeRest(erasure);
  await store.remove(erasure.principal_id);
  return {
    ok: true,
    principal: erasure.key,
    conversations: first.conversations + rest.conversations,
    files: first.files + rest.files,
  };
}

/** From here on no message of the person is accepted. A person who became the last owner meanwhile is not erased. */
async function deny({ trustAdmin, store }: Deps, { actor, principal_id }: Erasure): Promise<void> {
  try {
    await trustAdmin.updatePrincipal(actor, principal_id, { status: 'disabled' });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'conflict') await store.remove(principal_id);
    throw error;
  }
}

async function forget({ conversationsOf, traces }: Deps, erasure: Erasure): Promise<Pick<Erased, 'conversations' | 'files'>> {
  const keys = keysOf(going(await conversationsOf(erasure), erasure.keeps_shared));
  return { conversations: keys.length, files: await traces.forget(erasure, keys) };
}

const going = (found: ErasedConversation[], keepsShared: boolean): ErasedConversation[] =>
  keepsShared ? found.filter(({ is_shared }) => !is_shared) : found;

const keysOf = (found: readonly ErasedConversation[]): string[] => found.map(({ key }) => key);

async function find({ trustAdmin }: Deps, id: string): Promise<Principal | null> {
  try {
    return await trustAdmin.readPrincipal(id);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}

async function refusal(deps: Deps, person: Principal, found: readonly ErasedConversation[]): Promise<string | null> {
  const kept = await deps.trustAdmin.whyKept(person.id);
  if (kept !== null) return kept;
  try {
    if (deps.isSeeded(person))
      return `"${person.key}" is listed in trust.seed.json and would return at the next start. Remove that entry first.`;
    for (const { key } of found) deps.terminals.refuseOpen(key);
    return null;
  } catch (error) {
    return errorText(error);
  }
}
