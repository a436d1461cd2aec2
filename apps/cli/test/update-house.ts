import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startGitServer, type GitServer, type ServedRepository } from '@svc/testing/git-server.ts';
import { placeOfManyFiles, temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { copySources, keepCompiled, takeDependencies, takeNode } from './copy-installation.ts';
import { openInstalledHouse, type InstalledHouse } from './installed-house.ts';

/** Contents by path; a function changes what is there. */
export type ReleaseFiles = Record<string, string | ((before: string) => string)>;

/** A clone of this very repository as it lies here (of what a release needs to run), with a remote of its own on loopback, and the service in it. */
export type UpdateHouse = InstalledHouse & {
  clone: string;
  server: GitServer;
  remote: ServedRepository;
  /** A commit on the remote with other files, on top of the first version; it gets the tag. */
  release(tag: string, files: ReleaseFiles): string;
  close(): Promise<void>;
};

/** `at`: an empty folder for it, else one that is removed with it. `pages`: it can build web pages. */
export async function openUpdateHouse({ at, pages = false }: { at?: string; pages?: boolean } = {}): Promise<UpdateHouse> {
  const folder = at ?? temporaryFolder(placeOfManyFiles()).path;
  const server = await startGitServer();
  const remote = server.repository('gateway');
  copySources(remote.folder, { pages });
  const first = remote.commit();
  remote.git(['tag', 'v0.1.0']);
  const clone = path.join(folder, 'my gateway');
  // Beside this process, which serves it.
  await promisify(execFile)('git', ['clone', '--quiet', remote.url, clone]);
  takeDependencies(clone);
  takeNode(clone);
  const house = await openInstalledHouse({ folder, root: clone, env: { SVC_UPDATE_ALLOW_UNSIGNED: 'true' } });
  return {
    ...house,
    clone,
    server,
    remote,
    release(tag: string, files: ReleaseFiles) {
      remote.git(['checkout', '--quiet', '--force', '--detach', first]);
      const all: ReleaseFiles = { VERSION: `${tag.slice(1)}\n`, ...files };
      for (const [name, content] of Object.entries(all)) {
        const file = path.join(remote.folder, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, typeof content === 'string' ? content : content(readFileSync(file, 'utf8')));
      }
      const commit = remote.commit(Object.keys(all));
      // Forced: a test that is tried again releases it again.
      remote.git(['tag', '--force', '-a', '-m', tag, tag]);
      remote.git(['branch', '--force', 'main']);
      return commit;
    },
    async close() {
      house.killAll();
      keepCompiled(clone);
      await server.close();
      if (at === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
