import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { vi } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openTestCore, type TestCore } from '../open-test-core.ts';
import { createModelChannel } from './channel.ts';
import { createModelConnectors } from './connector.ts';
import { createModelEngine } from './engine.ts';
import { createRecords } from './records.ts';

export const slots = 2;
const env = {
  SVC_MAX_CONCURRENT_TURNS: String(slots),
  SVC_MAX_QUEUED_TURNS: '6',
  SVC_TURN_IDLE_MS: '60000',
  SVC_TURN_MAX_MS: '300000',
};
/** Two conversations that can be pushed to, and one that is only answered. */
export const keys = ['messenger:m1:user:1', 'messenger:m1:user:2', 'compat:c1:one'] as const;
export const people = ['anna', 'bert'] as const;

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The core in its world: engine, channel and connectors that outlive it, time that the model moves, crashes. */
export async function openWorld() {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder.path, 'trust.seed.json'), JSON.stringify(seed));
  const clock = createFakeClock();
  const records = createRecords();
  const engine = createModelEngine(records, clock, slots);
  const channel = createModelChannel(records);
  const connectors = createModelConnectors(records);
  const claimed = new Set<string>();
  const boot = async (dataDir: string): Promise<TestCore> => {
    engine.newLife((key) => claimed.has(key));
    const core = await openTestCore({ env, clock, dataDir, sendToChannel: channel.send, script: engine.script });
    connectors.newCore(core);
    return core;
  };
  const world = {
    core: await boot(folder.path),
    clock,
    records,
    engine,
    channel,
    connectors,
    claimed,
    /** How often a release was asked for. */
    releases: 0,

    async crash(backAfterMs: number): Promise<void> {
      connectors.cut();
      world.core = await boot(world.core.crash());
      if (backAfterMs > 0) {
        for (const message of records.messages) message.isUnheard ||= message.shown.length > 0;
        await world.pass(backAfterMs);
      }
      connectors.relink();
    },

    async ticks(count: number): Promise<void> {
      for (let i = 0; i < count; i++) await tick();
    },

    /** Time passes, for the core's clock and for the commits that nobody waits for. */
    async pass(ms: number): Promise<void> {
      const pieces = Math.min(6, Math.ceil(ms / 10));
      for (let piece = 0; piece < pieces; piece++) {
        clock.advance(ms / pieces);
        vi.advanceTimersByTime(20);
        await world.ticks(3);
      }
    },

    rows: <Row>(sql: string, ...values: string[]): Row[] => world.core.context.db.raw.prepare(sql).all(...values) as Row[],

    async close(): Promise<void> {
      connectors.cut();
      world.core.drop();
      await world.ticks(2);
    },
  };
  return world;
}

const seed = {
  principals: people.map((key) => ({
    key,
    role: 'trusted',
    identifiers: ['messenger', 'compat'].map((surface) => ({ surface, value: key })),
  })),
};
