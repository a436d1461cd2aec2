import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { BackupContents, RestorePlan } from '@svc/contract/backup.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { makeRestoreFolder, stageRestore } from '@svc/service-kit/restore/restore-state.ts';
import { filesIn } from '@svc/service-kit/restore/restore-paths.ts';
import { conflict } from '@svc/service-kit/service-error.ts';
import { isNewer } from '@svc/service-kit/version.ts';
import { storageFault } from '../file/store-stream.ts';
import { refused } from './archive-rules.ts';
import { createBackupNotes } from './backup-notes.ts';
import { checkDatabases } from './check-databases.ts';
import type { ReadArchive } from './check-contents.ts';
import { roomIn } from '../file/disk-space.ts';
import { openSecrets } from './seal-secrets.ts';
import { unpackArchive, writePart } from './unpack-archive.ts';

export type ImportDeps = {
  paths: Pick<DataPaths, 'root' | 'backups'>;
  settings: Pick<CoreSettings, 'root'>;
  version: string;
  clock: Clock;
  ids: Ids;
};

/** The prefix of an import's working folders; leftovers of an earlier process are removed. */
const prefix = 'incoming-';

/** Imports backups for a restore: one at a time, completely checked, and without touching the service's data before the next start. */
export type Imports = {
  /**
   * Unpacks a backup beside the data, checks it completely, and schedules it for the next start. Its secrets are restored
   * only with their passphrase; without one, the present ones stay.
   * @throws ServiceError `unprocessable` with what is wrong with it, `conflict`, `insufficient_storage`.
   */
  take(body: Readable, passphrase: string | null): Promise<RestorePlan>;
  /** Removes what an earlier process left unfinished. */
  sweep(): Promise<void>;
};

export function createImports({ paths, settings, version, clock, ids }: ImportDeps): Imports {
  let isBusy = false;

  return {
    async take(body: Readable, passphrase: string | null): Promise<RestorePlan> {
      if (isBusy) {
        body.destroy(); // nothing else would close the file behind it
        throw conflict('Another backup is being imported. Wait for it.');
      }
      isBusy = true;
      try {
        return await stage(body, passphrase);
      } catch (error) {
        throw storageFault(error);
      } finally {
        isBusy = false;
        body.destroy();
      }
    },

    async sweep(): Promise<void> {
      const folder = makeRestoreFolder(paths.root);
      for (const name of await readdir(folder)) {
        if (name.startsWith(prefix) && !isBusy) await rm(path.join(folder, name), { recursive: true, force: true });
      }
    },
  };

  async function stage(body: Readable, passphrase: string | null): Promise<RestorePlan> {
    const id = ids.next('res');
    const staged = path.join(makeRestoreFolder(paths.root), `${prefix}${id}`);
    const files = filesIn(staged);
    try {
      makePrivateDir(files);
      const archive = await unpackArchive(body, files, await roomIn(paths.root));
      await check(archive.contents, files);
      const plan = await toPlan(id, archive, passphrase, files);
      stageRestore(paths.root, staged, plan);
      return plan;
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  }

  async function check(contents: BackupContents, folder: string): Promise<void> {
    if (isNewer(contents.version.split('-')[0] ?? '', version) && !isMadeHere(contents)) {
      throw refused(
        `The backup is from version ${contents.version}, but this is version ${version}. Update the service first: ./svc update`,
      );
    }
    if (!contents.files.some((file) => file.path === 'core.db')) throw refused('The backup has no core.db.');
    await checkDatabases(folder, { root: settings.root, present: paths.root });
  }

  /** An update to that version was rolled back, so this version already runs on its data. The databases are checked anyway. */
  function isMadeHere({ version: of, created_at }: BackupContents): boolean {
    const notes = createBackupNotes(paths.backups).list();
    return notes.some((note) => note.version === of && note.created_at === created_at);
  }

  async function toPlan(id: string, archive: ReadArchive, passphrase: string | null, folder: string): Promise<RestorePlan> {
    const { contents, bytes } = archive;
    const isOpened = passphrase !== null && archive.secrets !== null;
    if (passphrase !== null && archive.secrets === null) throw refused('The backup has no secrets. Leave the passphrase out.');
    if (isOpened) await writeSecrets(archive.secrets, passphrase, folder);
    return {
      id,
      created_at: contents.created_at,
      version: contents.version,
      staged_at: clock.now(),
      secrets: isOpened ? 'restored' : 'kept',
      files: contents.files.length,
      bytes,
    };
  }
}

async function writeSecrets(sealed: Buffer | null, passphrase: string, folder: string): Promise<void> {
  for (const file of sealed === null ? [] : await openSecrets(sealed, passphrase)) {
    await writePart(path.join(folder, file.path), file.bytes);
  }
}
