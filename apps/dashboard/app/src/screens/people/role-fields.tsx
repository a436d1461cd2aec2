import { t } from '@svc/chat-ui/language/t.ts';
import type { Role } from '@svc/contract/trust.ts';
import { Field } from '../../parts/field.tsx';
import { tierWords, toolWords } from './trust-words.ts';

type RoleProps = { roles: readonly Role[]; role: string; onRole(name: string): void };

/** Which role, with what it allows. */
export function RoleField({ roles, role, onRole }: RoleProps) {
  const chosen = roles.find(({ name }) => name === role);
  return (
    <Field
      label={t('Role')}
      hint={chosen === undefined ? '' : `${tierWords[chosen.tier]}, ${toolWords[chosen.tool_policy]}. ${chosen.description}`}
    >
      {(props) => (
        <select {...props} value={role} onChange={({ target }) => onRole(target.value)}>
          {roles.map(({ id, name }) => (
            <option key={id}>{name}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
