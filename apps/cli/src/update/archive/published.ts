import { archiveName, signatureFile, sumsFile, toReleaseInfo, type ReleaseInfo } from '@svc/service-kit/update/release-info.ts';
import { compareVersions } from '../release-tag.ts';
import { getText, NotInOrder, sha256 } from './download.ts';
import { whyNotSignedSums } from './verify-sums.ts';

/** A published archive. `url`: of its file; `digest`: its expected digest. */
export type Published = { info: ReleaseInfo; url: string; digest: string };

type Place = {
  /** The base address of the files of a release. */
  base: string;
  platform: string;
  /** The file of allowed signers; null: signatures are not checked. */
  signers: string | null;
};

/**
 * The newest archive for a platform at an address; null when there is none. Only data covered by the signed checksums is trusted.
 * @throws NotInOrder; Error when the server cannot be reached
 */
export async function newestPublished({ base, platform, signers }: Place): Promise<Published | null> {
  const at = (name: string): string => `${base.replace(/\/+$/, '')}/${name}`;
  const sums = await getText(at(sumsFile));
  if (signers !== null) {
    const why = await whyNotSignedSums(sums, await getText(at(signatureFile)), signers);
    if (why !== null) throw new NotInOrder(`${at(sumsFile)} is not signed by a key that may release. ${why}`);
  }
  const digests = parseSums(sums);
  const version = newestFor(platform, [...digests.keys()]);
  if (version === null) return null;
  const name = archiveName(version, platform);
  const described = digests.get(`${name}.json`);
  const text = described === undefined ? '' : await getText(at(`${name}.json`));
  const info = toReleaseInfo(text);
  if (sha256(text) !== described || info?.version !== version || info.platform !== platform)
    throw new NotInOrder(`${at(`${name}.json`)} is not what ${sumsFile} says.`);
  const file = `${name}.tar.gz`;
  return { info, url: at(file), digest: digests.get(file) ?? '' };
}

/** Digests by file name. Lines that are not in the format of sha256sum(1) are left out. */
export function parseSums(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, digest, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (digest !== undefined && name !== undefined && /^\w[\w.-]*$/.test(name)) found.set(name, digest);
  }
  return found;
}

function newestFor(platform: string, files: readonly string[]): string | null {
  const versions = files.flatMap((file) => {
    const version = /^assistant-gateway-(\d+\.\d+\.\d+)-/.exec(file)?.[1];
    return version !== undefined && file === `${archiveName(version, platform)}.tar.gz` ? [version] : [];
  });
  return versions.toSorted(compareVersions).at(-1) ?? null;
}
