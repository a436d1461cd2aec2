import type { UsageByPerson } from '@svc/contract/usage.ts';
import { count, money } from '../../parts/format.ts';
import { Table } from '../../parts/table.tsx';

/** Who used how much, most first. */
export function PeopleCosts({ people, links_known: isFolded, truncated }: UsageByPerson) {
  if (people.length === 0) return <p className="muted">Nobody used anything in this time.</p>;
  return (
    <>
      {!isFolded && (
        <p className="muted small">The core did not say who is linked to whom: one person may stand here several times.</p>
      )}
      {truncated && <p className="muted small">There are more people than are shown here.</p>}
      <Table
        caption="Use by person"
        rows={people}
        keyOf={({ principal, handles }) => principal ?? handles.map(({ surface, identity }) => `${surface} ${identity}`).join()}
        columns={[
          {
            name: 'Person',
            isMain: true,
            cell: ({ name, principal, handles }) =>
              name ?? principal ?? handles.map(({ surface, identity }) => `${identity} (${surface})`).join(', '),
          },
          { name: 'Channels', cell: ({ handles }) => [...new Set(handles.map(({ surface }) => surface))].join(', ') },
          { name: 'Turns', isNumber: true, cell: ({ turns }) => count(turns) },
          { name: 'List price', isNumber: true, cell: ({ cost_usd: list }) => money(list) },
          { name: 'Billed', isNumber: true, cell: ({ billed_cost_usd: billed }) => money(billed) },
          { name: 'Unpriced turns', isNumber: true, cell: ({ unpriced_turns: unpriced }) => count(unpriced) },
        ]}
      />
    </>
  );
}
