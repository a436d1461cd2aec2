import type { Principal } from '@svc/contract/trust.ts';
import { Empty } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { grantWords } from './trust-words.ts';

type Props = { people: readonly Principal[]; onShow(id: string): void };

export function PeopleTable({ people, onShow }: Props) {
  if (people.length === 0) return <Empty title="Nobody is known yet" />;
  return (
    <Table
      caption="People"
      rows={people}
      keyOf={({ id }) => id}
      columns={[
        {
          name: 'Person',
          isMain: true,
          cell: ({ id, display_name: name, key }) => (
            <button type="button" className="as-link" onClick={() => onShow(id)}>
              {name === key ? name : `${name} (${key})`}
            </button>
          ),
        },
        {
          name: 'State',
          cell: ({ status }) =>
            status === 'active' ? <Status kind="ok" words="active" /> : <Status kind="off" words="disabled" />,
        },
        { name: 'Roles', cell: ({ grants }) => (grants.length === 0 ? 'none' : grants.map(grantWords).join('; ')) },
        {
          name: 'Known by',
          cell: ({ identifiers }) => (
            <span className="path">{identifiers.map(({ surface, value }) => `${surface} ${value}`).join(', ') || 'nothing'}</span>
          ),
        },
      ]}
    />
  );
}
