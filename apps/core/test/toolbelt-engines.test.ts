import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine as createClaude } from '@svc/engine-claude/engine.ts';
import { createEngine as createCodex } from '@svc/engine-codex/engine.ts';
import { createEngine as createGemini } from '@svc/engine-gemini/engine.ts';
import type { CreateEngine, Engine } from '@svc/engine-kit/engine.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { http } from '@svc/service-kit/builtin.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { toolNames } from '@svc/contract/toolbelt.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const engines: [string, CreateEngine, (tool: string, server?: string) => string][] = [
  ['claude', createClaude, (tool, server = 'svc-toolbelt') => `mcp__${server}__${tool}`],
  ['codex', createCodex, (tool, server = 'svc-toolbelt') => `mcp__${server.replace('-', '_')}__${tool}`],
  ['gemini', createGemini, (tool, server = 'svc-toolbelt') => `mcp_${server}_${tool}`],
];

const deviceTools = [
  { name: 'locate', description: 'Where the device is.', policy: 'read' as const },
  { name: 'unlock', description: 'Opens the door.', policy: 'full' as const },
];

for (const [id, createEngine, toolName] of engines) {
  describeWithEngine(id, `toolbelt in turns of the real ${id}`, async (install) => {
    const state = temporaryFolder();
    let core: TestCore;
    let model: ModelServer;
    let engine: Engine;
    let manager: Awaited<ReturnType<typeof listen>>;
    const calls: string[] = [];

    beforeAll(async () => {
      const [port] = await freePorts(1);
      model = await startModelServer();
      engine = createEngine(engineDeps({ stateDir: state.path, path: install, baseUrl: model.url }));
      manager = await listen(
        http.createServer((request, response) => {
          calls.push(request.url ?? '');
          request.resume().on('end', () => response.end('{"ok":true,"result":{"place":"the kitchen"}}'));
        }),
      );
      const env = { SVC_CORE_PORT: String(port), SVC_MANAGER_PORT: String(manager.port), PATH: process.env['PATH'] ?? '' };
      core = await openTestCore({ toolbelt: true, env });
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
      await manager.close();
      state.remove();
    });

    /** A turn in a group's conversation in which the model calls one tool, whether it is offered or not. */
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

    test('each turn has the rights of its own sender, although the engine and its token are reused', async () => {
      const listed = await turn('ann', 'svc_sessions');
      expect(listed.offered).toHaveLength(toolNames.length);
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

    test('offers the tools of a device only in turns of its conversation and within the rights of the sender', async () => {
      const onDevice = async (who: string, tool: string, message: Partial<Envelope> = { device_tools: deviceTools }) => {
        model.requests.length = 0;
        core.telemetry.events.length = 0;
        calls.length = 0;
        model.script([{ steps: [{ tool: toolName(tool, 'svc-device'), input: {} }] }, { steps: [{ text: 'well' }] }]);
        const key = { conversation_key: 'compat:c1:device', sender: { raw_id: who } };
        expect((await core.handle(envelope('go', { ...key, ...message }))).json()).toMatchObject({ outcome: 'replied' });
        const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
        return ['locate', 'unlock'].filter((tool_) => names.includes(toolName(tool_, 'svc-device')));
      };
      expect(await onDevice('ann', 'unlock')).toEqual(['locate', 'unlock']);
      expect(calls).toEqual(['/instances/c1/call']);
      const results = core.telemetry.events.filter(({ kind }) => kind === 'tool_result');
      expect(results).toMatchObject([{ text: expect.stringContaining('the kitchen') as string, payload: { ok: true } }]);
      expect(await onDevice('ann', 'unlock', {})).toEqual([]);
      expect(calls).toEqual([]);
      await onDevice('kim', 'unlock');
      expect(calls).toEqual([]);
      await onDevice('gus', 'locate');
      expect(calls).toEqual([]);
      expect(await onDevice('ann', 'locate')).toContain('locate');
      expect(calls).toEqual(['/instances/c1/call']);
      // Each message has its own tools, even while the engine stays open.
      for (const one of [...deviceTools, ...deviceTools]) {
        expect(await onDevice('ann', one.name, { device_tools: [one] })).toEqual([one.name]);
        expect(calls).toEqual(['/instances/c1/call']);
      }
    }, 120_000);
  });
}
