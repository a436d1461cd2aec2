import { onTestFinished } from 'vitest';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { pause } from '@svc/testing/pause.ts';
import { waitFor } from '@svc/testing/house.ts';
import { readCore, type CoreRecord } from '../channel-killed/accounts.ts';
import { killable, type Killable, type KillableService } from '../channel-killed/killable-service.ts';
import type { Found } from './find-broken.ts';
import { givenUpTooSoon } from './given-up.ts';
import { startAsking, type Asked, type Asking } from './start-asking.ts';

export type KilledChat<P> = {
  service: KillableService;
  asking: Asking<P>;
  kills: number;
  seed: number;
  /** More faults at each kill. */
  disturb?(): void;
  /** From now on the platform works without faults. */
  calm(): void;
  /** `ended`: when a writing process was killed and when it was back, by the monotonic clock. */
  find(asked: readonly Asked<P>[], core: CoreRecord, ended: readonly number[]): Found;
};

/** A killed process loses the platform's answers that it has not recorded. */
const writers = new Set<Killable>(['connector', 'manager']);

/** People ask, processes are killed, and in the end no rule is broken. */
export async function askThroughKills<P>(
  chat: KilledChat<P>,
): Promise<{ asked: number; unavoidable: number; ended: readonly number[] }> {
  const { service, asking, kills, seed } = chat;
  const people = startAsking(asking);
  onTestFinished(() => people.stop());
  const killed: string[] = [];
  const ended: number[] = [];
  const coreEnds: number[] = [];
  for (let round = 0; round < kills; round++) {
    await pause(200 + asking.random() * 1500);
    const what = killable[Math.floor(asking.random() * killable.length)] ?? 'core';
    killed.push(`${what} ${(performance.now() / 1000).toFixed(1)}`);
    if (writers.has(what)) ended.push(performance.now());
    await service.kill(what);
    if (writers.has(what)) ended.push(performance.now());
    if (what === 'core') coreEnds.push(performance.now());
    chat.disturb?.();
  }
  await service.recover();
  await people.done;
  chat.calm();

  let found: Found = { broken: ['nothing was looked at'], unavoidable: 0, givenUp: [], timeline: '' };
  const isSound = async () => {
    found = chat.find(people.asked, await readCore(service.coreUrl, await keysOf(service.coreUrl)), ended);
    found.broken.push(...givenUpTooSoon(found.givenUp, coreEnds));
    return found.broken.length === 0;
  };
  const explain = () =>
    `seed ${seed}: ${found.broken.length} rules broken by ${people.asked.length} messages (killed: ${killed.join(', ')})\n${found.broken.slice(0, 8).join('\n')}\n${found.timeline}`;
  await waitFor(isSound, 120_000, explain);
  return { asked: people.asked.length, unavoidable: found.unavoidable, ended };
}

async function keysOf(coreUrl: string): Promise<string[]> {
  const { body } = await requestJson<{ sessions: { conversation_key: string }[] }>(`${coreUrl}/v2/sessions?limit=1000`, {
    timeoutMs: 10_000,
  });
  return body.sessions.map(({ conversation_key }) => conversation_key);
}
