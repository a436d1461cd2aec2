import type { Erased, ErasurePlan } from '@svc/contract/erasure.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { bytes, counted } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { pathOf, trustPaths } from './trust-words.ts';

/** Turns that run are ended first, and many files take a while. */
const eraseMs = 120_000;
const changes = [...trustPaths, '/core/v2/', '/collector/api/'];

type Props = { person: Principal; onClose(): void; onErased(): void };

/** Shows what goes and what stays, and why, before it is done. */
export function ErasePerson({ person, onClose, onErased }: Props) {
  const [keepsShared, setKeepsShared] = useState(false);
  const [typed, setTyped] = useState('');
  const query = useApi<ErasurePlan>(`${pathOf(person)}/erasure?keep_shared=${keepsShared ? 1 : 0}`);
  const erase = useAct<Erased>({ changes, done: `${person.display_name} is erased.`, onDone: onErased });
  return (
    <Dialog title={`Erase ${person.display_name}`} onClose={onClose} wide>
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
          <input type="checkbox" checked={keepsShared} onChange={({ target }) => setKeepsShared(target.checked)} /> leave
          conversations in which others spoke, too
        </label>
        <Field label={`Type ${person.key} to erase them for good`}>
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
            Erase for good
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            Cancel
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
      {isUnderWay && <p className="as-of">It was begun already and goes on by itself.</p>}
      {refused !== null && (
        <p className="fault" role="alert">
          {refused}
        </p>
      )}
      <section aria-label="What goes">
        <h3>Goes for good</h3>
        <ul className="plain-list">
          <li>{counted(removes.names.length, 'name')} on channels, all roles and notes</li>
          <li>{counted(removes.conversation_count, 'conversation')}, with everything said there</li>
          {shared.map(({ key }) => (
            <li key={key}>
              of these, with others: <span className="path">{key}</span>
            </li>
          ))}
          <li>
            {counted(files, 'file')}
            {files > 0 && ` (${bytes(size)})`}, {counted(removes.budgets, 'budget')},{' '}
            {counted(removes.announcements, 'announcement')}
          </li>
        </ul>
      </section>
      <section aria-label="What stays">
        <h3>Stays</h3>
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
