import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { Script, ScriptedReply, ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { startToolServer, type TestToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { EngineEvent, EngineRequest } from '../engine.ts';
import { collectTurn, ofType, type CollectedTurn } from './collect-turn.ts';
import type { RealEngine } from './engine-bench.ts';
import { engineDeps } from './engine-deps.ts';
import { engineRequest } from './engine-request.ts';

type ToolResult = Extract<EngineEvent, { type: 'tool_result' }>;

export type OrderedTurn = CollectedTurn & {
  /** The instructions, as the engine reports them. */
  instructions: string | undefined;
  /** The tool results that the engine reported. */
  results: ToolResult[];
  /** The tool results that the model received. */
  seen: string;
  /** Names of the tools that were offered to the model. */
  offered: string[];
};

export type PolicyBench = {
  stateDir: string;
  model: ModelServer;
  tools: TestToolServer;
  /** A file of the owner outside the turn's folder; it contains `OUTSIDE-SECRET`. */
  outside: string;
  /** The folder of the test's turns; it contains `inside.txt` with `INSIDE`. */
  cwd(): string;
  /** The files, of these names, that exist in the turn's folder. */
  made(names: readonly string[]): string[];
  /** A turn in which the model calls these tools, one per request, whether or not they were offered. */
  turn(orders: readonly ScriptedStep[], fields: PolicyFields): Promise<OrderedTurn>;
  /** A turn with a script. There are two tool servers: `wild`, and `calm`, which is marked safe. */
  ask(script: Script | readonly ScriptedReply[], fields: PolicyFields): Promise<OrderedTurn>;
};

type PolicyFields = { toolPolicy: ToolPolicy } & Partial<EngineRequest>;

/** One engine, a model with a script, and two tool servers, for the tests of one `describe`. */
export async function openPolicyBench(
  { createEngine, install }: RealEngine,
  defaults: Partial<EngineRequest> = {},
): Promise<PolicyBench> {
  const folder = temporaryFolder();
  const stateDir = folder.path;
  const outside = path.join(stateDir, 'outside.txt');
  writeFileSync(outside, 'OUTSIDE-SECRET');
  const model = await startModelServer();
  const tools = await startToolServer();
  const engine = createEngine(engineDeps({ stateDir, path: install, baseUrl: model.url }));
  let cwd: string;

  beforeEach(() => {
    cwd = mkdtempSync(path.join(stateDir, 'cwd-'));
    writeFileSync(path.join(cwd, 'inside.txt'), 'INSIDE');
    tools.calls.length = 0;
  });
  afterAll(async () => {
    await engine.close();
    await tools.close();
    await model.close();
    folder.remove();
  });

  const ask: PolicyBench['ask'] = async (script, fields) => {
    model.requests.length = 0;
    model.script(script);
    const server = { type: 'http' as const, url: tools.url, headers: {} };
    const toolServers = [
      { name: 'wild', ...server, safe: false },
      { name: 'calm', ...server, safe: true },
    ];
    const request = engineRequest({ prompt: 'go', cwd, toolServers, ...defaults, ...fields });
    const result = await collectTurn(engine, request);
    expect(result.last).toEqual({ type: 'done' });
    return {
      ...result,
      instructions: (await engine.instructions?.(request))?.text,
      results: ofType(result.events, 'tool_result'),
      seen: model.requests.flatMap((request) => request.toolResults).join('\n'),
      offered: model.requests[0]?.tools.map((tool) => tool.name) ?? [],
    };
  };

  return {
    stateDir,
    model,
    tools,
    outside,
    ask,
    cwd: () => cwd,
    made: (names) => names.filter((name) => existsSync(path.join(cwd, name))),
    async turn(orders, fields) {
      const replies = [...orders.map((order) => ({ steps: [order] })), { steps: [{ text: 'finished' }] }];
      const result = await ask(replies, fields);
      expect(model.requests).toHaveLength(replies.length);
      return result;
    },
  };
}

export type EnginePolicy = {
  /** Models that get different tools from this engine; the guest's turn is tested with each. */
  guestModels?: readonly string[];
  /** A model that may write and run commands with the tools below, if the default one may not. */
  ownerModel?: string;
  shell(command: string): ScriptedStep;
  /** The tool call that writes a file into the turn's folder, the file's name, and the engine's names of this tool and the shell. */
  write: { order(cwd: string): ScriptedStep; file: string; tool: string; shellTool: string };
  /** Other ways in which a model might try to create a file, and the file's name. */
  tricks?: { orders(bench: PolicyBench): ScriptedStep[]; files: string[] };
  /** The model's name of a tool server's tool `echo`. */
  serverTool(server: string): string;
  /**
   * The reading tools: each tool call that leads out of the turn's folder, for a link `out` in it, a folder `beside` it and one `above`
   * both; and the models to test, the program's default first (null).
   */
  reading?: {
    models: readonly (string | null)[];
    orders(places: { beside: string; above: string; cwd: string }): ScriptedStep[];
  };
};

/** The meaning of the tool policies for every engine with tools. Call it in a `describe`. */
export function testEnginePolicy(bench: PolicyBench, policy: EnginePolicy): void {
  const { turn, tools, cwd } = bench;
  const { shell, write, tricks, serverTool } = policy;
  const files = ['shelled.txt', write.file, ...(tricks?.files ?? [])];
  const made = () => bench.made(files);
  const run = shell('echo ran > shelled.txt; echo RAN');
  const owner = policy.ownerModel === undefined ? {} : { model: policy.ownerModel };

  /** A persona with what JSON, a shell and a mention would make something else of. */
  const persona = 'You are "Jarvis".\nBe kind to @all.';
  const expectInstructions = ({ instructions }: OrderedTurn) => {
    expect(instructions).toContain('You are "Jarvis".');
    expect(JSON.stringify(bench.model.requests[0]?.body)).toContain(JSON.stringify(instructions).slice(1, -1));
  };

  test.each(policy.guestModels ?? [null])(
    'with policy none the model %s gets the instructions that the engine reports and no tool, and can neither write a file, run a command nor call a tool server',
    async (model) => {
      const calls = ['wild', 'calm'].map((server): ScriptedStep => ({ tool: serverTool(server), input: { text: 'x' } }));
      const orders = [run, write.order(cwd()), ...calls, ...(tricks?.orders(bench) ?? [])];
      const done = await turn(orders, { toolPolicy: 'none', system: persona, ...(model !== null && { model }) });
      const { results, seen, offered } = done;
      expectInstructions(done);
      expect(made()).toEqual([]);
      expect(seen).not.toMatch(/^RAN$/m);
      expect(seen).not.toContain('OUTSIDE-SECRET');
      expect(results.filter((result) => result.ok)).toEqual([]);
      expect(offered).toEqual([]);
      expect(tools.calls).toEqual([]);
    },
  );

  test('with policy full it gets the instructions that the engine reports, writes files and runs commands', async () => {
    const done = await turn([run, write.order(cwd())], { toolPolicy: 'full', system: persona, ...owner });
    const { seen, results, events } = done;
    expectInstructions(done);
    expect(made()).toEqual(['shelled.txt', write.file]);
    expect(seen).toContain('RAN');
    expect(results.map((result) => result.output).join('\n')).toContain('RAN');
    expect(ofType(events, 'tool').map((event) => event.name)).toEqual([write.shellTool, write.tool]);
  });

  test('with policy read it gets the instructions that the engine reports, and only the tool servers marked safe are there', async () => {
    const done = await turn(
      [
        { tool: serverTool('wild'), input: { text: 'wild one' } },
        { tool: /calm.*echo/, input: { text: 'safe one' } },
      ],
      { toolPolicy: 'read', system: persona },
    );
    expectInstructions(done);
    expect(done.offered).toContain(serverTool('calm'));
    expect(done.offered).not.toContain(serverTool('wild'));
    expect(tools.calls).toEqual([{ text: 'safe one' }]);
  });

  const { reading } = policy;
  test.skipIf(reading === undefined).each(reading?.models ?? [])(
    'with policy read the model %s finds no file by any path or pattern that leads out of its folder',
    async (model) => {
      const above = path.dirname(cwd());
      const beside = path.join(above, 'beside');
      mkdirSync(beside, { recursive: true });
      writeFileSync(path.join(beside, 'hidden-name.md'), 'OUTSIDE-SECRET');
      symlinkSync(beside, path.join(cwd(), 'out'));
      symlinkSync(path.join(beside, 'hidden-name.md'), path.join(cwd(), 'out.md'));
      const orders = reading?.orders({ beside, above, cwd: cwd() }) ?? [];
      for (const toolPolicy of ['read', 'none'] as const) {
        // All in one reply, as models do: each call is decided separately.
        const replies = [{ steps: orders }, { steps: [{ text: 'finished' }] }];
        const { seen } = await bench.ask(replies, { toolPolicy, ...(model !== null && { model }) });
        expect(bench.model.requests.length).toBeGreaterThanOrEqual(replies.length);
        expect(seen).not.toMatch(/hidden-name|OUTSIDE-SECRET|root:x:/);
      }
    },
  );

  test("a guest's turn in a session that had full rights has none, and the owner's next turn has them again", async () => {
    const first = await turn([run], { toolPolicy: 'full' });
    expect(made()).toEqual(['shelled.txt']);
    rmSync(path.join(cwd(), 'shelled.txt'));
    const second = await turn([run, write.order(cwd())], { toolPolicy: 'none', resume: first.sessionId });
    expect(second.sessionId).toBe(first.sessionId);
    expect(made()).toEqual([]);
    await turn([run], { toolPolicy: 'full', resume: first.sessionId });
    expect(made()).toEqual(['shelled.txt']);
  });

  test.each([
    [
      'full',
      (file: string) => [`look at @inside.txt, @${file} and mail bob@example.com`, `@${file} what does it say?`, ...commands],
    ],
    ['none', (file: string) => [`look at @inside.txt, @${file} and mail bob@example.com`, '/quit', '--help']],
  ] as const)('text of a chat is no command line: with policy %s it reaches the model as it is', async (toolPolicy, texts) => {
    let resume: string | null = null;
    for (const prompt of texts(bench.outside)) {
      const { sessionId } = await turn([], { toolPolicy, prompt, resume, ...(toolPolicy === 'full' && owner) });
      resume = sessionId;
      expect(bench.model.requests.map((request) => request.userText)).toEqual([prompt]);
      expect(JSON.stringify(bench.model.requests)).not.toMatch(/INSIDE|OUTSIDE-SECRET/);
    }
  });
}

/** Commands of the programs. */
const commands = ['/cost', '/memory add x'] as const;
