import type { ModelPrice, PricingReport } from '@svc/contract/cost.ts';
import type { TokenCounts } from '@svc/contract/usage.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { costOfTokens } from '@svc/service-kit/pricing/money.ts';
import { createNameIndex } from '@svc/service-kit/pricing/name-index.ts';

/** The core's list prices of models, as of its last answer. They are requested on demand, never during a turn. */
export type ListPrices = {
  /** Updates them. Waits only a moment, so that a core that does not answer delays nothing. */
  refresh(): Promise<void>;
  /** USD; null if the price is unknown. */
  costOf(model: string | null, tokens: TokenCounts): number | null;
};

const trustMs = 60_000;
const timeoutMs = 2000;
const patienceMs = 400;

type Ask = () => Promise<Pick<PricingReport, 'models'>>;

export function createListPrices(coreUrl: string, clock: Pick<Clock, 'elapsed'>, ask: Ask = askCore(coreUrl)): ListPrices {
  let find: (model: string) => ModelPrice | null = () => null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const sync = (): Promise<void> => {
    askedAt = clock.elapsed();
    return (asking ??= ask()
      .then(
        ({ models }) => void (find = createNameIndex(Object.entries(models))),
        () => void (askedAt = Number.NEGATIVE_INFINITY), // the core does not answer: its last answer stays in use, and the next call asks again
      )
      .finally(() => (asking = null)));
  };
  return {
    async refresh() {
      if (clock.elapsed() - askedAt < trustMs) return;
      await Promise.race([sync(), new Promise((resolve) => void setTimeout(resolve, patienceMs).unref())]);
    },
    costOf(model, tokens) {
      const price = model === null ? null : find(model);
      return price === null ? null : costOfTokens(tokens, price);
    },
  };
}

const askCore =
  (coreUrl: string): Ask =>
  async () => {
    const { status, body } = await requestJson<PricingReport>(`${coreUrl}/v2/pricing`, { timeoutMs });
    if (status !== 200) throw new Error(`the core answered ${status}`);
    return body;
  };
