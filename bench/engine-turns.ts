import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine as createClaude } from '@svc/engine-claude/engine.ts';
import { createEngine as createCodex } from '@svc/engine-codex/engine.ts';
import { createEngine as createGemini } from '@svc/engine-gemini/engine.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { openRequest } from '@svc/service-kit/http/json-client.ts';
import { openHouse } from '@svc/testing/house.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { testEngine } from '@svc/testing/model-server/test-engines.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { harnesses, type Harness } from './engine-drivers.ts';
import { median } from './load.ts';
import { peakOfDescendants } from './process-tree.ts';

/**
 * Cold and warm turns of the real engines against a model that answers at once: the vendor's program alone, our engine
 * around it, and the whole service around that. `node bench/engine-turns.ts [--turns 12] [--engines offline,claude,codex,gemini]`.
 */
const { values } = parseArgs({
  options: { turns: { type: 'string', default: '12' }, engines: { type: 'string', default: 'offline,claude,codex,gemini' } },
});
const factories = { claude: createClaude, codex: createCodex, gemini: createGemini };
type Id = keyof typeof factories;

type Way = { name: string; open(): Promise<Harness>; hostPid(): number };

const folder = temporaryFolder();
let serial = 0;
const model = await startModelServer();
model.script(() => ({ steps: [{ text: 'Hello there.' }] }));

print('engine   way              cold first/whole ms   warm p50 first/whole ms   peak MB of its processes');
for (const id of values.engines.split(',')) {
  if (isReal(id)) for (const way of waysOf(id)) print(await measure(id, way));
  else print(await measure(id, throughCore({ SVC_DEFAULT_ENGINE: id })));
}
await model.close();
folder.remove();

function isReal(id: string): id is Id {
  return id in factories;
}

function waysOf(id: Id): Way[] {
  const install = testEngine(id);
  if (install === null) return [];
  const dirOf = (name: string) => {
    const dir = path.join(folder.path, `${id}-${name}`);
    mkdirSync(dir, { recursive: true });
    return dir;
  };
  const open = () => harnesses[id]({ install, modelUrl: model.url, dir: dirOf('alone') });
  const openOurs = () => Promise.resolve(openEngine(id, install, dirOf('engine')));
  return [
    { name: 'program alone', open, hostPid: () => process.pid },
    { name: 'our engine', open: openOurs, hostPid: () => process.pid },
    throughCore(serviceEnv(id, install)),
  ];
}

function throughCore(env: Record<string, string>): Way {
  let corePid = 0;
  return {
    name: 'through the core',
    open: async () => {
      const house = await openHouse({ env });
      corePid = house.pidOf('core');
      return { turn: (text, onFirst) => handle(house.urls.core, text, onFirst), close: async () => void (await house.stop()) };
    },
    hostPid: () => corePid,
  };
}

/** One cold turn, one that is not counted, and the warm ones. */
async function measure(id: string, way: Way): Promise<string> {
  const begun = performance.now();
  const harness = await way.open();
  // The service starts its engine with the first turn, which is then the cold one; the programs are cold from their start.
  const before = way.name === 'through the core' ? performance.now() : begun;
  let peak = 0;
  const one = async (since: number) => {
    let first = 0;
    await harness.turn('Say hello', () => {
      if (first > 0) return;
      first = performance.now() - since;
    });
    const whole = performance.now() - since;
    return { first, whole };
  };
  const watch = setInterval(() => (peak = Math.max(peak, peakOfDescendants(way.hostPid()))), 250);
  const cold = await one(before);
  await one(performance.now());
  const warm: { first: number; whole: number }[] = [];
  while (warm.length < Number(values.turns)) warm.push(await one(performance.now()));
  peak = Math.max(peak, peakOfDescendants(way.hostPid()));
  clearInterval(watch);
  await harness.close();
  const [first, whole] = [median(warm.map((turn) => turn.first)), median(warm.map((turn) => turn.whole))];
  return [
    id.padEnd(8),
    way.name.padEnd(16),
    `${cold.first.toFixed(0)} / ${cold.whole.toFixed(0)}`.padEnd(21),
    `${first.toFixed(1)} / ${whole.toFixed(1)}`.padEnd(25),
    peak.toFixed(0),
  ].join(' ');
}

function openEngine(id: Id, install: string, dir: string): Harness {
  const engine = factories[id](engineDeps({ stateDir: dir, path: install, baseUrl: model.url }));
  let resume: string | null = null;
  return {
    async turn(text, onFirst) {
      const request: EngineRequest = engineRequest({ prompt: text, cwd: dir, resume });
      for await (const event of engine.run(request, new AbortController().signal)) {
        if (event.type === 'delta') onFirst();
        if (event.type === 'session') resume = event.engineSessionId;
        if (event.type === 'failed') throw new Error(event.failure.message);
      }
    },
    close: () => engine.close(),
  };
}

function serviceEnv(id: Id, install: string): Record<string, string> {
  const name = id.toUpperCase();
  const places = { [`SVC_${name}_PATH`]: install, [`SVC_${name}_BASE_URL`]: model.url };
  return { SVC_DEFAULT_ENGINE: id, ...places, SVC_LOG_LEVEL: 'warn', SVC_TITLES: 'words' };
}

/** A turn of the owner over the core's own route, as a connector streams it. */
async function handle(coreUrl: string, text: string, onFirst: () => void): Promise<void> {
  const body = {
    channel: 'compat',
    conversation_key: 'compat:bench:one',
    message_id: `m-${++serial}`,
    sender: { raw_id: 'owner', raw_username: 'owner' },
    content: { text },
    delivery: 'sync',
  };
  const headers = { accept: 'text/event-stream' };
  const response = await openRequest(`${coreUrl}/v2/handle`, { method: 'POST', body, headers, timeoutMs: 60_000 });
  let seen = '';
  for await (const part of response.setEncoding('utf8')) {
    seen += String(part);
    if (seen.includes('event: delta')) onFirst();
  }
  if (!seen.includes('"outcome":"replied"')) throw new Error(seen);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
