import path from 'node:path';
import type { InstalledPackages } from '@svc/connector-kit/child-protocol.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { hasPackages, installPackages } from '@svc/service-kit/packages/install-packages.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ConnectorType } from './find-types.ts';

type Config = Readonly<Record<string, unknown>>;
type Packages = { lockFolder: string; folder: string };

/** The libraries that an instance of this type needs; null if it needs none. */
export function packagesOf({ paths }: { paths: Pick<DataPaths, 'cache'> }, type: ConnectorType, config: Config): Packages | null {
  const { type: name, packages } = type.meta;
  if (packages === undefined || config[packages.when] !== true) return null;
  if (type.isAdded)
    throw new Error('Only built-in connector types may have "packages". Put the libraries into the folder of the connector.');
  return { lockFolder: path.join(type.folder, packages.folder), folder: path.join(paths.cache, 'packages', name) };
}

/** Libraries of connector types in the data folder, one installation of each type at a time. */
export type ConnectorPackageStore = {
  /** Null for an instance that needs none. Never rejects: an instance starts without them, and reports it when it needs them. */
  install(type: ConnectorType, config: Config): Promise<InstalledPackages | null>;
};

type Deps = {
  paths: Pick<DataPaths, 'cache'>;
  env: Readonly<Record<string, string | undefined>>;
  registry: string | null;
  log: Pick<Log, 'info' | 'warn'>;
};

export function createConnectorPackages({ paths, env, registry, log }: Deps): ConnectorPackageStore {
  const installing = new Map<string, Promise<InstalledPackages>>();

  async function install({ meta }: ConnectorType, packages: Packages): Promise<InstalledPackages> {
    const { folder } = packages;
    if (hasPackages(packages)) return { folder };
    try {
      // Only packages for WebAssembly, so that no native code is installed.
      const flags = meta.packages?.wasm === true ? ['--cpu=wasm32'] : [];
      await installPackages({ ...packages, registry, env, flags });
      log.info({ type: meta.type }, 'installed the libraries of a connector type');
      return { folder };
    } catch (error) {
      log.warn({ type: meta.type, error: errorText(error) }, 'the libraries of a connector type could not be installed');
      return {
        missing: `The libraries of this connector are not installed: ${errorText(error)}. Restart the connector to try again.`,
      };
    }
  }

  return {
    async install(type, config) {
      const packages = packagesOf({ paths }, type, config);
      if (packages === null) return null;
      const { folder } = packages;
      const found = installing.get(folder) ?? install(type, packages).finally(() => installing.delete(folder));
      installing.set(folder, found);
      return found;
    },
  };
}
