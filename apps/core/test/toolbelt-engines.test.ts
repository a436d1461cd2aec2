import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine as createClaude } from '@svc/engine-claude/engine.ts';
import { createEngine as createCodex } from '@svc/engine-codex/engine.ts';
import { createEngine as createGemini } from '@svc/engine-gemini/engine.ts';
import type { CreateEngine, Engine } from '@svc/engine-kit/engine.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const engines: [string, CreateEngine, (tool: string) => string][] = [
  ['claude', createClaude, (tool) => `mcp__svc-toolbelt__${tool}`],
  ['codex', createCodex, (tool) => `mcp__svc_toolbelt__${tool}`],
  ['gemini', createGemini, (tool) => `mcp_svc-toolbelt_${tool}`],
];

for (const [id, createEngine, toolName] of engines) {
  describeWithEngine(id, `the toolbelt in turns of the real ${id}`, async (install) => {
    const state = temporaryFolder();
    let core: TestCore;
    let model: ModelServer;
    let engine: Engine;

    beforeAll(async () => {
      const [port] = await freePorts(1);
      model = await startModelServer();
      engine = createEngine(engineDeps({ stateDir: state.path, path: install, baseUrl: model.url }));
      core = await openTestCore({ toolbelt: true, env: { SVC_CORE_PORT: String(port), PATH: process.env['PATH'] ?? '' } });
      core.engine.script((request, signal) => engine.run(request, signal));
      await core.app.listen({ host: '127.0.0.1', port });
      for (const [name, role] of [
        ['ann', 'trusted'],
        ['kim', 'known'],
        ['gus', 'guest'],
      ] as const)
        await core.addPrincipal(name, role);
    });
    afterAll(async () => {
      await engine.close();
      await core.close();
      await model.close();
      state.remove();
    });

    /** A turn of a group's conversation in which the model wants one tool, whether it is offered or not. */
    const turn = async (who: string, tool: string, input: Record<string, unknown> = {}) => {
      model.requests.length = 0;
      core.telemetry.events.length = 0;
      model.script([{ steps: [{ tool: toolName(tool), input }] }, { steps: [{ text: 'well' }] }]);
      const message = envelope('go', { conversation_key: 'compat:c1:group', sender: { raw_id: who, raw_username: who } });
      expect((await core.handle(message)).json()).toMatchObject({ outcome: 'replied' });
      return {
        offered: model.requests[0]?.tools.map(({ name }) => name).filter((name) => name.includes('svc_')) ?? [],
        results: core.telemetry.events.filter(({ kind }) => kind === 'tool_result'),
        announced: core.context.announcements.list().map(({ text }) => text),
      };
    };

    test('whose turn it is decides what a tool does, though the engine is kept open and keeps its token', async () => {
      const listed = await turn('ann', 'svc_sessions');
      expect(listed.offered).toHaveLength(6);
      expect(listed.results).toMatchObject([
        { text: expect.stringContaining('compat:c1:group') as string, payload: { ok: true } },
      ]);
      expect((await turn('ann', 'svc_announce', { text: `of ann on ${id}` })).announced).toEqual([`of ann on ${id}`]);
      const read = await turn('kim', 'svc_sessions');
      expect(read.results).toMatchObject([{ text: expect.stringContaining('compat:c1:group') as string }]);
      expect((await turn('kim', 'svc_announce', { text: 'of kim' })).announced).toEqual([`of ann on ${id}`]);
      const guest = await turn('gus', 'svc_sessions');
      expect(guest.offered).toEqual([]);
      expect(guest.results.filter(({ text }) => text?.includes('conversation_key'))).toEqual([]);
      expect((await turn('ann', 'svc_announce', { text: 'again' })).announced).toEqual([`of ann on ${id}`, 'again']);
    }, 120_000);
  });
}
