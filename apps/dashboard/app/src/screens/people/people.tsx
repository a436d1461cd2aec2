import { t } from '@svc/chat-ui/language/t.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Role } from '@svc/contract/trust.ts';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { Loaded, Page, Section } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { useAllPeople } from '../../parts/use-people.ts';
import { Explain } from './explain.tsx';
import { FoundPeople } from './found-people.tsx';
import { Invitations } from './invitations.tsx';
import { NewPerson } from './new-person.tsx';
import { PersonDialog } from './person-dialog.tsx';
import { Roles } from './roles.tsx';
import { Strangers } from './strangers.tsx';

/** People: their rights, and why they have them. */
export function People() {
  const people = useAllPeople();
  const roles = useApi<{ roles: Role[] }>('/core/trust/roles');
  const pending = useApi<{ pending: PendingIdentity[] }>('/core/trust/pending', 30_000);
  const [shown, setShown] = useState<string | null>(null);
  const [isAdding, setAdding] = useState(false);
  const principals = people.data?.principals ?? [];
  const known = roles.data?.roles ?? [];
  const person = principals.find(({ id }) => id === shown);
  return (
    <Page
      title={t('People')}
      actions={
        <button type="button" className="primary" onClick={() => setAdding(true)}>
          <UserPlus aria-hidden size={16} /> {t('Add person')}
        </button>
      }
    >
      <Section title={t('Strangers who wait')}>
        <Loaded query={pending} rows={1}>
          {(data) => <Strangers pending={data.pending} people={principals} roles={known} />}
        </Loaded>
      </Section>
      <Section title={t('People')}>
        <Loaded query={people}>{(data) => <FoundPeople people={data.principals} onShow={setShown} />}</Loaded>
      </Section>
      <Invitations roles={known} people={principals} />
      <Explain onShow={setShown} />
      <Loaded query={roles}>{(data) => <Roles roles={data.roles} people={principals} />}</Loaded>
      {person !== undefined && <PersonDialog person={person} people={principals} roles={known} onClose={() => setShown(null)} />}
      {isAdding && <NewPerson people={principals} roles={known} onClose={() => setAdding(false)} />}
    </Page>
  );
}
