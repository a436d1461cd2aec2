import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineTest } from '@svc/contract/engine.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { type EngineList, enginesPath } from '../settings/engine-list.ts';
import { Engines, engineTestMs } from '../settings/engines.tsx';

/** Which engine answers and why, a test of it, and how to choose another one. */
export function EngineStep() {
  const query = useApi<EngineList>(enginesPath, 15_000);
  return (
    <Section title={t('Who answers you')}>
      <Loaded query={query}>
        {({ current }) => (
          <>
            {current === null ? (
              <p>{t('No engine is ready. Choose one below.')}</p>
            ) : (
              <>
                <p>
                  <b>{current.id}</b>
                  {current.model !== null && ` (${current.model})`}: {current.why}
                </p>
                <Try key={current.id} id={current.id} />
              </>
            )}
            <p>
              <Link to="/welcome/$step" params={{ step: 'message' }} className="primary">
                {current === null ? t('Go on') : t('Go on with {engine}', { engine: current.id })}
              </Link>
            </p>
          </>
        )}
      </Loaded>
      <details open={query.data?.current?.id === 'offline'}>
        <summary>{t('All engines')}</summary>
        <Engines />
      </details>
    </Section>
  );
}

function Try({ id }: { id: string }) {
  const [answer, setAnswer] = useState<EngineTest | null>(null);
  const test = useAct<EngineTest>({ onDone: setAnswer });
  const path = `${enginesPath}/${encodeURIComponent(id)}/test`;
  return (
    <>
      <p>
        <button
          type="button"
          className="plain-button"
          disabled={test.isPending}
          onClick={() => test.mutate({ method: 'POST', path, timeoutMs: engineTestMs })}
        >
          {test.isPending ? t('Waiting for its answer') : t('Test it')}
        </button>
      </p>
      {answer !== null && (
        <blockquote className="engine-words" aria-label={t('Output of {engine}', { engine: id })}>
          {answer.text} <span className="muted small">{t('after {seconds} s', { seconds: (answer.ms / 1000).toFixed(1) })}</span>
        </blockquote>
      )}
    </>
  );
}
