import { t } from '@svc/chat-ui/language/t.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { clockTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';

type Line = { at: number; stream: 'stdout' | 'stderr'; text: string };

/** The latest log lines of a channel's program, live. */
export function Logs({ path, name, onClose }: { path: string; name: string; onClose(): void }) {
  const query = useApi<{ logs: Line[] }>(`${path}/logs`, 3000);
  return (
    <Dialog title={t('Logs of {name}', { name })} onClose={onClose} wide>
      <Loaded query={query}>
        {({ logs }) =>
          logs.length === 0 ? (
            <p className="muted">{t('It has logged nothing.')}</p>
          ) : (
            <pre className="diff" tabIndex={0} aria-label={t('Log lines')} aria-live="off">
              {logs.map(({ at, text }) => `${clockTime(at)} ${text}`).join('\n')}
            </pre>
          )
        }
      </Loaded>
    </Dialog>
  );
}
