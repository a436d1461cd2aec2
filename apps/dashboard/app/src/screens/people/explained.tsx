import type { ExplainedIdentity } from '@svc/contract/trust.ts';
import { Status } from '../../parts/status.tsx';
import { grantWords, tierWords, toolWords } from './trust-words.ts';

type Props = ExplainedIdentity & {
  /** Opens the person, where they are not open already. */
  onShow?(person: string): void;
};

/** What a sender is let do, and which grants make it so. */
export function Explained({
  denied,
  reason,
  trust_tier: tier,
  tool_policy: tools,
  display_name: name,
  explanation,
  onShow,
}: Props) {
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
      {principal !== null && onShow !== undefined && (
        <p>
          <button type="button" className="plain-button" onClick={() => onShow(principal.id)}>
            Change what {principal.display_name} may
          </button>
        </p>
      )}
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
