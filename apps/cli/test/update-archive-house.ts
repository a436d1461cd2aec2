import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { archiveName, releaseFile, signatureNamespace, sumsFile } from '@svc/service-kit/update/release-info.ts';
import { openReleasePlace, type ReleasePlace } from '@svc/testing/release-place.ts';
import { placeOfManyFiles, temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { copySources, keepCompiled, takeDependencies } from './copy-installation.ts';
import { openInstalledHouse, type InstalledHouse } from './installed-house.ts';

const platform = `${process.platform}-${process.arch}`;
const firstVersion = '0.1.0';
/** What every release has of its own; all the rest is the same in each. */
const ownFiles = ['VERSION', releaseFile];

/** An installation from an archive of this very repository as it lies here, with a place of signed releases on loopback. */
export type ArchiveUpdateHouse = InstalledHouse & {
  place: ReleasePlace;
  /** Where the files of a release are. */
  folderOf(version: string): string;
  /** The archive of a release. */
  archiveOf(version: string): string;
  /** Makes a release and publishes it in the place of the one before; gives its commit. */
  release(version: string): Promise<string>;
  close(): void;
};

export const commitOf = (version: string): string => createHash('sha1').update(version).digest('hex');

/** `at`: an empty folder for it, else one that is removed with it. It runs with the Node of these tests and has no web pages, which is most of an archive. */
export async function openArchiveUpdateHouse(at?: string): Promise<ArchiveUpdateHouse> {
  const made = temporaryFolder(placeOfManyFiles());
  const folder = at ?? path.join(made.path, 'own');
  mkdirSync(folder, { recursive: true });
  const root = path.join(folder, 'my gateway');
  const key = path.join(made.path, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  copySources(root, { pages: false });
  takeDependencies(root);
  writeFileSync(path.join(root, 'release-signers'), `ann@example.org ${readFileSync(`${key}.pub`, 'utf8')}`);
  const shared = packShared(root, made.path);
  writeOwn(root, firstVersion);
  let published = '';
  const folderOf = (version: string): string => path.join(made.path, 'published', version);
  const archiveOf = (version: string): string => path.join(folderOf(version), `${archiveName(version, platform)}.tar.gz`);
  const place = await openReleasePlace(() => folderOf(published));
  const env = { SVC_UPDATE_ARCHIVES: place.url, SVC_NODE: process.execPath };
  const house = await openInstalledHouse({ folder, root, env });
  return {
    ...house,
    place,
    folderOf,
    archiveOf,
    async release(version) {
      mkdirSync(folderOf(version), { recursive: true });
      copyFileSync(shared, archiveOf(version));
      appendFileSync(archiveOf(version), packOwn(version, path.join(made.path, 'own-files')));
      writeFileSync(path.join(folderOf(version), `${archiveName(version, platform)}.json`), infoOf(version));
      sign(folderOf(version), key);
      if (published !== '' && published !== version) rmSync(archiveOf(published), { force: true });
      published = version;
      return commitOf(version);
    },
    close() {
      house.killAll();
      keepCompiled(root);
      place.close();
      rmSync(made.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

const infoOf = (version: string): string => JSON.stringify({ version, commit: commitOf(version), platform });

function writeOwn(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'VERSION'), `${version}\n`);
  writeFileSync(path.join(folder, releaseFile), infoOf(version));
}

/** Sums and signature, as anybody would make them. */
function sign(folder: string, key: string): void {
  const names = readdirSync(folder).filter((name) => !name.startsWith(sumsFile));
  writeFileSync(path.join(folder, sumsFile), execFileSync('sha256sum', names, { cwd: folder }));
  rmSync(path.join(folder, `${sumsFile}.sig`), { force: true });
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', key, '-n', signatureNamespace, sumsFile], {
    cwd: folder,
    stdio: 'ignore',
  });
}

/** The part of every archive that is the same, packed once. Archives of gzip may follow each other, those of tar too but for their ends. */
function packShared(root: string, work: string): string {
  const [tar, file] = [path.join(work, 'shared.tar'), path.join(work, 'shared.tar.gz')];
  pack(root, tar, '.', [...ownFiles.map((name) => `./${name}`), './.runtime', './.cache']);
  truncateSync(tar, statSync(tar).size - endOfTar);
  writeFileSync(file, gzipSync(readFileSync(tar), { level: 1 }));
  rmSync(tar);
  return file;
}

function packOwn(version: string, work: string): Buffer {
  writeOwn(work, version);
  const tar = `${work}.tar`;
  pack(work, tar, '.', []);
  return gzipSync(readFileSync(tar));
}

/** Two empty blocks. */
const endOfTar = 1024;

function pack(folder: string, file: string, what: string, without: readonly string[]): void {
  const excluded = without.map((name) => `--exclude=${name}`);
  const how = ['--create', '--format=posix', '--hard-dereference', '--blocking-factor=1', '--transform=flags=r;s,^\\.,gateway,'];
  const { status, stderr } = spawnSync('tar', [...how, '-C', folder, ...excluded, `--file=${file}`, what], { encoding: 'utf8' });
  // 1: a file changed, which it does where another test makes a hard link of it.
  if (status !== 0 && status !== 1) throw new Error(`tar ended with ${status}: ${stderr}`);
}
