import { queueFull, type ServiceError } from '@svc/service-kit/service-error.ts';
import { toFault } from './passing-faults.ts';

/** How far a job is: what waits can be dropped; what the core was asked is not taken back. */
export type Stage = 'waiting' | 'preparing' | 'asking';

/** One piece of work of a chat. */
export type Job = {
  stage(): Stage;
  /** Rejects when its updates are to be given again; those behind it are then, too. */
  run(): Promise<void>;
  /** It is not run. */
  drop(error: ServiceError): void;
  /** Another one stands behind it from now on. */
  onFollowed?(): void;
};

/** The work of each chat in its order; chats side by side. */
export type ChatLines<J extends Job> = {
  /** @throws ServiceError `queue_full` past the limits; `unlimited` is what must not be refused any more. */
  add(chat: string, job: J, options?: { unlimited?: boolean }): void;
  last(chat: string): J | undefined;
  /** Drops a job that has not begun and all behind it: taken later, they would overtake it. */
  dropFrom(chat: string, job: J, error: ServiceError): void;
  /** Drops all that has not begun. */
  dropWaiting(error: ServiceError): void;
  /** Resolves when nothing is left. */
  drained(): Promise<unknown>;
};

const maxPerChat = 200;
const maxInAll = 2000;

export function createChatLines<J extends Job>(): ChatLines<J> {
  const lines = new Map<string, { jobs: J[]; drained: Promise<void> }>();
  let count = 0;

  const cut = (jobs: J[], from: number, error: ServiceError): void => {
    const dropped = jobs.splice(from);
    count -= dropped.length;
    for (const job of dropped) job.drop(error);
  };

  async function drain(chat: string, jobs: J[]): Promise<void> {
    for (let [job] = jobs; job !== undefined; [job] = jobs) {
      await job.run().catch((error: unknown) => cut(jobs, 1, toFault(error)));
      jobs.shift();
      count--;
    }
    lines.delete(chat);
  }

  return {
    add(chat, job, { unlimited = false } = {}) {
      const jobs = lines.get(chat)?.jobs ?? [];
      if (!unlimited && (jobs.length >= maxPerChat || count >= maxInAll)) throw tooMany(count);
      jobs.at(-1)?.onFollowed?.();
      jobs.push(job);
      count++;
      if (jobs.length === 1) lines.set(chat, { jobs, drained: drain(chat, jobs) });
    },
    last: (chat) => lines.get(chat)?.jobs.at(-1),
    dropFrom(chat, job, error) {
      const jobs = lines.get(chat)?.jobs ?? [];
      const at = jobs.indexOf(job);
      if (at > 0) cut(jobs, at, error);
    },
    dropWaiting(error) {
      for (const { jobs } of lines.values()) cut(jobs, 1, error);
    },
    drained: () => Promise.all([...lines.values()].map((line) => line.drained)),
  };
}

const tooMany = (count: number) => queueFull(`${count} updates are already waiting. Send this one again in a moment.`);
