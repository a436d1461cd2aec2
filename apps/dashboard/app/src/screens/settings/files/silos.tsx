import { plural, t } from '@svc/chat-ui/language/t.ts';
import { type Silo, siloSchema } from '@svc/contract/silo.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Confirm, Dialog } from '../../../parts/dialog.tsx';
import { bytes } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { SiloFiles } from './silo-files.tsx';
import { pathOfSilo, silosPath } from './silo-paths.ts';

const readers: Record<Tier, string> = {
  BLOCKED: t('for anybody'),
  UNKNOWN: t('for anybody'),
  GUEST: t('for guests and above'),
  KNOWN: t('for people who are known, and above'),
  TRUSTED: t('for people who are trusted, and owners'),
  SACRED: t('for owners alone'),
};

/** Private stores of files. */
export function Silos() {
  const query = useApi<{ silos: Silo[] }>(silosPath, 30_000);
  const [isAdding, setAdding] = useState(false);
  const [open, setOpen] = useState<Silo | null>(null);
  const [removed, setRemoved] = useState<Silo | null>(null);
  const remove = useAct({ changes: [silosPath], done: t('The silo is removed.'), onDone: () => setRemoved(null) });
  return (
    <Section
      title={t('Silos')}
      actions={
        <button type="button" className="plain-button" onClick={() => setAdding(true)}>
          <Plus aria-hidden size={16} /> {t('Make a silo')}
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ silos }) =>
          silos.length === 0 ? (
            <p className="muted">{t('None. A silo is a private store: only callers with enough trust see its files.')}</p>
          ) : (
            <ul className="rows-list">
              {silos.map((silo) => (
                <li key={silo.id}>
                  <b>{silo.name}</b>
                  <p className="muted small">
                    {[
                      plural(silo.files, '{n} file, {size}', '{n} files, {size}', { size: bytes(silo.bytes) }),
                      readers[silo.min_trust],
                      silo.encrypted ? t('sealed by the vault') : t('not sealed'),
                    ].join(' · ')}
                  </p>
                  <p className="row-buttons">
                    <button type="button" className="plain-button" onClick={() => setOpen(silo)}>
                      {t('Open {name}', { name: silo.name })}
                    </button>
                    <button type="button" className="danger" onClick={() => setRemoved(silo)}>
                      {t('Remove {name}', { name: silo.name })}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding && (
        <Dialog title={t('Make a silo')} onClose={() => setAdding(false)}>
          <ActForm
            schema={siloSchema}
            button={t('Make silo')}
            changes={[silosPath]}
            toCall={(body) => ({ method: 'POST', path: silosPath, body })}
            done={() => t('The silo is there.')}
            onClose={() => setAdding(false)}
          />
        </Dialog>
      )}
      {open !== null && <SiloFiles silo={open} onClose={() => setOpen(null)} />}
      {removed !== null && (
        <Confirm
          title={t('Remove {name}?', { name: removed.name })}
          button={t('Remove silo')}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: `${pathOfSilo(removed)}?with_files=1` })}
          onClose={() => setRemoved(null)}
        >
          <p>
            {removed.files === 0
              ? t('There is no file in it.')
              : plural(removed.files, '{n} file in it, {size}, are lost.', '{n} files in it, {size}, are lost.', {
                  size: bytes(removed.bytes),
                })}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
