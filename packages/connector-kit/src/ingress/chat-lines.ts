import { queueFull, type ServiceError } from '@svc/service-kit/service-error.ts';
import { toFault } from './passing-faults.ts';

/** The progress of a job: a waiting one can be dropped, a question to the core cannot be taken back. */
export type Stage = 'waiting' | 'preparing' | 'asking';

/** One piece of work of a chat. */
export type Job = {
  stage(): Stage;
  /** Rejects when its updates must be delivered again; the same then applies to the jobs after it. */
  run(): Promise<void>;
  /** Called instead of `run`. */
  drop(error: ServiceError): void;
  /** Another job now waits behind this one. */
  onFollowed?(): void;
};

/** Runs the jobs of each chat in order, and those of different chats in parallel. */
export type ChatLines<J extends Job> = {
  /** @throws ServiceError `queue_full` past the limits; `unlimited`: for a job that must not be refused any more */
  add(chat: string, job: J, options?: { unlimited?: boolean }): void;
  last(chat: string): J | undefined;
  /** Drops a job that has not begun and all after it, which would otherwise overtake it. */
  dropFrom(chat: string, job: J, error: ServiceError): void;
  /** Drops all jobs that have not begun. */
  dropWaiting(error: ServiceError): void;
  /** Resolves when no job is left. */
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
