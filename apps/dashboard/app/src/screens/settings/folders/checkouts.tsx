import { t } from '@svc/chat-ui/language/t.ts';
import type { CheckoutList } from '@svc/contract/checkout.ts';
import { bytes, relativeTime } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { NewCheckout } from './new-checkout.tsx';

const path = '/core/v2/checkouts';

/** Copies of repositories made by channels or the operator. */
export function Checkouts() {
  const query = useApi<CheckoutList>(path, 30_000);
  const remove = useAct({ changes: [path], done: t('The copy is removed.') });
  return (
    <Section title={t('Copies of repositories')} actions={<NewCheckout path={path} />}>
      <Loaded query={query} rows={1}>
        {({ checkouts }) =>
          checkouts.length === 0 ? (
            <p className="muted">{t('None. A channel about code creates them, one per conversation.')}</p>
          ) : (
            <ul className="rows-list">
              {checkouts.map(({ id, url, ref, sha, bytes: size, used_at: at, conversation_key: key }) => (
                <li key={id}>
                  <b>{url}</b>
                  <p className="muted small">
                    {[ref, sha.slice(0, 12), bytes(size), t('used {when}', { when: relativeTime(at) }), key]
                      .filter((part) => part !== null)
                      .join(' · ')}
                  </p>
                  <p>
                    <button
                      type="button"
                      className="danger"
                      disabled={remove.isPending}
                      onClick={() => remove.mutate({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}` })}
                    >
                      {t('Remove copy')}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
