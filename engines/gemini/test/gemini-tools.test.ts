import { openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { testEngineTools } from '@svc/engine-kit/testing/engine-tools.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('gemini', 'tool servers of gemini', async (install) => {
  await testEngineTools(await openEngineBench({ id: 'gemini', createEngine, install }, { cache: 'compile-cache' }), {
    toolName: (server, tool) => `mcp_${server}_${tool}`,
    holdUpMs: 70_000,
    isLong: true,
  });
});
