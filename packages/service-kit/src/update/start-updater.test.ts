import { expect, test } from 'vitest';
import { updaterEnv } from './start-updater.ts';

test("updaterEnv() keeps the operator's network settings, and drops those of the process", () => {
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
