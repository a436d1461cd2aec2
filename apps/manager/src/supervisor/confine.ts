import path from 'node:path';
import { makePrivateDir, draftOf, realPlace } from '@svc/service-kit/files.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { pickEnv } from '@svc/supervisor/child-spec.ts';
import { checkLinks } from '../connector-type/check-links.ts';
import { addedPlaces, kitPlaces, packagesAround, isInside } from '../connector-type/places.ts';
import type { ConnectorType } from '../connector-type/find-types.ts';
import { packagesOf } from '../connector-type/connector-packages.ts';
import { permissionFlags } from '../connector-type/permission-flags.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

type Deps = Pick<SupervisorDeps, 'env' | 'settings' | 'paths' | 'childEntry' | 'log'>;
type Child = { type: ConnectorType; config: Record<string, unknown>; dataDir: string };

/** Node flags and environment within which a connector's process runs. */
export type Confinement = { flags: string[]; env: Record<string, string> };

/**
 * What the process of an instance may access: its code, its own folder, and the paths in those fields of its config that
 * its type declares. Throws, with a text for the operator, when one of them would open files of others.
 */
export function confine(deps: Deps, { type, config, dataDir }: Child): Confinement {
  const { settings, env, childEntry } = deps;
  const { permissions = {} } = type.meta;
  const policy = createPathPolicy(deps, dataDir);
  const pathsIn = (fields: readonly string[] = []) => fields.flatMap((field) => pathOf(config[field], dataDir));
  const toRead = pathsIn(permissions.read);
  const toWrite = pathsIn(permissions.write).flatMap((place) => [place, draftOf(place)]);
  toRead.forEach(policy.read);
  toWrite.forEach(policy.write);

  const cache = openCache(deps, type);
  const own = [dataDir, ...(cache === null ? [] : [cache]), ...toWrite];
  const packages = packagesOf(deps, type, config);
  const code = [childEntry, ...kitPlaces, ...codeOf(type, policy.code), ...(packages === null ? [] : [packages.folder])];
  return {
    flags: permissionFlags({
      read: [...code, ...own, ...toRead],
      write: own,
      allow: permissions.allow ?? [],
      network: true,
      wasi: packages !== null && type.meta.packages?.wasm === true,
    }),
    env: {
      ...pickEnv({ ...env, NODE_COMPILE_CACHE: cache ?? undefined }),
      TMPDIR: dataDir,
      SVC_LOG_LEVEL: settings.logLevel,
    },
  };
}

/** An empty field names no file. Relative paths are resolved in the instance's folder. */
const pathOf = (value: unknown, dataDir: string): string[] =>
  typeof value === 'string' && value !== '' ? [path.resolve(dataDir, value)] : [];

function codeOf({ folder, isAdded }: ConnectorType, check: (place: string) => void): string[] {
  if (!isAdded) return [folder];
  const places = addedPlaces(folder);
  places.forEach(check);
  checkLinks([folder, ...places.flatMap(packagesAround)], [...kitPlaces, ...places]);
  return places;
}

/**
 * Each type has its own cache of compiled code, because whoever writes to a cache decides what its readers run. The cache
 * of an added type is in the data folder. Without one, when it cannot be made, a start is only slower.
 */
function openCache({ env, paths, log }: Deps, { meta, isAdded }: ConnectorType): string | null {
  const shared = env['NODE_COMPILE_CACHE'] ?? '';
  if (shared === '') return null;
  const dir = path.join(isAdded ? paths.cache : path.resolve(shared), 'connectors', meta.type);
  try {
    makePrivateDir(dir);
    return dir;
  } catch (error) {
    // The disk is full, or another user has run the service here.
    log.warn({ dir, error: errorText(error) }, 'the compiled code of a connector cannot be kept, so it starts more slowly');
    return null;
  }
}

const system = ['/proc', '/sys', '/dev'];

/**
 * Checks of paths to be opened to an instance: links are followed, and their target must not belong to the service, to
 * another instance or to other processes. Each throws with a text for the operator, or does nothing.
 */
function createPathPolicy({ paths, settings }: Pick<SupervisorDeps, 'paths' | 'settings'>, dataDir: string) {
  const secrets = [paths.root, settings.secretsFile, path.join(settings.root, '.env'), ...system].map(realPlace);
  const refuse = (ours: readonly string[], exceptions: readonly string[]) => {
    const [closed, open] = [ours.map(realPlace), exceptions.map(realPlace)];
    return (file: string): void => {
      const real = realPlace(file);
      const isOurs = closed.some((place) => isInside(real, place)) && !open.some((place) => isInside(real, place));
      if (isOurs || secrets.some((place) => isInside(place, real)))
        throw new Error(
          `"${file}" cannot be opened to a connector: it contains files of the service or of others. Choose another path.`,
        );
    };
  };
  return {
    code: refuse([paths.root, ...system], [paths.connectors]),
    read: refuse([paths.root, ...system], [dataDir, paths.uploads]),
    // Not the code of the service either.
    write: refuse([paths.root, settings.root, ...system], [dataDir]),
  };
}
