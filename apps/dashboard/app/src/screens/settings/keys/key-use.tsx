import { t } from '@svc/chat-ui/language/t.ts';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { withQuery } from '../../../parts/api.ts';
import { relativeTime } from '../../../parts/format.ts';
import { useApi } from '../../../parts/query.ts';

/** When a key was last used, according to the stored events. A key's name is the sender of its messages. */
export function KeyUse({ name }: { name: string }) {
  const query = useApi<{ events: TelemetryEvent[] }>(
    withQuery('/collector/api/events', { surface: 'compat', identity: name, kind: 'inbound', limit: 1 }),
    60_000,
  );
  if (query.data === undefined) return null;
  const [last] = query.data.events;
  return (
    <p className="muted small">
      {last === undefined ? t('No use recorded.') : t('Last used {when}.', { when: relativeTime(last.ts) })}
    </p>
  );
}
