import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { testEngine, whyNoEngine } from '@svc/testing/model-server/test-engines.ts';
import { openUpdateHouse, type UpdateHouse } from './update-house.ts';

const codex = testEngine('codex');
const noCodex = whyNoEngine('codex');
/** The change of a person that would keep the next version from starting. */
const mine = "throw new Error('a change of mine');\n";
const changed = 'apps/collector/src/main.ts';

let house: UpdateHouse;
let model: ModelServer;
let prompts: string[] = [];

beforeAll(async () => {
  [house, model] = await Promise.all([openUpdateHouse(), startModelServer()]);
  house.release('v0.2.0', {});
  // What is set there cannot be chosen later.
  delete house.env['SVC_DEFAULT_ENGINE'];
  Object.assign(house.env, {
    ...(codex !== null && { SVC_CODEX_PATH: codex }),
    SVC_CODEX_BASE_URL: `${model.url}/v1`,
    SVC_ENGINE_MODEL: 'scripted',
    SVC_TITLES: 'off',
  });
  await house.up();
  appendFileSync(house.file(changed), mine);
}, 240_000);
afterAll(async () => {
  await house.close();
  await model.close();
}, 180_000);

const use = async (engine: string) => expect(await house.svc(['engine', 'default', engine])).toMatchObject({ code: 0 });

/** The model runs one command in each turn in which it is asked for a repair, and says that it has. */
function scriptTurns(commands: readonly string[]): void {
  const waiting = [...commands];
  prompts = [];
  model.script(({ userText, toolResults }) => {
    if (!userText.includes('This is turn')) return undefined;
    if (toolResults.length > 0) return { steps: [{ text: 'It is done.' }] };
    prompts.push(userText);
    const cmd = waiting.shift() ?? 'true';
    return { steps: [{ tool: 'exec_command', input: { cmd } } satisfies ScriptedStep] };
  });
}

const clone = () => readFileSync(house.file(changed), 'utf8');

test('does not ask the offline engine, which is not a model', async () => {
  await use('offline');
  const { code, out } = await house.svc(['update', '--mode', 'agent']);
  expect(code).toBe(3);
  expect(out).toContain(changed);
  expect(out).toContain('"offline", which is not a model');
  expect(await house.svc(['update', '--mode', 'agent'], { SVC_UPDATE_MANAGED: 'apt' })).toMatchObject({ code: 6 });
}, 120_000);

test('refuses a repair that changes the installation itself', async ({ skip }) => {
  skip(noCodex !== null, noCodex ?? undefined);
  await use('codex');
  const before = clone();
  scriptTurns([`echo '// more' >> '${house.file(changed)}'`]);
  const { code, out } = await house.svc(['update', '--mode', 'agent']);
  expect(out).toContain('it changed the installation itself');
  expect(code).toBe(3);
  expect(clone()).toBe(`${before}// more\n`);
}, 240_000);

test('an engine repairs local changes in a copy; the updater tests it, reports what is wrong, and installs what works', async ({
  skip,
}) => {
  skip(noCodex !== null, noCodex ?? undefined);
  await use('codex');
  const before = clone();
  scriptTurns([
    'git apply ../*.patch',
    `grep -v 'a change of mine' ${changed} > main && mv main ${changed} && echo '// repaired' >> ${changed}`,
  ]);
  const { code, out } = await house.svc(['update', '--mode', 'agent']);
  expect(out).toContain('Updated from 0.1.0 to v0.2.0 with repairs.');
  expect(code).toBe(0);
  // The first turn brought the change over as it was: the version was tried, not put in place, and the engine told why.
  expect(prompts).toHaveLength(2);
  expect(prompts[0]).toContain(changed);
  expect(prompts[1]).toContain('a change of mine');
  const [sha = ''] = await house.shas();
  expect(await house.shas()).toEqual([sha, sha, sha]);
  expect(readFileSync(house.file('.runtime/versions', sha, changed), 'utf8')).toContain('// repaired');
  expect(clone(), 'the files of the person stay as they are').toBe(before);
  const collector = house.state()?.services.find(({ name }) => name === 'collector')?.url ?? '';
  const told = async () => (await requestJson<object>(`${collector}/api/events?limit=500`, { timeoutMs: 5000 })).body;
  await expect.poll(async () => JSON.stringify(await told()), { timeout: 10_000 }).toMatch(/self-update:[^"]+/);
  expect(JSON.stringify(await told())).toContain('turn 2 of 3');
}, 400_000);
