import { unavailable } from '@svc/service-kit/service-error.ts';
import { expect, test } from 'vitest';
import { createChatLines, type Job, type Stage } from './chat-lines.ts';

function job(name: string, log: string[]): Job & { end: PromiseWithResolvers<void> } {
  const end = Promise.withResolvers<void>();
  let stage: Stage = 'waiting';
  return {
    end,
    stage: () => stage,
    drop: () => void log.push(`dropped ${name}`),
    async run() {
      stage = 'asking';
      log.push(name);
      await end.promise;
    },
  };
}

function three() {
  const log: string[] = [];
  const lines = createChatLines();
  const jobs = [job('1', log), job('2', log), job('3', log)] as const;
  for (const each of jobs) lines.add('a', each);
  return { log, lines, jobs };
}

test('a job that rejects for redelivery drops all those behind it, and later ones run', async () => {
  const { log, lines, jobs } = three();
  jobs[0].end.reject(unavailable('later'));
  await lines.drained();
  expect(log).toEqual(['1', 'dropped 2', 'dropped 3']);
  const next = job('4', log);
  next.end.resolve();
  lines.add('a', next);
  await lines.drained();
  expect(log.at(-1)).toBe('4');
});

test('dropFrom() drops the waiting jobs from there on and lets the running one finish', async () => {
  const { log, lines, jobs } = three();
  lines.dropFrom('a', jobs[1], unavailable('too long'));
  lines.dropFrom('a', jobs[0], unavailable('too long'));
  jobs[0].end.resolve();
  await lines.drained();
  expect(log).toEqual(['1', 'dropped 2', 'dropped 3']);
});

test('limits a chat to 200 jobs and all chats to 2,000, except unlimited ones', () => {
  const lines = createChatLines();
  const log: string[] = [];
  for (let n = 0; n < 200; n++) lines.add('a', job('a', log));
  expect(() => lines.add('a', job('a', log))).toThrow(expect.objectContaining({ code: 'queue_full' }));
  for (let chat = 0; chat < 18; chat++) for (let n = 0; n < 100; n++) lines.add(`${chat}`, job('b', log));
  expect(() => lines.add('c', job('c', log))).toThrow(expect.objectContaining({ code: 'queue_full' }));
  expect(() => lines.add('c', job('c', log), { unlimited: true })).not.toThrow();
});
