import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { spawnOwned } from '@svc/service-kit/process/owned-process.ts';
import { within } from '@svc/service-kit/within.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';
import { releaseFile, toReleaseInfo } from '@svc/service-kit/update/release-info.ts';
import { foreignEnv } from '../program-env.ts';
import { faultOf } from '../version-folder.ts';
import { digestOf } from './download.ts';
import type { Published } from './published.ts';

const timeoutMs = 10 * 60_000;

/**
 * Unpacks the published archive; the folder appears only when complete. The bytes that are unpacked are the ones that were checked, even if
 * the file is replaced meanwhile. @throws BrokenVersion when the content is not the announced one
 */
export async function unpack(archive: string, folder: string, { info, digest }: Omit<Published, 'url'>): Promise<void> {
  const staged = `${folder}.new`;
  removeStaged(staged);
  mkdirSync(staged, { recursive: true, mode: 0o755 });
  const file = await open(archive, 'r');
  try {
    if ((await digestOf(file)) !== digest) throw new Error(`${archive} is not what was downloaded.`);
    const words = await runTar(file, staged);
    if (words !== null) throw faultOf(`The archive cannot be unpacked: ${words}`);
    const found = toReleaseInfo(readFileSync(path.join(staged, releaseFile), 'utf8'));
    if (found?.commit !== info.commit || found.version !== info.version)
      throw faultOf(`What is in the archive is not ${info.version} (${info.commit.slice(0, 12)}).`);
    renameSync(staged, folder);
  } finally {
    await file.close();
    removeStaged(staged);
  }
}

/** The tar of a killed update may still be writing its last file. */
const removeStaged = (staged: string): void => rmSync(staged, { recursive: true, force: true, maxRetries: 5 });

/** Returns its error message when it fails. It reads from this process, so it ends with it. */
async function runTar(file: FileHandle, to: string): Promise<string | null> {
  const args = ['-xz', '--strip-components=1', '--no-same-owner', '-C', to];
  const tar = spawnOwned('tar', args, { env: { PATH: foreignEnv()['PATH'] } });
  const stderr = createTextTail();
  tar.child.on('error', (error) => stderr.add(error.message));
  tar.child.stdout.resume();
  tar.child.stderr.setEncoding('utf8').on('data', stderr.add);
  const closed = new Promise<void>((resolve) => void tar.child.once('close', () => resolve()));
  const given = pipeline(file.createReadStream({ start: 0, autoClose: false }), tar.child.stdin);
  given.catch(() => undefined); // it has ended without reading on, and says why
  if (await within(closed, timeoutMs))
    return tar.child.exitCode === 0 ? null : stderr.read().trim().slice(-500) || 'tar was ended.';
  await tar.kill();
  return 'it took too long.';
}
