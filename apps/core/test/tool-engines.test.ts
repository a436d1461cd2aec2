import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import type { ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { startHttpToolServer, type HttpToolServer } from '@svc/testing/tool-server/start-http-tool-server.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { openEngineCore } from './open-engine-core.ts';
import { envelope, type TestCore } from './open-test-core.ts';

type Case = {
  id: EngineId;
  toolName(server: string, tool: string): string;
  shell(command: string): ScriptedStep;
  write(file: string): ScriptedStep;
};

const cases: Case[] = [
  {
    id: 'claude',
    toolName: (server, tool) => `mcp__${server}__${tool}`,
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'x' } }),
    write: (file) => ({ tool: 'Write', input: { file_path: file, content: 'hi' } }),
  },
  {
    id: 'codex',
    toolName: (server, tool) => `mcp__${server}__${tool}`,
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    // Models unknown to the vendor have no other tool to write with; codex itself extracts this one from the shell command.
    write: (file) => ({
      tool: 'exec_command',
      input: { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+hi\n*** End Patch\nEOF` },
    }),
  },
  {
    id: 'gemini',
    toolName: (server, tool) => `mcp_${server}_${tool}`,
    shell: (command) => ({ tool: 'run_shell_command', input: { command, description: 'x' } }),
    write: (file) => ({ tool: 'write_file', input: { file_path: file, content: 'hi' } }),
  },
];

for (const { id, toolName, shell, write } of cases) {
  describeWithEngine(id, `tool servers in turns of ${id} through the core`, async (install) => {
    let core: TestCore;
    let model: ModelServer;
    let close: () => Promise<void>;
    let tools: HttpToolServer;
    let made: string;

    beforeAll(async () => {
      tools = await startHttpToolServer();
      ({ core, model, close } = await openEngineCore(id, install));
      await core.addPrincipal('reader', 'known');
      await core.addPrincipal('guest', 'guest');
    });
    afterAll(async () => {
      await close();
      await tools.close();
    });
    beforeEach(() => {
      tools.calls.length = 0;
      mkdirSync(path.join(core.folder, 'workspace'), { recursive: true });
      made = mkdtempSync(path.join(core.folder, 'workspace/made-'));
    });

    const post = (url: string, payload?: object) => core.app.inject({ method: 'POST', url, ...(payload && { payload }) });
    /** One turn in which the model calls these tools, one per request. */
    const turn = async (who: string, orders: readonly ScriptedStep[]) => {
      model.requests.length = 0;
      model.script([...orders.map((order) => ({ steps: [order] })), { steps: [{ text: 'finished' }] }]);
      const handled = await core.handle(envelope('go', { sender: { raw_id: who }, conversation_key: `compat:c1:${who}` }));
      const result = handled.json() as HandleResult;
      expect(result, handled.body).toMatchObject({ outcome: 'replied', actions: [{ text: 'finished' }] });
      return { ...result, offered: model.requests[0]?.tools.map(({ name }) => name) ?? [] };
    };

    test('a server added with POST /v2/mcp is used in the next turn, and removed after a toggle', async () => {
      await turn('owner', []);
      await post('/v2/mcp', { name: 'kit', url: tools.url });
      const called = await turn('owner', [{ tool: toolName('kit', 'echo'), input: { text: 'ping' } }]);
      expect(tools.calls).toEqual([{ text: 'ping' }]);
      expect(called.warnings).toBeUndefined();
      await post('/v2/mcp/kit/toggle');
      const after = await turn('owner', [{ tool: toolName('kit', 'echo'), input: { text: 'again' } }]);
      expect(after.offered).not.toContain(toolName('kit', 'echo'));
      expect(tools.calls).toHaveLength(1);
    });

    test('a server that is not marked as safe is hidden from read-only roles', async () => {
      await post('/v2/mcp', { name: 'wild', url: tools.url });
      await post('/v2/mcp', { name: 'calm', url: tools.url, safe: true });
      const { offered } = await turn('reader', [
        { tool: toolName('wild', 'echo'), input: { text: 'wild' } },
        { tool: toolName('calm', 'echo'), input: { text: 'calm' } },
      ]);
      expect(offered).toContain(toolName('calm', 'echo'));
      expect(offered).not.toContain(toolName('wild', 'echo'));
      expect(tools.calls).toEqual([{ text: 'calm' }]);
    });

    test('an unavailable server is named in the warnings of a successful answer', async () => {
      await post('/v2/mcp', { name: 'gone', url: 'http://127.0.0.1:9/mcp' });
      const { warnings } = await turn('owner', []);
      expect(warnings).toEqual([expect.stringContaining('gone')]);
      await core.app.inject({ method: 'DELETE', url: '/v2/mcp/gone' });
    });

    test("the owner's turn can write files and run commands, and a guest's turn cannot", async () => {
      const orders = [shell(`echo ran > ${path.join(made, 'ran')}`), write(path.join(made, 'written'))];
      await turn('guest', [...orders, shell('echo ran > ran'), write('written')]);
      expect(readdirSync(made)).toEqual([]);
      const everywhere = readdirSync(core.folder, { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file));
      expect(everywhere.filter((name) => name === 'ran' || name === 'written')).toEqual([]);
      await turn('owner', orders);
      expect(['ran', 'written'].filter((name) => existsSync(path.join(made, name)))).toEqual(['ran', 'written']);
    });
  });
}
