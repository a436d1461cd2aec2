import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { shorten } from '@svc/chat-ui/language/shorten.ts';
import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineTest, EngineView } from '@svc/contract/engine.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { SecretField } from '../../parts/secret-field.tsx';
import { Loaded } from '../../parts/page.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';
import { toast } from '../../parts/toast.tsx';
import { type EngineList, enginesPath } from './engine-list.ts';
import { EngineResets } from './engine-resets.tsx';
import { EngineRollback } from './engine-rollback.tsx';
import { EngineSettings } from './engine-settings.tsx';

/** A model may think for a while. */
export const engineTestMs = 110_000;

/** The engines: their states, and which one answers. */
export function Engines() {
  const query = useApi<EngineList>(enginesPath, 15_000);
  return (
    <Loaded query={query}>
      {({ engines, current }) => (
        <>
          {current !== null && (
            <p>
              {current.model === null ? (
                <Rich text="Answers come from {engine}." engine={<b>{current.id}</b>} />
              ) : (
                <Rich text="Answers come from {engine} ({model})." engine={<b>{current.id}</b>} model={current.model} />
              )}{' '}
              <span className="muted">{current.why}</span>
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
    onDone: ({ text, ms }) =>
      toast(
        t('{name} said “{words}” after {seconds} s.', {
          name: id,
          words: shorten(text, 120),
          seconds: (ms / 1000).toFixed(1),
        }),
      ),
  });
  const own = `${enginesPath}/${encodeURIComponent(id)}`;
  const isInstalling = install?.state === 'running';
  return (
    <li>
      <div className="line-between">
        <b>{id}</b>
        <Status kind={ready ? 'ok' : 'off'} words={isCurrent ? t('in use') : ready ? t('ready') : t('not ready')} />
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
          <Rich
            text="To sign in, run {command} where the service is installed, then check again."
            command={<code>{login.join(' ')}</code>}
          />
        </p>
      )}
      <div className="row-buttons">
        {!installed && pinned !== null && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending || isInstalling}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/install` })}
          >
            {isInstalling ? t('Installing') : t('Install {name}', { name: id })}
          </button>
        )}
        {!engine.default && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/default` })}
          >
            {t('Use {name}', { name: id })}
          </button>
        )}
        {ready && (
          <button
            type="button"
            className="plain-button"
            disabled={test.isPending}
            onClick={() => test.mutate({ method: 'POST', path: `${own}/test`, timeoutMs: engineTestMs })}
          >
            {test.isPending ? t('Waiting for its answer') : t('Try {name}', { name: id })}
          </button>
        )}
        {!ready && installed && (
          <button
            type="button"
            className="plain-button"
            disabled={act.isPending}
            onClick={() => act.mutate({ method: 'POST', path: `${own}/refresh` })}
          >
            {t('Check again')}
          </button>
        )}
        <EngineRollback engine={engine} path={own} />
        <EngineResets engine={engine} path={own} />
        {id !== 'offline' && (
          <button type="button" className="plain-button" onClick={() => setChanging(true)}>
            {t('Change {name}', { name: id })}
          </button>
        )}
        {engine.auth !== 'local' && id !== 'offline' && (
          <button type="button" className="plain-button" onClick={() => setKeyAsked(true)}>
            {engine.key_present ? t('Replace key') : t('Set key')}
          </button>
        )}
      </div>
      {isChanging && <EngineSettings engine={engine} path={own} onClose={() => setChanging(false)} />}
      {isKeyAsked && <Key id={id} path={`${own}/apikey`} onClose={() => setKeyAsked(false)} />}
    </li>
  );
}

function Key({ id, path: where, onClose }: { id: string; path: string; onClose(): void }) {
  const [value, setValue] = useState('');
  const act = useAct({ changes: [enginesPath], done: t('The key of {name} is kept.', { name: id }), onDone: onClose });
  return (
    <Dialog title={t('Key of {name}', { name: id })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'PUT', path: where, body: { value: value.trim() } });
        }}
      >
        <SecretField
          label={t('Key')}
          hint={t('It is stored with the secrets, and not shown again.')}
          value={value}
          onChange={setValue}
        />
        <FormButtons submit={t('Keep key')} isOff={act.isPending || value.trim() === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
