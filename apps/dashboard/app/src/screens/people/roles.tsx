import { t } from '@svc/chat-ui/language/t.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { askWords, listWords, tierWords, toolWords } from './trust-words.ts';

/** What each role allows, and adding, changing and deleting roles. */
export function Roles({ roles, people }: { roles: readonly Role[]; people: readonly Principal[] }) {
  const [shown, setShown] = useState<Role | 'new' | null>(null);
  return (
    <Section
      title={t('Roles')}
      actions={
        <button type="button" className="plain-button" onClick={() => setShown('new')}>
          <Plus aria-hidden size={16} /> {t('Add role')}
        </button>
      }
    >
      <Table
        caption={t('Roles')}
        rows={roles}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('Role'),
            isMain: true,
            cell: (role) => (
              <button type="button" className="as-link" onClick={() => setShown(role)}>
                {role.name}
              </button>
            ),
          },
          { name: t('Tier'), cell: ({ tier }) => tierWords[tier] },
          { name: t('Tools'), cell: ({ tool_policy: tools }) => toolWords[tools] },
          { name: t('Channels'), cell: ({ surfaces }) => listWords(surfaces) },
          { name: t('Tool servers'), cell: ({ tool_servers: servers }) => listWords(servers) },
          { name: t('Asks'), cell: ({ asks }) => askWords[asks] },
          { name: t('For'), cell: ({ description }) => description },
        ]}
      />
      {shown !== null && (
        <RoleDialog role={shown === 'new' ? null : shown} roles={roles} people={people} onClose={() => setShown(null)} />
      )}
    </Section>
  );
}
