import type { EngineTest, EngineView } from '@svc/contract/engine.ts';
import type { EngineChoice } from '@svc/contract/service.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { SecretField } from '../../parts/secret-field.tsx';
import { Loaded } from '../../parts/page.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';
import { toast } from '../../parts/toast.tsx';
import { EngineSettings } from './engine-settings.tsx';

export type EngineList = { engines: EngineView[]; current: EngineChoice | null };
export const enginesPath = '/core/v2/engines';
/** A model may think for a while. */
export const engineTestMs = 110_000;

/** The engines that can answer: how each stands, and which one does. */
export function Engines() {
  const query = useApi<EngineList>(enginesPath, 15_000);
  return (
    <Loaded query={query}>
      {({ engines, current }) => (
        <>
          {current !== null && (
            <p>
              Answers come from <b>{current.id}</b>
              {current.model !== null && ` (${current.model})`}. <span className="muted">{current.why}</span>
            </p>
          )}
          <ul className="rows-list">
            {engines.map((engine) => (
              <EngineRow key={engine.id} engine={engine} isCurrent={engine.id === current?.id} />
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}

function EngineRow({ engine, isCurrent }: { engine: EngineView; isCurrent: boolean }) {
  const { id, ready, reason, installed, pinned_version: pinned, install, login, notice, warning } = engine;
  const [isKeyAsked, setKeyAsked] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const act = useAct({ changes: [enginesPath] });
  const test = useAct<EngineTest>({
    changes: [enginesPath],
    onDone: ({ text, ms }) => toast(`${id} said “${text.slice(0, 120)}” after ${(ms / 1000).toFixed(1)} s.`),
  });
  const own = `${enginesPath}/${encodeURIComponent(id)}`;
  const isInstalling = install?.state === 'running';
  return (
    <li>
      <div className="line-between">
        <b>{id}</b>
        <Status kind={ready ? 'ok' : 'off'} words={isCurrent ? 'in use' : ready ? 'ready' : 'not ready'} />
      </div>
      <p className="small">{reason}</p>
      {[notice, warning].map(
        (words) =>
          words != null && (
            <p key={words} className="small">
              {words}
            </p>
          ),
      )}
      {install !== null && (isInstalling || install.state === 'failed') && <p className="muted small">{install.step}</p>}
      {!ready && login !== null && (
        <p className="small">
          To sign in, run <code>{login.join(' ')}</code> where the service is installed, then look again.
        </p>
      )}
      <p className="row-buttons">
        {!engine.default && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/default` })}
          >
            Use {id}
          </button>
        )}
        {!installed && pinned !== null && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending || isInstalling}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/install` })}
          >
            {isInstalling ? 'Installing' : `Install ${id}`}
          </button>
        )}
        {ready && (
          <button
            type="button"
            className="plain-button"
            disabled={test.isPending}
            onClick={() => test.mutate({ method: 'POST', path: `${own}/test`, timeoutMs: engineTestMs })}
          >
            {test.isPending ? 'Waiting for its answer' : `Try ${id}`}
          </button>
        )}
        {!ready && installed && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/refresh` })}
          >
            Look again
          </button>
        )}
        {id !== 'offline' && (
          <button type="button" className="plain-button" onClick={() => setChanging(true)}>
            Change {id}
          </button>
        )}
        {engine.auth !== 'local' && id !== 'offline' && (
          <button type="button" className="plain-button" onClick={() => setKeyAsked(true)}>
            {engine.key_present ? 'Replace key' : 'Set key'}
          </button>
        )}
      </p>
      {isChanging && <EngineSettings engine={engine} path={own} onClose={() => setChanging(false)} />}
      {isKeyAsked && <Key id={id} path={`${own}/apikey`} onClose={() => setKeyAsked(false)} />}
    </li>
  );
}

function Key({ id, path: where, onClose }: { id: string; path: string; onClose(): void }) {
  const [value, setValue] = useState('');
  const act = useAct({ changes: [enginesPath], done: `The key of ${id} is kept.`, onDone: onClose });
  return (
    <Dialog title={`Key of ${id}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'PUT', path: where, body: { value: value.trim() } });
        }}
      >
        <SecretField label="Key" hint="It is kept where secrets are, and not shown again." value={value} onChange={setValue} />
        <FormButtons submit="Keep key" isOff={act.isPending || value.trim() === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
