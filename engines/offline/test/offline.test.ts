import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { EngineDeps } from '@svc/engine-kit/engine.ts';
import { collectTurn } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineContract } from '@svc/engine-kit/testing/engine-contract.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createEngine } from '../src/engine.ts';

const temporary = temporaryFolder();
const folder = temporary.path;
afterAll(() => temporary.remove());

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const deps = (over: Partial<EngineDeps> = {}): EngineDeps => ({
  stateDir: folder,
  enginesDir: folder,
  path: null,
  env: {},
  baseUrl: null,
  script: null,
  warm: 0,
  warmMemory: 0,
  maxLine: 1000,
  log: quiet,
  ...over,
});
const say = (prompt: string, over = {}) => collectTurn(createEngine(deps()), engineRequest({ prompt, cwd: folder, ...over }));

engineContract({
  name: 'offline',
  createEngine: () => createEngine(deps()),
  turns: {
    text: { prompt: 'echo hello from here', reply: 'hello from here', usage: { estimated: true } },
    thinking: { prompt: 'think about the sea', thought: 'about the sea' },
    tool: { prompt: 'tool clock {"timeZone":"UTC"}', tool: /^clock$/, output: ':' },
    slow: { prompt: 'count 10000' },
    fail: { prompt: 'fail rate_limited', code: 'engine_rate_limited', message: /You asked/ },
  },
  unknownSession: 'claude-1234',
});

describe('offline engine', () => {
  test('says that it is not a model, and how to connect one', async () => {
    const { text } = await say('What is the capital of France?');
    expect(text).toContain('No model is connected');
    expect(text).toContain('svc engine login');
  });

  test('context shows everything in the request', async () => {
    const { text } = await say('context', { system: 'SYSTEM', attachments: [{ path: '/tmp/a.png' }], toolPolicy: 'none' });
    expect(JSON.parse(text)).toMatchObject({
      system: 'SYSTEM',
      prompt: 'context',
      attachments: [{ path: '/tmp/a.png' }],
      tools: [],
    });
  });

  test('has no tools with policy none', async () => {
    const { events } = await say('tool clock', { toolPolicy: 'none' });
    expect(events.some((event) => event.type === 'tool')).toBe(false);
  });

  test.each(['__proto__', 'constructor x', 'toString'])('"%s" is not a command', async (prompt) => {
    expect((await say(prompt)).text).toContain('No model is connected');
  });

  test('wait can be aborted', async () => {
    const turn = collectTurn(createEngine(deps()), engineRequest({ prompt: 'wait 60 late', cwd: folder }), {
      signal: AbortSignal.timeout(20),
    });
    expect((await turn).last).toEqual({ type: 'aborted' });
  });

  test('a script replaces the model', async () => {
    const script = path.join(folder, 'script.ts');
    writeFileSync(
      script,
      `export async function* respond(request) { yield { type: 'delta', text: 'scripted ' + request.text }; }`,
    );
    const { text, last } = await collectTurn(createEngine(deps({ script })), engineRequest({ prompt: 'x', cwd: folder }));
    expect(text).toBe('scripted x');
    expect(last).toEqual({ type: 'done' });
  });

  test('a script that cannot be loaded fails the turn', async () => {
    const { last } = await collectTurn(
      createEngine(deps({ script: path.join(folder, 'none.ts') })),
      engineRequest({ prompt: 'x', cwd: folder }),
    );
    expect(last).toMatchObject({ type: 'failed' });
  });
});

test.each([
  ['throws nothing at all', 'throw null'],
  ['throws a text', "throw 'boom'"],
  ['throws an error without words', 'throw new Error()'],
])('a script that %s fails the turn with a message', async (name, statement) => {
  const script = path.join(folder, `${name.replaceAll(' ', '-')}.mjs`);
  writeFileSync(script, `export async function* respond() { yield { type: 'delta', text: 'a' }; ${statement}; }`);
  const { last } = await collectTurn(createEngine(deps({ script })), engineRequest({ prompt: 'x', cwd: folder }));
  expect(last).toMatchObject({ type: 'failed', failure: { code: 'engine_failed', message: expect.stringMatching(/offline/) } });
});

test('ignores events of a script after its end', async () => {
  const script = path.join(folder, 'talkative.mjs');
  const events = [{ type: 'delta', text: 'a' }, { type: 'done' }, { type: 'delta', text: 'late' }, { type: 'done' }];
  writeFileSync(script, `export async function* respond() { yield* ${JSON.stringify(events)}; }`);
  const result = await collectTurn(createEngine(deps({ script })), engineRequest({ prompt: 'x', cwd: folder }));
  expect(JSON.stringify(result.events)).not.toContain('late');
  expect(result.last).toEqual({ type: 'done' });
});
