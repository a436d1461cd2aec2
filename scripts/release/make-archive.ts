import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { archiveName, type ReleaseInfo } from '@svc/service-kit/update/release-info.ts';
import { packArchive } from './pack-archive.ts';
import { sbomOf } from './sbom.ts';
import { stageRelease } from './stage-release.ts';

export type Making = {
  root: string;
  /** The folder for the archive, its metadata, and the list of its contents. */
  out: string;
  info: ReleaseInfo;
  /** The time of the release, in seconds since 1970. */
  time: number;
  /** Compression level of gzip. */
  level?: number;
};

/** Makes the complete archive of a release for one platform. Returns its path. */
export async function makeArchive({ root, out, info, time, level = 9 }: Making): Promise<string> {
  const work = mkdtempSync(path.join(tmpdir(), 'svc-release-'));
  const name = archiveName(info.version, info.platform);
  try {
    const stage = path.join(work, name);
    await stageRelease({ root, stage, info });
    mkdirSync(out, { recursive: true });
    const file = path.join(out, `${name}.tar.gz`);
    await packArchive({ folder: stage, file, time, level });
    writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify(info, null, 2)}\n`);
    writeFileSync(path.join(out, `${name}.cdx.json`), sbomOf(stage, info.platform, time));
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
