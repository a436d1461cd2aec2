import { t } from '@svc/chat-ui/language/t.ts';
import { Inbox, RefreshCw, TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { ApiFault } from './api.ts';
import { clockTime } from './format.ts';
import { setPageTitle } from './page-title.ts';

type PageProps = { title: string; actions?: ReactNode; children: ReactNode };

/** A screen: its heading, its actions and its content. */
export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    setPageTitle(title);
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <h1>{title}</h1>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a screen under a heading of its own. */
export function Section({ title, actions, children }: PageProps) {
  return (
    <section className="section">
      <header className="section-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** An empty state, which is not an error. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty-state">
      <Inbox aria-hidden size={28} />
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

type FaultProps = { error: Error; onRetry?(): void };

/** An error, with its request id in the log. */
export function Fault({ error, onRetry }: FaultProps) {
  return (
    <div className="fault-box" role="alert">
      <TriangleAlert aria-hidden size={20} />
      <div>
        <p>{error.message}</p>
        {error instanceof ApiFault && error.requestId !== '' && (
          <p className="muted small">{t('Request {id}', { id: error.requestId })}</p>
        )}
        {onRetry !== undefined && (
          <button type="button" className="plain-button" onClick={onRetry}>
            <RefreshCw aria-hidden size={16} /> {t('Try again')}
          </button>
        )}
      </div>
    </div>
  );
}

const patienceMs = 200;
const longMs = 5000;

/** Grey bars while data is loading; none when it comes at once. After a while they say that loading takes long, and `why` where that is known. */
export function Skeleton({ rows = 4, why }: { rows?: number; why?: string | undefined }) {
  const isLate = useIsOver(patienceMs);
  const isLong = useIsOver(longMs);
  return (
    <div className="skeleton" role="status" aria-label={t('Loading')}>
      {isLong && (
        <p className="muted">
          {t('This takes longer than usual.')} {why}
        </p>
      )}
      {isLate && Array.from({ length: rows }, (_, index) => <i key={index} />)}
    </div>
  );
}

function useIsOver(ms: number): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}

type LoadedProps<T> = { query: UseQueryResult<T>; rows?: number; children(data: T): ReactNode };

/** The data as last read; marked "as of" when it could not be read again. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  const { data, error, failureReason, dataUpdatedAt, refetch } = query;
  const retry = () => void refetch();
  if (data === undefined)
    return error === null ? (
      <Skeleton why={failureReason?.message} {...(rows === undefined ? {} : { rows })} />
    ) : (
      <Fault error={error} onRetry={retry} />
    );
  return (
    <>
      {error !== null && (
        <p className="as-of" role="status">
          {t('As of {time}.', { time: clockTime(dataUpdatedAt) })} {error.message}
        </p>
      )}
      {children(data)}
    </>
  );
}
