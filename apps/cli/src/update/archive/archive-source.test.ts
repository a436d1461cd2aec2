import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { releaseFile } from '@svc/service-kit/update/release-info.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openArchiveSource } from './archive-source.ts';
import { sha256 } from './download.ts';

const infoOf = (version: string) => JSON.stringify({ version, commit: version.slice(-1).repeat(40), platform: 'linux-x64' });

/** An installation of 0.0.1, and a place that has 0.0.2. */
async function openPlace() {
  const home = temporaryFolder();
  onTestFinished(home.remove);
  mkdirSync(path.join(home.path, '.runtime'));
  writeFileSync(path.join(home.path, releaseFile), infoOf('0.0.1'));
  const name = 'assistant-gateway-0.0.2-linux-x64';
  const files: Record<string, string> = { [`${name}.json`]: infoOf('0.0.2'), [`${name}.tar.gz`]: 'archive' };
  files['SHA256SUMS'] = Object.entries(files)
    .map(([file, text]) => `${sha256(text)}  ${file}\n`)
    .join('');
  const server = createServer((request, response) => void response.end(files[request.url?.slice(1) ?? ''] ?? ''));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { places: updatePlaces(home.path), root: home.path, base, allowUnsigned: true };
}

const current = { commit: '1'.repeat(40), version: '0.0.1', name: '0.0.1' };

test('an installation that was set to the main branch is told the way back to releases', async () => {
  const source = openArchiveSource(await openPlace());
  expect(await source.find({ channel: 'stable', ref: null, current })).toMatchObject({ name: 'v0.0.2' });
  await expect(source.find({ channel: 'edge', ref: null, current })).rejects.toThrow(
    /use a clone .* Back to releases: \.\/svc update --channel stable$/,
  );
  await expect(source.find({ channel: 'edge', ref: 'v1', current })).rejects.toThrow('for --ref, use a clone');
});
