import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { onlyReleases } from '@svc/service-kit/update/managed.ts';
import { readReleaseInfo, sumsFile } from '@svc/service-kit/update/release-info.ts';
import type { UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { linkInstallation } from './link-installation.ts';
import { takeCompiled } from '../take-compiled.ts';
import { isWhole, markWhole, removeFolder, setUp, takeDotenv, versionFolder } from '../version-folder.ts';
import { putWrapper } from '../put-wrapper.ts';
import { compareVersions } from '../release-tag.ts';
import { UpdateStopped, updateCodes } from '../update-outcome.ts';
import { signersFile } from '../verify-tag.ts';
import type { Target } from '../choose-target.ts';
import type { Version } from '../journal.ts';
import type { TargetWish, VersionSource } from '../version-source.ts';
import { checkRoomFor, describeFile, download, NotInOrder } from './download.ts';
import { newestPublished, type Published } from './published.ts';
import { unpack } from './unpack.ts';
import { isStillWrong, noteWrong } from './wrong-archive.ts';

type Archives = {
  places: UpdatePlaces;
  /** The running code, whose list of signers counts. */
  root: string;
  /** The base address of the files of the newest release. */
  base: string;
  allowUnsigned: boolean;
};

/**
 * Versions that come as complete archives. The folder that a person unpacked stays as it is, except `svc`: each version runs from its own
 * folder, selected by the pointer.
 */
export function openArchiveSource({ places, root, base, allowUnsigned }: Archives): VersionSource {
  const found = new Map<string, Published>();
  const fileOf = (commit: string): string => path.join(places.folder, 'download', `${commit}.tar.gz`);
  return {
    installed: async (folder) => installedArchive(folder),

    async find(wish) {
      const { platform } = infoOf(places.home);
      const signers = allowUnsigned ? null : path.join(root, signersFile);
      const published = await orStop(newestPublished({ base, platform, signers }), 'Nothing was changed');
      const target = choose(published, platform, wish);
      if (published !== null) found.set(target.commit, published);
      return target;
    },

    async fetch({ commit, name }) {
      const published = found.get(commit);
      if (published === undefined || isWhole(versionFolder(places, commit))) return;
      await orStop(bring(places, published, fileOf(commit)), `${name} could not be downloaded, so nothing was changed`);
    },

    async whyNotYet({ commit, name }) {
      const published = found.get(commit);
      if (published === undefined || isWhole(versionFolder(places, commit)) || !(await isStillWrong(places, published)))
        return null;
      return `${name} is published, but its archive is not what ${sumsFile} says, so it is not installed. It is downloaded again when one of the two changes; to try it now: ./svc update`;
    },

    async make(commit, like) {
      const folder = versionFolder(places, commit);
      if (isWhole(folder)) return folder;
      removeFolder(folder);
      const published = found.get(commit);
      if (published !== undefined) await unpack(fileOf(commit), folder, published);
      else if (readReleaseInfo(like)?.commit === commit) linkInstallation(like, folder);
      else throw new Error(`The version ${commit.slice(0, 12)} is not here any more.`);
      takeDotenv(folder);
      takeCompiled(like, folder);
      await setUp(folder);
      await markWhole(folder, commit);
      rmSync(path.dirname(fileOf(commit)), { recursive: true, force: true });
      return folder;
    },

    remove: async (commit) => removeFolder(versionFolder(places, commit)),
    keepOwnWork: async () => null,

    async settle({ to }) {
      putWrapper(places.home, versionFolder(places, to.commit));
      return null;
    },
    canSettleLate: async () => false,
  };
}

/** Remembers a wrong archive, so that so much data is not downloaded again every quarter of an hour. */
async function bring(places: UpdatePlaces, published: Published, file: string): Promise<void> {
  const { url, digest } = published;
  // Read before the download: the file may be replaced meanwhile.
  const described = await describeFile(url);
  try {
    await checkRoomFor(file, described);
    await download(url, file, digest);
  } catch (error) {
    if (error instanceof NotInOrder) noteWrong(places, published, described);
    throw error;
  }
}

function infoOf(folder: string): NonNullable<ReturnType<typeof readReleaseInfo>> {
  const info = readReleaseInfo(folder);
  if (info !== null) return info;
  const what = existsSync(folder) ? 'does not say which version it is' : 'is not there';
  throw new UpdateStopped(updateCodes.manual, `${folder} ${what}. Unpack the archive again (docs/installing.md).`);
}

function installedArchive(folder: string): Version {
  const { commit, version } = infoOf(folder);
  return { commit, version, name: version };
}

function choose(published: Published | null, platform: string, { channel, ref, current }: TargetWish): Target {
  const stop = (code: 3 | 4, words: string): never => {
    throw new UpdateStopped(code, words);
  };
  if (ref !== null)
    return stop(updateCodes.manual, 'Archives are of the newest release only: for --ref, use a clone (docs/installing.md).');
  if (channel === 'edge') return stop(updateCodes.manual, `${onlyReleases} Back to releases: ./svc update --channel stable`);
  if (published === null) return stop(updateCodes.manual, `There is no archive for ${platform} there.`);
  const { version, commit } = published.info;
  if (commit === current.commit) return stop(updateCodes.current, `v${version} is already installed.`);
  if (compareVersions(version, current.version) <= 0)
    return stop(updateCodes.current, `The newest archive is v${version}, and ${current.version} is installed.`);
  return { commit, name: `v${version}`, ref: '', tag: null, isPinned: false };
}

async function orStop<T>(work: Promise<T>, what: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const kind = error instanceof NotInOrder ? { isRefused: true as const } : {};
    throw new UpdateStopped(updateCodes.manual, `${what}. ${(error as Error).message}`, {
      cause: error,
      isPassing: true,
      ...kind,
    });
  }
}
