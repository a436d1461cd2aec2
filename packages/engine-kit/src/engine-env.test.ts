import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { aroundProxy, engineEnv } from './engine-env.ts';

test.each([
  [{}, 'localhost,127.0.0.1', 'localhost,127.0.0.1'],
  [{ NO_PROXY: 'a' }, 'a,localhost,127.0.0.1', 'a,localhost,127.0.0.1'],
  [{ no_proxy: 'a' }, 'a,localhost,127.0.0.1', 'a,localhost,127.0.0.1'],
  [{ NO_PROXY: 'a', no_proxy: 'b' }, 'a,localhost,127.0.0.1', 'b,localhost,127.0.0.1'],
  [{ NO_PROXY: '', no_proxy: 'b' }, 'b,localhost,127.0.0.1', 'b,localhost,127.0.0.1'],
])('excludes loopback from the proxy: %j', (env, upper, lower) => {
  const { NO_PROXY, no_proxy } = aroundProxy(env);
  expect(NO_PROXY.startsWith(upper)).toBe(true);
  expect(no_proxy.startsWith(lower)).toBe(true);
});

test('keeps an exception for all hosts', () => {
  expect(aroundProxy({ NO_PROXY: ' * ' })).toEqual({ NO_PROXY: '*', no_proxy: '*' });
});

test('engineEnv() adds the proxy exceptions and omits secrets of the service', () => {
  const folder = temporaryFolder();
  const stateDir = folder.path;
  onTestFinished(() => folder.remove());
  const env = engineEnv({ PATH: '/bin', HTTPS_PROXY: 'http://p', SVC_CORE_TOKEN: 'x' }, stateDir);
  expect(env).toMatchObject({ PATH: '/bin', HTTPS_PROXY: 'http://p', NO_PROXY: expect.stringContaining('127.0.0.1') });
  expect(env).not.toHaveProperty('SVC_CORE_TOKEN');
});
