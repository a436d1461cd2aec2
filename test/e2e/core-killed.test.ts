import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { pause } from '@svc/testing/pause.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { waitFor } from '@svc/testing/house.ts';
import { mountLossyDisk } from '@svc/testing/lossy-disk.ts';
import { createRandom } from '@svc/testing/random.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { findBroken, pushAll } from './core-killed/accounts.ts';
import { createClients, type Sent, type Way } from './core-killed/clients.ts';
import { createCoreProcess, type CoreProcess } from './core-killed/core-process.ts';
import { startStubManager } from './core-killed/stub-manager.ts';

/** Each run kills at other moments. A thorough run sets 200, which takes some minutes. */
const kills = Number(process.env['CORE_KILLS'] ?? usualOrDeep(6, 40));
/** Fewer where each commit waits for the disk: the same code decides what is acknowledged. */
const killsInFull = Math.ceil(kills / 4);
const stops = usualOrDeep(2, 10);
const conversations = 20;
const sendersPerConversation = 2;

const durabilities = [
  ['normal', kills],
  ['full', killsInFull],
] as const;

/** A core that ends by itself keeps the code it has compiled for the next ones; a killed one does not. */
beforeAll(async () => {
  const folder = temporaryFolder();
  const [port, manager, collector] = (await freePorts(3)) as [number, number, number];
  const { child, exited } = await startCore(folder.path, { core: port, manager, collector });
  child.kill('SIGTERM');
  await exited;
  folder.remove();
});

test.each(durabilities)(
  'kill -9 of the core under load, SVC_DURABILITY=%s, %i times: every acknowledged message is answered, delivered or listed',
  async (durability, times) => {
    await storm(times, killSoon, { SVC_DURABILITY: durability });
  },
  900_000,
);

test(`a power failure under load, ${killsInFull} times, loses nothing that the core acknowledged with SVC_DURABILITY=full`, async ({
  skip,
}) => {
  const disk = mountLossyDisk(300);
  if (typeof disk === 'string') return skip(disk);
  onTestFinished(() => disk.remove());
  const cutPower: EndCore = async (core, isReady, random, answered) => {
    const before = answered();
    await isReady.then(() =>
      waitFor(
        () => answered() > before,
        60_000,
        () => 'nobody was answered',
      ),
    );
    await someAnswers(random, answered);
    await core.end('SIGKILL');
    disk.cutPower();
    await disk.restore();
  };
  await storm(killsInFull, cutPower, { SVC_DURABILITY: 'full' }, disk.folder);
}, 900_000);

test(`${stops} stops and starts of the core under load lose no message, and each stop is clean`, async () => {
  await storm(stops, async (core, isReady, random, answered) => {
    await isReady.then(() => someAnswers(random, answered));
    expect([await core.end('SIGTERM'), core.faults()]).toEqual([0, '']);
  });
}, 300_000);

type EndCore = (core: CoreProcess, isReady: Promise<boolean>, random: () => number, answered: () => number) => Promise<void>;

/** Every fifth kill hits the core while it starts and resumes open turns. */
const killSoon: EndCore = async (core, isReady, random, answered) => {
  if (random() < 0.2) await pause(random() * 350);
  else await isReady.then(() => someAnswers(random, answered));
  await core.end('SIGKILL');
};

/** Waits for some more answers, at most 1.5 s. In a fixed time a busy machine might answer no message, and an idle one thousands. */
async function someAnswers(random: () => number, answered: () => number): Promise<void> {
  const enough = answered() + random() * 25;
  for (const end = performance.now() + 1500; answered() < enough && performance.now() < end;) await pause(random() * 20);
}

/** Sends messages in many conversations while the core ends and restarts, then checks the outcome of each. */
async function storm(rounds: number, endCore: EndCore, env: Record<string, string> = {}, at?: string): Promise<void> {
  const seed = Number(process.env['CORE_KILLS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  const folder = temporaryFolder();
  const [managerPort = 0] = await freePorts(1);
  const manager = await startStubManager(managerPort, random);
  const core = await createCoreProcess(at ?? folder.path, managerPort, env, folder.path);
  const clients = createClients(core, random);
  const all: Sent[] = [];
  let isOver = false;
  onTestFinished(async () => {
    isOver = true;
    clients.close();
    await core.end('SIGKILL');
    await manager.close();
    folder.remove();
  });

  async function sendOn(conversation: number): Promise<void> {
    while (!isOver) {
      const sent = compose(all.length + 1, conversation, random);
      all.push(sent);
      await clients.send(sent);
    }
  }

  const answered = () => all.filter((sent) => sent.outcome === 'replied').length;
  let isReady = core.start();
  await isReady;
  const senders = Array.from({ length: conversations * sendersPerConversation }, (_, n) => sendOn(n % conversations));
  for (let round = 0; round < rounds; round++) {
    await endCore(core, isReady, random, answered);
    isReady = core.start();
  }
  expect([await isReady, core.faults()]).toEqual([true, '']);

  isOver = true;
  manager.becomeSound();
  clients.stop();
  await Promise.all(senders);
  // A caller has some seconds to come back for a reply before it is pushed or listed. Each look reads all that was said.
  let left: { pushes: number; broken: string[] } = { pushes: 0, broken: [] };
  let nextAt = 0;
  const isSound = async () => {
    if (performance.now() < nextAt) return false;
    left = { pushes: await pushAll(core), broken: await findBroken(core, manager, all) };
    nextAt = performance.now() + 1000;
    return left.pushes + left.broken.length === 0;
  };
  const inWords = () =>
    `seed ${seed}: ${left.pushes} pushes wait, ${left.broken.length} rules broken\n${left.broken.slice(0, 10).join('\n')}`;
  await waitFor(isSound, 20_000, inWords);
  expect(core.pids.slice(0, -1).filter(isAlive)).toEqual([]);
  // There was a load: messages got their answer between two ends. How many depends on what else the machine does.
  expect(answered()).toBeGreaterThan(rounds / 20);
}

const ways: Way[] = ['link', 'link', 'link', 'link', 'leaving link', 'http', 'http', 'http once', 'inject'];

function compose(number: number, conversation: number, random: () => number): Sent {
  const way = ways[Math.floor(random() * ways.length)] ?? 'link';
  const name = `${way === 'inject' ? 'i' : 'm'}${number}`;
  const isRouted = conversation % 2 === 0;
  const turns = ['echo', 'echo', 'echo', 'wait 0.05', 'wait 0.05', 'wait 0.05', 'wait 0.4', 'count 50'];
  const command = way === 'inject' ? 'echo' : (turns[Math.floor(random() * turns.length)] ?? 'echo');
  return {
    name,
    key: isRouted ? `messenger:m1:user:${conversation}` : `compat:c1:${conversation}`,
    text: `${command} ${name}`,
    way,
    isRouted,
    knownAt: null,
    runsAt: null,
    outcome: null,
    error: null,
    shown: 0,
    hasLeft: false,
  };
}
