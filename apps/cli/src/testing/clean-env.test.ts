import { expect, test } from 'vitest';
import { cleanEnv } from './clean-env.ts';

test('cleanEnv() hides settings and keys from tests, except those meant for them', () => {
  const kept = { PATH: '/bin', SVC_NODE: '/node', SVC_TEST_HEAVY: '1', SVC_TEST_ENGINES: '/engines' };
  const hidden = {
    SVC_DATA_DIR: '/data',
    SVC_NODE_OPTIONS: '1',
    OPENAI_BASE_URL: 'x',
    MY_API_KEY: 'x',
    CLAUDECODE: '1',
    NODE_COMPILE_CACHE_PORTABLE: '1',
  };
  expect(cleanEnv({ ...hidden, ...kept })).toEqual(kept);
});
