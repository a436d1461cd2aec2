import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { fullTime } from '../../parts/format.ts';
import { Status } from '../../parts/status.tsx';
import { Grants } from './grants.tsx';
import { Identifiers } from './identifiers.tsx';
import { PersonFacts } from './person-facts.tsx';
import { PersonAccess } from './person-access.tsx';
import { isLastOwner } from './trust-words.ts';
import { WhyPerson } from './why-person.tsx';

type Props = { person: Principal; people: readonly Principal[]; roles: readonly Role[]; onClose(): void };

/** One person: their rights and why, their names on channels, and changing all of it. */
export function PersonDialog({ person, people, roles, onClose }: Props) {
  const isLast = isLastOwner(people, roles, person);
  return (
    <Dialog title={person.display_name} onClose={onClose} wide>
      <div className="stack">
        <p className="muted small">
          <Rich
            text="{name}, known since {when}"
            name={<span className="path">{person.key}</span>}
            when={fullTime(person.created_at)}
          />
        </p>
        {person.status === 'disabled' && (
          <Status kind="off" words={t('disabled: everything is refused, whatever they were given')} />
        )}
        <WhyPerson person={person} />
        <Grants person={person} roles={roles} isLast={isLast} />
        <Identifiers person={person} people={people} />
        <PersonFacts person={person} />
        <PersonAccess person={person} isLast={isLast} onClose={onClose} />
      </div>
    </Dialog>
  );
}
