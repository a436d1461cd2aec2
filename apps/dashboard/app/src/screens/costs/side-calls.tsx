import { t } from '@svc/chat-ui/language/t.ts';
import type { UsageSide } from '@svc/contract/usage.ts';
import { count, money } from '../../parts/format.ts';
import { Table } from '../../parts/table.tsx';

/** What was paid outside turns: speech, titles, moderation. */
export function SideCalls({ side }: { side: readonly UsageSide[] }) {
  if (side.length === 0) return <p className="muted">{t('Nothing was used outside turns.')}</p>;
  return (
    <Table
      caption={t('Use outside turns')}
      rows={side}
      keyOf={({ surface, feature, provider, model, units }) => [surface, feature, provider, model, units].join()}
      columns={[
        { name: t('For'), isMain: true, cell: ({ feature }) => feature },
        { name: t('Model'), cell: ({ provider, model }) => `${model} (${provider})` },
        { name: t('Calls'), isNumber: true, cell: ({ calls }) => count(calls) },
        { name: t('Amount'), isNumber: true, cell: ({ quantity, units }) => `${count(quantity)} ${units}` },
        { name: t('List price'), isNumber: true, cell: ({ cost_usd: list }) => money(list) },
        { name: t('Billed'), isNumber: true, cell: ({ billed_cost_usd: billed }) => money(billed) },
        { name: t('Unpriced calls'), isNumber: true, cell: ({ unpriced_calls: unpriced }) => count(unpriced) },
      ]}
    />
  );
}
