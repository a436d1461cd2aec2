import { expect, vi } from 'vitest';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { filesHolding } from '@svc/testing/files-below.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { startModelServer, type ModelServerOptions } from '@svc/testing/model-server/start-model-server.ts';
import { startToolServer } from '@svc/testing/model-server/start-tool-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { RealEngine } from './engine-bench.ts';
import { engineContract } from './engine-contract.ts';
import { engineDeps } from './engine-deps.ts';

type Options = RealEngine & {
  /** Cost of one reply, as this engine reports it. */
  usage: Partial<TokenUsage>;
  server?: ModelServerOptions;
};

/** The engine contract for a real engine with a scripted model. Call it in a `describe`. */
export async function scriptedContract({ id, createEngine, install, usage, server }: Options): Promise<void> {
  const folder = temporaryFolder();
  const stateDir = folder.path;
  const model = await startModelServer(server);
  const tools = await startToolServer();
  const never = createGate();
  const firstDelta = createGate();
  model.script((request) => {
    if (request.userText.includes('stream for ever')) return { steps: [{ text: ['and ', 'on ', never] }] };
    if (request.userText.includes('slowly')) return { steps: [{ text: ['one ', firstDelta, 'two'] }] };
    return undefined;
  });

  engineContract({
    name: id,
    createEngine: () => createEngine(engineDeps({ stateDir, path: install, baseUrl: model.url })),
    turns: {
      text: { prompt: 'Say hello', reply: 'Hello from the scripted model, this is a streamed reply.', usage },
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
    // Without databases, whose free pages may contain deleted text for a while.
    filesHolding: (text) => filesHolding(stateDir, text).filter((file) => !/\.sqlite(-wal|-shm)?$/.test(file)),
    remembers: (prompt) => (model.requests.at(-1)?.historyText.split(prompt).length ?? 0) > 2,
    settled: () => vi.waitFor(() => expect(model.open).toBe(0), { timeout: 20_000 }),
    close: async () => {
      await tools.close();
      await model.close();
      folder.remove();
    },
  });
}
