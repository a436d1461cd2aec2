import path from 'node:path';
import { isInside, realPlace } from '../connector-type/real-place.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

const system = ['/proc', '/sys', '/dev'];

/**
 * Checks of paths that are to be opened to an instance: links are followed, and nothing may lie behind them that belongs
 * to the service, to another instance or to other processes. Each throws in words, or does nothing.
 */
export function createPathPolicy({ paths, settings }: Pick<SupervisorDeps, 'paths' | 'settings'>, dataDir: string) {
  const secrets = [paths.root, settings.secretsFile, path.join(settings.root, '.env'), ...system].map(realPlace);
  const refuse = (ours: readonly string[], exceptions: readonly string[]) => {
    const [closed, open] = [ours.map(realPlace), exceptions.map(realPlace)];
    return (file: string): void => {
      const real = realPlace(file);
      const isOurs = closed.some((place) => isInside(real, place)) && !open.some((place) => isInside(real, place));
      if (isOurs || secrets.some((place) => isInside(place, real)))
        throw new Error(`"${file}" cannot be opened to a connector: it holds what belongs to the service or to others.`);
    };
  };
  return {
    code: refuse([paths.root, ...system], [paths.connectors]),
    read: refuse([paths.root, ...system], [dataDir, paths.uploads]),
    // Code that the service runs, too.
    write: refuse([paths.root, settings.root, ...system], [dataDir]),
  };
}
