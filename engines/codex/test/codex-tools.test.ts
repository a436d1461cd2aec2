import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { testEngineTools } from '@svc/engine-kit/testing/engine-tools.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const program = path.join(repositoryRoot, 'packages/testing/src/tool-server/stdio-tool-server.ts');

describeWithEngine('codex', 'tool servers of codex', async (install) => {
  const bench = await openEngineBench({ id: 'codex', createEngine, install }, { sharesState: true });
  await testEngineTools(bench, {
    toolName: (server, tool) => `mcp__${server}__${tool}`,
    holdUpMs: 25_000,
    models: ['gpt-5.5'],
  });

  test('waits in later turns for a tool server that was once too late', async () => {
    const { engine, stateDir, request } = bench.start();
    bench.model.script(() => hello);
    const [mark, script] = [path.join(stateDir, 'was-late'), path.join(stateDir, 'late-once.mjs')];
    writeFileSync(
      script,
      `import { existsSync, writeFileSync } from 'node:fs';
       const ms = existsSync(${JSON.stringify(mark)}) ? 2000 : 600_000;
       writeFileSync(${JSON.stringify(mark)}, '');
       process.argv.splice(2, 0, 'slow', String(ms));
       await import(${JSON.stringify(program)});`,
    );
    const toolServers = [
      { name: 'late', type: 'stdio' as const, command: process.execPath, args: [script], env: {}, safe: true },
    ];
    const turn = async (conversationKey: string) => {
      const asked = engineRequest({ prompt: 'go', ...request, conversationKey, toolServers });
      return ofType((await collectTurn(engine, asked)).events, 'notice').map(({ message }) => message);
    };
    expect(await turn('first')).toEqual([expect.stringContaining('timed out')]);
    expect(existsSync(mark)).toBe(true);
    for (const key of ['second', 'third']) {
      expect(await turn(key)).toEqual([]);
      expect(bench.model.requests.at(-1)?.tools.map(({ name }) => name)).toContain('mcp__late__echo');
    }
  });
});
