import path from 'node:path';

/** Where an installation keeps its versions: in `.runtime` of the clone, which git ignores. */
export type UpdatePlaces = {
  /** The clone: the folder that contains `svc`. */
  home: string;
  /** Contains a folder for each version, named after its commit. */
  versions: string;
  /** A link to the running version, unless that is the clone itself. */
  pointer: string;
  folder: string;
  journal: string;
  /** How the last update ended. */
  last: string;
  lock: string;
  /** Exists while the running version is not confirmed yet; names the one to go back to. */
  trial: string;
  /** Why the supervisor went back automatically. */
  reverted: string;
  /** Copies of the data for trying a version. */
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

/** The clone that a program belongs to: `root` itself, or the one of which `root` is a version. */
export const installationHome = (root: string): string => versionFolder.exec(root)?.[1] ?? root;
