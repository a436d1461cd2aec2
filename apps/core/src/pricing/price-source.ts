import path from 'node:path';
import type { PricingReport } from '@svc/contract/cost.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { defaultPrices, defaultsTaken } from './default-prices.ts';
import { loadPriceFile, type LoadedPrices } from './load-price-file.ts';
import { toPrices } from './merge-prices.ts';
import type { PriceChanges } from './parse-prices.ts';
import { createPriceLookup } from './price-lookup.ts';

export type PriceSourceDeps = {
  settings: Pick<Settings, 'pricingFile' | 'dataDir'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<Log, 'info' | 'error'>;
};

const noChanges: PriceChanges = { models: new Map(), tts: new Map(), stt: new Map() };

/**
 * The prices in force: the built-in ones with the operator's file over them, read at the start and when the operator asks
 * for it. A faulty file changes nothing, and is a fault until it is corrected and read again.
 */
export async function openPriceSource({ settings, clock, log }: PriceSourceDeps) {
  const defaults = toPrices(defaultPrices);
  const file = {
    path: settings.pricingFile,
    isOptional: settings.pricingFile === path.join(settings.dataDir, 'pricing.json'),
  };
  let inForce = { prices: defaults, changes: noChanges, lookup: createPriceLookup(defaults) };
  let last: LoadedPrices = { state: 'none' };
  let loadedAt = 0;

  const load = async (): Promise<void> => {
    last = await loadPriceFile(defaults, file);
    loadedAt = clock.now();
    if (last.state === 'refused') return log.error({}, `${last.fault}; the prices of before stay`);
    const { prices, changes } = last.state === 'applied' ? last : { prices: defaults, changes: noChanges };
    inForce = { prices, changes, lookup: createPriceLookup(prices) };
    if (last.state === 'applied') log.info({ file: file.path }, 'the prices of the file are in force');
  };
  const fault = (): string | null => (last.state === 'refused' ? last.fault : null);
  let loading = load();
  await loading;

  return {
    find: () => inForce.lookup,

    /** Reads the file again, one reading after the other, so that what was written before the call counts. */
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
