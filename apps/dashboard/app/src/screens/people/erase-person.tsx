import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { bytes } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { pathOf, trustPaths } from './trust-words.ts';

/** Running turns are stopped first, and deleting many files takes a while. */
const eraseMs = 120_000;
const changes = [...trustPaths, '/core/v2/', '/collector/api/'];

type Props = { person: Principal; onClose(): void; onErased(): void };

/** Shows what is removed and what stays, and why, before a person is erased. */
export function ErasePerson({ person, onClose, onErased }: Props) {
  const [keepsShared, setKeepsShared] = useState(false);
  const [typed, setTyped] = useState('');
  const query = useApi<ErasurePlan>(`${pathOf(person)}/erasure?keep_shared=${keepsShared ? 1 : 0}`);
  const erase = useAct<Erased>({ changes, done: t('{name} is erased.', { name: person.display_name }), onDone: onErased });
  return (
    <Dialog title={t('Erase {name}', { name: person.display_name })} onClose={onClose} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          erase.mutate({
            method: 'POST',
            path: `${pathOf(person)}/erase`,
            body: { keep_shared: keepsShared },
            timeoutMs: eraseMs,
          });
        }}
      >
        <Loaded query={query}>{(plan) => <Plan {...plan} />}</Loaded>
        <label className="check">
          <input type="checkbox" checked={keepsShared} onChange={({ target }) => setKeepsShared(target.checked)} />{' '}
          {t('keep conversations in which others also wrote')}
        </label>
        <Field label={t('Type {name} to erase them for good', { name: person.key })}>
          {(props) => (
            <input
              {...props}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setTyped(target.value)}
            />
          )}
        </Field>
        <p className="row-buttons">
          <button
            type="submit"
            className="danger"
            disabled={erase.isPending || typed !== person.key || query.data === undefined || query.data.refused !== null}
          >
            {t('Erase for good')}
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

function Plan({ removes, stays, refused, is_under_way: isUnderWay }: ErasurePlan) {
  const shared = removes.conversations.filter(({ is_shared: isShared }) => isShared);
  const { files, file_bytes: size } = removes;
  return (
    <>
      {isUnderWay && <p className="as-of">{t('It has already started and continues automatically.')}</p>}
      {refused !== null && (
        <p className="fault" role="alert">
          {refused}
        </p>
      )}
      <section aria-label={t('What is removed')}>
        <h3>{t('Removed for good')}</h3>
        <ul className="plain-list">
          <li>
            {plural(
              removes.names.length,
              '{n} name on channels, all roles and notes',
              '{n} names on channels, all roles and notes',
            )}
          </li>
          <li>
            {plural(
              removes.conversation_count,
              '{n} conversation, with everything said there',
              '{n} conversations, with everything said there',
            )}
          </li>
          {shared.map(({ key }) => (
            <li key={key}>
              <Rich text="of these, with others: {conversation}" conversation={<span className="path">{key}</span>} />
            </li>
          ))}
          <li>
            {t('{files}, {budgets}, {announcements}', {
              files:
                files === 0
                  ? plural(0, '{n} file', '{n} files')
                  : plural(files, '{n} file ({size})', '{n} files ({size})', { size: bytes(size) }),
              budgets: plural(removes.budgets, '{n} budget', '{n} budgets'),
              announcements: plural(removes.announcements, '{n} announcement', '{n} announcements'),
            })}
          </li>
        </ul>
      </section>
      <section aria-label={t('What stays')}>
        <h3>{t('Stays')}</h3>
        <ul className="plain-list">
          {stays.map(({ what, why }) => (
            <li key={what}>
              {what}: <span className="muted">{why}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
