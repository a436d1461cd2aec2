import { existsSync, readFileSync, rmSync } from 'node:fs';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { writeFileAtomic } from '@svc/service-kit/config/data-dir.ts';
import { CliError } from '../cli-error.ts';
import type { NewPrice } from './cost-commands.ts';

/** A change of the price file that can be taken back. */
export type PriceChange = { undo: () => void };

/** Sets the price of a model in the file, or takes it out (null). What else stands there stays. @throws CliError */
export function changePrice(file: string, model: string, price: NewPrice | null): PriceChange {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
  const table: unknown = before === null ? {} : parseJsonOrNull(before);
  if (!isRecord(table) || !isRecord(table['models'] ?? {})) {
    throw new CliError('the price file is faulty.', {
      why: `${file} is not a JSON object as docs/costs.md describes it.`,
      run: './svc price',
    });
  }
  const models = (table['models'] ?? {}) as Record<string, unknown>;
  const { [model]: known, ...others } = models;
  if (price === null && known === undefined) {
    throw new CliError(`there is no price of your own for ${model}.`, { why: `${file} does not name it.`, run: './svc price' });
  }
  const named = price === null ? others : { ...models, [model]: { ...(isRecord(known) ? known : {}), ...toFields(price) } };
  writeFileAtomic(file, `${JSON.stringify({ ...table, models: named }, null, 2)}\n`);
  return { undo: () => (before === null ? rmSync(file, { force: true }) : writeFileAtomic(file, before)) };
}

const toFields = ({ in: read, out, cacheRead, cacheWrite }: NewPrice): object =>
  Object.fromEntries(
    Object.entries({ in: read, out, cache_read: cacheRead, cache_write: cacheWrite }).filter(
      ([, amount]) => amount !== undefined,
    ),
  );
