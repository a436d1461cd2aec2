import { openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { testEngineTools } from '@svc/engine-kit/testing/engine-tools.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('claude', 'tool servers of claude', async (install) => {
  await testEngineTools(await openEngineBench({ id: 'claude', createEngine, install }), {
    toolName: (server, tool) => `mcp__${server}__${tool}`,
    holdUpMs: 25_000,
  });
});
