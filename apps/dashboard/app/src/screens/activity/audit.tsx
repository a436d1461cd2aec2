import { shorten } from '@svc/chat-ui/language/shorten.ts';
import { t } from '@svc/chat-ui/language/t.ts';
import type { ControlAudit } from '@svc/contract/control.ts';
import type { TrustChange } from '@svc/contract/trust.ts';
import { factLine } from '../../parts/fact-line.ts';
import { shortTime } from '../../parts/format.ts';
import { Empty, Fault, Skeleton } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Table } from '../../parts/table.tsx';

type Row = { key: string; at: number; actor: string; what: string; about: string; outcome: string };

/** Who changed what: people and rights from the core, programs and sessions from the collector, as one list. */
export function Audit() {
  const trust = useApi<{ audit: TrustChange[] }>('/core/trust/audit?limit=200');
  const control = useApi<ControlAudit>('/collector/api/control/audit?limit=200');
  const rows = [...(trust.data?.audit ?? []).map(ofTrust), ...(control.data?.actions ?? []).map(ofControl)].toSorted(
    (one, other) => other.at - one.at,
  );
  const isReading = trust.isPending || control.isPending;
  return (
    <div className="view">
      {trust.error !== null && <Fault error={trust.error} onRetry={() => void trust.refetch()} />}
      {control.error !== null && <Fault error={control.error} onRetry={() => void control.refetch()} />}
      {rows.length === 0 && (isReading ? <Skeleton /> : <Empty title={t('Nothing has been changed yet')} />)}
      {rows.length > 0 && (
        <Table
          caption={t('Changes')}
          rows={rows}
          keyOf={({ key }) => key}
          columns={[
            { name: t('What'), isMain: true, cell: ({ what }) => what },
            { name: t('When'), cell: ({ at }) => shortTime(at) },
            { name: t('Who'), cell: ({ actor }) => actor },
            { name: t('About'), cell: ({ about }) => <span className="path">{about}</span> },
            { name: t('Outcome'), cell: ({ outcome }) => outcome },
          ]}
        />
      )}
    </div>
  );
}

/** A change without a person is about the thing that it names: a secret, a role. */
const nameIn = (facts: TrustChange['after']): string => (typeof facts?.['name'] === 'string' ? facts['name'] : '');

const maxFacts = 300;

/** The new state; for something removed, the old one. */
function outcomeOf(before: TrustChange['before'], after: TrustChange['after']): string {
  const facts = shorten(factLine(after ?? before ?? {}), maxFacts);
  if (facts === '') return t('done');
  return after === null ? t('it was {facts}', { facts }) : facts;
}

const ofTrust = ({ id, at, actor, what, principal, before, after }: TrustChange): Row => ({
  key: `trust ${id}`,
  at,
  actor,
  what: what.replaceAll('_', ' '),
  about: principal ?? nameIn(after ?? before),
  outcome: outcomeOf(before, after),
});

const ofControl = ({ id, at, actor, action, target, outcome, error }: ControlAudit['actions'][number]): Row => ({
  key: `control ${id}`,
  at,
  actor,
  what: action,
  about: target,
  outcome: error ?? outcome,
});
