import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';

/** The instance with this id, else with this name. @throws CliError when there is none, or several */
export function pickInstance(instances: readonly Instance[], name: string): Instance {
  const byId = instances.find(({ id }) => id === name);
  if (byId !== undefined) return byId;
  const named = instances.filter((instance) => instance.name === name);
  const [only] = named;
  if (only !== undefined && named.length === 1) return only;
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ');
    throw new CliError(`several connectors are called "${name}".`, {
      why: `Name it by its id: ${ids}.`,
      run: './svc connector',
    });
  }
  const known = instances.map(({ id }) => id).join(', ');
  throw new CliError(`there is no connector "${name}".`, {
    why: known === '' ? 'There are none yet.' : `There are ${known}.`,
    run: known === '' ? './svc connector add' : './svc connector',
  });
}
