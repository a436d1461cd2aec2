import { expect, test } from 'vitest';
import { updaterEnv } from './start-updater.ts';

test('the updater has what the operator set to reach the network, and nothing of the process that starts it', () => {
  const theirs = { PATH: '/bin', HTTPS_PROXY: 'http://proxy:3128', NODE_EXTRA_CA_CERTS: '/ca.pem', SSH_AUTH_SOCK: '/agent' };
  const ours = {
    NODE_COMPILE_CACHE: '/c',
    NODE_COMPILE_CACHE_PORTABLE: '1',
    NODE_CHANNEL_FD: '3',
    NODE_CHANNEL_SERIALIZATION_MODE: 'json',
    GATEWAY_USER_PROOF: 'x',
    MALLOC_TRIM_THRESHOLD_: '1',
  };
  expect(updaterEnv({ ...theirs, ...ours })).toEqual(theirs);
});
