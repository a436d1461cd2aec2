import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { sha256 } from './download.ts';
import { newestPublished, parseSums } from './published.ts';

let folder: TemporaryFolder;
let server: Server;
let base = '';
let files: Record<string, string> = {};
beforeEach(async () => {
  folder = temporaryFolder();
  files = {};
  server = createServer((request, response) => {
    const text = files[request.url?.slice(1) ?? ''];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  folder.remove();
});

const at = (...parts: string[]) => path.join(folder.path, ...parts);
const nameOf = (version: string, platform = 'linux-x64') => `assistant-gateway-${version}-${platform}`;

function publish(versions: readonly string[], platform = 'linux-x64'): void {
  for (const version of versions) {
    files[`${nameOf(version, platform)}.tar.gz`] = 'archive';
    files[`${nameOf(version, platform)}.json`] = JSON.stringify({ version, commit: sha256(version), platform });
  }
  files['SHA256SUMS'] = Object.entries(files)
    .filter(([name]) => !name.startsWith('SHA256SUMS'))
    .map(([name, text]) => `${sha256(text)}  ${name}\n`)
    .join('');
}

/** Signs the checksums for this purpose with a new key, and returns the file of signers. */
function sign(namespace = 'svc-release'): string {
  mkdirSync(at('keys'), { recursive: true });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('keys', namespace)]);
  writeFileSync(at('SHA256SUMS'), files['SHA256SUMS'] ?? '');
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', at('keys', namespace), '-n', namespace, at('SHA256SUMS')], {
    stdio: 'ignore',
  });
  files['SHA256SUMS.sig'] = readFileSync(at('SHA256SUMS.sig'), 'utf8');
  writeFileSync(at('signers'), `# Who may\nann@example.org ${readFileSync(at('keys', `${namespace}.pub`), 'utf8')}`);
  return at('signers');
}

const newest = (signers: string | null = null, platform = 'linux-x64') =>
  newestPublished({ base: `${base}/`, platform, signers });

test('the newest version for the platform is found by numeric order', async () => {
  publish(['0.9.0', '0.10.0', '0.2.0']);
  publish(['0.11.0'], 'darwin-arm64');
  expect(await newest(sign())).toEqual({
    info: { version: '0.10.0', commit: sha256('0.10.0'), platform: 'linux-x64', archives: null },
    url: `${base}/${nameOf('0.10.0')}.tar.gz`,
    digest: sha256('archive'),
  });
  expect(await newest(null, 'linux-arm64')).toBeNull();
});

test('rejects a signature made for another purpose, such as a tag', async () => {
  publish(['0.2.0']);
  await expect(newest(sign('git'))).rejects.toThrow('not signed by a key that may release');
});

test('rejects an unsigned release, or one by an unknown key', async () => {
  publish(['0.2.0']);
  await expect(newest(at('absent'))).rejects.toThrow('404');
  sign();
  await expect(newest(at('absent'))).rejects.toThrow('No release can be verified');
});

test('an unreachable or empty address is reported with the reason', async () => {
  await expect(newest()).rejects.toThrow(`${base}/SHA256SUMS cannot be read: it answers 404`);
  const away = newestPublished({ base: 'http://127.0.0.1:1', platform: 'linux-x64', signers: null });
  await expect(away).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1\/SHA256SUMS cannot be read: .*(?:ECONNREFUSED|bad port)/);
});

test('rejects a description that does not match the checksums', async () => {
  publish(['0.2.0']);
  files[`${nameOf('0.2.0')}.json`] = JSON.stringify({ version: '0.2.0', commit: 'c'.repeat(40), platform: 'linux-x64' });
  await expect(newest()).rejects.toThrow('is not what SHA256SUMS says');
});

test('parseSums() accepts only plain file names', () => {
  const digest = 'a'.repeat(64);
  expect([...parseSums(`${digest}  a\n${digest} *b.c\n${digest}  ../x\n${digest}  /etc/x\nx  y\n`).keys()]).toEqual(['a', 'b.c']);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const name of parseSums(`${digest}  ${text}`).keys()) expect(name).not.toMatch(/\/|^\.\.?$/);
    }),
  );
});
