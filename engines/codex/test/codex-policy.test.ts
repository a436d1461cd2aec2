import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { startToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('codex', 'what codex may do is the tool policy of the turn', async (install) => {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), 'codex-policy-'));
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
  const turn = async (orders: ScriptedStep[], fields: { toolPolicy: ToolPolicy; model?: string; resume?: string | null }) => {
    const replies = [...orders.map((order) => ({ steps: [order] })), { steps: [{ text: 'finished' }] }];
    model.requests.length = 0;
    model.script(replies);
    const toolServers = [
      { name: 'wild', type: 'http' as const, url: tools.url, headers: {}, safe: false },
      { name: 'calm', type: 'http' as const, url: tools.url, headers: {}, safe: true },
    ];
    const result = await collectTurn(
      engine,
      engineRequest({ prompt: 'go', cwd, model: 'scripted-model', toolServers, ...fields }),
    );
    expect(result.last).toEqual({ type: 'done' });
    expect(model.requests).toHaveLength(replies.length);
    return {
      ...result,
      results: model.requests.flatMap((request) => request.toolResults),
      offered: model.requests[0]?.tools ?? [],
    };
  };

  const shell = (cmd: string): ScriptedStep => ({ tool: 'exec_command', input: { cmd } });
  const patch: ScriptedStep = {
    tool: { name: 'apply_patch', kind: 'custom' },
    input: { input: '*** Begin Patch\n*** Add File: patched.txt\n+hi\n*** End Patch' },
  };
  const code: ScriptedStep = {
    tool: { name: 'exec', namespace: 'functions', kind: 'custom' },
    input: {
      input:
        "await tools.exec_command({ cmd: 'touch coded.txt' }); await tools.apply_patch('*** Begin Patch\\n*** Add File: coded.txt\\n+hi\\n*** End Patch')",
    },
  };
  const made = () => ['shelled.txt', 'patched.txt', 'coded.txt'].filter((name) => existsSync(path.join(cwd, name)));

  // The vendor's models get other tools than unknown ones: a free-text patch tool, or code that calls tools.
  test.each(['scripted-model', 'gpt-5.5', 'gpt-6.1-sol'])(
    'with policy none %s can neither write a file nor run a command',
    async (name) => {
      const { results, events, offered } = await turn([shell('echo ran > shelled.txt; echo RAN'), patch, code], {
        toolPolicy: 'none',
        model: name,
      });
      expect(made()).toEqual([]);
      expect(results.join()).not.toContain('RAN\n');
      expect(ofType(events, 'tool_result').filter((event) => event.ok)).toEqual([]);
      expect(offered.map((tool) => tool.name)).not.toContain('exec_command');
    },
  );

  test('with policy none no tool server is offered or called', async () => {
    const { offered } = await turn(
      [
        { tool: 'mcp__wild__echo', input: { text: 'x' } },
        { tool: 'mcp__calm__echo', input: { text: 'x' } },
      ],
      { toolPolicy: 'none' },
    );
    expect(offered).toEqual([]);
    expect(tools.calls).toEqual([]);
  });

  test('with policy full it writes files and runs commands', async () => {
    const { results, events } = await turn([shell('echo ran > shelled.txt; echo RAN'), patch], {
      toolPolicy: 'full',
      model: 'gpt-5.5',
    });
    expect(made()).toEqual(['shelled.txt', 'patched.txt']);
    expect(results.join()).toContain('RAN');
    expect(ofType(events, 'tool').map((event) => event.name)).toEqual(['shell', 'edit_files']);
  });

  test('with policy read it sees its own folder, sees nothing else of the owner, and changes nothing', async () => {
    const { results } = await turn([shell(`cat inside.txt; cat ${outside}; echo ran > shelled.txt`), patch], {
      toolPolicy: 'read',
      model: 'gpt-5.5',
    });
    expect(results.join()).toContain('INSIDE');
    expect(results.join()).not.toContain('OUTSIDE-SECRET');
    expect(made()).toEqual([]);
  });

  test('with policy read only the tool servers marked safe are there', async () => {
    const { offered } = await turn([{ tool: /calm__echo/, input: { text: 'safe one' } }], { toolPolicy: 'read' });
    expect(offered.map((tool) => tool.name)).toContain('mcp__calm__echo');
    expect(offered.map((tool) => tool.name)).not.toContain('mcp__wild__echo');
    expect(tools.calls).toEqual([{ text: 'safe one' }]);
  });

  test('a session that had full rights has none in the turn of a guest', async () => {
    const first = await turn([shell('echo ran > shelled.txt')], { toolPolicy: 'full' });
    expect(made()).toEqual(['shelled.txt']);
    rmSync(path.join(cwd, 'shelled.txt'));
    const second = await turn([shell('echo ran > shelled.txt'), patch], { toolPolicy: 'none', resume: first.sessionId });
    expect(second.sessionId).toBe(first.sessionId);
    expect(made()).toEqual([]);
  });

  test('commands do not get the token that opens the way to the model', async () => {
    const { results } = await turn([shell('env > env.txt; cat env.txt; cat /proc/$PPID/environ | tr "\\0" "\\n"')], {
      toolPolicy: 'full',
    });
    expect(results.join()).toContain('PATH=');
    expect(readFileSync(path.join(cwd, 'env.txt'), 'utf8')).not.toMatch(/TOKEN|KEY/);
    expect(results.join()).not.toMatch(/TOKEN=|KEY=/);
  });
});
