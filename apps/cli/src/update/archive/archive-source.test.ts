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

/** An installation of 0.0.1, and a server that publishes 0.0.2. */
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
  const asked: string[] = [];
  /** Content lengths that the server claims instead of the real ones. */
  const lengths: Record<string, number> = {};
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    const name = url?.slice(1) ?? '';
    const text = files[name] ?? '';
    response.writeHead(200, { 'content-length': lengths[name] ?? text.length }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    place: { places: updatePlaces(home.path), root: home.path, base, allowUnsigned: true },
    files,
    lengths,
    archive: `${name}.tar.gz`,
    asked,
  };
}

const current = { commit: '1'.repeat(40), version: '0.0.1', name: '0.0.1' };

test('an archive installation on the edge channel is told how to return to releases', async () => {
  const source = openArchiveSource((await openPlace()).place);
  expect(await source.find({ channel: 'stable', ref: null, current })).toMatchObject({ name: 'v0.0.2' });
  await expect(source.find({ channel: 'edge', ref: null, current })).rejects.toThrow(
    /use a clone .* Back to releases: \.\/svc update --channel stable$/,
  );
  await expect(source.find({ channel: 'edge', ref: 'v1', current })).rejects.toThrow('for --ref, use a clone');
});

test('an archive with a wrong checksum is not fetched again until it or the checksums change', async () => {
  const { place, files, archive, asked } = await openPlace();
  const gets = () => asked.filter((each) => each === `GET /${archive}`).length;
  const look = async () => {
    // As a new process each time.
    const source = openArchiveSource(place);
    const target = await source.find({ channel: 'stable', ref: null, current });
    return { source, target, why: await source.whyNotYet(target) };
  };
  files[archive] = 'another one';
  const { source, target, why } = await look();
  expect(why).toBeNull();
  const refused = { code: 3, isRefused: true, isPassing: true, words: expect.stringContaining('not what the checksums say') };
  await expect(source.fetch(target)).rejects.toMatchObject({ outcome: refused });
  expect((await look()).why).toContain('its archive is not what SHA256SUMS says');
  expect(gets()).toBe(1);
  // A manual update fetches it again.
  await expect(source.fetch(target)).rejects.toMatchObject({ outcome: refused });
  expect(gets()).toBe(2);
  files[archive] = 'archive';
  const fixed = await look();
  expect(fixed.why).toBeNull();
  await fixed.source.fetch(fixed.target);
  files[archive] = 'another one';
  files['SHA256SUMS'] = files['SHA256SUMS']?.replace(sha256('archive'), sha256('other')) ?? '';
  expect((await look()).why, 'the sums are others').toBeNull();
});

test('an archive that does not fit on the disk is not downloaded', async () => {
  const { place, lengths, archive, asked } = await openPlace();
  const source = openArchiveSource(place);
  const target = await source.find({ channel: 'stable', ref: null, current });
  lengths[archive] = 2 ** 50;
  const full = { code: 3, isPassing: true, words: expect.stringContaining('no space left') };
  await expect(source.fetch(target)).rejects.toMatchObject({ outcome: full });
  expect(asked).not.toContain(`GET /${archive}`);
});
