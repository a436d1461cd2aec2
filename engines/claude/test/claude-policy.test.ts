import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { startToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('claude', 'what claude may do is the tool policy of the turn', async (install) => {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), 'claude-policy-'));
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
    rmSync(stateDir, { recursive: true, force: true });
  });

  /** A turn in which the model orders these tools, one a request, offered or not. */
  const turn = async (orders: ScriptedStep[], fields: { toolPolicy: ToolPolicy } & Partial<EngineRequest>) => {
    const replies = [...orders.map((order) => ({ steps: [order] })), { steps: [{ text: 'finished' }] }];
    model.requests.length = 0;
    model.script(replies);
    const toolServers = [
      { name: 'wild', type: 'http' as const, url: tools.url, headers: {}, safe: false },
      { name: 'calm', type: 'http' as const, url: tools.url, headers: {}, safe: true },
    ];
    const result = await collectTurn(engine, engineRequest({ prompt: 'go', cwd, toolServers, ...fields }));
    expect(result.last).toEqual({ type: 'done' });
    expect(model.requests).toHaveLength(replies.length);
    const results = ofType(result.events, 'tool_result');
    return {
      ...result,
      results,
      output: results.map((event) => event.output).join('\n'),
      offered: model.requests[0]?.tools.map((tool) => tool.name) ?? [],
    };
  };

  const bash: ScriptedStep = { tool: 'Bash', input: { command: 'echo ran > shelled.txt; echo RAN', description: 'x' } };
  const write = (): ScriptedStep => ({ tool: 'Write', input: { file_path: path.join(cwd, 'written.txt'), content: 'hi' } });
  const read = (file: string): ScriptedStep => ({ tool: 'Read', input: { file_path: file } });
  const made = () => ['shelled.txt', 'written.txt'].filter((name) => existsSync(path.join(cwd, name)));

  test('with policy none it can neither write a file nor run a command, and no tool is offered', async () => {
    const { results, offered } = await turn([bash, write(), read(outside), { tool: 'mcp__calm__echo', input: { text: 'x' } }], {
      toolPolicy: 'none',
    });
    expect(offered).toEqual([]);
    expect(made()).toEqual([]);
    expect(results.filter((event) => event.ok)).toEqual([]);
    expect(tools.calls).toEqual([]);
  });

  test('with policy full it writes files and runs commands', async () => {
    const { output, events } = await turn([bash, write()], { toolPolicy: 'full' });
    expect(made()).toEqual(['shelled.txt', 'written.txt']);
    expect(output).toContain('RAN');
    expect(ofType(events, 'tool').map((event) => event.name)).toEqual(['Bash', 'Write']);
  });

  test('with policy read it reads its own folder and the attached files, nothing else, and changes nothing', async () => {
    const attached = path.join(stateDir, 'attached.txt');
    writeFileSync(attached, 'ATTACHED');
    symlinkSync(outside, path.join(cwd, 'link.txt'));
    const { results } = await turn(
      [
        read(path.join(cwd, 'inside.txt')),
        read(attached),
        read(outside),
        read(path.join(cwd, 'link.txt')),
        read('/etc/passwd'),
        bash,
        write(),
      ],
      { toolPolicy: 'read', attachments: [{ path: attached }] },
    );
    expect(results.map((event) => event.ok)).toEqual([true, true, false, false, false, false, false]);
    expect(results[0]?.output).toContain('INSIDE');
    expect(results[1]?.output).toContain('ATTACHED');
    expect(JSON.stringify(results)).not.toContain('OUTSIDE-SECRET');
    expect(made()).toEqual([]);
  });

  test('with policy read only the tool servers marked safe are there', async () => {
    const { offered } = await turn(
      [
        { tool: 'mcp__wild__echo', input: { text: 'wild one' } },
        { tool: /calm__echo/, input: { text: 'safe one' } },
      ],
      { toolPolicy: 'read' },
    );
    expect(offered).toContain('mcp__calm__echo');
    expect(offered).not.toContain('mcp__wild__echo');
    expect(tools.calls).toEqual([{ text: 'safe one' }]);
  });

  test("a guest's turn in a session that had full rights has none, and the owner's next turn has them again", async () => {
    const first = await turn([bash], { toolPolicy: 'full' });
    rmSync(path.join(cwd, 'shelled.txt'));
    const second = await turn([bash, write()], { toolPolicy: 'none', resume: first.sessionId });
    expect(second.sessionId).toBe(first.sessionId);
    expect(made()).toEqual([]);
    await turn([bash], { toolPolicy: 'full', resume: first.sessionId });
    expect(made()).toEqual(['shelled.txt']);
  });

  test("the owner's own context and settings are for turns with full rights alone", async () => {
    const config = path.join(stateDir, 'config');
    mkdirSync(config, { recursive: true });
    writeFileSync(path.join(config, 'CLAUDE.md'), 'OWNER-CONTEXT');
    writeFileSync(path.join(config, 'settings.json'), JSON.stringify({ permissions: { allow: [`Read(/${outside})`] } }));
    const owner = await turn([read(outside)], { toolPolicy: 'full' });
    expect(owner.output).toContain('OUTSIDE-SECRET');
    expect(JSON.stringify(model.requests[0]?.body)).toContain('OWNER-CONTEXT');
    for (const toolPolicy of ['read', 'none'] as const) {
      const { output } = await turn([read(outside)], { toolPolicy });
      expect(output).not.toContain('OUTSIDE-SECRET');
      expect(JSON.stringify(model.requests[0]?.body)).not.toContain('OWNER-CONTEXT');
    }
  });

  test('text of a chat is no command line: a file named in it is not read into the prompt', async () => {
    await turn([], { toolPolicy: 'full', prompt: `look at @${outside}` });
    await turn([], { toolPolicy: 'full', prompt: '/cost' });
    expect(model.requests.at(-1)?.userText).toBe('/cost');
    expect(JSON.stringify(model.requests)).not.toContain('OUTSIDE-SECRET');
  });
});
