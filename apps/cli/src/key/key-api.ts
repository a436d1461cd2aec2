import path from 'node:path';
import type { SenderBudget, SpendReport } from '@svc/contract/cost.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { CliError } from '../cli-error.ts';
import { createConnectorApi } from '../connector/connector-api.ts';
import { pickInstance } from '../connector/pick-instance.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';

/** The type whose callers have keys; its name is the surface that they are known on. */
export const keyType = 'compat';

/** A chat completions API, and where its keys are. */
export type KeyPlace = { instance: Instance; file: string };

/** The chat completions APIs: the one that is named, or all. @throws CliError when there is none. */
export async function keyPlaces(settings: CliSettings, name: string | undefined): Promise<KeyPlace[]> {
  const instances = (await createConnectorApi(settings).list()).filter(({ type }) => type === keyType);
  if (instances.length === 0) throw new CliError('there is no chat completions API.', { run: `./svc connector add ${keyType}` });
  const chosen = name === undefined ? instances : [pickInstance(instances, name)];
  const { instances: folder } = dataPaths(settings.dataDir);
  return chosen.map((instance) => {
    const { keys_file: file } = instance.config;
    return { instance, file: path.resolve(folder, instance.id, typeof file === 'string' ? file : 'keys.json') };
  });
}

/** The one place that is meant. @throws CliError when there are several. */
export function onlyPlace(places: readonly KeyPlace[]): KeyPlace {
  const [only, ...more] = places;
  if (only !== undefined && more.length === 0) return only;
  const ids = places.map(({ instance }) => instance.id).join(', ');
  throw new CliError('there are several chat completions APIs.', { why: `Say which with --connector: ${ids}.` });
}

/** What keys may spend and have spent this month. */
export async function readBudgets(settings: CliSettings): Promise<SenderBudget[]> {
  const answer = await askCore<SpendReport>(`${coreUrl(settings)}/v2/spend`);
  if (!answer.ok) throw new CliError('what was spent cannot be said.', { why: answer.body.message });
  return answer.body.budgets.filter(({ surface }) => surface === keyType);
}

/** Null takes the budget away. */
export async function setBudget(settings: CliSettings, value: string, monthUsd: number | null): Promise<void> {
  const body = { surface: keyType, value, month_usd: monthUsd };
  const answer = await askCore<object>(`${coreUrl(settings)}/v2/spend/budget`, { method: 'PUT', body });
  if (!answer.ok) throw new CliError('the budget was not set.', { why: answer.body.message });
}
