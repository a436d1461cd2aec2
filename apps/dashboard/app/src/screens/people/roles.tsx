import type { Principal, Role } from '@svc/contract/trust.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { askWords, tierWords, toolWords } from './trust-words.ts';

const listWords = (list: readonly string[] | '*', all: string): string => (list === '*' ? all : list.join(', ') || 'none');

/** What each role allows; making, changing and deleting one. */
export function Roles({ roles, people }: { roles: readonly Role[]; people: readonly Principal[] }) {
  const [shown, setShown] = useState<Role | 'new' | null>(null);
  return (
    <Section
      title="Roles"
      actions={
        <button type="button" className="plain-button" onClick={() => setShown('new')}>
          <Plus aria-hidden size={16} /> Add role
        </button>
      }
    >
      <Table
        caption="Roles"
        rows={roles}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Role',
            isMain: true,
            cell: (role) => (
              <button type="button" className="as-link" onClick={() => setShown(role)}>
                {role.name}
              </button>
            ),
          },
          { name: 'Tier', cell: ({ tier }) => tierWords[tier] },
          { name: 'Tools', cell: ({ tool_policy: tools }) => toolWords[tools] },
          { name: 'Channels', cell: ({ surfaces }) => listWords(surfaces, 'all') },
          { name: 'Tool servers', cell: ({ tool_servers: servers }) => listWords(servers, 'all') },
          { name: 'Asks', cell: ({ asks }) => askWords[asks] },
          { name: 'For', cell: ({ description }) => description },
        ]}
      />
      {shown !== null && <RoleDialog role={shown === 'new' ? null : shown} people={people} onClose={() => setShown(null)} />}
    </Section>
  );
}
