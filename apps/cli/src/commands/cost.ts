import type { ModelPrice, PricingReport, SpendReport } from '@svc/contract/cost.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import type { NewPrice, PriceRequest, SpendRequest } from '../cost/cost-commands.ts';
import { renderPrices, renderSpend } from '../cost/render-cost.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { showAnswer } from '../show-answer.ts';
import { createStyle, visibleLine } from '../terminal.ts';

/** Shows the spending, or sets the budget of a sender. */
export async function spend(request: SpendRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/spend`;
  if (request.action === 'show') {
    const help = { what: 'the spending cannot be shown.', run: './svc doctor' };
    return showAnswer(await askCore<SpendReport>(url), request, help, (report) =>
      renderSpend(report, createStyle(process.stdout)),
    );
  }
  const { channel, sender, monthUsd } = request;
  const body = { surface: channel, value: sender, month_usd: monthUsd };
  const answer = await askCore<object>(`${url}/budget`, { method: 'PUT', body });
  return showAnswer(answer, request, { what: 'nothing was changed.', run: './svc spend budget --help' }, () =>
    visibleLine(
      monthUsd === null
        ? `${sender} of ${channel} has no budget now.`
        : `${sender} of ${channel} may spend $${monthUsd.toFixed(2)} a month.`,
    ),
  );
}

/** Lists the prices in force, changes one, or reloads the price file. */
export async function price(request: PriceRequest): Promise<number> {
  const url = `${coreUrl(loadSettings(repositoryRoot))}/v2/pricing`;
  const style = createStyle(process.stdout);
  const reload = () => askCore<PricingReport>(`${url}/reload`, { method: 'POST' });
  const help = { what: 'the prices stay as they were.', run: './svc price' };
  if (request.action === 'list') {
    const listHelp = { what: 'the prices cannot be listed.', run: './svc doctor' };
    return showAnswer(await askCore<PricingReport>(url), request, listHelp, (report) =>
      renderPrices(report, request.model, style),
    );
  }
  if (request.action === 'reload') {
    return showAnswer(await reload(), request, help, ({ source }) => `The prices of ${source.file} are in force.`);
  }
  const own = `${url}/models/${encodeURIComponent(request.model)}`;
  const isSet = request.action === 'set';
  const how = isSet ? { method: 'PUT', body: toFields(request.price) } : { method: 'DELETE' };
  return showAnswer(await askCore<PricingReport>(own, how), request, help, (report) => {
    const done = isSet ? [] : [visibleLine(`Your price of ${request.model} is removed.`), ''];
    return [...done, renderPrices(report, request.model, style)].join('\n');
  });
}

const toFields = ({ in: read, out, cacheRead, cacheWrite, cacheWrite1h }: NewPrice): Partial<ModelPrice> => ({
  ...(read !== undefined && { in: read }),
  ...(out !== undefined && { out }),
  ...(cacheRead !== undefined && { cache_read: cacheRead }),
  ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
  ...(cacheWrite1h !== undefined && { cache_write_1h: cacheWrite1h }),
});
