import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { conflict, notFound, unavailable } from '@svc/service-kit/service-error.ts';
import type { ManagerReader } from '../instance/manager-reader.ts';

/** The connector type whose callers have keys; its name is also their surface. */
export const keyType = 'compat';

/** A chat completions API and its keys file. */
export type KeyPlace = { id: string; name: string; url: string | null; file: string };

type Deps = { manager: Pick<ManagerReader, 'instances'>; instancesDir: string };

/** The chat completions APIs: the one with this id or name, or all. @throws ServiceError when there is none. */
export async function keyPlaces({ manager, instancesDir }: Deps, wanted?: string): Promise<KeyPlace[]> {
  const instances = await manager.instances().catch((error: unknown) => {
    throw unavailable('The manager could not list the connectors. Try again in a moment.', error);
  });
  const all = instances.filter(({ type }) => type === keyType);
  const chosen = wanted === undefined ? all : [pick(all, wanted)];
  if (chosen.length === 0) throw conflict(`There is no chat completions API. Add one: ./svc connector add ${keyType}`);
  return chosen.map((instance) => ({
    id: instance.id,
    name: instance.name,
    url: instance.url,
    file: fileOf(instancesDir, instance),
  }));
}

/** The only API of the list. @throws ServiceError `conflict` when there are several. */
export function onlyPlace(places: readonly KeyPlace[]): KeyPlace {
  const [only, ...more] = places;
  if (only !== undefined && more.length === 0) return only;
  const ids = places.map(({ id }) => id);
  throw conflict(`There are several chat completions APIs: ${ids.join(', ')}. Name one of them ("connector").`, {
    connectors: ids,
  });
}

function pick(instances: readonly Instance[], wanted: string): Instance {
  const byId = instances.find(({ id }) => id === wanted);
  if (byId !== undefined) return byId;
  const [named, ...more] = instances.filter(({ name }) => name === wanted);
  if (named === undefined) throw notFound('chat completions API', wanted);
  if (more.length === 0) return named;
  throw conflict(`Several chat completions APIs are called "${wanted}". Name one by its id ("connector").`);
}

function fileOf(instancesDir: string, { id, config }: Instance): string {
  const { keys_file: file } = config;
  return path.resolve(instancesDir, id, typeof file === 'string' ? file : 'keys.json');
}
