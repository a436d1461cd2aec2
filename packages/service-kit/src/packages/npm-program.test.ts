import { expect, test } from 'vitest';
import { npmEnv, npmReason } from './npm-program.ts';

test('npmEnv() keeps the settings of npm and of the network, and drops secrets', () => {
  const way = { PATH: '/bin', HTTPS_PROXY: 'http://proxy', no_proxy: 'localhost', npm_config_registry: 'http://registry' };
  expect(npmEnv({ ...way, LANG: 'de_DE', SVC_API_KEY: 'secret', HOME: undefined })).toEqual({ ...way, LC_ALL: 'C.UTF-8' });
});

test.for([
  ['npm error code E404\nnpm ERR! 404 Not Found\nnpm error A complete log of this run is in x\n', 'code E404; 404 Not Found'],
  ['npm warn old\nKilled\n', 'Killed'],
  ['', 'no reason given'],
])('npmReason() returns the errors of the log, or its last line: %j', ([log, reason]) => {
  expect(npmReason(String(log))).toBe(`npm did not finish: ${reason}`);
});
