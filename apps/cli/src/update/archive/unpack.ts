import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import { releaseFile, toReleaseInfo, type ReleaseInfo } from '@svc/service-kit/update/release-info.ts';
import { foreignEnv } from '../program-env.ts';
import { faultOf } from '../version-folder.ts';

const timeoutMs = 10 * 60_000;

/** Unpacks an archive whose digest was checked; the folder is there whole or not at all. @throws BrokenVersion when it is not what it was said to be */
export async function unpack(archive: string, folder: string, info: ReleaseInfo): Promise<void> {
  const staged = `${folder}.new`;
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true, mode: 0o755 });
  try {
    const args = ['-xzf', archive, '--strip-components=1', '--no-same-owner', '-C', staged];
    const { ending, code, stderr } = await runProgram('tar', args, { env: { PATH: foreignEnv()['PATH'] }, timeoutMs });
    if (ending !== 'ended' || code !== 0) throw faultOf(`The archive cannot be unpacked: ${stderr.trim().slice(-500) || ending}`);
    const found = toReleaseInfo(readFileSync(path.join(staged, releaseFile), 'utf8'));
    if (found?.commit !== info.commit || found.version !== info.version)
      throw faultOf(`What is in the archive is not ${info.version} (${info.commit.slice(0, 12)}).`);
    renameSync(staged, folder);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
