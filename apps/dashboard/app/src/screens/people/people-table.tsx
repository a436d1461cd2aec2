import { t } from '@svc/chat-ui/language/t.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { grantWords } from './trust-words.ts';

type Props = { people: readonly Principal[]; onShow(id: string): void };

export function PeopleTable({ people, onShow }: Props) {
  return (
    <Table
      caption={t('People')}
      rows={people}
      keyOf={({ id }) => id}
      columns={[
        {
          name: t('Person'),
          isMain: true,
          cell: ({ id, display_name: name, key }) => (
            <button type="button" className="as-link" onClick={() => onShow(id)}>
              {name === key ? name : `${name} (${key})`}
            </button>
          ),
        },
        {
          name: t('State'),
          cell: ({ status }) =>
            status === 'active' ? <Status kind="ok" words={t('active')} /> : <Status kind="off" words={t('disabled')} />,
        },
        { name: t('Roles'), cell: ({ grants }) => (grants.length === 0 ? t('none') : grants.map(grantWords).join('; ')) },
        {
          name: t('Known by'),
          cell: ({ identifiers }) => (
            <span className="path">
              {identifiers.map(({ surface, value }) => `${surface} ${value}`).join(', ') || t('nothing')}
            </span>
          ),
        },
      ]}
    />
  );
}
