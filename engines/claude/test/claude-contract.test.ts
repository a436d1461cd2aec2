import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { engineContract } from '@svc/engine-kit/testing/engine-contract.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { startToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('claude', 'claude', async (install) => {
  const stateDir = mkdtempSync(path.join(os.tmpdir(), 'claude-contract-'));
  const model = await startModelServer();
  const tools = await startToolServer();
  const never = createGate();
  const firstDelta = createGate();
  model.script((request) => {
    if (request.userText.includes('stream for ever')) return { steps: [{ text: ['and ', 'on ', never] }] };
    if (request.userText.includes('slowly')) return { steps: [{ text: ['one ', firstDelta, 'two'] }] };
    return undefined;
  });

  engineContract({
    name: 'claude',
    createEngine: () => createEngine(engineDeps({ stateDir, path: install, baseUrl: model.url })),
    turns: {
      text: {
        prompt: 'Say hello',
        reply: 'Hello from the scripted model, this is a streamed reply.',
        usage: { input_tokens: 111, cache_read_tokens: 33, cache_write_tokens: 22, output_tokens: 17, estimated: false },
      },
      streamed: { prompt: 'count slowly', reply: 'one two', release: () => firstDelta.open() },
      thinking: { prompt: 'THINK about it', thought: 'let me think about it' },
      tool: {
        prompt: 'USE_TOOL echo {"text":"ping"}',
        tool: /^mcp__kit__echo$/,
        output: 'echo:ping',
        toolServers: [{ name: 'kit', type: 'http', url: tools.url, headers: { authorization: 'Bearer kit' }, safe: false }],
      },
      slow: { prompt: 'stream for ever' },
      fail: { prompt: 'FAIL401', code: 'engine_auth_failed', message: /invalid key/ },
    },
    unknownSession: '11111111-2222-4333-8444-555555555555',
    remembers: (prompt) => (model.requests.at(-1)?.historyText.split(prompt).length ?? 0) > 2,
    settled: () => vi.waitFor(() => expect(model.open).toBe(0), { timeout: 3000 }),
    close: async () => {
      await tools.close();
      await model.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  });
});
