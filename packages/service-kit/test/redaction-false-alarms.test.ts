import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const redactor = createRedactor([]);
const per100KiB = 102_400;

function filesBelow(folder: string, isWanted: (file: string) => boolean, depth = 6): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return depth === 0 || entry.name === '.bin' ? [] : filesBelow(file, isWanted, depth - 1);
    return entry.isFile() && isWanted(file) ? [file] : [];
  });
}

const packages = path.join(root, 'node_modules');
const sources = (folder: string) =>
  filesBelow(
    path.join(root, folder),
    (file) => file.endsWith('.ts') && !/\.test\.ts$|\/(?:test|testing|fixtures|redaction|node_modules)\//.test(file),
  );

/** Packages whose manuals show realistic tokens as examples. */
const showsSecrets = /redact|\/@octokit\/|\/tsscmp\/|\/@discordjs\/|\/discord\.js\/|\/jose\//;

/** Texts without secrets, by kind. Each text is read once, as many packages have the same manual. */
const corpora: readonly [string, () => string[]][] = [
  ['manuals of packages', () => filesBelow(packages, (file) => /\/README\.md$/i.test(file) && !showsSecrets.test(file), 2)],
  ['changes of packages', () => filesBelow(packages, (file) => file.endsWith('/CHANGELOG.md'), 2)],
  ['this source code', () => ['apps', 'packages', 'connectors', 'engines'].flatMap(sources)],
  ['these manuals', () => [...filesBelow(path.join(root, 'docs'), (file) => file.endsWith('.md')), path.join(root, 'README.md')]],
  ['the lock file', () => [path.join(root, 'package-lock.json')]],
];

test.each(corpora)('masks at most 0.3 places per 100 KiB of %s', { timeout: 120_000 }, (_name, files) => {
  const texts = new Set(files().map((file) => readFileSync(file, 'utf8').slice(0, 200_000)));
  let size = 0;
  const changes: string[] = [];
  for (const text of texts) {
    size += text.length;
    const changed = redactor.text(text);
    if (changed === text) continue;
    const before = count(text);
    for (const place of changed.match(/.{0,40}\[redacted:[a-z-]+\]/g)?.slice(before) ?? []) changes.push(place);
  }
  expect(changes.length, changes.join('\n')).toBeLessThanOrEqual(Math.max(1, (0.3 * size) / per100KiB));
});

test('masks no ids, digests or data URLs', () => {
  const digest = (i: number, kind: string, encoding: 'hex' | 'base64') => createHash(kind).update(String(i)).digest(encoding);
  const lines = Array.from({ length: 2000 }, (_, i) => {
    const hex = digest(i, 'sha256', 'hex');
    const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    return `${digest(i, 'sha1', 'hex')} ${uuid} "integrity": "sha512-${digest(i, 'sha512', 'base64')}" sha256:${hex}`;
  });
  const data = `![](data:image/png;base64,${Array.from({ length: 2000 }, (_, i) => digest(i, 'sha384', 'base64')).join('')})`;
  const text = `${lines.join('\n')}\n${data}\n`;
  expect(redactor.text(text)).toBe(text);
});

const count = (text: string): number => text.match(/\[redacted:[a-z-]+\]/g)?.length ?? 0;
