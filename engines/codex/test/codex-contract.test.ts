import { scriptedContract } from '@svc/engine-kit/testing/scripted-contract.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('codex', 'codex', (install) =>
  scriptedContract({
    id: 'codex',
    createEngine,
    install,
    // Strict, like self-hosted servers: requests that bypass the shim fail.
    server: { strictTools: true },
    usage: { input_tokens: 111, cache_read_tokens: 33, output_tokens: 17, thinking_tokens: 5, estimated: false },
  }),
);
