import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startFailure } from './start-failure.ts';

const system = (code: string, fields: object = {}) => Object.assign(new Error(`${code}: a system message`), { code, ...fields });

/** Imports the file with Node itself, which a test runner does not. */
function failureOfImporting(file: string): string {
  const own = pathToFileURL(path.join(import.meta.dirname, 'start-failure.ts')).href;
  const code = `const { startFailure } = await import(${JSON.stringify(own)});
    await import(${JSON.stringify(pathToFileURL(file).href)}).catch((error) => console.log(startFailure(error, {})));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 60_000 }).trim();
}

describe('startFailure()', () => {
  test.each([
    [system('EADDRINUSE', { port: 3025 }), /^Port 3025 is in use/],
    [system('EADDRINUSE'), /^Port 4000 is in use/],
    [system('EACCES', { port: 80 }), /^This user may not open port 80\./],
    [system('EADDRNOTAVAIL', { address: '10.9.9.9' }), /no address 10\.9\.9\.9/],
    [system('ERR_MODULE_NOT_FOUND'), /not installed/],
    [system('ERR_ACCESS_DENIED', { permission: 'FileSystemRead', resource: '/x' }), /^It may not read \/x\. .*meta\.permissions/],
    [system('ERR_ACCESS_DENIED', { permission: 'FileSystemWrite', resource: '/x' }), /^It may not write \/x\./],
    [system('ERR_ACCESS_DENIED', { permission: 'ChildProcess' }), /a system message .*meta\.permissions/],
    [new Error('The token is wrong.'), /^The token is wrong\.$/],
    ['a text', /^a text$/],
    [
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      /^fetch failed: connect ECONNREFUSED/,
    ],
    [
      new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) }),
      /: ECONNREFUSED$/,
    ],
  ])('%s', (error, wanted) => {
    expect(startFailure(error, { port: 4000 })).toMatch(wanted);
  });

  test.each([
    ['cnst one = 1;', /^Expected .* \(\/.+\/slip\.ts:2\)$/],
    ["import { nothing } from 'node:path';", /does not provide an export named 'nothing' \(\/.+\/slip\.ts:2\)$/],
    ['JSON.parse(1).a.b;', /^Cannot read properties of undefined .* \(\/.+\/slip\.ts:2\)$/],
    ['nothing();', /^nothing is not defined \(\/.+\/slip\.ts:2\)$/],
  ])('names the file and line of %s', (line, wanted) => {
    const { path: folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const slip = path.join(folder, 'start failure', 'slip.ts');
    mkdirSync(path.dirname(slip));
    writeFileSync(slip, `export {};\n${line}\n`);
    expect(failureOfImporting(slip)).toMatch(wanted);
  });
});
