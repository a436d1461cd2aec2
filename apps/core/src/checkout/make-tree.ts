import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readFault, type GitFault } from './git-fault.ts';
import { runGit, type GitHome } from './run-git.ts';
import { ifThere } from '@svc/service-kit/files.ts';

type Commit = { mirror: string; sha: string; url: string; home: GitHome };

/**
 * Creates the files of a commit in a new folder, with their own repository that reads the mirror's objects: work there does not change the
 * mirror. Null on success.
 */
export async function makeTree(folder: string, { mirror, sha, url, home }: Commit): Promise<GitFault | null> {
  const git = path.join(folder, '.git');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const dir of ['objects/info', 'refs/heads', 'info']) await mkdir(path.join(git, dir), { recursive: true, mode: 0o700 });
  await writeFile(path.join(git, 'objects/info/alternates'), `${path.join(mirror, 'objects')}\n`, { mode: 0o600 });
  await writeFile(path.join(git, 'HEAD'), `${sha}\n`, { mode: 0o600 });
  await writeFile(path.join(git, 'config'), configText(url), { mode: 0o600 });
  await ifThere(copyFile(path.join(mirror, 'shallow'), path.join(git, 'shallow')), undefined);
  const end = await runGit(['checkout', '--quiet', '--detach', '--force', sha, '--'], { home, cwd: folder, timeoutMs: 120_000 });
  return end.ending === 'ended' && end.code === 0 ? null : readFault(end);
}

/** Links become files that contain their target, so that none leads out of the folder. */
const configText = (url: string): string => `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tsymlinks = false
[remote "origin"]
\turl = "${url}"
\tfetch = +refs/heads/*:refs/remotes/origin/*
`;
