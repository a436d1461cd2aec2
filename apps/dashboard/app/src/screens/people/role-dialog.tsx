import { plural, t } from '@svc/chat-ui/language/t.ts';
import { askPolicies, type Principal, type Role, tiers, toolPolicies } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { NamesField, namesOf, textOf } from './names-field.tsx';
import { effectsOf, holdersOf, type RoleDraft, roleWords } from './role-effect.ts';
import { askWords, tierWords, toolWords, trustPaths } from './trust-words.ts';

/** `role`: as it was when the dialog was opened. */
type Props = { role: Role | null; roles: readonly Role[]; people: readonly Principal[]; onClose(): void };

const newRole: RoleDraft = {
  name: '',
  tier: 'GUEST',
  tool_policy: 'none',
  surfaces: '*',
  tool_servers: '*',
  asks: 'never',
  description: '',
};
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Adds or changes a role, and shows its effect on people before it is saved. */
export function RoleDialog({ role, roles, people, onClose }: Props) {
  const [draft, setDraft] = useState<RoleDraft>(() => (role === null ? newRole : draftOf(role)));
  const [surfaces, setSurfaces] = useState(textOf(draft.surfaces));
  const [servers, setServers] = useState(textOf(draft.tool_servers));
  const set = (change: Partial<RoleDraft>) => setDraft({ ...draft, ...change });
  const wanted = { ...draft, name: draft.name.trim(), surfaces: namesOf(surfaces), tool_servers: namesOf(servers) };
  const nameFault = role === null ? faultOf(wanted.name, roles) : null;
  const isOld =
    role !== null &&
    !isSame(
      role,
      roles.find(({ id }) => id === role.id),
    );
  const holders = role === null ? [] : holdersOf(people, role);
  const save = useAct({ changes: trustPaths, done: t('The role {name} is saved.', { name: wanted.name }), onDone: onClose });
  const remove = useAct({ changes: trustPaths, done: t('The role {name} is deleted.', { name: wanted.name }), onDone: onClose });
  return (
    <Dialog title={role === null ? t('Add a role') : t('Role {name}', { name: role.name })} onClose={onClose} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ method: 'POST', path: '/core/trust/roles', body: wanted });
        }}
      >
        {role === null && (
          <Field label={t('Name')} hint={t('Letters, digits, dots and dashes.')} fault={nameFault}>
            {(props) => (
              <input {...props} value={draft.name} maxLength={64} onChange={({ target }) => set({ name: target.value })} />
            )}
          </Field>
        )}
        <Choice label={t('Tier')} words={tierWords} names={tiers} chosen={draft.tier} onChoose={(tier) => set({ tier })} />
        <Choice
          label={t('Tools')}
          words={toolWords}
          names={toolPolicies}
          chosen={draft.tool_policy}
          onChoose={(tools) => set({ tool_policy: tools })}
        />
        <Choice
          label={t('Asks them first')}
          words={askWords}
          names={askPolicies}
          chosen={draft.asks}
          onChoose={(asks) => set({ asks })}
        />
        <NamesField label={t('Channels')} hint={t('One per line. Leave empty for all.')} text={surfaces} onText={setSurfaces} />
        <NamesField
          label={t('Tool servers')}
          hint={t('One per line, or “-” for none. Leave empty for all.')}
          text={servers}
          onText={setServers}
        />
        <Field label={t('For')}>
          {(props) => (
            <input
              {...props}
              value={draft.description}
              maxLength={500}
              onChange={({ target }) => set({ description: target.value })}
            />
          )}
        </Field>
        <Effect role={role} draft={wanted} holders={holders} />
        {isOld && (
          <p className="fault" role="alert">
            {t('This role has been changed in the meantime. Close this, open it again and change it there.')}
          </p>
        )}
        <p className="row-buttons">
          <button
            type="submit"
            className="primary"
            disabled={save.isPending || isOld || wanted.name === '' || nameFault !== null}
          >
            {t('Save role')}
          </button>
          {role !== null && (
            <button
              type="button"
              className="danger"
              disabled={remove.isPending || holders.length > 0}
              onClick={() => remove.mutate({ method: 'DELETE', path: `/core/trust/roles/${encodeURIComponent(role.id)}` })}
            >
              {t('Delete role')}
            </button>
          )}
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </p>
        {holders.length > 0 && <p className="muted small">{t('It can be deleted only when nobody has it.')}</p>}
      </form>
    </Dialog>
  );
}

/** Saving under an existing name would replace that role for everyone who has it. */
function faultOf(name: string, roles: readonly Role[]): string | null {
  const other = roles.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (other !== undefined)
    return t('A role {name} already exists. Choose another name, or change that one.', { name: other.name });
  return name === '' || nameForm.test(name)
    ? null
    : t('Use up to 64 of A–Z, a–z, 0–9, “.”, “_” and “-”, beginning with a letter or a digit.');
}

const isSame = (one: Role, other: Role | undefined): boolean =>
  other !== undefined && (Object.keys(one) as (keyof Role)[]).every((field) => String(one[field]) === String(other[field]));

const draftOf = ({ id: _id, ...draft }: Role): RoleDraft => draft;

type ChoiceProps<Name extends string> = {
  label: string;
  names: readonly Name[];
  words: Record<Name, string>;
  chosen: Name;
  onChoose(name: Name): void;
};

function Choice<Name extends string>({ label, names, words, chosen, onChoose }: ChoiceProps<Name>) {
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={chosen} onChange={({ target }) => onChoose(target.value as Name)}>
          {names.map((name) => (
            <option key={name} value={name}>
              {words[name]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Effect({ role, draft, holders }: { role: Role | null; draft: RoleDraft; holders: readonly Principal[] }) {
  const effects = role === null ? [] : effectsOf(role, draft);
  if (effects.length === 0) return <p className="muted">{roleWords(draft)}</p>;
  return (
    <div className="as-of" role="status" aria-label={t('Effect')}>
      <p>
        <b>{holderWords(holders)}</b>
      </p>
      {effects.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  );
}

const shownNames = 5;

function holderWords(holders: readonly Principal[]): string {
  const total = holders.length;
  if (total === 0) return t('Nobody has this role now.');
  const who = holders
    .slice(0, shownNames)
    .map(({ display_name: name }) => name)
    .join(', ');
  return total > shownNames
    ? plural(total, 'For {n} person: {who} and others', 'For {n} people: {who} and others', { who })
    : plural(total, 'For {n} person: {who}', 'For {n} people: {who}', { who });
}
