import type { BoundlessPermission } from '@svc/contract/connector-meta.ts';

type Permitted = {
  read: readonly string[];
  write: readonly string[];
  allow: readonly BoundlessPermission[];
  network: boolean;
  /** WebAssembly may use WASI. The kit removes its access to files. */
  wasi?: boolean;
};

const flagOf: Readonly<Record<BoundlessPermission, string[]>> = {
  'child-process': ['--allow-child-process'],
  worker: ['--allow-worker'],
  addons: ['--allow-addons'],
  sqlite: [],
};

/**
 * Node's flags for a process that may access only these files and folders, and optionally the network. SQLite is disabled,
 * because it bypasses the permission model. Throws for a path that Node would treat as a pattern.
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

/** The second form is for a folder that does not exist yet: Node treats a missing path as a file. */
const toFlags = (flag: string, places: readonly string[]): string[] =>
  [...new Set(places)].flatMap((place) => [`${flag}=${plain(place)}`, `${flag}=${place}/*`]);

function plain(place: string): string {
  if (!place.includes('*')) return place;
  throw new Error(`A connector cannot be confined to "${place}" because of the "*" in it. Rename the folder.`);
}
