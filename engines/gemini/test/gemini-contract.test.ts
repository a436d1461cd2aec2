import { scriptedContract } from '@svc/engine-kit/testing/scripted-contract.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

describeWithEngine('gemini', 'gemini', (install) =>
  scriptedContract({
    id: 'gemini',
    createEngine,
    install,
    usage: { input_tokens: 111, cache_read_tokens: 33, output_tokens: 22, thinking_tokens: 5, estimated: false },
  }),
);
