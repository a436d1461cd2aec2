import path from 'node:path';

/** Where an installation keeps its versions. All of it lies in `.runtime` of the clone, which git does not know. */
export type UpdatePlaces = {
  /** The clone: the folder that a person has, with `svc` in it. */
  home: string;
  /** A folder for each version, named after its commit. */
  versions: string;
  /** A link to the version that runs, while the clone is not that version itself. */
  pointer: string;
  folder: string;
  journal: string;
  /** How the last update ended. */
  last: string;
  lock: string;
  /** There while a version runs that is not confirmed yet; names the one to go back to. */
  trial: string;
  /** Why the supervisor went back by itself. */
  reverted: string;
  /** Copies of the data, to try a version on. */
  dryRun: string;
};

export function updatePlaces(home: string): UpdatePlaces {
  const at = (...parts: string[]) => path.join(home, '.runtime', ...parts);
  return {
    home,
    versions: at('versions'),
    pointer: at('current'),
    folder: at('update'),
    journal: at('update', 'journal.json'),
    last: at('update', 'last.json'),
    lock: at('update', 'lock'),
    trial: at('update', 'trial'),
    reverted: at('update', 'reverted'),
    dryRun: at('update', 'dry-run'),
  };
}

const versionFolder = /^(.+)\/\.runtime\/versions\/[0-9a-f]{40,64}$/s;

/** The clone that a program of ours belongs to: `root` itself, or the one that it is a version of. */
export const installationHome = (root: string): string => versionFolder.exec(root)?.[1] ?? root;
