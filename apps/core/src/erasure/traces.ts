import { setTimeout as sleep } from 'node:timers/promises';
import type { Identifier } from '@svc/contract/trust.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { ErasurePlan } from '@svc/contract/erasure.ts';
import type { Announcements } from '../announcement/announcements.ts';
import type { EndedEngineSessions } from '../session/ended-engine-sessions.ts';
import type { ObservedStore } from '../session/observed-store.ts';
import type { Spend } from '../spend/spend.ts';
import type { Pending } from '../trust/pending.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { Uploads } from '../upload/uploads.ts';
import type { Erasure } from './erasure-store.ts';

type Deps = {
  pipeline: Pick<Pipeline, 'isBusy' | 'abort'>;
  /** Forgets a conversation with all its data. */
  forgetSession(key: string, actor: string): Promise<void>;
  endedEngineSessions: Pick<EndedEngineSessions, 'remove' | 'left' | 'notices'>;
  observed: Pick<ObservedStore, 'clearOf'>;
  uploads: Pick<Uploads, 'manifest' | 'delete'>;
  announcements: Pick<Announcements, 'list' | 'delete'>;
  spend: Pick<Spend, 'report' | 'setBudget'>;
  pending: Pick<Pending, 'list' | 'read' | 'remove'>;
  toIdentifierValue(surface: string, value: string): string;
};

type Counts = Pick<ErasurePlan['removes'], 'files' | 'file_bytes' | 'budgets' | 'announcements'>;

/** The data of a person in all parts of the core. */
export interface Traces {
  count(person: Pick<Erasure, 'key' | 'identifiers'>, conversations: readonly string[]): Promise<Counts>;
  /** Ends the running turns of conversations and removes them. Returns the number of deleted files. @throws ServiceError `unavailable` */
  forget(person: Pick<Erasure, 'actor' | 'display_name' | 'started_at'>, conversations: readonly string[]): Promise<number>;
  /** Removes the person's data that belongs to no conversation. */
  removeRest(person: Pick<Erasure, 'key' | 'identifiers'>): Promise<void>;
}

/** How long an aborted engine may take to end. */
const endMs = 20_000;
const lookMs = 50;

export function createTraces(deps: Deps): Traces {
  const { uploads, announcements, spend, pending } = deps;
  const nameOf = ({ surface, value }: Pick<Identifier, 'surface' | 'value'>) =>
    compositeKey(surface, deps.toIdentifierValue(surface, value));
  const namesOf = ({ identifiers }: Pick<Erasure, 'identifiers'>) => new Set(identifiers.map(nameOf));

  const filesOf = async (conversations: readonly string[]) => {
    const keys = new Set<string | null>(conversations);
    const files = [];
    for await (const file of uploads.manifest.newest()) if (keys.has(file.conversation_key)) files.push(file);
    return files;
  };
  const notesOf = (targets: readonly string[]) => {
    const wanted = new Set(targets);
    return announcements.list().filter(({ target, from_session: from }) => wanted.has(target) || wanted.has(from));
  };
  const budgetsOf = (person: Pick<Erasure, 'identifiers'>) => {
    const names = namesOf(person);
    return spend.report().budgets.filter((budget) => names.has(nameOf(budget)));
  };
  const removeNotes = async (targets: readonly string[]) => {
    for (const { id } of notesOf(targets)) await announcements.delete(id);
  };

  return {
    async count(person, conversations) {
      const files = await filesOf(conversations);
      return {
        files: files.length,
        file_bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
        budgets: budgetsOf(person).length,
        announcements: notesOf([...conversations, targetOf(person)]).length,
      };
    },

    /** Removes conversations last: after an interruption they are needed to find the rest. */
    async forget({ actor, display_name, started_at }, conversations) {
      for (const key of conversations) await quiet(deps.pipeline, key);
      const files = await filesOf(conversations);
      for (const { id } of files) await uploads.delete(id);
      await uploads.manifest.forgetDeleted();
      await removeNotes(conversations);
      for (const key of conversations) {
        await quiet(deps.pipeline, key); // others may have written meanwhile
        await deps.forgetSession(key, actor);
      }
      await deps.observed.clearOf(display_name);
      await removeEngineSessions(deps.endedEngineSessions, started_at);
      return files.length;
    },

    async removeRest(person) {
      for (const { surface, value } of budgetsOf(person)) await spend.setBudget(surface, value, null);
      await removeNotes([targetOf(person)]);
      const names = namesOf(person);
      for (const waiting of await pending.list()) if (names.has(nameOf(waiting))) pending.remove(pending.read(waiting.id));
    },
  };
}

const targetOf = ({ key }: Pick<Erasure, 'key'>): string => `identity:${key}`;

/** Engine sessions that ended before the erasure began are not part of it, and may stay for long. */
async function removeEngineSessions(ended: Deps['endedEngineSessions'], since: number): Promise<void> {
  await ended.remove();
  if ((await ended.left(since)) === 0) return;
  throw unavailable(ended.notices().join(' ') || 'The records that engines keep of their conversations are not removed yet.');
}

/** The time is limited, because others in a group may start turns again and again. */
async function quiet(pipeline: Deps['pipeline'], key: string): Promise<void> {
  for (let left = endMs; pipeline.isBusy(key); left -= lookMs) {
    if (left <= 0) throw unavailable('A turn in one of their conversations could not be stopped.');
    pipeline.abort(key);
    await sleep(lookMs);
  }
}
