import { readFile, stat } from 'node:fs/promises';
import type { PricingReport } from '@svc/contract/cost.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { defaultPrices, defaultsTaken } from './default-prices.ts';
import { createPriceLookup, mergePrices, type Prices, toPrices } from './prices.ts';
import { parsePrices, type PriceChanges } from './parse-prices.ts';

export type PriceSourceDeps = {
  settings: Pick<CoreSettings, 'pricingFile' | 'dataDir'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'info' | 'error'>;
};

const noChanges: PriceChanges = { models: new Map(), tts: new Map(), stt: new Map() };

/**
 * The prices in force: the built-in ones overridden by the operator's file, which is read at the start and on request. An invalid file
 * changes nothing, and stays a fault until it is corrected and read again.
 */
export async function openPriceSource({ settings, clock, log }: PriceSourceDeps) {
  const defaults = toPrices(defaultPrices);
  const file = {
    path: settings.pricingFile,
    isOptional: settings.pricingFile === dataPaths(settings.dataDir).prices,
  };
  let inForce = { prices: defaults, changes: noChanges, lookup: createPriceLookup(defaults) };
  let last: LoadedPrices = { state: 'none' };
  let loadedAt = 0;

  const load = async (): Promise<void> => {
    last = await loadPriceFile(defaults, file);
    loadedAt = clock.now();
    if (last.state === 'refused') return log.error({}, `${last.fault}; the previous prices stay in force`);
    const { prices, changes } = last.state === 'applied' ? last : { prices: defaults, changes: noChanges };
    inForce = { prices, changes, lookup: createPriceLookup(prices) };
    if (last.state === 'applied') log.info({ file: file.path }, 'the prices of the file are in force');
  };
  const fault = (): string | null => (last.state === 'refused' ? last.fault : null);
  let loading = load();
  await loading;

  return {
    find: () => inForce.lookup,

    /** Reads the file again. Reads are serialized, so that everything written before the call takes effect. */
    async reload(): Promise<void> {
      loading = loading.then(load);
      await loading;
    },

    /** Why the file cannot be used, or null. */
    fault,

    report: (): Omit<PricingReport, 'unpriced'> => ({
      models: Object.fromEntries(inForce.prices.models),
      tts: Object.fromEntries(inForce.prices.tts),
      stt: Object.fromEntries(inForce.prices.stt),
      source: {
        built_in: defaultsTaken,
        file: file.path,
        file_state: last.state,
        loaded_at: loadedAt,
        fault: fault(),
        from_file: {
          models: [...inForce.changes.models.keys()],
          tts: [...inForce.changes.tts.keys()],
          stt: [...inForce.changes.stt.keys()],
        },
      },
    }),
  };
}

export type LoadedPrices =
  | { state: 'none' }
  | { state: 'applied'; prices: Prices; changes: PriceChanges }
  | { state: 'refused'; fault: string };

/** `isOptional`: the file is the default one, so it may be missing. */
export type PriceFile = { path: string; isOptional: boolean };

/** Hundreds of models fit; a larger file would block the process while it is read. */
const maxBytes = 256 * 1024;

/** Applies the price file to the defaults. An invalid file is rejected as a whole. */
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
