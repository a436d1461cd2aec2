import { describe, expect, test } from 'vitest';
import { startFailure } from './start-failure.ts';

const system = (code: string, fields: object = {}) => Object.assign(new Error(`${code}: a system message`), { code, ...fields });

describe('the reason of a failed start', () => {
  test.each([
    [system('EADDRINUSE', { port: 3025 }), /^Port 3025 is in use/],
    [system('EADDRINUSE'), /^Port 4000 is in use/],
    [system('EACCES', { port: 80 }), /^Port 80 may not be opened/],
    [system('EADDRNOTAVAIL', { address: '10.9.9.9' }), /no address 10\.9\.9\.9/],
    [system('ERR_MODULE_NOT_FOUND'), /not installed/],
    [system('ERR_ACCESS_DENIED', { permission: 'FileSystemRead', resource: '/x' }), /^It may not read \/x\. .*meta\.permissions/],
    [system('ERR_ACCESS_DENIED', { permission: 'FileSystemWrite', resource: '/x' }), /^It may not write \/x\./],
    [system('ERR_ACCESS_DENIED', { permission: 'ChildProcess' }), /a system message .*meta\.permissions/],
    [new Error('The token is wrong.'), /^The token is wrong\.$/],
    ['a text', /^a text$/],
  ])('%s', (error, wanted) => {
    expect(startFailure(error, { port: 4000 })).toMatch(wanted);
  });
});
