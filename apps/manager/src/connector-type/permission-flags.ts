import type { BoundlessPermission } from '@svc/contract/connector-meta.ts';

type Permitted = {
  read: readonly string[];
  write: readonly string[];
  allow: readonly BoundlessPermission[];
  network: boolean;
  /** WebAssembly may use WASI. The kit takes the files out of it. */
  wasi?: boolean;
};

const flagOf: Readonly<Record<BoundlessPermission, string[]>> = {
  'child-process': ['--allow-child-process'],
  worker: ['--allow-worker'],
  addons: ['--allow-addons'],
  sqlite: [],
};

/**
 * Node's flags for a process that may touch these files and folders and nothing else, the network if wanted. SQLite is left out
 * of Node, because it opens files past the permission model. Throws for a path that Node would take for a pattern.
 */
export function permissionFlags({ read, write, allow, network, wasi = false }: Permitted): string[] {
  return [
    '--permission',
    // Node 24 has no such flag and always allows it.
    ...(network && process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...(allow.includes('sqlite') ? [] : ['--no-experimental-sqlite']),
    '--disable-warning=ExperimentalWarning',
    ...(wasi ? ['--allow-wasi', '--disable-warning=PERM0005'] : []),
    ...allow.flatMap((each) => flagOf[each]),
    ...toFlags('--allow-fs-read', read),
    ...toFlags('--allow-fs-write', write),
  ];
}

/** The second is for a folder that is not there yet: Node takes what it does not find for a file. */
const toFlags = (flag: string, places: readonly string[]): string[] =>
  [...new Set(places)].flatMap((place) => [`${flag}=${plain(place)}`, `${flag}=${place}/*`]);

function plain(place: string): string {
  if (!place.includes('*')) return place;
  throw new Error(`A connector cannot be kept to "${place}", because of the "*" in it. Give the folder another name.`);
}
