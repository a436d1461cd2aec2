import { type Silo, siloSchema } from '@svc/contract/silo.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Confirm, Dialog } from '../../../parts/dialog.tsx';
import { bytes, counted } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { SiloFiles } from './silo-files.tsx';
import { pathOfSilo, silosPath } from './silo-paths.ts';

const readers: Record<Tier, string> = {
  BLOCKED: 'anybody',
  UNKNOWN: 'anybody',
  GUEST: 'guests and above',
  KNOWN: 'people who are known, and above',
  TRUSTED: 'people who are trusted, and owners',
  SACRED: 'owners alone',
};

/** Private stores of files. */
export function Silos() {
  const query = useApi<{ silos: Silo[] }>(silosPath, 30_000);
  const [isAdding, setAdding] = useState(false);
  const [open, setOpen] = useState<Silo | null>(null);
  const [removed, setRemoved] = useState<Silo | null>(null);
  const remove = useAct({ changes: [silosPath], done: 'The silo is removed.', onDone: () => setRemoved(null) });
  return (
    <Section
      title="Silos"
      actions={
        <button type="button" className="plain-button" onClick={() => setAdding(true)}>
          <Plus aria-hidden size={16} /> Make a silo
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ silos }) =>
          silos.length === 0 ? (
            <p className="muted">None. A silo is a private store: of its files only those hear who are trusted enough.</p>
          ) : (
            <ul className="rows-list">
              {silos.map((silo) => (
                <li key={silo.id}>
                  <b>{silo.name}</b>
                  <p className="muted small">
                    {[
                      `${counted(silo.files, 'file')}, ${bytes(silo.bytes)}`,
                      `for ${readers[silo.min_trust]}`,
                      silo.encrypted ? 'sealed by the vault' : 'not sealed',
                    ].join(' · ')}
                  </p>
                  <p className="row-buttons">
                    <button type="button" className="plain-button" onClick={() => setOpen(silo)}>
                      Open {silo.name}
                    </button>
                    <button type="button" className="danger" onClick={() => setRemoved(silo)}>
                      Remove {silo.name}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding && (
        <Dialog title="Make a silo" onClose={() => setAdding(false)}>
          <ActForm
            schema={siloSchema}
            button="Make silo"
            changes={[silosPath]}
            toCall={(body) => ({ method: 'POST', path: silosPath, body })}
            done={() => 'The silo is there.'}
            onClose={() => setAdding(false)}
          />
        </Dialog>
      )}
      {open !== null && <SiloFiles silo={open} onClose={() => setOpen(null)} />}
      {removed !== null && (
        <Confirm
          title={`Remove ${removed.name}?`}
          button="Remove silo"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: `${pathOfSilo(removed)}?with_files=1` })}
          onClose={() => setRemoved(null)}
        >
          <p>
            {removed.files === 0
              ? 'There is no file in it.'
              : `${counted(removed.files, 'file')} in it, ${bytes(removed.bytes)}, are lost.`}
          </p>
        </Confirm>
      )}
    </Section>
  );
}
