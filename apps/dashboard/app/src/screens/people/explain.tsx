import type { ExplainedIdentity } from '@svc/contract/trust.ts';
import { type FormEvent, useState } from 'react';
import { Field } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { useAct } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';
import { grantWords, tierWords, toolWords } from './trust-words.ts';

/** Why a sender may what they may, grant by grant. */
export function Explain() {
  const [channel, setChannel] = useState('');
  const [sender, setSender] = useState('');
  const [isPublic, setPublic] = useState(false);
  const [found, setFound] = useState<ExplainedIdentity | null>(null);
  const ask = useAct<ExplainedIdentity>({ onDone: setFound });
  const look = (event: FormEvent) => {
    event.preventDefault();
    const body = { channel: channel.trim(), sender: { raw_id: sender.trim() }, public: isPublic, explain: true };
    ask.mutate({ method: 'POST', path: '/core/trust/resolve', body });
  };
  return (
    <Section title="Why?">
      <form className="in-row" onSubmit={look}>
        <Field label="Channel of the sender">
          {(props) => (
            <input
              {...props}
              value={channel}
              maxLength={256}
              placeholder="messenger"
              onChange={({ target }) => setChannel(target.value)}
            />
          )}
        </Field>
        <Field label="Their name or number there">
          {(props) => <input {...props} value={sender} maxLength={256} onChange={({ target }) => setSender(target.value)} />}
        </Field>
        <label className="check">
          <input type="checkbox" checked={isPublic} onChange={({ target }) => setPublic(target.checked)} /> where others read
          along
        </label>
        <button type="submit" className="plain-button" disabled={ask.isPending || channel.trim() === '' || sender.trim() === ''}>
          Explain
        </button>
      </form>
      {found !== null && <Explained {...found} />}
    </Section>
  );
}

function Explained({ denied, reason, trust_tier: tier, tool_policy: tools, display_name: name, explanation }: ExplainedIdentity) {
  const { identifier, principal, grants, capped_from: before } = explanation;
  return (
    <div className="stack" role="status">
      <p>{denied ? <Status kind="bad" words="refused" /> : <Status kind="ok" words="let in" />}</p>
      <p>{reason}</p>
      <p>
        {identifier.surface} {identifier.value} is{' '}
        {principal === null ? 'nobody that is known' : `${principal.display_name} (${principal.key})`}.
        {!denied && ` ${name} is ${tierWords[tier]} here and ${toolWords[tools]}.`}
        {before !== null && ` Elsewhere they are ${tierWords[before]}: where others read along, nobody is more than this.`}
      </p>
      {grants.length > 0 && (
        <ul className="rows-list">
          {grants.map((grant) => (
            <li key={grant.id}>
              <Status kind={grant.misfit === null ? 'ok' : 'off'} words={grantWords(grant)} />
              <p className="muted small">
                {grant.misfit ?? `It counts: ${tierWords[grant.tier]}, ${toolWords[grant.tool_policy]}.`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
