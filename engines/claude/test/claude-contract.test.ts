import { scriptedContract } from '@svc/engine-kit/testing/scripted-contract.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('claude', 'claude', (install) =>
  scriptedContract({
    id: 'claude',
    createEngine,
    install,
    usage: { input_tokens: 111, cache_read_tokens: 33, cache_write_tokens: 22, output_tokens: 17, estimated: false },
  }),
);
