import type { Role } from '@svc/contract/trust.ts';
import { Table } from '../../parts/table.tsx';
import { tierWords, toolWords } from './trust-words.ts';

const askWords: Record<Role['asks'], string> = {
  never: 'never',
  dangerous: 'before it does more than read',
  always: 'before every tool',
};
const listWords = (list: readonly string[] | '*', all: string): string => (list === '*' ? all : list.join(', ') || 'none');

/** What each role allows. */
export function Roles({ roles }: { roles: readonly Role[] }) {
  return (
    <Table
      caption="Roles"
      rows={roles}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Role', isMain: true, cell: ({ name }) => name },
        { name: 'Tier', cell: ({ tier }) => tierWords[tier] },
        { name: 'Tools', cell: ({ tool_policy: tools }) => toolWords[tools] },
        { name: 'Channels', cell: ({ surfaces }) => listWords(surfaces, 'all') },
        { name: 'Tool servers', cell: ({ tool_servers: servers }) => listWords(servers, 'all') },
        { name: 'Asks', cell: ({ asks }) => askWords[asks] },
        { name: 'For', cell: ({ description }) => description },
      ]}
    />
  );
}
