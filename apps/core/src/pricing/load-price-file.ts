import { readFile, stat } from 'node:fs/promises';
import { errorText } from '@svc/service-kit/service-error.ts';
import { mergePrices, type Prices } from './merge-prices.ts';
import { parsePrices, type PriceChanges } from './parse-prices.ts';

export type LoadedPrices =
  | { state: 'none' }
  | { state: 'applied'; prices: Prices; changes: PriceChanges }
  | { state: 'refused'; fault: string };

/** `isOptional`: nobody named the file, so it need not be there. */
export type PriceFile = { path: string; isOptional: boolean };

/** Hundreds of models fit; more would hold the process up while it is read. */
const maxBytes = 256 * 1024;

/** Lays the price file over the defaults. A faulty file is refused as a whole. */
export async function loadPriceFile(defaults: Prices, { path, isOptional }: PriceFile): Promise<LoadedPrices> {
  const refused = (why: string): LoadedPrices => ({ state: 'refused', fault: `the prices in ${path} cannot be used: ${why}` });
  try {
    const found = await stat(path);
    if (!found.isFile()) return refused('it is not a file');
    if (found.size > maxBytes) return refused(`it is larger than ${maxBytes / 1024} KiB`);
    const changes = parsePrices(await readFile(path, 'utf8'));
    if ('fault' in changes) return refused(changes.fault);
    const prices = mergePrices(defaults, changes);
    return 'fault' in prices ? refused(prices.fault) : { state: 'applied', prices, changes };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && isOptional) return { state: 'none' };
    return refused(isMissing ? 'there is no such file' : errorText(error));
  }
}
