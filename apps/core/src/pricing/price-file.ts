import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { ModelPrice } from '@svc/contract/cost.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import { normalName } from '@svc/service-kit/pricing/name-index.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** A change of the price file that can be undone. */
export type PriceChange = { undo: () => void };

/**
 * Sets or removes (null) the price of a model in the file, ignoring the case of its name. Other entries and omitted amounts stay.
 * @throws ServiceError `unprocessable` for an invalid file, `not_found` when there is nothing to remove.
 */
export function changePrice(file: string, model: string, price: Partial<ModelPrice> | null): PriceChange {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
  const table: unknown = before === null ? {} : parseJsonOrNull(before);
  if (!isRecord(table) || !isRecord(table['models'] ?? {})) {
    const message = `Nothing was changed: the price file is faulty. ${file} is not a JSON object as docs/costs.md describes it.`;
    throw new ServiceError('unprocessable', message);
  }
  const models = (table['models'] ?? {}) as Record<string, unknown>;
  const isSame = (name: string) => normalName(name) === normalName(model);
  // Of two spellings of the same name, the later one applies.
  const name = Object.keys(models).findLast(isSame);
  if (price === null && name === undefined)
    throw new ServiceError('not_found', `You have set no price for "${model.slice(0, 200)}": ${file} does not list it.`);
  const known = name === undefined ? undefined : models[name];
  const named =
    price === null
      ? Object.fromEntries(Object.entries(models).filter(([each]) => !isSame(each)))
      : { ...models, [name ?? model]: { ...(isRecord(known) ? known : {}), ...price } };
  writeFileAtomic(file, `${JSON.stringify({ ...table, models: named }, null, 2)}\n`);
  return { undo: () => (before === null ? rmSync(file, { force: true }) : writeFileAtomic(file, before)) };
}
